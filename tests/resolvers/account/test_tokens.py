"""Logging in: nothing that is kept lets anybody in, and nothing that is answered tells who there is."""

import asyncio
import contextlib
import datetime as dt
import hashlib
import re
import time
from typing import Any

import pytest

from resolvers.account.tokens import LIVE_TOKENS, issue_token, me, obtain_token, revoke_token
from resolvers.core.context import Context
from schema.account.token import IssuedToken, ObtainToken, RevokeToken
from schema.core.errors import NotFound, Unauthenticated, WrongCredentials
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from store.account.credentials import PREFIX, hash_password, verify_password
from store.core.clock import clock
from tests.fixtures.tenants import PARTNERS_DO_NOT, PASSWORD, Tenants, kept_of
from tests.statements import record_statements

NAME = "a1@users.example"


@pytest.fixture(autouse=True)
async def passwords(tenants: Tenants) -> None:
    """Everybody has the same password."""
    await tenants.execute("UPDATE app_user SET password_hash = :hash", hash=kept_of())


async def log_in(tenants: Tenants, username: str = NAME, password: str = PASSWORD, label: str = "") -> IssuedToken:
    return await obtain_token(Context(tenants.services), ObtainToken(username=username, password=password, label=label))


# ---- tokens


async def test_of_a_token_only_a_digest_is_kept(tenants: Tenants) -> None:
    issued = await log_in(tenants, label="till " * 30)
    assert re.fullmatch(re.escape(PREFIX) + r"[A-Za-z0-9_-]{43}", issued.token)
    row = (await tenants.rows("SELECT digest, hint, label, expires_on FROM token ORDER BY id DESC LIMIT 1"))[0]
    assert row.digest == hashlib.sha256(issued.token.encode()).digest()
    assert row.hint == issued.token[:12]
    assert row.label == ("till " * 30)[:80]
    assert row.expires_on is None
    everything = str([tuple(one) for one in await tenants.rows("SELECT to_jsonb(t)::text FROM token t")])
    assert issued.token[12:] not in everything
    assert PASSWORD not in str(await tenants.snapshot())


async def test_every_log_in_makes_another_token(tenants: Tenants) -> None:
    issued = [(await log_in(tenants)).token for _ in range(3)]
    assert len(set(issued)) == 3
    for secret in issued:
        assert (await tenants.services.authenticator.authenticate(secret)).user_id == tenants.users["a1"].id


async def live(tenants: Tenants, who: str = "a1") -> list[str]:
    query = "SELECT label FROM token WHERE user_id = :id AND revoked_on IS NULL ORDER BY id"
    return [row[0] for row in await tenants.rows(query, id=tenants.users[who].id)]


async def issue(tenants: Tenants, count: int) -> None:
    async with tenants.services.db.sessions() as db, db.begin():
        for n in range(count):
            await issue_token(db, tenants.users["a1"], f"t{n}", clock)


async def test_of_more_than_a_hundred_the_longest_unused_goes(tenants: Tenants) -> None:
    await issue(tenants, LIVE_TOKENS - 1)
    assert len(await live(tenants)) == LIVE_TOKENS
    await tenants.execute("UPDATE token SET created_on = now() - interval '1 day'")
    await tenants.execute("UPDATE token SET last_used_on = now() - interval '2 days' WHERE label = 't50'")
    await tenants.execute("UPDATE token SET last_used_on = now() WHERE label IN ('test', 't0')")
    async with tenants.services.db.sessions() as db, db.begin():
        await issue_token(db, tenants.users["a1"], "newest", clock)
    left = await live(tenants)
    assert len(left) == LIVE_TOKENS
    assert "t50" not in left
    assert {"test", "t0", "t1", "newest"} <= set(left)
    assert len(await live(tenants, "a2")) == 1


async def test_tokens_that_no_longer_work_push_nobody_out(tenants: Tenants) -> None:
    await issue(tenants, LIVE_TOKENS - 1)
    await tenants.execute(
        "UPDATE token SET expires_on = :past, last_used_on = now() WHERE label LIKE 't_'",
        past=clock.now() - dt.timedelta(seconds=1),
    )
    before = await live(tenants)
    for _ in range(3):
        await log_in(tenants)
    assert set(before) <= set(await live(tenants))


async def test_log_ins_at_once_make_no_hundred_and_first(tenants: Tenants) -> None:
    await issue(tenants, LIVE_TOKENS - 2)
    issued = await asyncio.gather(*(log_in(tenants) for _ in range(6)))
    assert len({one.token for one in issued}) == 6
    assert len(await live(tenants)) == LIVE_TOKENS


# ---- refusals


