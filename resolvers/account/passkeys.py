"""Passkeys of users: registered, renamed and deleted by them, and used to log in without a password."""

from typing import TYPE_CHECKING

from resolvers.account.notices import queue_notice
from resolvers.account.second_factor import own_id
from resolvers.account.tokens import issue
from resolvers.account.verification import verify_self
from resolvers.core.operation import Call, operation, without_stored_response
from resolvers.core.transaction import open_transaction
from schema.account.change import AccountChange
from schema.account.passkey import (
    BeginPasskey,
    DeletePasskey,
    ObtainTokenWithPasskey,
    Passkey,
    PasskeyOptions,
    RegisterPasskey,
    RenamePasskey,
)
from schema.account.token import IssuedToken
from schema.core.errors import InvalidInput, NotFound, WrongCredentials
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule
from store.account.passkeys import (
    CHALLENGE_LIFETIME,
    LOG_IN,
    BadPasskey,
    PasskeyRow,
    RelyingParty,
    challenge_key,
    find_own_passkey,
    lock_passkey,
    new_challenge,
    passkeys_of,
    registration,
)
from store.account.second_factor import lock_user
from store.account.users import UserRow
from store.kv import WriteMode

if TYPE_CHECKING:
    from store.account.webauthn_answers import BrowserAnswer

MOST_PASSKEYS = 20
NOT_USABLE = "This is not the answer that was asked for, or it came too late. Try again."


@operation(AccessRule.AUTHENTICATED)
async def passkeys(call: Call) -> list[Passkey]:
    """Your passkeys, the newest first."""
    return list(await passkeys_of(call.db, own_id(call)))


@without_stored_response
@operation(AccessRule.AUTHENTICATED, transaction=False)
async def begin_passkey(call: Call, input: BeginPasskey) -> PasskeyOptions:
    """Begin to register a passkey: pass the options to the browser, and its answer to `registerPasskey`. Nothing changes
    until then. Wrong passwords and codes are followed by growing pauses.
    """
    from store.account.webauthn_answers import creation_options

    user = await verify_self(call, input.password, input.otp, "password")
    settings, now = call.services.settings, call.services.clock.now()
    async with call.services.db.sessions() as db:
        known = [row.credential_id for row in await passkeys_of(db, user.id)]
    call.add_audit_subject(user)
    challenge = new_challenge(settings, registration(user), now)
    party = RelyingParty.of(settings)
    return PasskeyOptions(options=creation_options(party, settings.installation_name, user, known, challenge))


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def register_passkey(call: Call, input: RegisterPasskey) -> Passkey:
    """Register a passkey. From then on you can log in with it alone: your device asks for its PIN, your finger or your
    face. You can have 20 passkeys.
    """
    from store.account.webauthn_answers import verify_new

    settings, now, user_id = call.services.settings, call.services.clock.now(), own_id(call)
    async with call.services.db.sessions() as db:
        purpose = registration(await db.get_one(UserRow, user_id))
    answer = await _read_once(call, purpose, input.credential)
    if answer is None:
        raise InvalidInput.at("credential", NOT_USABLE)
    try:
        credential_id, public_key, sign_count = verify_new(RelyingParty.of(settings), answer)
    except BadPasskey:
        raise InvalidInput.at("credential", NOT_USABLE) from None
    async with open_transaction(call.services.db) as db:
        user = await lock_user(db, user_id)
        if registration(user) != purpose:  # another password meanwhile
            raise InvalidInput.at("credential", NOT_USABLE)
        if len(await passkeys_of(db, user_id)) >= MOST_PASSKEYS:
            raise InvalidInput.at(
                "credential",
                TemplatedMessage("You have {most} passkeys already. Delete one first.", most=MOST_PASSKEYS),
            )
        row = PasskeyRow(
            user_id=user_id,
            name=input.name,
            credential_id=credential_id,
            public_key=public_key,
            sign_count=sign_count,
            created_on=now,
        )
        db.add(row)
        await db.flush()
        await queue_notice(db, user, AccountChange.PASSKEY_REGISTERED, call, name=row.name)
        await call.store_response(db, row)
    return row


@operation(AccessRule.AUTHENTICATED)
async def rename_passkey(call: Call, input: RenamePasskey) -> Passkey:
    """Rename one of your passkeys."""
    row = await _own(call, input.id)
    row.name = input.name
    return row


@operation(AccessRule.AUTHENTICATED)
async def delete_passkey(call: Call, input: DeletePasskey) -> Passkey:
    """Delete one of your passkeys. It no longer logs you in; log-ins that it has made stay valid."""
    user = await lock_user(call.db, own_id(call))
    row = await _own(call, input.id)
    await call.db.delete(row)
    await call.db.flush()
    await queue_notice(call.db, user, AccountChange.PASSKEY_DELETED, call, name=row.name)
    return row


@operation(AccessRule.PUBLIC, transaction=False)
async def passkey_options(call: Call) -> PasskeyOptions:
    """What a browser needs to log in with a passkey: pass the options to it, and its answer to `obtainTokenWithPasskey`."""
    from store.account.webauthn_answers import request_options

    settings = call.services.settings
    challenge = new_challenge(settings, LOG_IN, call.services.clock.now())
    return PasskeyOptions(options=request_options(RelyingParty.of(settings), challenge))


@operation(AccessRule.PUBLIC, transaction=False)
async def obtain_token_with_passkey(call: Call, input: ObtainTokenWithPasskey) -> IssuedToken:
    """Log in with a passkey, and create a token as `obtainToken` does. Neither a password nor a one-time code is needed: the
    device has verified its user.
    """
    from store.account.webauthn_answers import verify_use

    settings, now = call.services.settings, call.services.clock.now()
    answer = await _read_once(call, LOG_IN, input.credential)
    if answer is None:
        raise WrongCredentials
    try:
        async with call.services.db.sessions() as db, db.begin():
            row, user = await lock_passkey(db, answer.credential_id, answer.user_handle)
            row.sign_count, row.last_used_on = verify_use(RelyingParty.of(settings), answer, row), now
    except BadPasskey:
        raise WrongCredentials from None
    return await issue(call, user, input.label, input.hours)


async def _read_once(call: Call, purpose: str, credential: str) -> "BrowserAnswer | None":
    """What a browser answered to a challenge, which is used up by this; None if the answer cannot be read, or the challenge
    is for another purpose, expired or used.
    """
    from store.account.webauthn_answers import read_answer

    try:
        answer = read_answer(credential)
        key = challenge_key(call.services.settings, purpose, answer.challenge, call.services.clock.now())
    except BadPasskey:
        return None
    is_first = await call.services.kv.write(key, b"", CHALLENGE_LIFETIME, when=WriteMode.ABSENT) is not None
    return answer if is_first else None


async def _own(call: Call, id: int) -> PasskeyRow:
    row = await find_own_passkey(call.db, own_id(call), id)
    if row is None:
        raise NotFound("id", thing="passkey")
    return row
