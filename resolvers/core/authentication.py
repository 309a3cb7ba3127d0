"""Authenticates requests: from a token to its caller."""

import asyncio
import datetime as dt
import time
from collections import OrderedDict
from dataclasses import dataclass

from sqlalchemy import func, or_, update
from sqlmodel import col, select

from resolvers.core.caller import Caller, Role
from schema.core.errors import Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from store.account.credentials import secret_digest_of
from store.account.users import TokenRow, UserRow
from store.core.clock import Clock
from store.database.db import Database
from store.partner.partners import MarketplaceRow, PartnerRow

CACHE_SECONDS = 5.0
"""Seconds that a valid token is cached. A revoked token works at most that much longer."""
REFRESH_AHEAD = 0.4
"""Fraction at the end of the cache time in which a request starts to refresh its token, without waiting for it."""
MAX_CACHED_CALLERS = 10_000
DENIED_TO_PARTNERS = frozenset(
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
DENIED_TO_MARKETPLACES = frozenset({Permission.MANAGE_MASTERADMIN})


def permissions_of(user: UserRow) -> frozenset[Permission]:
    """The permissions of a user: the granted ones, else those of the role. The master permission includes all."""
    if user.permissions is None:
        withheld = {Role.PARTNER: DENIED_TO_PARTNERS, Role.MARKETPLACE: DENIED_TO_MARKETPLACES}
        return GRANTABLE_PERMISSIONS - withheld.get(Role(user.role), frozenset())
    granted = frozenset(permission for permission in GRANTABLE_PERMISSIONS if permission in user.permissions)
    return GRANTABLE_PERMISSIONS if Permission.MANAGE_MASTERADMIN in granted else granted


@dataclass(frozen=True, slots=True)
class CachedCaller:
    """A cached caller, valid until a moment of `time.monotonic` unless its token expires before."""

    caller: Caller
    until: float
    expires_on: dt.datetime | None

    def expired(self, clock: Clock) -> bool:
        """Whether the token has expired since it was read."""
        return self.expires_on is not None and self.expires_on <= clock.now()


class Authenticator:
    """Finds the callers of tokens and caches them for a few seconds. Concurrent requests share one read of a token."""

    def __init__(self, db: Database, clock: Clock, *, cache_seconds: float = CACHE_SECONDS) -> None:
        self._db = db
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._cache: OrderedDict[bytes, CachedCaller] = OrderedDict()
        self._pending_reads: dict[bytes, asyncio.Task[CachedCaller | None]] = {}
        """Separate tasks: a cancelled request does not cancel the read for others."""

    async def authenticate_header(self, authorization: str | None) -> Caller | None:
        """The caller of `Authorization: Token <secret>`; None without the header. Raises Unauthenticated for an invalid
        one.
        """
        if authorization is None:
            return None
        scheme, _, secret = authorization.partition(" ")
        secret = secret.strip()
        if scheme.lower() not in {"token", "bearer"} or not secret:
            raise Unauthenticated
        return await self.authenticate(secret)

    async def authenticate(self, secret: str) -> Caller:
        """The caller of a token. Raises Unauthenticated if it is unknown, revoked or expired, or its user may not log
        in.
        """
        digest = secret_digest_of(secret)
        kept = self._cache.get(digest)
        left = 0.0 if kept is None or kept.expired(self._clock) else kept.until - time.monotonic()
        if kept is None or left <= 0:
            kept = await self._read_shared(digest)
        elif left <= self._cache_seconds * REFRESH_AHEAD:
            self._read_task(digest)
        return kept.caller

    def invalidate(
        self, *, token_id: int | None = None, user_id: int | None = None, partner_id: int | None = None
    ) -> None:
        """Drop the cached callers of a token, of a user or of a partner, in this process."""

        def meant(caller: Caller) -> bool:
            of = ((token_id, caller.token_id), (user_id, caller.user_id), (partner_id, caller.partner_id))
            return any(wanted is not None and wanted == found for wanted, found in of)

        for digest in [digest for digest, kept in self._cache.items() if meant(kept.caller)]:
            del self._cache[digest]
        self._pending_reads.clear()  # running reads may see old data: they are neither shared nor cached

    async def _read_shared(self, digest: bytes) -> CachedCaller:
        """The result of the read that concurrent requests share. A read that another request began is retried once if
        it fails.
        """
        begun_before = digest in self._pending_reads
        try:
            kept = await asyncio.shield(self._read_task(digest))
        except Exception:
            if not begun_before:
                raise
            kept = await asyncio.shield(self._read_task(digest))
        if kept is None:
            raise Unauthenticated
        return kept

    def _read_task(self, digest: bytes) -> asyncio.Task[CachedCaller | None]:
        """The running task that reads a token; started if there is none."""
        task = self._pending_reads.get(digest)
        if task is None:
            task = self._pending_reads[digest] = asyncio.create_task(self._read_and_cache(digest), name="token")
            task.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # retrieves the exception if no request awaits the task
        return task

    async def _read_and_cache(self, digest: bytes) -> CachedCaller | None:
        """Read a token and cache its caller, counted from the start of the read. An invalid token leaves the cache."""
        task, until = asyncio.current_task(), time.monotonic() + self._cache_seconds
        try:
            kept = await self._read(digest, until)
            if self._pending_reads.get(digest) is task:
                self._cache.pop(digest, None)
                if kept is not None:
                    self._cache[digest] = kept
                while len(self._cache) > MAX_CACHED_CALLERS:
                    self._cache.popitem(last=False)
        finally:
            if self._pending_reads.get(digest) is task:
                del self._pending_reads[digest]
        return kept

    async def _read(self, digest: bytes, until: float) -> CachedCaller | None:
        """The caller of a token; None if it is unknown, revoked or expired, or its user may not log in."""
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
            row = (await db.exec(query)).one_or_none()
            if row is None:
                return None
            token, user, partner, time_zone = row
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
        return CachedCaller(caller, until, token.expires_on)
