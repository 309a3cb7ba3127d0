"""Logging in to the back office in one step and in two, forgotten passwords, invitations, and one's own account."""

import datetime as dt
from urllib.parse import urlsplit

import pyotp
import pytest

from resolvers.account import links, passkeys
from resolvers.account.staff import LOGIN_LIFETIME, TICKET_LIFETIME
from store.account.links import link_url
from store.core.clock import clock
from tests.admin.office import COOKIE, LOG_IN, ROOT, Office, notices
from tests.fixtures.tenants import PASSWORD
from tests.funnel.checkout.customer import Customer
from tests.resolvers.account.second_factors import next_step, with_second_factor
from tests.servers.authenticator import Authenticator

CODE, ACCOUNT, FORGOT = f"{LOG_IN}code/", f"{ROOT}account/", f"{ROOT}forgot-password/"
NAME = "a1@users.example"
NEW = "another horse battery"


@pytest.fixture(autouse=True)
async def addresses(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody has an address and a password, and nobody waits for an answer."""
    monkeypatch.setattr(links, "RESPONSE_SECONDS", 0.0)
    await office.tenants.execute("UPDATE app_user SET email = username")
    await office.tenants.with_password("a1", PASSWORD)


async def enter(staff: Customer, password: str = PASSWORD, path: str = ROOT) -> Customer:
    """Open a page, and log in to see it."""
    await staff.open(path)
    return await staff.send(LOG_IN, {"username": NAME, "password": password})


async def newest_link(office: Office) -> str:
    """The page of the link that was sent last."""
    uuid = await office.tenants.one("SELECT uuid FROM account_link ORDER BY id DESC LIMIT 1")
    url = urlsplit(link_url(office.tenants.services.settings, uuid))
    return f"{url.path}?{url.query}"


async def test_a_log_in_leads_to_the_page_that_was_asked_for(office: Office) -> None:
    staff = await enter(office.browser(None), path=f"{ROOT}orders/?status=PAID&order=OLDEST")
    assert staff.path == f"{ROOT}orders/?status=PAID&order=OLDEST"
    assert staff.h1 == "Orders"
    before = staff.http.cookies[COOKIE]
    await staff.send(f"{ROOT}log-out/")
    assert urlsplit(staff.path).path == LOG_IN
    staff.http.cookies.set(COOKIE, before)
    await staff.open(ROOT)
    assert urlsplit(staff.path).path == LOG_IN
    assert notices(staff) == ["Your log-in has ended. Log in again."]


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example/", "https://evil.example/", "/admin/../x", "/redeem/", "/admin//x/", "\\evil"]
)
async def test_a_log_in_leads_nowhere_else(office: Office, elsewhere: str) -> None:
    staff = office.browser(None)
    await staff.open(LOG_IN)
    await staff.send(LOG_IN, {"username": NAME, "password": PASSWORD, "next": elsewhere})
    assert staff.path == ROOT


async def test_a_wrong_password_tells_no_more_than_a_wrong_name(office: Office) -> None:
    staff = await enter(office.browser(None), "wrong horse battery")
    assert staff.response.status_code == 400
    told = notices(staff)
    assert told == ["The user name or the password is wrong."]
    assert COOKIE not in staff.http.cookies
    await staff.send(LOG_IN, {"username": "nobody@users.example", "password": PASSWORD})
    assert notices(staff) == told
    await staff.send(LOG_IN, {"username": "", "password": ""})
    assert staff.response.status_code == 400


async def test_a_log_in_ends_by_itself(office: Office) -> None:
    staff = await enter(office.browser(None))
    clock.advance(LOGIN_LIFETIME - dt.timedelta(minutes=1))
    assert (await staff.open(f"{ROOT}orders/")).h1 == "Orders"
    clock.advance(LOGIN_LIFETIME + dt.timedelta(minutes=1))
    assert urlsplit((await staff.open(ROOT)).path).path == LOG_IN


async def test_a_second_factor_is_asked_for_in_a_second_step(office: Office) -> None:
    app = await with_second_factor(office.tenants)
    staff = await enter(office.browser(None), path=f"{ROOT}vouchers/")
    assert staff.path == CODE
    assert COOKIE not in staff.http.cookies
    assert PASSWORD not in staff.response.text
    for wrong in ("", app.wrong_code(), "9" * 41):
        await staff.send(CODE, {"otp": wrong})
        assert (staff.response.status_code, notices(staff)) == (400, ["This code is wrong, or was used already."])
    await staff.send(CODE, {"otp": app.code()})
    assert staff.path == f"{ROOT}vouchers/"
    staff.http.cookies.clear()
    again = await enter(staff)
    await again.send(CODE, {"otp": app.code()})
    assert again.response.status_code == 400, "a code opens one door"
    await again.send(CODE, {"otp": app.recovery_codes[0]})
    assert again.path == ROOT


async def test_the_second_step_takes_no_longer_than_ten_minutes(office: Office) -> None:
    app = await with_second_factor(office.tenants)
    staff = await enter(office.browser(None))
    clock.advance(TICKET_LIFETIME + dt.timedelta(seconds=1))
    await staff.send(CODE, {"otp": app.code()})
    assert urlsplit(staff.path).path == LOG_IN
    staff.http.cookies.clear()
    assert (await staff.open(CODE)).path == LOG_IN


async def test_a_forgotten_password_is_chosen_anew_with_a_link(office: Office) -> None:
    staff = await office.open(None, FORGOT)
    await staff.send(FORGOT, {"username": "nobody@users.example"})
    told = staff.page.one("main").text
    assert await office.tenants.one("SELECT count(*) FROM account_link") == 0
    await staff.open(FORGOT)
    await staff.send(FORGOT, {"username": NAME})
    assert staff.page.one("main").text == told
    link = await newest_link(office)
    await staff.open(link)
    assert staff.h1 == "Choose a password"
    await staff.send(f"{ROOT}reset-password/", {"password": "short"})
    assert (staff.response.status_code, notices(staff)) == (400, ["A password has at least 12 characters."])
    await staff.send(f"{ROOT}reset-password/", {"password": NEW})
    assert staff.h1 == "Your password is set"
    assert (await staff.open(link)).response.status_code == 410
    assert [each for each in staff.page.one("main").all("a") if each.attributes["href"] == FORGOT]
    assert (await enter(staff)).response.status_code == 400
    assert (await enter(staff, NEW)).path == ROOT


@pytest.mark.parametrize("token", ["", "x", "a" * 2000, "%00"])
async def test_a_link_that_is_none_leads_to_a_new_one(office: Office, token: str) -> None:
    staff = await office.open(None, f"{ROOT}reset-password/?token={token}")
    assert (staff.response.status_code, staff.h1) == (410, "This link has ended")


async def invitation(office: Office) -> str:
    """The page of the link of a user who was invited."""
    staff = await office.open("market a", f"{ROOT}users/new/invite-user/")
    form = staff.form(f"{ROOT}users/new/invite-user/")
    uuid = await office.tenants.one("SELECT uuid FROM partner ORDER BY id LIMIT 1")
    fields = {"username": "ada@users.example", "role": "PARTNER", "partnerUuid": str(uuid), "firstName": "Ada"}
    await staff.send(form.attributes["action"], fields)
    assert staff.h1 == "ada@users.example"
    return await newest_link(office)


async def test_an_invitation_that_has_expired_leads_to_whoever_sent_it(office: Office) -> None:
    link = await invitation(office)
    clock.advance(dt.timedelta(days=7))
    guest = await office.open(None, link)
    assert (guest.response.status_code, guest.h1) == (410, "This link has ended")
    assert "Ask whoever has invited you for another one." in guest.page.one("main").text
    assert not [each for each in guest.page.one("main").all("a") if each.attributes["href"] == FORGOT]


async def test_an_invited_user_chooses_a_password(office: Office) -> None:
    link = await invitation(office)
    guest = await office.open(None, link)
    assert "Welcome, Ada" in guest.page.one("main").text
    await guest.send(f"{ROOT}reset-password/", {"password": NEW})
    await guest.open(ROOT)
    await guest.send(LOG_IN, {"username": "ada@users.example", "password": NEW})
    assert guest.h1 == "Hello Ada"


async def test_a_second_factor_is_turned_on_and_off_at_the_account(office: Office) -> None:
    factor = f"{ACCOUNT}second-factor/"
    staff = await enter(office.browser(None))
    await staff.open(ACCOUNT)
    await staff.send(factor, {"password": "wrong horse battery"})
    assert notices(staff) == ["The password is wrong."]
    await staff.send(factor, {"password": PASSWORD})
    secret = staff.page.one("code", class_="secret").text
    assert staff.page.one("div", class_="qr").all("path")
    await staff.send(f"{factor}confirm/", {"otp": "x"})
    assert staff.response.status_code == 400
    assert not staff.page.all("div", class_="qr")
    assert secret not in staff.response.text
    assert "The app keeps what you have scanned." in staff.page.one("main").text
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    await staff.post(f"{factor}confirm/", {"csrf": csrf, "otp": "x", "url": "u" * 9000, "secret": "<b>"})
    assert staff.response.status_code == 400
    assert not staff.page.all("div", class_="qr")
    await staff.send(f"{factor}confirm/", {"otp": pyotp.TOTP(secret).at(clock.now())})
    codes = [code.text for code in staff.page.one("ul", class_="codes").all("code")]
    assert len(set(codes)) == 10
    for again in ("", "confirm/"):
        await staff.post(f"{factor}{again}", {"csrf": csrf, "password": PASSWORD, "otp": "x"})
        assert staff.response.status_code == 409
        assert notices(staff)[0].startswith("Your second factor is on already.")
        assert staff.h1 == "Your account"
    await staff.open(ACCOUNT)
    assert "10 recovery codes are left." in staff.page.one("main").text
    next_step()
    await staff.send(f"{factor}codes/", {"otp": codes[0]})
    newer = [code.text for code in staff.page.one("ul", class_="codes").all("code")]
    assert not set(newer) & set(codes)
    await staff.open(ACCOUNT)
    await staff.send(f"{factor}off/", {"password": PASSWORD, "otp": codes[1]})
    assert notices(staff) == ["This code is wrong, or was used already."]
    await staff.send(f"{factor}off/", {"password": PASSWORD, "otp": newer[0]})
    assert staff.path == ACCOUNT
    assert [chip.text for chip in staff.page.one("h2", id="factor").all("span")] == ["Off"]


async def test_a_passkey_is_added_with_the_password_and_the_second_factor(office: Office) -> None:
    begin = f"{ACCOUNT}passkeys/begin/"
    staff = await enter(office.browser(None))
    await staff.open(ACCOUNT)
    assert not [field for field in staff.page.all("input") if field.attributes.get("id") == "passkey-otp"]
    app = await with_second_factor(office.tenants)
    await staff.open(ACCOUNT)
    assert staff.page.one("input", id="passkey-otp")
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    for password, otp, told in (
        ("wrong horse battery", app.code(), "The password is wrong."),
        (PASSWORD, "", "This code is wrong, or was used already."),
        (PASSWORD, "9" * 50, "This code is wrong, or was used already."),
    ):
        await staff.post(begin, {"csrf": csrf, "password": password, "otp": otp})
        assert (staff.response.status_code, staff.response.json()) == (400, {"problem": told})
    await staff.post(begin, {"csrf": csrf, "password": PASSWORD, "otp": f" {app.code()} "})
    assert staff.response.json()["user"]["name"] == NAME


async def test_passkeys_are_offered_only_where_they_work(office: Office) -> None:
    staff = await office.browser(None).open(LOG_IN)
    assert "data-passkey" in staff.response.text
    await staff.open(LOG_IN, host="127.0.0.1")  # one of the service, and not that of its own address
    assert staff.response.status_code == 200
    assert "data-passkey" not in staff.response.text
    await office.tenants.with_password("a1", PASSWORD)
    staff = await office.open("a1", ACCOUNT)
    assert "data-passkey" in staff.response.text
    await staff.open(ACCOUNT, host="127.0.0.1")
    assert "data-passkey" not in staff.response.text
    assert "they work only there" in staff.response.text


async def test_why_a_passkey_is_not_registered(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    tenants = office.tenants
    phone = Authenticator(tenants.services.public_url, "127.0.0.1")
    staff = await enter(office.browser(None))
    await staff.open(ACCOUNT)
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    monkeypatch.setattr(passkeys, "MOST_PASSKEYS", 0)
    for name, credential, told in (
        ("Phone", "{}", "The passkey could not be registered. Try again."),
        ("x" * 81, "{}", "80"),
        ("Phone", "", "You have 0 passkeys already. Delete one first."),
    ):
        await staff.open(ACCOUNT)
        await staff.post(f"{ACCOUNT}passkeys/begin/", {"csrf": csrf, "password": PASSWORD})
        sent = {"csrf": csrf, "name": name, "credential": credential or phone.create(staff.response.text)}
        await staff.post(f"{ACCOUNT}passkeys/", sent)
        assert staff.response.status_code == 400
        assert told in notices(staff)[0]
    assert await tenants.one("SELECT count(*) FROM passkey") == 0


async def test_browsers_know_which_password_is_which(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}users/new/change-password/")
    fields = {each.attributes["name"]: each for each in staff.page.all("input", type="password")}
    told = {name: field.attributes["autocomplete"] for name, field in fields.items()}
    assert told == {"currentPassword": "current-password", "newPassword": "new-password"}


async def test_other_log_ins_are_listed_and_ended(office: Office) -> None:
    here = await enter(office.browser(None))
    there = Customer(here.http.__class__(transport=here.http._transport, base_url=here.http.base_url))
    await enter(there)
    await here.open(ACCOUNT)
    assert len([chip for chip in here.page.all("span", class_="chip") if chip.text == "This one"]) == 1
    await here.send(f"{ACCOUNT}sessions/end-others/")
    assert here.path == ACCOUNT
    assert urlsplit((await there.open(ROOT)).path).path == LOG_IN
    assert (await here.open(ROOT)).path == ROOT
    await there.http.aclose()


async def test_nobody_ends_the_log_in_of_somebody_else(office: Office) -> None:
    other = await office.tenants.one("SELECT id FROM token WHERE user_id = :id", id=office.tenants.users["b1"].id)
    staff = await enter(office.browser(None))
    await staff.open(ACCOUNT)
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    await staff.post(f"{ACCOUNT}sessions/end/", {"csrf": csrf, "id": str(other)})
    assert staff.response.status_code == 400
    assert await office.tenants.one("SELECT revoked_on FROM token WHERE id = :id", id=other) is None


@pytest.mark.parametrize("id", ["", "x", "-1", "²", str(2**31), "9" * 5000])
@pytest.mark.parametrize("path", ["sessions/end/", "passkeys/delete/"])
async def test_what_is_no_id_ends_nothing(office: Office, path: str, id: str) -> None:
    staff = await enter(office.browser(None))
    await staff.open(ACCOUNT)
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    await staff.post(f"{ACCOUNT}{path}", {"csrf": csrf, "id": id})
    assert (staff.response.status_code, staff.path, notices(staff)) == (200, ACCOUNT, [])
