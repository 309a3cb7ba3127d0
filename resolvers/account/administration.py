"""Users and tokens as whoever runs the installation manages them: of anybody, without a caller or a permission.

What is changed is in the audit log, as done by the command line.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.tokens import issue_token, set_password
from resolvers.core.auditing import audited_command
from resolvers.core.context import Role
from schema.account.user_input import SHORTEST_PASSWORD
from schema.core.errors import InvalidInput, NotFound
from schema.partner.partner import UserRole
from schema.validation.contact import email_address
from store.account.credentials import digest_of, hashed, normal_username
from store.core.clock import Clock
from store.partner.partners import MarketplaceRow, PartnerRow, TokenRow, UserRow


@dataclass(frozen=True)
class NewUser:
    """A user to be made. A partner's user names its partner, a marketplace's its marketplace, a master neither."""

    username: str
    password: str
    role: Role
    partner: str = ""
    """Its site domain, its id, or its source id."""
    marketplace: str = ""
    """Its name or its id."""
    email: str = ""
    first_name: str = ""


async def create_user(db: AsyncSession, new: NewUser) -> UserRow:
    """Make a user. Raises InvalidInput or NotFound, each naming the field; the database refuses a name that is taken."""
    username = normal_username(new.username)
    if not username or len(username) > 254:
        raise InvalidInput.at("username", "A user name has 1 to 254 characters.")
    password_hash = await _hashed(new.password)
    partner_id, marketplace_id = await _belonging(db, new)
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
    await audited_command(db, "create_user", vars(new), row, row)
    return row


async def reset_password(db: AsyncSession, username: str, password: str, clock: Clock) -> UserRow:
    """Give a user another password, and revoke all of their tokens; running servers believe those five seconds longer."""
    user = await find_user(db, username)
    await set_password(db, user, await _hashed(password), clock)
    await audited_command(db, "reset_password", {"username": user.username, "password": password}, user, user)
    return user


async def deactivate_users(db: AsyncSession, usernames: Sequence[str]) -> list[UserRow]:
    """Let users log in no more, all or none of them; running servers believe their tokens five seconds longer."""
    users = [await find_user(db, username) for username in usernames]
    for user in users:
        user.is_active = False
        await audited_command(db, "deactivate_user", {"username": user.username}, user, user)
    return users


async def create_token(
    db: AsyncSession, username: str, label: str, clock: Clock, life: dt.timedelta | None = None
) -> tuple[TokenRow, str]:
    """A new token of a user and its secret, which nobody can read again; without a `life` it never expires."""
    if life is not None and life <= dt.timedelta():
        raise InvalidInput.at("days", "A token lives at least a day.")
    user = await find_user(db, username)
    if not user.is_active:
        raise InvalidInput.at("username", f"{user.username} may not log in.")
    secret = await issue_token(db, user, label, clock)
    row = (await db.exec(select(TokenRow).where(col(TokenRow.digest) == digest_of(secret)))).one()
    row.expires_on = clock.now() + life if life else None
    told = {"username": user.username, "label": label, "expires_on": row.expires_on}
    await audited_command(db, "create_token", told, row, user)
    return row, secret


async def tokens_of(db: AsyncSession, username: str | None) -> list[tuple[TokenRow, UserRow]]:
    """All tokens with their users, or those of one user; the newest first."""
    query = select(TokenRow, UserRow).join(UserRow, col(UserRow.id) == col(TokenRow.user_id))
    if username is not None:
        query = query.where(col(UserRow.id) == (await find_user(db, username)).id)
    return list((await db.exec(query.order_by(col(TokenRow.id).desc()))).all())


async def revoke(db: AsyncSession, token_id: int, clock: Clock) -> TokenRow:
    """Stop a token from working; running servers believe it five seconds longer. Revoking again changes nothing."""
    row = (await db.exec(select(TokenRow).where(col(TokenRow.id) == token_id).with_for_update())).one_or_none()
    if row is None:
        raise NotFound("id", thing="token")
    row.revoked_on = row.revoked_on or clock.now()
    await audited_command(db, "revoke_token", {"id": row.id}, row, await db.get_one(UserRow, row.user_id))
    return row


async def find_user(db: AsyncSession, username: str) -> UserRow:
    """A user by name, whatever its case."""
    query = select(UserRow).where(col(UserRow.username) == normal_username(username))
    row = (await db.exec(query)).one_or_none()
    if row is None:
        raise NotFound("username", thing=f"user {username}")
    return row


async def _hashed(password: str) -> str:
    """What is kept of a new password; InvalidInput for one that is too short."""
    if len(password) < SHORTEST_PASSWORD:
        raise InvalidInput.at("password", f"A password has at least {SHORTEST_PASSWORD} characters.")
    return await hashed(password)


async def _belonging(db: AsyncSession, new: NewUser) -> tuple[int | None, int | None]:
    """The ids of the partner and of the marketplace that a user is of."""
    if bool(new.partner) is not (new.role is Role.PARTNER):
        raise InvalidInput.at("partner", "A partner's user names its partner, and no other user does.")
    if bool(new.marketplace) is not (new.role is Role.MARKETPLACE):
        raise InvalidInput.at("marketplace", "A marketplace's user names its marketplace, and no other user does.")
    if new.partner:
        named = (col(PartnerRow.site_domain) == new.partner.lower()) | (col(PartnerRow.source_id) == new.partner)
        partners = (
            await db.exec(select(PartnerRow.id).where(named | (col(PartnerRow.id) == _number(new.partner))))
        ).all()
        if len(partners) != 1:
            raise NotFound("partner", thing=f"partner {new.partner}")
        return partners[0], None
    if new.marketplace:
        called = func.lower(col(MarketplaceRow.name)) == new.marketplace.lower()
        query = select(MarketplaceRow.id).where(called | (col(MarketplaceRow.id) == _number(new.marketplace)))
        marketplaces = (await db.exec(query)).all()
        if len(marketplaces) != 1:
            raise NotFound("marketplace", thing=f"marketplace {new.marketplace}")
        return None, marketplaces[0]
    return None, None


def _number(given: str) -> int:
    return int(given) if given.isdecimal() and len(given) < 10 else 0


def _email(given: str) -> str:
    try:
        return email_address(given) if given else ""
    except ValueError as error:
        raise InvalidInput.at("email", str(error)) from None
