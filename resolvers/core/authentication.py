"""Authenticates requests: from a token to its caller."""

import asyncio
import datetime as dt
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, DateTime, Select, bindparam, func, or_, select, update
from sqlmodel import col

from resolvers.core.caller import Caller, Role
from schema.core.errors import Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.partner.partner import PartnerStatus
from store.account.credentials import secret_digest_of
from store.account.users import TokenRow, UserRow
from store.core.clock import Clock
from store.database.db import Database
from store.database.loaders import column
from store.database.statement_cache import Condition, Statement
from store.partner.partners import MarketplaceRow, PartnerRow

CACHE_SECONDS = 5.0
"""Seconds that a valid token is cached. A revoked token works at most that much longer."""
REFRESH_AHEAD = 0.4
"""Fraction at the end of the cache time in which a request starts to refresh its token, without waiting for it."""
MAX_CACHED_CALLERS = 10_000
LAST_USE_PRECISION = 60.0
"""Minimum seconds between two writes of a token's last use."""
DENIED_TO_PARTNERS = frozenset(
    {
        Permission.CREATE_PARTNER,
        Permission.UPDATE_PARTNER,
        Permission.VALIDATE_PAYOUT,
        Permission.REOPEN_VOUCHER,
        Permission.CREATE_NETWORK_GIFT_CARD,
        Permission.MANAGE_NETWORK_VOUCHER,
        Permission.MANAGE_MARKETPLACE,
        Permission.MANAGE_MASTERADMIN,
        Permission.MANAGE_USER,
        Permission.IMPERSONATE_PARTNER,
    }
)
DENIED_TO_MARKETPLACES = frozenset({Permission.MANAGE_MASTERADMIN})


def permissions_of(user: UserRow) -> frozenset[Permission]:
    """The permissions of a user: the granted ones, else those of the role. The master permission includes all."""
    return _permissions(Role(user.role), user.permissions)


def _permissions(role: Role, names: Sequence[str] | None) -> frozenset[Permission]:
    if names is None:
        withheld = {Role.PARTNER: DENIED_TO_PARTNERS, Role.MARKETPLACE: DENIED_TO_MARKETPLACES}
        return GRANTABLE_PERMISSIONS - withheld.get(role, frozenset())
    granted = frozenset(permission for permission in GRANTABLE_PERMISSIONS if permission in names)
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

    async def reread(self, caller: Caller) -> Caller:
        """The caller of the same token as it is now, whatever was cached. Raises Unauthenticated like `authenticate`."""
        if caller.token_id is None or caller.is_read_only:
            return caller
        current = await self._read(Condition.equal(column(TokenRow, "id"), caller.token_id), time.monotonic())
        if current is None or current.caller != caller:
            self.invalidate(token_id=caller.token_id)
        if current is None:
            raise Unauthenticated
        return current.caller

    async def caller_of_user(self, user_id: int) -> Caller:
        """The caller that a user is now, without a token: for work that the user has asked for. Raises Unauthenticated if the
        user may not log in.
        """
        user = Condition.equal(column(UserRow, "id"), user_id)
        rows = await self._db.statements.rows("caller of user", _user_statement, {}, [user])
        if not rows:
            raise Unauthenticated
        return _caller(None, *rows[0])

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
            kept = await self._read(Condition.equal(column(TokenRow, "digest"), digest), until)
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

    async def _read(self, token: Condition, until: float) -> CachedCaller | None:
        """The caller of a token; None if it is unknown, revoked or expired, or its user may not log in."""
        now = self._clock.now()
        rows = await self._db.statements.rows("caller", _caller_statement, {"now": now}, [token])
        if not rows:
            return None
        id, expires_on, last_used_on, *of_caller = rows[0]
        if last_used_on is None or (now - last_used_on).total_seconds() > LAST_USE_PRECISION:
            async with self._db.sessions() as db, db.begin():
                await db.exec(update(TokenRow).where(col(TokenRow.id) == id).values(last_used_on=now))
        return CachedCaller(_caller(id, *of_caller), until, expires_on)


def _caller_statement(token: ColumnElement[bool]) -> Statement:
    """The token that meets a condition, if it is valid, and the arguments of `_caller`."""
    now = bindparam("now", type_=DateTime(timezone=True))
    columns: tuple[Any, ...] = (TokenRow.id, TokenRow.expires_on, TokenRow.last_used_on, *_user_columns())
    statement = select(*columns).join(UserRow, col(UserRow.id) == col(TokenRow.user_id))
    return _with_tenant(statement).where(
        token,
        col(TokenRow.revoked_on).is_(None),
        or_(col(TokenRow.expires_on).is_(None), col(TokenRow.expires_on) > now),
        col(UserRow.is_active),
    )


def _user_statement(user: ColumnElement[bool]) -> Statement:
    """The arguments of `_caller`, but for the token, of the user who meets a condition and may log in."""
    return _with_tenant(select(*_user_columns()).select_from(UserRow)).where(user, col(UserRow.is_active))


def _user_columns() -> tuple[Any, ...]:
    return (
        *(UserRow.id, UserRow.role, UserRow.permissions, UserRow.partner_id),
        func.coalesce(PartnerRow.marketplace_id, UserRow.marketplace_id),
        *(PartnerRow.site_domain, PartnerRow.return_hosts, PartnerRow.status, MarketplaceRow.time_zone),
    )


def _with_tenant(users: Select[Any]) -> Select[Any]:
    """A statement of users with their partner and their marketplace."""
    marketplace_id = func.coalesce(PartnerRow.marketplace_id, UserRow.marketplace_id)
    of_partner = users.outerjoin(PartnerRow, col(PartnerRow.id) == col(UserRow.partner_id))
    return of_partner.outerjoin(MarketplaceRow, col(MarketplaceRow.id) == marketplace_id)


def _caller(
    token_id: int | None,
    user_id: int,
    role: str,
    permissions: Sequence[str] | None,
    partner_id: int | None,
    marketplace_id: int | None,
    site_domain: str | None,
    return_hosts: Sequence[str] | None,
    partner_status: str | None,
    time_zone: str | None,
) -> Caller:
    return Caller(
        role=Role(role),
        permissions=_permissions(Role(role), permissions),
        user_id=user_id,
        token_id=token_id,
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        site_domain=site_domain or "",
        return_hosts=tuple(return_hosts or ()),
        partner_status=None if partner_status is None else PartnerStatus(partner_status),
        time_zone=time_zone or "UTC",
    )
