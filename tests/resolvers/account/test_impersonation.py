"""Looks at the back office as a partner: whoever may, of its own tenants only, for a while, and without any change."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from admin.graph import execution
from resolvers.account.impersonation import VISIBLE, find_partner_view
from resolvers.core.caller import Caller, Role, Transport
from resolvers.core.context import Context
from resolvers.core.idempotency import IdempotentRequest
from resolvers.core.operation import Operation
from schema.core.errors import ReadOnlySession
from schema.core.permission import Permission
from schema.root import Mutation
from store.core.clock import clock
from tests.contract.declarations import published
from tests.fixtures.tenants import Tenants

BEGIN = """mutation($i: ImpersonatePartnerInput!) { impersonatePartner(input: $i) {
    impersonation { id reason createdOn expiresOn endedOn partner { uuid } } userErrors { field code } } }"""
END = """mutation($i: EndImpersonationInput!) { endImpersonation(input: $i) {
    impersonation { id endedOn } userErrors { field code } } }"""
REASON = "A question by telephone"


async def log_in(tenants: Tenants, who: str) -> None:
    """Make the token of somebody a log-in."""
    await tenants.execute("UPDATE token SET kind = 'log_in' WHERE user_id = :id", id=tenants.users[who].id)


async def begin(tenants: Tenants, who: str, partner: str = "a1", **more: Any) -> Any:
    """The answer to somebody who wants to look as a partner."""
    given = {"partnerUuid": tenants.partners[partner].uuid, "reason": REASON, **more}
    return await tenants.graphql(who, BEGIN, i=given)


async def caller_of(tenants: Tenants, who: str) -> Caller:
    """Somebody itself."""
    return await tenants.services.authenticator.authenticate(tenants.tokens[who])


async def view_of(tenants: Tenants, who: str) -> Caller | None:
    """As whom somebody looks at the back office; None if as itself."""
    view = await find_partner_view(tenants.services, await caller_of(tenants, who))
    return None if view is None else view.caller


async def context_of_view(tenants: Tenants, who: str = "master") -> Context:
    """The request of somebody who looks as the first partner."""
    await log_in(tenants, who)
    await begin(tenants, who)
    caller = await view_of(tenants, who)
    assert caller is not None
    return Context(tenants.services, caller, transport=Transport.BACK_OFFICE)


@pytest.mark.parametrize("who", ["master", "market a"])
async def test_whoever_may_looks_as_a_partner(tenants: Tenants, who: str) -> None:
    await log_in(tenants, who)
    payload = (await begin(tenants, who, minutes=10))["data"]["impersonatePartner"]
    look = payload["impersonation"]
    assert (payload["userErrors"], look["reason"], look["endedOn"]) == ([], REASON, None)
    assert look["partner"]["uuid"] == str(tenants.partners["a1"].uuid)
    lasts = dt.datetime.fromisoformat(look["expiresOn"]) - dt.datetime.fromisoformat(look["createdOn"])
    assert lasts == dt.timedelta(minutes=10)
    caller = await view_of(tenants, who)
    assert caller is not None
    assert (caller.role, caller.partner_id, caller.is_read_only) == (Role.PARTNER, tenants.partners["a1"].id, True)
    assert caller.permissions == VISIBLE
    assert (caller.user_id, caller.token_id) == (
        (await caller_of(tenants, who)).user_id,
        (await caller_of(tenants, who)).token_id,
    )
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["partner_id"]) == ("impersonate_partner", tenants.partners["a1"].id)
    assert (entry["user_id"], entry["input"]["reason"]) == (tenants.users[who].id, REASON)
    ended = (await tenants.graphql(who, END, i={}))["data"]["endImpersonation"]
    assert (ended["userErrors"], ended["impersonation"]["id"]) == ([], look["id"])
    assert ended["impersonation"]["endedOn"] is not None
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["partner_id"]) == ("end_impersonation", tenants.partners["a1"].id)
    assert await view_of(tenants, who) is None


async def test_others_do_not(tenants: Tenants) -> None:
    rights = [Permission.MANAGE_USER, Permission.VIEW_ORDER]
    await tenants.user("clerk", "marketplace", marketplace_id=tenants.marketplaces["a"].id, permissions=rights)
    for who in ("clerk", "a2"):
        await log_in(tenants, who)
        assert (await begin(tenants, who))["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    await tenants.user(
        "bold", "partner", partner_id=tenants.partners["a2"].id, permissions=[Permission.IMPERSONATE_PARTNER]
    )
    await log_in(tenants, "bold")
    assert (await begin(tenants, "bold", "a2"))["errors"][0]["extensions"]["code"] == "MARKETPLACE_ONLY"
    assert (await begin(tenants, "market a"))["errors"][0]["extensions"]["code"] == "LOG_IN_ONLY"
    await log_in(tenants, "market b")
    missing = (await begin(tenants, "market b"))["data"]["impersonatePartner"]
    assert missing["userErrors"] == [{"field": ["partnerUuid"], "code": "NOT_FOUND"}]
    assert await tenants.one("SELECT count(*) FROM impersonation") == 0


@pytest.mark.parametrize(("wrong", "code"), [({"reason": ""}, "INVALID"), ({"reason": "x" * 201}, "TOO_LONG"), ({"minutes": 31}, "OUT_OF_RANGE"), ({"minutes": 0}, "OUT_OF_RANGE")])  # fmt: skip
async def test_it_needs_a_reason_and_is_short(tenants: Tenants, wrong: dict[str, Any], code: str) -> None:
    await log_in(tenants, "master")
    payload = (await begin(tenants, "master", **wrong))["data"]["impersonatePartner"]
    assert payload["userErrors"] == [{"field": list(wrong), "code": code}]
    assert await tenants.one("SELECT count(*) FROM impersonation") == 0


async def test_every_change_is_refused(tenants: Tenants) -> None:
    context = await context_of_view(tenants)
    before = await tenants.snapshot()
    mutations = published(Mutation)
    assert len(mutations) > 150
    for field in mutations:
        (change,) = field.sources
        assert isinstance(change, Operation)
        with pytest.raises(ReadOnlySession):
            await change(context, input=object())
        request = IdempotentRequest(context, "key", b"", lambda _: pytest.fail("it ran"))
        with pytest.raises(ReadOnlySession):
            await change.respond(context, request, input=object())
    answer = await execution.run(context, "mutation { revokeToken(input: {}) { token { id } } }")
    assert [error.code for error in answer.errors] == ["READ_ONLY_SESSION"]
    assert await tenants.snapshot() == before


async def test_only_the_partner_is_seen(tenants: Tenants) -> None:
    context = await context_of_view(tenants)
    asked = """{ orders { nodes { partner { id } } } products { nodes { partner { id } } } partners { nodes { id } }
        me { partner { id } user { username } permissions } }"""
    answer = await execution.run(context, asked)
    answer.check()
    own = tenants.partners["a1"].id
    assert [each["id"] for each in answer.data["partners"]["nodes"]] == [own]
    for name in ("orders", "products"):
        nodes = answer.data[name]["nodes"]
        assert nodes
        assert {each["partner"]["id"] for each in nodes} == {own}
    assert answer.data["me"]["partner"] == {"id": own}
    assert answer.data["me"]["user"]["username"] == tenants.users["master"].username
    for query in ("webhookEndpoints", "events", "users"):
        refused = await execution.run(context, f"{{ {query} {{ nodes {{ id }} }} }}")
        assert [error.code for error in refused.errors] == ["FORBIDDEN"], query


async def test_it_ends_with_the_time_the_log_in_and_the_permission(tenants: Tenants) -> None:
    await context_of_view(tenants)
    clock.advance(dt.timedelta(minutes=31))
    assert await view_of(tenants, "master") is None
    over = (await tenants.graphql("master", END, i={}))["data"]["endImpersonation"]
    assert [each["code"] for each in over["userErrors"]] == ["NOT_FOUND"]
    await context_of_view(tenants, "market a")
    caller = await caller_of(tenants, "market a")
    other = "role = 'partner', partner_id = (SELECT max(id) FROM partner), marketplace_id = NULL"
    for change in ("permissions = '{view_order}'", f"permissions = NULL, {other}"):
        await tenants.execute(f"UPDATE app_user SET {change} WHERE id = :id", id=caller.user_id)  # noqa: S608 - a test's words
        tenants.services.authenticator.invalidate(user_id=caller.user_id)
        assert await view_of(tenants, "market a") is None
    await tenants.execute("UPDATE token SET revoked_on = created_on WHERE id = :id", id=caller.token_id)
    tenants.services.authenticator.invalidate(user_id=caller.user_id)
    assert await tenants.refuses(tenants.tokens["market a"])


async def test_a_log_in_looks_as_one_partner_at_a_time(tenants: Tenants) -> None:
    await log_in(tenants, "master")
    answers = await asyncio.gather(*(begin(tenants, "master", name) for name in ("a1", "a2", "b1", "a1")))
    assert all(each["data"]["impersonatePartner"]["userErrors"] == [] for each in answers)
    assert await tenants.one("SELECT count(*) FROM impersonation WHERE ended_on IS NULL") == 1
    assert await tenants.one("SELECT count(*) FROM impersonation") == 4
    first = await tenants.one("SELECT max(id) FROM impersonation WHERE ended_on IS NULL")
    clock.advance(dt.timedelta(hours=1))
    await begin(tenants, "master")
    assert await tenants.one("SELECT ended_on = expires_on FROM impersonation WHERE id = :id", id=first)


async def test_one_of_another_user_is_not_ended(tenants: Tenants) -> None:
    await context_of_view(tenants)
    id = await tenants.one("SELECT max(id) FROM impersonation")
    other = (await tenants.graphql("market a", END, i={"id": id}))["data"]["endImpersonation"]
    assert other["userErrors"] == [{"field": ["id"], "code": "NOT_FOUND"}]
    assert await view_of(tenants, "master") is not None
    own = (await tenants.graphql("master", END, i={"id": id}))["data"]["endImpersonation"]
    assert own["impersonation"]["id"] == id
    assert await view_of(tenants, "master") is None
