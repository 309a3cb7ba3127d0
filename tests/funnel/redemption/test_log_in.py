"""Logging in at the venue page: who gets in, where the code leads, how long it lasts and how it ends."""

import datetime as dt
from typing import Any

import pyotp

from resolvers.account.administration import reset_password
from resolvers.account.second_factor import confirm_second_factor, set_up_second_factor
from resolvers.account.staff import LOGIN_LIFETIME, TICKET_LIFETIME
from resolvers.account.tokens import obtain_token
from resolvers.account.users import change_password
from resolvers.core.caller import Role
from resolvers.core.context import Context
from schema.account.second_factor import ConfirmSecondFactor, SetUpSecondFactor
from schema.account.token import ObtainToken
from schema.account.user_input import ChangePassword
from schema.core.text import Text
from store.core.clock import clock
from store.voucher.vouchers import VoucherIncludedOptionRow
from tests.fixtures.basket import experiences
from tests.fixtures.document import voucher as issued
from tests.fixtures.shop import open_shop
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.funnel.redemption.fixtures import LOG_IN, PASSWORD, ROOT, Venue, log_in, note, press, verdict
from tests.servers.production import OTHER_HOST


async def test_a_scanned_code_leads_through_the_log_in_to_the_voucher(venue: Venue) -> None:
    row = await venue.voucher(giftee_first_name="Marie", giftee_last_name="Curie")
    await venue.shop.add(
        VoucherIncludedOptionRow(
            partner_id=row.partner_id, voucher_id=row.id, option_id=venue.sold.tea.id, name=Text(en="Tea"), count=2
        )
    )
    staff = await log_in(venue.browsers(), await venue.user(), row.normal_code)
    assert staff.h1 == "Massage by the fire"
    assert verdict(staff) == "Can be used Nothing of it has been used."
    said = staff.page.one("main").text
    for wanted in ("Marie Curie", "2 × Tea", row.code, "On weekdays.", "Valid until"):
        assert wanted in said, wanted
    check_headers(staff)
    check_headings(staff.page)
    check_controls(staff.page)
    await staff.open(f"{LOG_IN}?code={row.normal_code}")
    assert staff.h1 == "Massage by the fire"
    await staff.send("/redeem/log-out/")
    assert staff.path == LOG_IN
    assert (await staff.open(ROOT)).path == LOG_IN


async def test_only_who_sees_the_partner_gets_in(venue: Venue) -> None:
    other = await open_shop(venue.shop.services, venue.shop.sandbox, OTHER_HOST)
    row = await venue.voucher()
    for role in (Role.PARTNER, Role.MARKETPLACE):
        stranger = await log_in(venue.browsers(), await venue.user(role, of=other), row.normal_code)
        assert stranger.response.status_code == 400
        assert stranger.errors == ["User name or password are not right, or they are not for this shop."]
        assert "__Host-coffret-staff" not in stranger.http.cookies
    live = "SELECT count(*) FROM token WHERE revoked_on IS NULL"
    assert await venue.shop.one(live) == 0
    for role in (Role.MARKETPLACE, Role.MASTER):
        assert (await venue.staff(row.normal_code, role=role)).h1 == "Massage by the fire"
    foreign = await issued(other, (await experiences(other)).massage)
    known = await venue.staff(foreign.normal_code, role=Role.MASTER)
    assert (known.response.status_code, known.errors) == (404, ["No voucher or gift card of this shop has this code."])


async def test_the_log_in_is_a_token_that_ends_in_a_cookie_that_no_script_reads(venue: Venue) -> None:
    customer, name = await venue.browsers().open(LOG_IN), await venue.user()
    form = customer.form(LOG_IN)
    fields = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")}
    answer = await customer.http.post(LOG_IN, data=fields | {"username": name, "password": PASSWORD})
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("__Host-coffret-staff=")]
    said = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert said == {"secure", "httponly", "samesite=lax", "path=/", f"max-age={12 * 60 * 60}"}
    expires = await venue.shop.one("SELECT expires_on FROM token")
    assert dt.timedelta(hours=11) < expires - clock.now() <= LOGIN_LIFETIME


