"""From a credential to a caller: what is believed, for how long, and what it may do."""

import asyncio
import contextlib
import datetime as dt
import time
from collections.abc import AsyncIterator, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.account.tokens import issue_token
from resolvers.core import authentication
from resolvers.core.authentication import Authenticator, permissions_of
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from schema.account.user import UserRole
from schema.core.errors import AppError, Forbidden, PartnerOnly, Unauthenticated, Unavailable
from schema.core.permission import GRANTABLE_PERMISSIONS, AccessRule, Permission
from store.account.credentials import secret_digest_of
from store.account.users import TokenRow, UserRow
from store.core.clock import clock
from tests.fixtures.tenants import PARTNERS_DO_NOT, Tenants
from tests.statements import record_statements


@pytest.fixture
def callers(tenants: Tenants) -> Authenticator:
    """Callers who are looked up anew each time."""
    return Authenticator(tenants.services.db, clock, cache_seconds=0)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds go by, of those that callers are believed for."""
    ahead, monotonic = 0.0, time.monotonic

    def move(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    monkeypatch.setattr(authentication, "time", SimpleNamespace(monotonic=lambda: monotonic() + ahead))
    return move


# ---- the header


@pytest.mark.parametrize("scheme", ["Token", "token", "TOKEN", "Bearer", "bearer"])
async def test_a_token_is_sent_as_token_or_bearer(tenants: Tenants, callers: Authenticator, scheme: str) -> None:
    caller = await callers.authenticate_header(f"{scheme} {tenants.tokens['a1']}")
    assert caller is not None
    assert caller.user_id == tenants.users["a1"].id
    assert await callers.authenticate_header(f"{scheme}   {tenants.tokens['a1']} ") == caller


async def test_whoever_sends_nothing_is_nobody(callers: Authenticator) -> None:
    assert await callers.authenticate_header(None) is None


async def test_a_bad_credential_is_refused(tenants: Tenants, callers: Authenticator) -> None:
    token = tenants.tokens["a1"]
    headers = [
        "", "Token", "Token ", "Token  ", token, f"Basic {token}", f"Token\t{token}", f"Token {token}x",
        f"Token {token[:-1]}", f"Token {token.swapcase()}", f"Token {token} x", "Token \ud800", "Token \x00", "Token é",
        f"Token {secret_digest_of(token).hex()}",
    ]  # fmt: skip
    for header in headers:
        with pytest.raises(Unauthenticated):
            await callers.authenticate_header(header)
    assert await tenants.one("SELECT count(*) FROM token WHERE last_used_on IS NOT NULL") == 0


# ---- who it is


async def test_a_caller_is_the_user_with_all_that_requests_need(tenants: Tenants, callers: Authenticator) -> None:
    partner = tenants.partners["a1"]
    await tenants.execute("UPDATE partner SET return_hosts = '[\"shop.example\"]' WHERE id = :id", id=partner.id)
    of_partner = await callers.authenticate(tenants.tokens["a1"])
    assert (of_partner.role, of_partner.partner_id, of_partner.marketplace_id) == (
        Role.PARTNER,
        partner.id,
        partner.marketplace_id,
    )
    assert (of_partner.site_domain, of_partner.return_hosts) == ("a1.localhost", ("shop.example",))
    of_market = await callers.authenticate(tenants.tokens["market b"])
    assert (of_market.role, of_market.partner_id) == (Role.MARKETPLACE, None)
    assert of_market.marketplace_id == tenants.marketplaces["b"].id
    master = await callers.authenticate(tenants.tokens["master"])
    assert (master.role, master.partner_id, master.marketplace_id) == (Role.MASTER, None, None)


async def test_the_last_use_is_told_to_the_minute(tenants: Tenants, callers: Authenticator) -> None:
    used = "SELECT last_used_on FROM token WHERE digest = :digest"
    digest = secret_digest_of(tenants.tokens["a1"])
    await callers.authenticate(tenants.tokens["a1"])
    first = await tenants.one(used, digest=digest)
    assert abs(first - clock.now()) < dt.timedelta(seconds=30)
    clock.advance(dt.timedelta(seconds=25))
    await callers.authenticate(tenants.tokens["a1"])
    assert await tenants.one(used, digest=digest) == first
    clock.advance(dt.timedelta(seconds=60))
    await asyncio.gather(*(callers.authenticate(tenants.tokens["a1"]) for _ in range(5)))
    assert await tenants.one(used, digest=digest) > first


# ---- what is no longer believed


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE token SET revoked_on = now() WHERE digest = :digest",
        "UPDATE app_user SET is_active = false WHERE id = (SELECT user_id FROM token WHERE digest = :digest)",
        "DELETE FROM token WHERE digest = :digest",
    ],
)
async def test_a_token_stops_working_with_its_user_or_by_itself(
    tenants: Tenants, callers: Authenticator, statement: str
) -> None:
    secret = tenants.tokens["a1"]
    assert not await tenants.refuses(secret, callers)
    await tenants.execute(statement, digest=secret_digest_of(secret))
    assert await tenants.refuses(secret, callers)
    assert not await tenants.refuses(tenants.tokens["a2"], callers)


async def test_a_token_expires_to_the_second_although_it_was_believed_just_before(tenants: Tenants) -> None:
    callers = Authenticator(tenants.services.db, clock, cache_seconds=3600)
    secret = tenants.tokens["a1"]
    moment = clock.now() + dt.timedelta(days=1)
    await tenants.execute("UPDATE token SET expires_on = :at WHERE digest = :d", at=moment, d=secret_digest_of(secret))
    assert not await tenants.refuses(secret, callers)
    clock.advance(dt.timedelta(hours=23, minutes=59))
    assert not await tenants.refuses(secret, callers)
    clock.advance(dt.timedelta(minutes=1))
    assert await tenants.refuses(secret, callers)
    assert await tenants.refuses(secret, Authenticator(tenants.services.db, clock))


async def test_a_caller_is_believed_for_a_while_without_asking(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=0.5), tenants.tokens["a1"]
    first = await callers.authenticate(secret)
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE digest = :d", d=secret_digest_of(secret))
    assert await callers.authenticate(secret) is first
    await asyncio.sleep(0.6)
    assert await tenants.refuses(secret, callers)


async def test_a_token_that_is_forgotten_is_asked_for_at_once(tenants: Tenants) -> None:
    callers = Authenticator(tenants.services.db, clock, cache_seconds=3600)
    mine, other = tenants.tokens["a1"], tenants.tokens["a2"]
    caller, kept = await callers.authenticate(mine), await callers.authenticate(other)
    await tenants.execute("UPDATE token SET revoked_on = now()")
    assert caller.token_id is not None
    callers.invalidate(token_id=caller.token_id)
    assert await tenants.refuses(mine, callers)
    assert await callers.authenticate(other) is kept


async def test_a_bad_token_is_not_kept_as_bad(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=3600), tenants.tokens["a1"]
    await tenants.execute("UPDATE app_user SET is_active = false")
    assert await tenants.refuses(secret, callers)
    await tenants.execute("UPDATE app_user SET is_active = true")
    assert not await tenants.refuses(secret, callers)


# ---- one reads for all


@contextlib.asynccontextmanager
async def held_up(tenants: Tenants) -> AsyncIterator[AsyncConnection]:
    """The tables that tokens are read from can't be read while this lasts."""
    async with asyncio.timeout(60), tenants.services.db.engine.begin() as other:
        await other.execute(text("LOCK TABLE token IN ACCESS EXCLUSIVE MODE"))
        yield other