async def test_all_that_keeps_somebody_out_has_one_answer(tenants: Tenants) -> None:
    await tenants.user("no password", "partner", partner_id=tenants.partners["a1"].id)
    await tenants.execute("UPDATE app_user SET is_active = false WHERE username = 'a2@users.example'")
    count = await tenants.one("SELECT count(*) FROM token")
    before = await tenants.snapshot()
    tries = [
        ("nobody@users.example", PASSWORD),
        (NAME, "wrong"),
        (NAME, ""),
        (NAME, PASSWORD + " "),
        (NAME, PASSWORD.upper()),
        ("a2@users.example", PASSWORD),
        ("no-password@users.example", ""),
        ("no-password@users.example", "anything"),
        ("", ""),
        (f"{NAME}%", PASSWORD),
    ]
    for username, password in tries:
        with pytest.raises(WrongCredentials) as error:
            await log_in(tenants, username, password)
        assert [(p.path, p.code, p.message) for p in error.value.problems] == [
            ((), "WRONG_CREDENTIALS", "Unable to log in with provided credentials.")
        ]
    assert await tenants.one("SELECT count(*) FROM token") == count
    assert await tenants.snapshot() == before


async def test_a_wrong_user_takes_the_work_of_a_wrong_password(tenants: Tenants) -> None:
    kept = await hash_password(PASSWORD)

    async def seconds(work: Any) -> float:
        begun = time.perf_counter()
        with contextlib.suppress(WrongCredentials):
            await work
        return time.perf_counter() - begun

    await verify_password(None, "warm")
    one_check = min([await seconds(verify_password(kept, "wrong")) for _ in range(5)])
    for username in ("nobody@users.example", "", NAME):
        assert await seconds(log_in(tenants, username, "wrong")) > 0.8 * one_check


async def test_nobody_has_the_password_that_strangers_are_checked_against() -> None:
    assert not await verify_password(None, "")
    assert not await verify_password("", "")
    assert not await verify_password("no hash at all", "x")
    assert await verify_password(await hash_password("x"), "x")


@pytest.mark.parametrize("typed", [NAME, NAME.upper(), f"  {NAME}\n", "A1@Users.Example"])
async def test_a_user_name_is_matched_whatever_its_case(tenants: Tenants, typed: str) -> None:
    assert (await log_in(tenants, typed)).user.username == NAME


# ---- whose it is


async def test_the_uuid_is_that_of_whom_the_user_works_for(tenants: Tenants) -> None:
    expected = {
        "a1@users.example": tenants.partners["a1"].uuid,
        "market-b@users.example": tenants.marketplaces["b"].uuid,
        "master@users.example": tenants.users["master"].uuid,
    }
    for username, uuid in expected.items():
        assert (await log_in(tenants, username)).uuid == uuid


async def test_a_caller_is_told_who_it_is_and_what_it_may(tenants: Tenants) -> None:
    of_partner = await me(await tenants.context("a1"))
    assert of_partner.user_id == tenants.users["a1"].id
    assert of_partner.partner_id == tenants.partners["a1"].id
    assert of_partner.marketplace_id == tenants.marketplaces["a"].id
    assert of_partner.permissions == sorted(GRANTABLE_PERMISSIONS - PARTNERS_DO_NOT)
    of_market = await me(await tenants.context("market a"))
    assert of_market.partner_id is None
    assert of_market.marketplace_id == tenants.marketplaces["a"].id
    master = await me(await tenants.context("master"))
    assert (master.partner_id, master.marketplace_id) == (None, None)
    assert master.permissions == sorted(GRANTABLE_PERMISSIONS)
    with pytest.raises(Unauthenticated):
        await me(Context(tenants.services))


async def test_a_caller_is_told_what_it_may_now_whatever_was_cached(tenants: Tenants) -> None:
    context, user_id = await tenants.context("a1"), tenants.users["a1"].id
    await tenants.execute("UPDATE app_user SET permissions = '{use_voucher}' WHERE id = :id", id=user_id)
    assert (await me(context)).permissions == [Permission.USE_VOUCHER]
    assert (await tenants.context("a1")).required_caller.permissions == {Permission.USE_VOUCHER}
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE user_id = :id", id=user_id)
    with pytest.raises(Unauthenticated):
        await me(context)
    with pytest.raises(Unauthenticated):
        await tenants.context("a1")


async def test_a_token_is_checked_with_one_statement(tenants: Tenants) -> None:
    context = await tenants.context("a1")
    with record_statements(tenants.services.db) as statements:
        await me(context)
    assert len(statements) == 1


# ---- revoking


async def test_the_token_of_the_request_is_revoked_at_once(tenants: Tenants) -> None:
    context = await tenants.context("a1")
    revoked = await revoke_token(context, RevokeToken())
    assert revoked.id == context.required_caller.token_id
    assert revoked.revoked_on is not None
    assert await tenants.refuses(tenants.tokens["a1"])
    assert not await tenants.refuses(tenants.tokens["a2"])