async def test_a_session_that_somebody_else_knows_ends_with_the_log_in(venue: Venue) -> None:
    """Its forms are worth nothing afterwards, and the session of who logged in is not known to whoever comes next."""
    row, planted = await venue.voucher(), "S" * 43
    attacker, victim = venue.browsers(), venue.browsers()
    for browser in (attacker, victim):
        browser.http.cookies.set("__Host-coffret-session", planted, domain=venue.shop.partner.site_domain)
        await browser.open(LOG_IN)
        assert browser.http.cookies["__Host-coffret-session"] == planted
    known = attacker.form(LOG_IN).one("input", name="csrf").attributes["value"]
    await log_in(victim, "nobody", row.normal_code)
    assert victim.http.cookies["__Host-coffret-session"] == planted
    await log_in(victim, await venue.user(), row.normal_code)
    during = victim.http.cookies["__Host-coffret-session"]
    assert during != planted
    await press(victim, "Start using it", csrf=known)
    assert (victim.response.status_code, await venue.state(row)) == (403, "paid")
    await victim.open(ROOT)
    await victim.send(f"{ROOT}log-out/")
    assert victim.http.cookies["__Host-coffret-session"] not in {planted, during}


async def test_what_is_wrong_with_a_log_in(venue: Venue) -> None:
    name = await venue.user()
    customer = await log_in(venue.browsers(), " ", "", "")
    assert customer.errors == ["Enter your user name.", "Enter your password."]
    check_controls(customer.page)
    wrong = ["User name or password are not right, or they are not for this shop."]
    for _ in range(30):  # pauses double, so that one is met however slow this runs
        await customer.send(LOG_IN, {"username": name, "password": "nonsense"})
        if customer.response.status_code != 400:
            break
        assert customer.errors == wrong
    held = ["Too many attempts. Wait a few minutes, then try again."]
    assert (customer.response.status_code, customer.errors) == (429, held)
    assert int(customer.response.headers["retry-after"]) > 0
    assert "__Host-coffret-staff" not in customer.http.cookies


async def test_a_log_in_ends(venue: Venue) -> None:
    """By being left alone, by being revoked, by its user being stopped: each at once, and each leads back to the code."""
    row = await venue.voucher()
    kept = venue.shop.services.authenticator
    idle, revoked, stopped, moved = [await venue.staff(row.normal_code) for _ in range(4)]
    clock.advance(dt.timedelta(hours=11))
    for staff in (idle, revoked, stopped, moved):
        assert (await staff.open(f"{ROOT}?code={row.normal_code}")).h1 == "Massage by the fire"
    clock.advance(LOGIN_LIFETIME - dt.timedelta(minutes=1))
    for staff in (revoked, stopped, moved):
        await staff.open(f"{ROOT}?code={row.normal_code}")
        assert staff.h1 == "Massage by the fire"
    clock.advance(dt.timedelta(minutes=2))
    end = "UPDATE token SET revoked_on = now() WHERE user_id = (SELECT id FROM app_user WHERE username = :name)"
    await venue.shop.execute(end, name=venue.names[1])
    await venue.shop.execute("UPDATE app_user SET is_active = false WHERE username = :name", name=venue.names[2])
    kept.invalidate(partner_id=venue.shop.partner.id)
    for staff in (idle, revoked, stopped):
        await staff.open(f"{ROOT}?code={row.normal_code}")
        assert staff.path == f"{LOG_IN}?code={row.normal_code}"
        assert "You were logged out" in note(staff)
    assert (await moved.open(f"{ROOT}?code={row.normal_code}")).h1 == "Massage by the fire"


async def test_only_a_log_in_of_the_page_is_made_to_last(venue: Venue) -> None:
    """A token that was made for an hour is none for longer by being shown here."""
    services, customer = venue.shop.services, venue.browsers()
    asked = ObtainToken(username=await venue.user(), password=PASSWORD, label="till", hours=1)
    issued_token = await obtain_token(Context(services), asked)
    ends = await venue.shop.one("SELECT expires_on FROM token")
    customer.http.cookies.set("__Host-coffret-staff", issued_token.token)
    assert (await customer.open(ROOT)).path == ROOT
    assert await venue.shop.one("SELECT expires_on FROM token") == ends
    clock.advance(dt.timedelta(hours=1, seconds=1))
    assert (await customer.open(ROOT)).path == LOG_IN


async def test_a_password_that_is_changed_ends_all_log_ins_but_the_one_that_asked(venue: Venue) -> None:
    name = await venue.user()
    here, there = [await log_in(venue.browsers(), name) for _ in range(2)]
    services, change = venue.shop.services, ChangePassword(current_password=PASSWORD, new_password="eight-lakes-8")
    asking = await services.authenticator.authenticate(here.http.cookies["__Host-coffret-staff"])
    await change_password(Context(services, asking), change)
    assert (await here.open(ROOT)).path == ROOT
    assert (await there.open(ROOT)).path == LOG_IN
    assert (await log_in(there, name, password="eight-lakes-8")).path == ROOT
    async with services.db.sessions() as db, db.begin():
        await reset_password(db, name, PASSWORD, clock)
    services.authenticator.invalidate(user_id=asking.user_id)  # the command line is another process
    for browser in (here, there):
        assert (await browser.open(ROOT)).path == LOG_IN