async def readers(tenants: Tenants, number: int) -> Sequence[int]:
    """The processes of the database that wait to read tokens, once there are so many."""
    waits = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while len(found := await tenants.services.db.rows(text(waits))) < number:
        await asyncio.sleep(0.01)
    return [row[0] for row in found]


async def test_however_many_ask_at_once_the_database_is_asked_once(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=0), tenants.tokens["a1"]

    def reads(statements: list[str]) -> int:
        return sum(statement.startswith("SELECT") for statement in statements)

    with record_statements(tenants.services.db) as asked:
        found = await asyncio.gather(*(callers.authenticate(secret) for _ in range(100)))
        assert all(caller is found[0] for caller in found)
        assert reads(asked) == 1
        with pytest.raises(Unauthenticated):
            await callers.authenticate(f"{secret}x")
        await callers.authenticate(secret)
        assert reads(asked) == 3


async def test_who_began_to_read_may_leave_without_anybody_else(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock), tenants.tokens["a1"]
    async with held_up(tenants):
        first, *others = [asyncio.create_task(callers.authenticate(secret)) for _ in range(5)]
        await readers(tenants, 1)
        first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert {caller.user_id for caller in await asyncio.gather(*others)} == {tenants.users["a1"].id}


async def test_what_fails_for_who_began_is_tried_once_more_for_the_others(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock), tenants.tokens["a1"]
    async with held_up(tenants) as other:
        first, *others = [asyncio.create_task(callers.authenticate(secret)) for _ in range(5)]
        for pid in await readers(tenants, 1):
            await other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        with pytest.raises(Unavailable):
            await first
    assert {caller.user_id for caller in await asyncio.gather(*others)} == {tenants.users["a1"].id}