async def test_another_token_of_ones_own_is_revoked_by_its_id(tenants: Tenants) -> None:
    lost = (await log_in(tenants)).token
    caller = await tenants.services.authenticator.authenticate(lost)
    await revoke_token(await tenants.context("a1"), RevokeToken(id=caller.token_id))
    assert await tenants.refuses(lost)
    assert not await tenants.refuses(tenants.tokens["a1"])


async def test_revoking_again_changes_nothing(tenants: Tenants) -> None:
    lost = await tenants.services.authenticator.authenticate((await log_in(tenants)).token)
    context = await tenants.context("a1")
    first = await revoke_token(context, RevokeToken(id=lost.token_id))
    clock.advance(dt.timedelta(hours=1))
    again = await revoke_token(context, RevokeToken(id=lost.token_id))
    assert again.revoked_on == first.revoked_on


async def test_nobody_revokes_the_token_of_another(tenants: Tenants) -> None:
    foreign = (await tenants.context("a2")).required_caller.token_id
    for who in ("a1", "market a", "master"):
        with pytest.raises(NotFound, match="No such token"):
            await revoke_token(await tenants.context(who), RevokeToken(id=foreign))
    with pytest.raises(NotFound):
        await revoke_token(await tenants.context("a1"), RevokeToken(id=999_999))
    assert await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL") == 0
    assert not await tenants.refuses(tenants.tokens["a2"])


# ---- over GraphQL


LOG_IN = """mutation($i: ObtainTokenInput!) { obtainToken(input: $i) {
    issuedToken { token uuid user { username } } userErrors { field code message } } }"""


async def test_a_token_is_obtained_used_and_revoked_over_graphql(tenants: Tenants) -> None:
    body = await tenants.graphql(None, LOG_IN, i={"username": NAME, "password": PASSWORD})
    issued = body["data"]["obtainToken"]
    assert issued["userErrors"] == []
    assert issued["issuedToken"]["uuid"] == str(tenants.partners["a1"].uuid)
    tenants.tokens["new"] = issued["issuedToken"]["token"]
    whoami = "{ me { user { username } partner { commercialName } permissions } }"
    body = await tenants.graphql("new", whoami)
    assert body["data"]["me"]["user"] == {"username": NAME}
    assert body["data"]["me"]["partner"] == {"commercialName": "Shop a1"}
    assert len(body["data"]["me"]["permissions"]) == len(GRANTABLE_PERMISSIONS - PARTNERS_DO_NOT)
    revoke = "mutation { revokeToken(input: {}) { token { hint revokedOn } userErrors { code } } }"
    body = await tenants.graphql("new", revoke)
    assert body["data"]["revokeToken"]["token"]["hint"] == tenants.tokens["new"][:12]
    refused_body = await tenants.graphql("new", whoami)
    assert "data" not in refused_body or refused_body["data"] is None
    assert await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL") == 1


async def test_how_long_and_for_what_a_token_is_over_graphql(tenants: Tenants) -> None:
    began = clock.now()
    sent = {"username": NAME, "password": PASSWORD, "label": "till", "hours": 2}
    body = await tenants.graphql(None, LOG_IN, i=sent)
    tenants.tokens["short"] = body["data"]["obtainToken"]["issuedToken"]["token"]
    made = (await tenants.rows("SELECT label, expires_on FROM token ORDER BY id DESC LIMIT 1"))[0]
    assert made[0] == "till"
    assert dt.timedelta(hours=2) <= made[1] - began < dt.timedelta(hours=3)
    assert not await tenants.refuses(tenants.tokens["short"])
    for hours in (0, 8761):
        wrong = (await tenants.graphql(None, LOG_IN, i=sent | {"hours": hours}))["data"]["obtainToken"]
        assert (wrong["issuedToken"], wrong["userErrors"][0]["field"]) == (None, ["hours"])
    clock.advance(dt.timedelta(hours=2, seconds=1))
    assert await tenants.refuses(tenants.tokens["short"])


async def test_a_wrong_log_in_is_data_over_graphql(tenants: Tenants) -> None:
    answers = [
        await tenants.graphql(None, LOG_IN, i={"username": username, "password": password})
        for username, password in ((NAME, "wrong"), ("nobody", PASSWORD))
    ]
    assert answers[0] == answers[1]
    assert answers[0]["data"]["obtainToken"] == {
        "issuedToken": None,
        "userErrors": [
            {"field": [], "code": "WRONG_CREDENTIALS", "message": "Unable to log in with provided credentials."}
        ],
    }


async def test_a_foreign_token_is_data_over_graphql(tenants: Tenants) -> None:
    foreign = (await tenants.context("a2")).required_caller.token_id
    revoke = "mutation($id: Int) { revokeToken(input: {id: $id}) { token { id } userErrors { field code } } }"
    body = await tenants.graphql("a1", revoke, id=foreign)
    assert body["data"]["revokeToken"] == {"token": None, "userErrors": [{"field": ["id"], "code": "NOT_FOUND"}]}
