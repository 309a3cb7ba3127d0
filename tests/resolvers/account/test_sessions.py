"""The log-ins of a user: what is told of them, how they end, and when it is forgotten where they came from."""

import datetime as dt

import pytest

from resolvers.account import sessions, staff
from resolvers.account.tokens import obtain_token
from resolvers.core.caller import Transport
from resolvers.core.context import Context
from schema.account.token import ObtainToken, RevokeOtherSessions
from schema.account.user import TokenKind
from schema.core.errors import SecondFactorRequired, Unauthenticated, WrongCredentials
from store.core.clock import clock
from tests.fixtures.tenants import PASSWORD, Tenants, kept_of
from tests.resolvers.account.second_factors import with_second_factor

NAME = "a1@users.example"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64)\x00" + "x" * 300
END_OTHERS = """mutation($i: RevokeOtherSessionsInput!) { revokeOtherSessions(input: $i) {
    count userErrors { code } } }"""


def at_page(tenants: Tenants, address: str = "192.0.2.7") -> Context:
    """A request to a page of the back office."""
    return Context(tenants.services, address=address, transport=Transport.BACK_OFFICE, user_agent=BROWSER)


async def back_office_log_in(tenants: Tenants) -> str:
    step = await staff.log_in(at_page(tenants), NAME, PASSWORD, staff.BACK_OFFICE)
    assert not step.ticket
    return step.token


