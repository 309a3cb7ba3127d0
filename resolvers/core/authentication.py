"""From the credential of a request to its caller."""

import asyncio
import datetime as dt
import time
from collections import OrderedDict
from dataclasses import dataclass

from sqlalchemy import func, or_, update
from sqlmodel import col, select

from resolvers.core.context import Caller, Role
from schema.core.errors import Unauthenticated
from schema.core.permission import NAMED, Permission
from store.account.credentials import digest_of
from store.core.clock import Clock
from store.database.db import Database
from store.partner.partners import MarketplaceRow, PartnerRow, TokenRow, UserRow

KEPT_SECONDS = 5.0
"""How long a token that was good is believed without asking the database: a revoked one works at most that much longer."""
RENEWED_AHEAD = 0.4
"""Of that time, how long before its end a token that is used is read again, so that its requests need not wait for that."""
KEPT_CALLERS = 10_000
NOT_OF_PARTNERS = frozenset(
    {
        Permission.CREATE_PARTNER,
        Permission.UPDATE_PARTNER,
        Permission.VALIDATE_PAYOUT,
        Permission.REOPEN_VOUCHER,
        Permission.CREATE_NETWORK_GIFT_CARD,
        Permission.MANAGE_MARKETPLACE,
        Permission.MANAGE_MASTERADMIN,
        Permission.MANAGE_USER,
    }
)
NOT_OF_MARKETPLACES = frozenset({Permission.MANAGE_MASTERADMIN})


def permissions_of(user: UserRow) -> frozenset[Permission]:
    """What a user may do: what was granted, else what the role has by default. The master permission is all of them."""
    if user.permissions is None:
        withheld = {Role.PARTNER: NOT_OF_PARTNERS, Role.MARKETPLACE: NOT_OF_MARKETPLACES}
        return NAMED - withheld.get(Role(user.role), frozenset())
    granted = frozenset(permission for permission in NAMED if permission in user.permissions)
    return NAMED if Permission.MANAGE_MASTERADMIN in granted else granted


@dataclass(frozen=True, slots=True)
class Kept:
    """A caller that is believed until a moment of `time.monotonic`, unless its token expires before."""

    caller: Caller
    until: float
    expires_on: dt.datetime | None

    def expired(self, clock: Clock) -> bool:
        """Whether the token has run out since it was read."""
        return self.expires_on is not None and self.expires_on <= clock.now()


class Callers:
    """Who a token belongs to, remembered for a few seconds. Of however many requests ask for one at a time, one reads it."""

    def __init__(self, db: Database, clock: Clock, *, kept_seconds: float = KEPT_SECONDS) -> None:
        self._db = db
        self._clock = clock
        self._kept_seconds = kept_seconds
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._being_read: dict[bytes, asyncio.Task[Kept | None]] = {}
        """Tasks of their own: a request that ends before takes nobody else's answer away."""

    async def by_header(self, authorization: str | None) -> Caller | None:
        """The caller of `Authorization: Token <secret>`; None without the header, Unauthenticated for a bad one."""
        if authorization is None:
            return None
        scheme, _, secret = authorization.partition(" ")
        secret = secret.strip()
        if scheme.lower() not in {"token", "bearer"} or not secret:
            raise Unauthenticated
        return await self.by_secret(secret)

    async def by_secret(self, secret: str) -> Caller:
        """The caller of a token; Unauthenticated when it is unknown, revoked, expired, or its user may not log in."""
        digest = digest_of(secret)
        kept = self._kept.get(digest)
        left = 0.0 if kept is None or kept.expired(self._clock) else kept.until - time.monotonic()
        if kept is None or left <= 0:
            kept = await self._read_with_others(digest)
        elif left <= self._kept_seconds * RENEWED_AHEAD:
            self._reading(digest)
        return kept.caller

    def forget(self, *, token_id: int | None = None, user_id: int | None = None, partner_id: int | None = None) -> None:
        """Stop believing at once, in this process, what is known of a token, of a user's or of a partner's tokens."""

        def meant(caller: Caller) -> bool:
            of = ((token_id, caller.token_id), (user_id, caller.user_id), (partner_id, caller.partner_id))
            return any(wanted is not None and wanted == found for wanted, found in of)

        for digest in [digest for digest, kept in self._kept.items() if meant(kept.caller)]:
            del self._kept[digest]
        self._being_read.clear()  # what is being read may be what was true before: nobody else is told of it, nor is it kept

    async def _read_with_others(self, digest: bytes) -> Kept:
        """What is found for all who ask now. When what somebody else has begun fails, it is begun once more."""
        begun_before = digest in self._being_read
        try:
            kept = await asyncio.shield(self._reading(digest))
        except Exception:
            if not begun_before:
                raise
            kept = await asyncio.shield(self._reading(digest))
        if kept is None:
            raise Unauthenticated
        return kept

    def _reading(self, digest: bytes) -> asyncio.Task[Kept | None]:
        """The one task that reads a token now."""
        task = self._being_read.get(digest)
        if task is None:
            task = self._being_read[digest] = asyncio.create_task(self._keep(digest), name="token")
            task.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # where nobody waits for it, as well
        return task

    async def _keep(self, digest: bytes) -> Kept | None:
        """Read a token and believe it from the moment it was asked for; what was refused is not believed any longer."""
        task, until = asyncio.current_task(), time.monotonic() + self._kept_seconds
        try:
            kept = await self._read(digest, until)
            if self._being_read.get(digest) is task:
                self._kept.pop(digest, None)
                if kept is not None:
                    self._kept[digest] = kept
                while len(self._kept) > KEPT_CALLERS:
                    self._kept.popitem(last=False)
        finally:
            if self._being_read.get(digest) is task:
                del self._being_read[digest]
        return kept

    async def _read(self, digest: bytes, until: float) -> Kept | None:
        """Who a token belongs to; None when it is unknown, revoked, expired, or its user may not log in."""
        now = self._clock.now()
        query = (
            select(TokenRow, UserRow, PartnerRow, MarketplaceRow.time_zone)
            .join(UserRow, col(UserRow.id) == col(TokenRow.user_id))
            .outerjoin(PartnerRow, col(PartnerRow.id) == col(UserRow.partner_id))
            .outerjoin(
                MarketplaceRow,
                col(MarketplaceRow.id) == func.coalesce(PartnerRow.marketplace_id, UserRow.marketplace_id),
            )
            .where(
                col(TokenRow.digest) == digest,
                col(TokenRow.revoked_on).is_(None),
                or_(col(TokenRow.expires_on).is_(None), col(TokenRow.expires_on) > now),
                col(UserRow.is_active),
            )
        )
        async with self._db.sessions() as db, db.begin():
            found = (await db.exec(query)).one_or_none()
            if found is None:
                return None
            token, user, partner, time_zone = found
            if token.last_used_on is None or (now - token.last_used_on).total_seconds() > 60:
                await db.exec(update(TokenRow).where(col(TokenRow.id) == token.id).values(last_used_on=now))
        caller = Caller(
            role=Role(user.role),
            permissions=permissions_of(user),
            user_id=user.id,
            token_id=token.id,
            partner_id=user.partner_id,
            marketplace_id=partner.marketplace_id if partner else user.marketplace_id,
            site_domain=partner.site_domain if partner else "",
            return_hosts=tuple(partner.return_hosts) if partner else (),
            partner_status=partner.status if partner else None,
            time_zone=time_zone or "UTC",
        )
        return Kept(caller, until, token.expires_on)
