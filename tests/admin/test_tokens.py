"""API tokens in the back office: created at the account and at a user, their secret shown once, and revoked."""

import pytest

from tests.admin.office import ROOT, Office, errors, notices, send, typed
from tests.fixtures.tenants import PASSWORD
from tests.funnel.checkout.customer import Customer

ACCOUNT, FORM = f"{ROOT}account/", f"{ROOT}users/new/create-token/"
NAMED = {"label": "Till", "currentPassword": PASSWORD}


@pytest.fixture(autouse=True)
async def passwords(office: Office) -> None:
    """Everybody who asks has a password."""
    for who in ("a1", "market a"):
        await office.tenants.with_password(who, PASSWORD)


def secret_on(staff: Customer) -> str:
    """The secret on the page."""
    facts = {each.one("dt").text: each.one("dd").text for each in staff.page.all("dl")[0].all("div")}
    return facts.get("Secret", "")


def labels(staff: Customer, section: str) -> list[str]:
    """The first cells of the rows of a section of the account."""
    tables = [
        table
        for card in staff.page.all("section", class_="card", **{"aria-labelledby": section})
        for table in card.all("tbody")
    ]
    return [row.all("td")[0].text for table in tables for row in table.all("tr")]


async def number(office: Office) -> int:
    return int(await office.tenants.one("SELECT count(*) FROM token"))


async def test_a_token_is_created_at_the_account_and_its_secret_shown_once(office: Office) -> None:
    await office.tenants.execute("UPDATE app_user SET email = 'a1@home.example' WHERE username = 'a1@users.example'")
    staff = await office.open("a1", ACCOUNT)
    assert FORM in {a.attributes["href"] for a in staff.page.all("a")}
    await staff.open(FORM)
    assert staff.page.one("nav", class_="crumbs").one("a").attributes["href"] == ACCOUNT
    once_more = {**typed(staff), **NAMED}
    await send(staff, **NAMED)
    secret = secret_on(staff)
    assert not await office.tenants.refuses(secret)
    assert secret not in str(staff.response.url)
    assert staff.response.headers["cache-control"] == "no-store"
    before = await number(office)
    await staff.post(FORM, once_more)
    assert secret not in staff.response.text
    assert "The secret was shown once, and is not stored." in notices(staff)[1]
    assert await number(office) == before
    assert await office.tenants.one("SELECT array_agg(recipient) FROM mail") == ["a1@home.example"], "once, too"
    await staff.open(ACCOUNT)
    assert secret not in staff.response.text
    assert labels(staff, "tokens") == ["Till", "test"]


async def test_problems_are_at_their_fields_and_no_password_is_on_the_page(office: Office) -> None:
    staff = await office.open("a1", FORM)
    before = await number(office)
    await send(staff, label="Till", currentPassword="wrong horse battery", expiresOn="2020-01-01T00:00")
    assert (staff.response.status_code, errors(staff)) == (400, {"expiresOn": "Choose a time to come."})
    await send(staff, label="Till", currentPassword="wrong horse battery", expiresOn="")
    assert errors(staff) == {"currentPassword": "This is not the password that you log in with."}
    assert "wrong horse battery" not in staff.response.text
    assert typed(staff)["label"] == "Till"
    assert await number(office) == before


async def test_log_ins_and_tokens_are_two_lists(office: Office) -> None:
    await office.tenants.execute("UPDATE token SET kind = 'log_in'")
    staff = await office.open("a1", FORM)
    await send(staff, **NAMED)
    await staff.open(ACCOUNT)
    assert (labels(staff, "tokens"), labels(staff, "sessions")) == (["Till"], ["test"])


async def test_a_token_is_revoked_after_a_question(office: Office) -> None:
    await send(await office.open("a1", FORM), **NAMED)
    staff = office.browser("a1")
    secret, id = secret_on(staff), await office.tenants.one("SELECT max(id) FROM token")
    await staff.open(ACCOUNT)
    (link,) = [a for a in staff.page.all("a") if a.attributes["href"] == f"{ACCOUNT}tokens/{id}/"]
    await staff.open(link.attributes["href"])
    assert staff.h1 == "Revoke an API token"
    assert "Till" in staff.page.one("dl").text
    assert not await office.tenants.refuses(secret)
    await staff.send(f"{ACCOUNT}sessions/end/")
    assert staff.path == ACCOUNT
    assert await office.tenants.refuses(secret)
    assert (await staff.open(link.attributes["href"])).response.status_code == 404


@pytest.mark.parametrize("id", ["0", "x", "9" * 50])
async def test_what_is_no_token_of_ones_own_is_not_found(office: Office, id: str) -> None:
    other = await office.tenants.one("SELECT id FROM token WHERE user_id = :id", id=office.tenants.users["b1"].id)
    for path in (id, other):
        assert (await office.open("a1", f"{ACCOUNT}tokens/{path}/")).response.status_code == 404


async def test_a_manager_creates_and_revokes_the_token_of_a_user(office: Office) -> None:
    page = f"{ROOT}users/{office.tenants.users['a1'].id}/"
    staff = await office.open("market a", page)
    assert f"{page}create-user-token/" in {a.attributes["href"] for a in staff.page.all("a")}
    await staff.open(f"{page}create-user-token/")
    assert staff.page.one("nav", class_="crumbs").one("a").attributes["href"] == page
    await send(staff, **NAMED)
    secret, id = secret_on(staff), await office.tenants.one("SELECT max(id) FROM token")
    assert not await office.tenants.refuses(secret)
    await staff.open(page)
    table = staff.page.one("table")
    assert [th.text for th in table.all("th")][:3] == ["Label", "Kind", "Hint"]
    assert ("Till" in table.text, secret[:12] in table.text, "192.0.2.7" in table.text) == (True, True, False)
    await staff.open(f"{page}sessions/{id}/revoke-user-token/")
    await send(staff)
    assert await office.tenants.refuses(secret)
    assert "Till" not in (await staff.open(page)).page.one("table").text


async def test_an_inactive_user_is_offered_none(office: Office) -> None:
    await office.tenants.execute("UPDATE app_user SET is_active = false WHERE username = 'a1@users.example'")
    page = f"{ROOT}users/{office.tenants.users['a1'].id}/"
    staff = await office.open("market a", page)
    assert f"{page}create-user-token/" not in {a.attributes["href"] for a in staff.page.all("a")}


async def test_nobody_sees_the_users_of_others(office: Office) -> None:
    for who, whom in (("a1", "a2"), ("market a", "b1")):
        page = f"{ROOT}users/{office.tenants.users[whom].id}/"
        for path in (page, f"{page}create-user-token/"):
            assert (await office.open(who, path)).response.status_code in {403, 404}, (who, path)
