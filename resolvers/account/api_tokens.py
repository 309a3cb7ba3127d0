"""API tokens that users create for programs, and the tokens of users that others manage."""

from dataclasses import replace
from typing import Any

from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.notices import queue_notice
from resolvers.account.second_factor import own_id
from resolvers.account.tokens import LIVE_TOKENS, TokenOrigin, add_token
from resolvers.account.users import check_not_above, user_by_id
from resolvers.account.verification import WRONG_PASSWORD, verify_self
from resolvers.core.input_mapping import check_later_expiry, id_from_input, valid_id
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.transaction import open_transaction
from schema.account.change import AccountChange
from schema.account.token import CreateToken, CreateUserToken, NewToken, RevokeUserToken, TokenFields
from schema.account.user import Token, TokenKind
from schema.core.errors import InvalidInput, NotFound, TooManyTokens
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule, Permission
from store.account.second_factor import lock_user
from store.account.users import TokenRow, UserRow, is_valid_at, lock_token


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def create_token(call: Call, input: CreateToken) -> NewToken:
    """Create an API token of your own, for a program that may then do all that you may. Its secret is returned only here.
    Wrong passwords and codes are followed by growing pauses. With 100 valid tokens and log-ins it is refused with
    `TOO_MANY_TOKENS`.
    """
    return await _create(call, input, own_id(call))


@operation(Permission.MANAGE_USER, transaction=False, exists=user_by_id)
async def create_user_token(call: Call, input: CreateUserToken) -> NewToken:
    """Create an API token of a user whom you manage, for a program that may then do all that the user may. Its secret is
    returned only here. You cannot do this for a user who has permissions that you do not have. Where two users have to
    agree, the token and you count as one. The password and the code are your own; wrong ones are followed by growing pauses. With 100 valid tokens and log-ins of the user it is refused
    with `TOO_MANY_TOKENS`.
    """
    async with call.services.db.sessions() as db:
        _check_usable(call, await find_visible(db, call.caller, UserRow, "user", id=valid_id(input.id)))
    return await _create(call, input, input.id)


async def _find_token(call: Call, input: Any) -> UserRow:
    """The user of the token in a raw input. Raises NotFound."""
    return await _managed_token(call, id_from_input(input))


@operation(Permission.MANAGE_USER, exists=_find_token)
async def revoke_user_token(call: Call, input: RevokeUserToken) -> Token:
    """Revoke a token of a user whom you manage, or end a log-in. It stops working everywhere within five seconds. Revoking
    it again changes nothing. You cannot do this for a user who has permissions that you do not have.
    """
    user = await _managed_token(call, input.id)
    check_not_above(call, user)
    token = await lock_token(call.db, input.id)
    token.revoked_on = token.revoked_on or call.services.clock.now()
    call.services.authenticator.invalidate(token_id=token.id)
    call.add_audit_subject(user)
    return token


async def _create(call: Call, input: TokenFields, user_id: int) -> NewToken:
    """A token of the caller, or of a user whom the caller may manage."""
    if input.expires_on is not None:
        check_later_expiry(input.expires_on, None, call.services.clock.now())
    checked = await verify_self(call, input.current_password, input.otp, "current_password")
    async with open_transaction(call.services.db) as db:
        call.audit_changes_of(db)
        user = await lock_user(db, user_id)
        if user.id != checked.id:
            _check_usable(call, user)
        elif (user.password_hash, user.has_second_factor) != (checked.password_hash, checked.has_second_factor):
            raise InvalidInput.at("current_password", WRONG_PASSWORD)  # changed concurrently
        await _check_room(call, db, user)
        origin = replace(TokenOrigin.of_kind(TokenKind.API, call.context), created_by_id=checked.id)
        row, secret = await add_token(db, user, input.label, call.services.clock.now(), input.expires_on, origin)
        await queue_notice(db, user, AccountChange.TOKEN_CREATED, call, name=row.label)
        await call.store_response(db, NewToken(secret=None, token=row), answer=NewToken(secret=secret, token=row))
    call.add_audit_subject(user)
    return NewToken(secret=secret, token=row)


def _check_usable(call: Call, user: UserRow) -> None:
    """Raise InvalidInput if the user is inactive, or has permissions that the caller lacks."""
    check_not_above(call, user)
    if not user.is_active:
        raise InvalidInput.at("id", TemplatedMessage("The user {username} is inactive.", username=user.username))


async def _check_room(call: Call, db: AsyncSession, user: UserRow) -> None:
    """Raise TooManyTokens if the locked user can have no further one unless another is revoked."""
    valid = col(TokenRow.user_id) == user.id, is_valid_at(call.services.clock.now())
    number = (await db.exec(select(func.count()).select_from(TokenRow).where(*valid))).one()
    if number >= LIVE_TOKENS:
        raise TooManyTokens(number=number)


async def _managed_token(call: Call, id: int) -> UserRow:
    """The user of a token, whom the caller sees. Raises NotFound."""
    owner = (await call.db.exec(select(TokenRow.user_id).where(col(TokenRow.id) == valid_id(id)))).one_or_none()
    if owner is None:
        raise NotFound("id", thing="token")
    try:
        return await user_by_id.find(call, owner)
    except NotFound:
        raise NotFound("id", thing="token") from None
