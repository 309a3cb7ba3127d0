"""User and token management for operators, from the command line: without a caller and without permission checks.

The audit log records every change, with the command line as the actor.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.notices import queue_notice
from resolvers.account.second_factor import remove_factors
from resolvers.account.tokens import issue_token, set_password
from resolvers.core.auditing import audit_command
from resolvers.core.caller import Role
from schema.account.change import AccountChange, ChangeActor
from schema.account.user import UserRole
from schema.account.user_input import SHORTEST_PASSWORD
from schema.core.errors import InvalidInput, NotFound
from schema.core.message_names import TemplatedMessage
from schema.validation.characters import clean_line
from schema.validation.contact import email_address
from store.account.credentials import hash_password, normal_username, secret_digest_of
from store.account.second_factor import lock_user
from store.account.users import TokenRow, UserRow
from store.core.clock import Clock
from store.partner.partners import MarketplaceRow, PartnerRow


@dataclass(frozen=True)
class NewUser:
    """A user to create. `partner` is required for role PARTNER, `marketplace` for role MARKETPLACE; both are empty
    otherwise.
    """

    username: str
    password: str
    role: Role
    partner: str = ""
    """Site domain, id or source id of the partner."""
    marketplace: str = ""
    """Name or id of the marketplace."""
    email: str = ""
    first_name: str = ""


async def create_user(db: AsyncSession, new: NewUser) -> UserRow:
    """Create a user. Raises InvalidInput or NotFound at the field. A unique constraint refuses a user name that is
    taken.
    """
    username = normal_username(new.username)
    if not username or len(username) > 254:
        raise InvalidInput.at("username", "A user name has 1 to 254 characters.")
    password_hash = await _hash_password(new.password)
    partner_id, marketplace_id = await _owner_ids(db, new)
    row = UserRow(
        username=username,
        email=_email(new.email or (username if "@" in username else "")),
        first_name=new.first_name[:80],
        role=UserRole(new.role),
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        password_hash=password_hash,
    )
    db.add(row)
    await db.flush()
    await audit_command(db, "create_user", vars(new), row, row)
    return row


async def reset_password(db: AsyncSession, username: str, password: str, clock: Clock) -> UserRow:
    """Set a new password and revoke all tokens of the user; running servers accept them for up to five more seconds."""
    user = await lock_user(db, (await find_user(db, username)).id)
    await set_password(db, user, await _hash_password(password), clock, ChangeActor.OPERATOR)
    await audit_command(db, "reset_password", {"username": user.username, "password": password}, user, user)
    return user


async def reset_second_factor(db: AsyncSession, username: str) -> UserRow:
    """Turn off the second factor of a user who has lost it, and delete the passkeys."""
    user = await lock_user(db, (await find_user(db, username)).id)
    await remove_factors(db, user, ChangeActor.OPERATOR)
    await audit_command(db, "reset_second_factor", {"username": user.username}, user, user)
    return user


async def deactivate_users(db: AsyncSession, usernames: Sequence[str]) -> list[UserRow]:
    """Deactivate all of these users, or none if one is unknown; running servers accept their tokens for up to five more
    seconds.
    """
    users = [await find_user(db, username) for username in usernames]
    for user in users:
        user.is_active = False
        await audit_command(db, "deactivate_user", {"username": user.username}, user, user)
    return users


async def create_token(
    db: AsyncSession, username: str, label: str, clock: Clock, life: dt.timedelta | None = None
) -> tuple[TokenRow, str]:
    """Create a token; returns the row and the secret, which is not stored. Without `life` the token never expires."""
    if life is not None and life <= dt.timedelta():
        raise InvalidInput.at("days", "A token is valid for at least one day.")
    user = await find_user(db, username)
    if not user.is_active:
        raise InvalidInput.at("username", TemplatedMessage("The user {username} is inactive.", username=user.username))
    label = clean_line(label)
    secret = await issue_token(db, user, label, clock)
    row = (await db.exec(select(TokenRow).where(col(TokenRow.digest) == secret_digest_of(secret)))).one()
    row.expires_on = clock.now() + life if life else None
    await queue_notice(db, user, AccountChange.TOKEN_CREATED, ChangeActor.OPERATOR, name=row.label)
    result = {"username": user.username, "label": label, "expires_on": row.expires_on}
    await audit_command(db, "create_token", result, row, user)
    return row, secret


async def tokens_of(db: AsyncSession, username: str | None) -> list[tuple[TokenRow, UserRow]]:
    """All tokens with their users, or those of one user; newest first."""
    query = select(TokenRow, UserRow).join(UserRow, col(UserRow.id) == col(TokenRow.user_id))
    if username is not None:
        query = query.where(col(UserRow.id) == (await find_user(db, username)).id)
    return list((await db.exec(query.order_by(col(TokenRow.id).desc()))).all())


async def revoke_user_token(db: AsyncSession, token_id: int, clock: Clock) -> TokenRow:
    """Revoke a token; running servers accept it for up to five more seconds. Revoking it again changes nothing."""
    row = (await db.exec(select(TokenRow).where(col(TokenRow.id) == token_id).with_for_update())).one_or_none()
    if row is None:
        raise NotFound("id", thing="token")
    row.revoked_on = row.revoked_on or clock.now()
    await audit_command(db, "revoke_token", {"id": row.id}, row, await db.get_one(UserRow, row.user_id))
    return row


async def find_user(db: AsyncSession, username: str) -> UserRow:
    """The user with this name, case-insensitive. Raises NotFound."""
    query = select(UserRow).where(col(UserRow.username) == normal_username(username))
    row = (await db.exec(query)).one_or_none()
    if row is None:
        raise NotFound("username", thing=f"user {username}")
    return row


async def _hash_password(password: str) -> str:
    """The hash of a new password. Raises InvalidInput if the password is too short."""
    if len(password) < SHORTEST_PASSWORD:
        raise InvalidInput.at(
            "password", TemplatedMessage("A password has at least {least} characters.", least=SHORTEST_PASSWORD)
        )
    return await hash_password(password)


async def _owner_ids(db: AsyncSession, new: NewUser) -> tuple[int | None, int | None]:
    """The partner id and the marketplace id of a new user. Raises InvalidInput or NotFound."""
    if bool(new.partner) is not (new.role is Role.PARTNER):
        raise InvalidInput.at("partner", "Name a partner for the role partner, and only for that role.")
    if bool(new.marketplace) is not (new.role is Role.MARKETPLACE):
        raise InvalidInput.at("marketplace", "Name a marketplace for the role marketplace, and only for that role.")
    if new.partner:
        named = (col(PartnerRow.site_domain) == new.partner.lower()) | (col(PartnerRow.source_id) == new.partner)
        partners = (
            await db.exec(select(PartnerRow.id).where(named | (col(PartnerRow.id) == _parse_id(new.partner))))
        ).all()
        if len(partners) != 1:
            raise NotFound("partner", thing=f"partner {new.partner}")
        return partners[0], None
    if new.marketplace:
        called = func.lower(col(MarketplaceRow.name)) == new.marketplace.lower()
        query = select(MarketplaceRow.id).where(called | (col(MarketplaceRow.id) == _parse_id(new.marketplace)))
        marketplaces = (await db.exec(query)).all()
        if len(marketplaces) != 1:
            raise NotFound("marketplace", thing=f"marketplace {new.marketplace}")
        return None, marketplaces[0]
    return None, None


def _parse_id(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _email(text: str) -> str:
    try:
        return email_address(text) if text else ""
    except ValueError:
        raise InvalidInput.at("email", "Send an e-mail address like name@example.com.") from None