CODE = f"{LOG_IN}code/"
TICKET = "__Host-coffret-log-in"


async def with_app(venue: Venue, **of: Any) -> tuple[str, pyotp.TOTP]:
    """Somebody who works there and has a second factor; answers the user name and the app, which shows another code."""
    services, name = venue.shop.services, await venue.user(**of)
    issued_token = await obtain_token(Context(services), ObtainToken(username=name, password=PASSWORD))
    context = Context(services, await services.authenticator.authenticate(issued_token.token))
    app = pyotp.TOTP((await set_up_second_factor(context, SetUpSecondFactor(password=PASSWORD))).secret)
    await confirm_second_factor(context, ConfirmSecondFactor(otp=app.at(clock.now())))
    clock.advance(dt.timedelta(seconds=30))
    return name, app


async def test_who_has_a_second_factor_is_asked_for_its_code(venue: Venue) -> None:
    row = await venue.voucher()
    name, app = await with_app(venue)
    staff = await log_in(venue.browsers(), name, row.normal_code)
    assert (staff.path, staff.h1) == (f"{CODE}?code={row.normal_code}", "Enter your code")
    check_headers(staff)
    check_headings(staff.page)
    check_controls(staff.page)
    assert PASSWORD not in staff.response.text
    assert staff.http.cookies[TICKET] not in staff.response.text
    assert "__Host-coffret-staff" not in staff.http.cookies
    await staff.send(CODE, {"otp": " "})
    assert (staff.response.status_code, staff.errors) == (400, ["Enter the code."])
    await staff.send(CODE, {"otp": "nonsense"})
    wrong = ["This code is not right, or was used already. Wait for the next one."]
    assert (staff.response.status_code, staff.errors) == (400, wrong)
    before = staff.http.cookies["__Host-coffret-session"]
    await staff.send(CODE, {"otp": app.at(clock.now())})
    assert staff.h1 == "Massage by the fire"
    assert staff.http.cookies["__Host-coffret-session"] != before
    assert not staff.http.cookies.get(TICKET)
    kept = "SELECT kind || ' ' || label FROM token ORDER BY id DESC LIMIT 1"
    assert await venue.shop.one(kept) == "log_in Redeem page"


async def test_a_code_that_comes_too_late_leads_back_to_the_log_in(venue: Venue) -> None:
    row = await venue.voucher()
    name, app = await with_app(venue)
    assert (await venue.browsers().open(CODE)).path == LOG_IN
    staff = await log_in(venue.browsers(), name, row.normal_code)
    clock.advance(TICKET_LIFETIME)
    await staff.send(CODE, {"otp": app.at(clock.now())})
    assert staff.path == f"{LOG_IN}?code={row.normal_code}"
    await staff.send(LOG_IN, {"username": name, "password": PASSWORD})
    await staff.send(CODE, {"otp": app.at(clock.now())})
    assert staff.h1 == "Massage by the fire"


async def test_codes_are_not_guessed_at_the_page(venue: Venue) -> None:
    name, app = await with_app(venue)
    staff = await log_in(venue.browsers(), name)
    for _ in range(30):
        await staff.send(CODE, {"otp": "nonsense"})
        if staff.response.status_code != 400:
            break
    held = ["Too many attempts. Wait a few minutes, then try again."]
    assert (staff.response.status_code, staff.errors) == (429, held)
    assert int(staff.response.headers["retry-after"]) > 0
    await staff.send(CODE, {"otp": app.at(clock.now())})
    assert staff.response.status_code == 429


async def test_who_is_not_of_this_shop_is_asked_for_no_code(venue: Venue) -> None:
    other = await open_shop(venue.shop.services, venue.shop.sandbox, OTHER_HOST)
    name, _ = await with_app(venue, of=other)
    stranger = await log_in(venue.browsers(), name)
    assert stranger.errors == ["User name or password are not right, or they are not for this shop."]
    assert TICKET not in stranger.http.cookies


async def test_a_forgotten_password_leads_to_the_back_office(venue: Venue) -> None:
    page = await venue.browsers().open(LOG_IN)
    (link,) = [a for a in page.page.one("main").all("a") if a.text == "Forgot your password?"]
    assert link.attributes["href"] == f"{venue.shop.services.public_url}/admin/forgot-password/"