async def test_the_log_ins_of_a_user_are_told_over_graphql(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    tenants.tokens["page"] = await back_office_log_in(tenants)
    api = await obtain_token(Context(tenants.services), ObtainToken(username=NAME, password=PASSWORD, label="till"))
    clock.advance(dt.timedelta(minutes=2))
    tenants.services.authenticator.invalidate(user_id=tenants.users["a1"].id)
    await tenants.graphql("page", "{ me { token { id } } }")
    query = "{ me { token { label } } sessions { label kind userAgent address } }"
    told = (await tenants.graphql("page", query))["data"]
    assert told["me"]["token"] == {"label": "Back office"}
    assert told["sessions"][0] == {
        "label": "Back office",
        "kind": "LOG_IN",
        "userAgent": BROWSER.replace("\x00", "")[:200],
        "address": "192.0.2.7",
    }
    assert [(each["label"], each["kind"]) for each in told["sessions"]] == [
        ("Back office", "LOG_IN"),
        ("till", "API"),
        ("test", "API"),
    ]
    assert not await tenants.refuses(api.token)
    assert "errors" in await tenants.graphql(None, "{ sessions { label } }")


async def test_a_program_is_told_by_what_it_says_of_itself(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    query = "mutation($i: ObtainTokenInput!) { obtainToken(input: $i) { issuedToken { token } } }"
    await tenants.graphql(None, query, i={"username": NAME, "password": PASSWORD})
    newest = await tenants.newest("token")
    assert newest["kind"] == "api"
    assert newest["user_agent"].startswith("python-httpx/")
    assert newest["address"] == "127.0.0.1"


async def test_all_other_log_ins_are_ended(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    here, there = [await back_office_log_in(tenants) for _ in range(2)]
    tenants.tokens["page"] = here
    answer = (await tenants.graphql("page", END_OTHERS, i={}))["data"]["revokeOtherSessions"]
    assert answer == {"count": 1, "userErrors": []}
    assert await tenants.refuses(there)
    for kept in (here, tenants.tokens["a1"], tenants.tokens["a2"]):
        assert not await tenants.refuses(kept)
    caller = await tenants.services.authenticator.authenticate(here)
    ended = await sessions.revoke_other_sessions(
        Context(tenants.services, caller), RevokeOtherSessions(include_api_tokens=True)
    )
    assert ended == 1
    assert await tenants.refuses(tenants.tokens["a1"])
    for kept in (here, tenants.tokens["a2"]):
        assert not await tenants.refuses(kept)


async def test_a_log_in_that_has_expired_is_not_counted(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    await back_office_log_in(tenants)
    clock.advance(staff.LOGIN_LIFETIME)
    await back_office_log_in(tenants)
    answer = (await tenants.graphql("a1", END_OTHERS, i={}))["data"]["revokeOtherSessions"]
    assert answer == {"count": 1, "userErrors": []}


async def test_where_a_token_came_from_is_forgotten_when_it_has_ended(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    await back_office_log_in(tenants)
    told = "SELECT address, user_agent FROM token WHERE label = 'Back office'"
    clock.advance(staff.LOGIN_LIFETIME + sessions.ORIGIN_RETENTION - dt.timedelta(minutes=1))
    assert await sessions.forget_origins(tenants.services) == 0
    clock.advance(dt.timedelta(minutes=2))
    assert await sessions.forget_origins(tenants.services) == 1
    assert tuple((await tenants.rows(told))[0]) == ("", "")


# ---- pages of staff


async def test_the_back_office_admits_everybody_and_limits_nobody(tenants: Tenants) -> None:
    for who in ("a1", "market a", "master"):
        await tenants.with_password(who, PASSWORD)
        name = tenants.users[who].username
        step = await staff.log_in(at_page(tenants), name, PASSWORD, staff.BACK_OFFICE)
        caller = await staff.authenticate_staff(tenants.services, step.token, staff.BACK_OFFICE)
        assert caller == await tenants.services.authenticator.authenticate(step.token)
        assert caller.user_id == tenants.users[who].id
    kept = await tenants.newest("token")
    assert (kept["kind"], kept["label"]) == (TokenKind.LOG_IN, "Back office")


async def test_a_log_in_with_a_code_takes_two_steps(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    step = await staff.log_in(at_page(tenants), NAME, PASSWORD, staff.BACK_OFFICE)
    assert (step.token, bool(step.ticket)) == ("", True)
    token = await staff.log_in_with_code(at_page(tenants), step.ticket, app.code(), staff.BACK_OFFICE)
    caller = await staff.authenticate_staff(tenants.services, token, staff.BACK_OFFICE)
    assert caller.user_id == tenants.users["a1"].id
    entries = "SELECT user_id FROM audit_entry WHERE operation = 'obtain_token' AND refused IS NULL"
    assert await tenants.one(entries) == tenants.users["a1"].id


async def test_a_ticket_is_for_one_log_in_and_ten_minutes(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    page, site = at_page(tenants), staff.BACK_OFFICE
    tickets = [(await staff.log_in(page, NAME, PASSWORD, site)).ticket for _ in range(3)]
    assert len(set(tickets)) == 3
    for wrong in (app.wrong_code(), "9" * 41, "1\x002"):
        with pytest.raises(WrongCredentials):
            await staff.log_in_with_code(page, tickets[0], wrong, site)
    await staff.log_in_with_code(page, tickets[0], app.code(), site)
    for over in (tickets[0], "", "é"):
        with pytest.raises(Unauthenticated):
            await staff.log_in_with_code(page, over, app.code(1), site)
    with pytest.raises(SecondFactorRequired):
        await staff.log_in_with_code(page, tickets[1], " ", site)
    await tenants.execute(
        "UPDATE app_user SET password_hash = :other WHERE username = :name", other=kept_of("x"), name=NAME
    )
    with pytest.raises(Unauthenticated):
        await staff.log_in_with_code(page, tickets[1], app.code(1), site)
    await tenants.with_password("a1", PASSWORD)
    clock.advance(staff.TICKET_LIFETIME)
    with pytest.raises(Unauthenticated):
        await staff.log_in_with_code(page, tickets[2], app.code(), site)


async def test_a_venue_of_another_partner_gives_no_ticket(tenants: Tenants) -> None:
    await with_second_factor(tenants)
    for partner, is_admitted in (("a1", True), ("a2", False), ("b1", False)):
        row = tenants.partners[partner]
        site = staff.venue_site(row.id, row.marketplace_id)
        if is_admitted:
            assert (await staff.log_in(at_page(tenants), NAME, PASSWORD, site)).ticket
            continue
        with pytest.raises(WrongCredentials):
            await staff.log_in(at_page(tenants), NAME, PASSWORD, site)
