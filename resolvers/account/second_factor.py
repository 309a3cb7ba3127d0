"""Second factors: set up, confirmed, renewed and turned off by their users; reset by those who manage users."""

from collections.abc import Mapping, Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.notices import queue_notice
from resolvers.account.users import check_not_above, user_by_id
from resolvers.account.verification import (
    WRONG_OTP,
    WRONG_PASSWORD,
    use_own_second_factor,
    verify_own_password,
)
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation, without_stored_response
from schema.account.change import AccountChange, ChangeActor
from schema.account.second_factor import (
    ConfirmSecondFactor,
    DisableSecondFactor,
    RecoveryCodes,
    RenewRecoveryCodes,
    ResetSecondFactor,
    SecondFactorSetup,
    SetUpSecondFactor,
)
from schema.account.user import User
from schema.core.errors import InvalidInput, SecondFactorActive
from schema.core.permission import AccessRule, Permission
from store.account.passkeys import delete_passkeys, passkeys_of
from store.account.second_factor import (
    confirm_totp,
    count_recovery_codes,
    lock_user,
    provisioning_url,
    remove_second_factor,
    replace_recovery_codes,
    start_totp,
)
from store.account.users import UserRow


@computes(User, "recovery_codes_left")
async def recovery_codes_left(context: Context, ids: Sequence[int]) -> Mapping[int, int]:
    """How many recovery codes users have left."""
    async with context.db.read_sessions() as db:
        return dict.fromkeys(ids, 0) | dict(await count_recovery_codes(db, ids))


@without_stored_response
@operation(AccessRule.AUTHENTICATED, transaction=False)
async def set_up_second_factor(call: Call, input: SetUpSecondFactor) -> SecondFactorSetup:
    """Begin to set up your second factor: add the secret to an authenticator app, then send a code of the app to
    `confirmSecondFactor`. Until then nothing changes. Doing this again replaces a secret that was not confirmed.
    """
    checked = await verify_own_password(call, input.password, "password")
    settings = call.services.settings
    async with call.services.db.sessions() as db, db.begin():
        user = await _locked_without(db, call)
        if user.password_hash != checked.password_hash:  # changed concurrently
            raise InvalidInput.at("password", WRONG_PASSWORD)
        secret = await start_totp(db, settings, user)
    call.add_audit_subject(user)
    url = provisioning_url(secret, user.username, settings.installation_name)
    return SecondFactorSetup(secret=secret, otpauth_url=url)


@without_stored_response
@operation(AccessRule.AUTHENTICATED, transaction=False)
async def confirm_second_factor(call: Call, input: ConfirmSecondFactor) -> RecoveryCodes:
    """Turn your second factor on with a code of the app that you have set up. From then on your log-ins need a code.
    Tokens that you have already stay valid. Keep the recovery codes in a safe place: they are shown only here.
    """
    async with call.services.db.sessions() as db, db.begin():
        user = await _locked_without(db, call)
        if not await confirm_totp(db, call.services.settings, user, input.otp, call.services.clock.now()):
            raise InvalidInput.of_proof("otp", WRONG_OTP)
        codes = await replace_recovery_codes(db, user)
        await queue_notice(db, user, AccountChange.SECOND_FACTOR_ENABLED, call)
    call.add_audit_subject(user)
    return RecoveryCodes(codes=list(codes))


@without_stored_response
@operation(AccessRule.AUTHENTICATED, transaction=False)
async def renew_recovery_codes(call: Call, input: RenewRecoveryCodes) -> RecoveryCodes:
    """Replace your recovery codes by ten new ones. The earlier ones stop working. Wrong codes are followed by growing
    pauses.
    """
    await use_own_second_factor(call, input.otp)
    async with call.services.db.sessions() as db, db.begin():
        user = await lock_user(db, own_id(call))
        if not user.has_second_factor:  # turned off concurrently
            raise InvalidInput.at("otp", WRONG_OTP)
        codes = await replace_recovery_codes(db, user)
        await queue_notice(db, user, AccountChange.RECOVERY_CODES, call)
    call.add_audit_subject(user)
    return RecoveryCodes(codes=list(codes))


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def disable_second_factor(call: Call, input: DisableSecondFactor) -> User:
    """Turn your second factor off, and forget its secret and its recovery codes. Wrong passwords and codes are followed by
    growing pauses.
    """
    checked = await verify_own_password(call, input.password, "password")
    await use_own_second_factor(call, input.otp)
    async with call.services.db.sessions() as db, db.begin():
        user = await lock_user(db, checked.id)
        if user.password_hash != checked.password_hash:  # changed concurrently
            raise InvalidInput.at("password", WRONG_PASSWORD)
        await remove_second_factor(db, user)
        await queue_notice(db, user, AccountChange.SECOND_FACTOR_DISABLED, call)
        await call.store_response(db, user)
    return user


@operation(Permission.MANAGE_USER, exists=user_by_id)
async def reset_second_factor(call: Call, input: ResetSecondFactor) -> User:
    """Turn off the second factor of a user who has lost the app and the recovery codes, and delete the user's passkeys.
    The user's tokens stay valid. You cannot do this for a user who has permissions that you do not have, or for yourself: use `disableSecondFactor`.
    """
    row = await user_by_id.find(call, input.id, lock=True)
    check_not_above(call, row)
    if row.id == call.caller.user_id:
        raise InvalidInput.at("id", "Turn off your own second factor with disableSecondFactor.")
    await remove_factors(call.db, row, call)
    return row


async def remove_factors(db: AsyncSession, user: UserRow, by: Call | ChangeActor) -> None:
    """Turn the second factor of a locked user off, delete the passkeys, and mail that to the user if there were any."""
    had_any = user.has_second_factor or bool(await passkeys_of(db, user.id))
    await remove_second_factor(db, user)
    await delete_passkeys(db, user.id)
    if had_any:
        await queue_notice(db, user, AccountChange.SECOND_FACTOR_RESET, by)


async def _locked_without(db: AsyncSession, call: Call) -> UserRow:
    """The caller's row, locked. Raises SecondFactorActive if the caller has a second factor."""
    user = await lock_user(db, own_id(call))
    if user.has_second_factor:
        raise SecondFactorActive
    return user


def own_id(call: Call) -> int:
    """The id of the caller."""
    assert call.caller.user_id is not None  # whoever has a token is a user
    return call.caller.user_id