async def test_what_is_refused_is_refused_to_all_and_asked_again_next_time(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock), tenants.tokens["a1"]
    await tenants.execute("UPDATE app_user SET is_active = false")
    assert all(await asyncio.gather(*(tenants.refuses(secret, callers) for _ in range(20))))
    await tenants.execute("UPDATE app_user SET is_active = true")
    assert not any(await asyncio.gather(*(tenants.refuses(secret, callers) for _ in range(20))))


async def test_what_was_being_read_when_a_token_was_forgotten_is_not_believed(tenants: Tenants) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=3600), tenants.tokens["a1"]
    async with held_up(tenants):
        asking = asyncio.create_task(callers.authenticate(secret))
        await readers(tenants, 1)
        callers.invalidate(user_id=tenants.users["a1"].id)
    await asking
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE digest = :d", d=secret_digest_of(secret))
    assert await tenants.refuses(secret, callers)


async def test_a_token_is_believed_from_when_it_was_asked_for_not_from_when_that_was_answered(
    tenants: Tenants, later: Callable[[float], None]
) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=3600), tenants.tokens["a1"]
    async with held_up(tenants):
        asking = asyncio.create_task(callers.authenticate(secret))
        await readers(tenants, 1)
        later(3600)
    await asking
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE digest = :d", d=secret_digest_of(secret))
    assert await tenants.refuses(secret, callers)


async def test_a_token_in_use_is_read_again_before_it_has_to_be(
    tenants: Tenants, later: Callable[[float], None]
) -> None:
    callers, secret = Authenticator(tenants.services.db, clock, cache_seconds=3600), tenants.tokens["a1"]
    believed = await callers.authenticate(secret)
    assert await callers.authenticate(secret) is believed
    assert not reading()
    later(3000)
    assert await callers.authenticate(secret) is believed
    await asyncio.gather(*reading())
    assert await callers.authenticate(secret) is not believed
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE digest = :d", d=secret_digest_of(secret))
    later(3000)
    assert not await tenants.refuses(secret, callers)
    await asyncio.gather(*reading())
    assert await tenants.refuses(secret, callers)


def reading() -> list[asyncio.Task[Any]]:
    """The tasks that read a token now."""
    return [task for task in asyncio.all_tasks() if task.get_name() == "token"]


async def test_no_more_callers_are_kept_than_there_is_room_for(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "MAX_CACHED_CALLERS", 2)
    callers = Authenticator(tenants.services.db, clock, cache_seconds=3600)
    first, second, third = [(name, await callers.authenticate(tenants.tokens[name])) for name in ("a1", "a2", "b1")]
    for name, believed in (second, third):
        assert await callers.authenticate(tenants.tokens[name]) is believed
    name, believed = first
    assert await callers.authenticate(tenants.tokens[name]) is not believed


