"""A password that is changed or reset ends what the old one had opened."""

import asyncio
from typing import Any

import pytest

from resolvers.account import users
from resolvers.account.administration import create_token, deactivate_users, reset_password
from resolvers.account.tokens import obtain_token
from resolvers.core.authentication import Authenticator
from resolvers.core.context import Context
from schema.account.token import IssuedToken, ObtainToken
from schema.core.errors import InvalidInput, NotFound, WrongCredentials
from store.core.clock import clock
from tests.changes import Transport
from tests.fixtures.tenants import PASSWORD, Tenants

NEW = "another horse battery"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}


@pytest.fixture(autouse=True)
async def passwords(tenants: Tenants) -> None:
    """The user of these tests may log in."""
    await tenants.with_password("a1", PASSWORD)


@pytest.fixture
def elsewhere(tenants: Tenants) -> Authenticator:
    """Another process, once what it believed of a token has ended."""
    return Authenticator(tenants.services.db, clock, cache_seconds=0)


async def log_in(tenants: Tenants, password: str = PASSWORD) -> IssuedToken:
    return await obtain_token(Context(tenants.services), ObtainToken(username="a1@users.example", password=password))


async def more_tokens(tenants: Tenants) -> list[str]:
    """Further tokens of the user, used already."""
    made = [(await log_in(tenants)).token for _ in range(2)]
    for secret in made:
        assert not await tenants.refuses(secret)
    return made


async def test_a_changed_password_revokes_all_tokens_but_the_one_that_asked(
    tenants: Tenants, ask: Transport, elsewhere: Authenticator
) -> None:
    others = await more_tokens(tenants)
    before = await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL")
    assert (await ask.change("a1", users.change_password, **{**CHANGE, "current_password": "a guess"})).wrong
    assert await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL") == before, (
        "refused: nothing ends"
    )
    assert (await ask.change("a1", users.change_password, **CHANGE)).done
    for callers in (tenants.services.authenticator, elsewhere):
        assert [await tenants.refuses(secret, callers) for secret in others] == [True, True]
        assert not await tenants.refuses(tenants.tokens["a1"], callers)
        assert not await tenants.refuses(tenants.tokens["a2"], callers), "somebody else's"
    assert not await tenants.refuses((await log_in(tenants, NEW)).token)


async def test_a_reset_password_revokes_all_tokens_of_that_user(
    tenants: Tenants, ask: Transport, elsewhere: Authenticator
) -> None:
    others, id = await more_tokens(tenants), tenants.users["a1"].id
    for harmless in ({"first_name": "Ada"}, {"password": "short"}):
        await ask.change("market a", users.update_user, id=id, **harmless)
        assert not await tenants.refuses(others[0], elsewhere)
    assert (await ask.change("market a", users.update_user, id=id, password=NEW)).done
    for callers in (tenants.services.authenticator, elsewhere):
        for secret in (*others, tenants.tokens["a1"]):
            assert await tenants.refuses(secret, callers)
        assert not await tenants.refuses(tenants.tokens["market a"], callers)
    assert not await tenants.refuses((await log_in(tenants, NEW)).token)


async def test_who_resets_their_own_password_stays_in(
    tenants: Tenants, ask: Transport, elsewhere: Authenticator
) -> None:
    id = tenants.users["master"].id
    async with tenants.services.db.sessions() as db, db.begin():
        _, other = await create_token(db, "master@users.example", "", clock)
    assert (await ask.change("master", users.update_user, id=id, password=NEW)).done
    assert await tenants.refuses(other, elsewhere)
    assert not await tenants.refuses(tenants.tokens["master"], elsewhere)


async def test_a_token_that_was_revoked_before_keeps_its_day(tenants: Tenants, ask: Transport) -> None:
    id, revoked = tenants.users["a1"].id, "SELECT revoked_on FROM token WHERE user_id = :id"
    await tenants.execute("UPDATE token SET revoked_on = now() - interval '1 day' WHERE user_id = :id", id=id)
    before = await tenants.one(revoked, id=id)
    assert (await ask.change("market a", users.update_user, id=id, password=NEW)).done
    assert await tenants.one(revoked, id=id) == before


async def test_a_log_in_that_was_checked_against_the_old_password_makes_no_token(tenants: Tenants) -> None:
    """It has found the password right, and waits for the row that a new one is being written into."""
    before = await tenants.one("SELECT count(*) FROM token")
    async with tenants.services.db.sessions() as db, db.begin():
        await reset_password(db, "a1@users.example", NEW, clock)
        late = asyncio.create_task(log_in(tenants))
        waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        async with asyncio.timeout(60):
            while await tenants.one(waits) < 1:
                await asyncio.sleep(0.05)
    with pytest.raises(WrongCredentials):
        await late
    assert await tenants.one("SELECT count(*) FROM token") == before


async def test_of_two_changes_at_once_one_counts(tenants: Tenants, ask: Transport) -> None:
    wanted: list[dict[str, Any]] = [{**CHANGE, "new_password": f"{NEW} {n}"} for n in range(2)]
    made = await asyncio.gather(*(ask.change("a1", users.change_password, **each) for each in wanted))
    assert sorted(outcome.done for outcome in made) == [False, True]
    (won,) = [each["new_password"] for each, outcome in zip(wanted, made, strict=True) if outcome.done]
    assert (await log_in(tenants, won)).token


async def test_the_command_line_resets_and_deactivates(tenants: Tenants, elsewhere: Authenticator) -> None:
    others = await more_tokens(tenants)
    async with tenants.services.db.sessions() as db, db.begin():
        with pytest.raises(InvalidInput):
            await reset_password(db, "a1@users.example", "short", clock)
    assert not await tenants.refuses(others[0], elsewhere)
    async with tenants.services.db.sessions() as db, db.begin():
        await reset_password(db, " A1@users.example", NEW, clock)
    for secret in (*others, tenants.tokens["a1"]):
        assert await tenants.refuses(secret, elsewhere)
    with pytest.raises(NotFound):
        async with tenants.services.db.sessions() as db, db.begin():
            await deactivate_users(db, ["a2@users.example", "nobody@users.example"])
    assert not await tenants.refuses(tenants.tokens["a2"], elsewhere), "all or none"
    async with tenants.services.db.sessions() as db, db.begin():
        await deactivate_users(db, ["a1@users.example", "a2@users.example"])
    assert await tenants.refuses(tenants.tokens["a2"], elsewhere)
    with pytest.raises(WrongCredentials):
        await log_in(tenants, NEW)
    told = await tenants.rows("SELECT operation, actor, input::text FROM audit_entry ORDER BY id")
    by_hand = [(row[0], row[1]) for row in told if row[1] == "command_line"]
    assert [name for name, _ in by_hand] == ["reset_password", "deactivate_user", "deactivate_user"]
    assert not any("horse" in row[2] for row in told)