# ---- what it may do


def user(role: str, permissions: list[str] | None = None) -> UserRow:
    return UserRow(username=role, role=UserRole(role), permissions=permissions)


def test_permissions_by_default() -> None:
    assert permissions_of(user("partner")) == GRANTABLE_PERMISSIONS - PARTNERS_DO_NOT
    assert permissions_of(user("marketplace")) == GRANTABLE_PERMISSIONS - {Permission.MANAGE_MASTERADMIN}
    assert permissions_of(user("master")) == GRANTABLE_PERMISSIONS


@pytest.mark.parametrize("role", ["partner", "marketplace", "master"])
def test_what_was_granted_counts_instead(role: str) -> None:
    assert permissions_of(user(role, [])) == frozenset()
    assert permissions_of(user(role, ["use_voucher", "view_voucher"])) == {
        Permission.USE_VOUCHER,
        Permission.VIEW_VOUCHER,
    }
    assert permissions_of(user(role, ["use_voucher", "of_another_release", "public"])) == {Permission.USE_VOUCHER}


def test_the_master_permission_is_every_one() -> None:
    assert permissions_of(user("partner", ["manage_masteradmin"])) == GRANTABLE_PERMISSIONS
    caller = Caller(Role.PARTNER, frozenset({Permission.MANAGE_MASTERADMIN}))
    assert all(caller.may(permission) for permission in GRANTABLE_PERMISSIONS)
    assert not Caller(Role.MASTER, frozenset()).may(Permission.USE_VOUCHER)


BY_RULE: list[tuple[AccessRule, dict[Role | None, type[AppError] | None]]] = [
    (AccessRule.PUBLIC, dict.fromkeys([None, *Role])),
    (
        AccessRule.AUTHENTICATED,
        {
            None: Unauthenticated,
            Role.CUSTOMER: Forbidden,
            Role.PARTNER: None,
            Role.MARKETPLACE: None,
            Role.MASTER: None,
        },
    ),
    (
        AccessRule.PARTNER,
        {
            None: Unauthenticated,
            Role.CUSTOMER: PartnerOnly,
            Role.PARTNER: None,
            Role.MARKETPLACE: PartnerOnly,
            Role.MASTER: PartnerOnly,
        },
    ),
    (
        AccessRule.CUSTOMER,
        {
            None: Unauthenticated,
            Role.CUSTOMER: None,
            Role.PARTNER: Forbidden,
            Role.MARKETPLACE: Forbidden,
            Role.MASTER: Forbidden,
        },
    ),
]


@pytest.mark.parametrize(("rule", "by_role"), BY_RULE)
def test_a_rule_says_who_may(rule: AccessRule, by_role: dict[Role | None, type[AppError] | None]) -> None:
    services: Any = None
    for role, error in by_role.items():
        context = Context(services, None if role is None else Caller(role, GRANTABLE_PERMISSIONS))
        if error is None:
            context.require(rule)
        else:
            with pytest.raises(error):
                context.require(rule)


def test_a_customer_holds_no_permission() -> None:
    services: Any = None
    context = Context(services, Caller.customer(1, 1))
    for permission in GRANTABLE_PERMISSIONS:
        with pytest.raises(Forbidden, match=f"permissions.{permission}"):
            context.require(permission)


async def test_tokens_of_one_user_are_told_apart(tenants: Tenants, callers: Authenticator) -> None:
    async with tenants.services.db.sessions() as db, db.begin():
        secret = await issue_token(db, tenants.users["a1"], "second", clock)
    first, second = await callers.authenticate(tenants.tokens["a1"]), await callers.authenticate(secret)
    assert first.user_id == second.user_id
    assert first.token_id != second.token_id
    async with tenants.services.db.sessions() as db:
        assert second.token_id is not None
        assert (await db.get_one(TokenRow, second.token_id)).label == "second"
