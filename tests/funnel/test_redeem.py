"""The venue page: staff log in, look codes up, use them, take that back; whoever may not, may not here either."""

import asyncio
import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from funnel.cookies import Cookies
from resolvers.accounts import NewUser, create_user
from resolvers.auth import obtain_token
from resolvers.context import Context, Role
from resolvers.staff import LIFE
from schema.gift_card import GiftCardStatus
from schema.permission import Permission
from schema.values import Text
from schema.viewer import ObtainToken
from schema.voucher import VoucherState
from store.clock import clock
from store.codes import draw
from store.tenancy import UserRow
from store.vouchers import VoucherIncludedOptionRow, VoucherRow
from tests.funnel.bag_world import Experiences, experiences
from tests.funnel.customer import Customer
from tests.funnel.page import Element
from tests.funnel.test_pages import check_controls, check_headers, check_headings
from tests.printed_world import voucher as issued
from tests.shop_world import Shop, open_shop

PASSWORD = "seven-lakes-7"
ROOT, LOG_IN = "/redeem/", "/redeem/log-in/"
P = Permission


@dataclass
class Venue:
    """A shop with vouchers, gift cards and people who work there."""

    shop: Shop
    sold: Experiences
    browsers: Callable[[], Customer]
    names: list[str] = field(default_factory=list)

    async def voucher(self, state: VoucherState = VoucherState.PAID, **more: Any) -> VoucherRow:
        """A voucher of this shop."""
        used = clock.now() if state is VoucherState.USED else None
        return await issued(self.shop, self.sold.massage, state=state, used_on=used, **more)

    async def user(
        self, role: Role = Role.PARTNER, *, of: Shop | None = None, only: set[Permission] | None = None
    ) -> str:
        """Somebody who works there; answers the user name."""
        partner = (of or self.shop).partner
        name = f"user{len(self.names)}@shop.example"
        self.names.append(name)
        whose = {
            Role.PARTNER: {"partner": partner.site_domain},
            Role.MARKETPLACE: {"marketplace": str(partner.marketplace_id)},
            Role.MASTER: {},
        }[role]
        async with self.shop.services.db.sessions() as db, db.begin():
            row: UserRow = await create_user(db, NewUser(name, PASSWORD, role, first_name="Ada", **whose))
            row.permissions = None if only is None else sorted(only)
        return name

    async def staff(self, code: str = "", **of: Any) -> Customer:
        """Somebody who has logged in, at the page about a code."""
        return await log_in(self.browsers(), await self.user(**of), code)

    async def state(self, row: VoucherRow) -> str:
        """Where a voucher stands."""
        return str(await self.shop.one("SELECT state FROM voucher WHERE id = :id", id=row.id))

    async def left(self, card_id: int) -> Decimal:
        """What is left on a gift card, which is the sum of its movements."""
        left = Decimal(await self.shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card_id))
        moved = "SELECT sum(amount) FROM gift_card_entry WHERE gift_card_id = :id"
        assert Decimal(await self.shop.one(moved, id=card_id)) == left
        return left


@pytest.fixture
async def venue(shop: Shop, visitors: Callable[[], Customer]) -> Venue:
    """A venue."""
    return Venue(shop, await experiences(shop), visitors)


async def log_in(customer: Customer, name: str, code: str = "", password: str = PASSWORD) -> Customer:
    """Log in, from the address that a QR code leads to."""
    await customer.open(f"{ROOT}?code={quote(code)}" if code else ROOT)
    assert urlsplit(customer.path).path == LOG_IN
    return await customer.send(LOG_IN, {"username": name, "password": password})


def buttons(customer: Customer) -> list[str]:
    """What can be pressed in the middle of the page."""
    main = customer.page.one("main")
    return [
        button.text
        for button in main.all("button") + main.all("a", class_="button")
        if "hidden" not in button.attributes
    ]


def verdict(customer: Customer) -> str:
    """Whether it can be used."""
    return customer.page.one("div", class_="verdict").text


async def press(customer: Customer, label: str, **changes: str) -> Customer:
    """Press the button with this label."""
    button = next(b for b in customer.page.one("main").all("button") if b.text.startswith(label))
    form = button.inside("form")
    assert form is not None
    return await post(customer, form, **changes)


async def post(customer: Customer, form: Element, **changes: str) -> Customer:
    """Send a form of the page."""
    fields = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")} | changes
    return await customer.post(str(customer.response.url.join(form.attributes["action"])), fields)


def note(customer: Customer) -> str:
    """The message at the top."""
    return " ".join(found.text for found in customer.page.all("div", class_="note"))


# ---- logging in ----------------------------------------------------------------------------------------------------------


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
    other = await open_shop(venue.shop.services, venue.shop.sandbox, "other.localhost")
    row = await venue.voucher()
    for role in (Role.PARTNER, Role.MARKETPLACE):
        stranger = await log_in(venue.browsers(), await venue.user(role, of=other), row.normal_code)
        assert stranger.response.status_code == 400
        assert stranger.errors == ["User name or password are not right, or they are not for this shop."]
        assert "coffret-staff" not in stranger.http.cookies
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
    (cookie,) = [c for c in answer.headers.get_list("set-cookie") if c.startswith("coffret-staff=")]
    said = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert said == {"httponly", "samesite=lax", "path=/", f"max-age={12 * 60 * 60}"}
    assert Cookies(secure=True).name("staff") == "__Host-coffret-staff"
    expires = await venue.shop.one("SELECT expires_on FROM token")
    assert dt.timedelta(hours=11) < expires - clock.now() <= LIFE


async def test_a_session_that_somebody_else_knows_ends_with_the_log_in(venue: Venue) -> None:
    """Its forms are worth nothing afterwards, and the session of who logged in is not known to whoever comes next."""
    row, planted = await venue.voucher(), "S" * 43
    attacker, victim = venue.browsers(), venue.browsers()
    for browser in (attacker, victim):
        browser.http.cookies.set("coffret-session", planted, domain=venue.shop.partner.site_domain)
        await browser.open(LOG_IN)
        assert browser.http.cookies["coffret-session"] == planted
    known = attacker.form(LOG_IN).one("input", name="csrf").attributes["value"]
    await log_in(victim, "nobody", row.normal_code)
    assert victim.http.cookies["coffret-session"] == planted
    await log_in(victim, await venue.user(), row.normal_code)
    during = victim.http.cookies["coffret-session"]
    assert during != planted
    await press(victim, "Start using it", csrf=known)
    assert (victim.response.status_code, await venue.state(row)) == (403, "paid")
    await victim.open(ROOT)
    await victim.send(f"{ROOT}log-out/")
    assert victim.http.cookies["coffret-session"] not in {planted, during}


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
    assert "coffret-staff" not in customer.http.cookies


async def test_a_log_in_ends(venue: Venue) -> None:
    """By being left alone, by being revoked, by its user being stopped: each at once, and each leads back to the code."""
    row = await venue.voucher()
    kept = venue.shop.services.callers
    idle, revoked, stopped, moved = [await venue.staff(row.normal_code) for _ in range(4)]
    clock.advance(dt.timedelta(hours=11))
    for staff in (idle, revoked, stopped, moved):
        assert (await staff.open(f"{ROOT}?code={row.normal_code}")).h1 == "Massage by the fire"
    clock.advance(LIFE - dt.timedelta(minutes=1))
    for staff in (revoked, stopped, moved):
        await staff.open(f"{ROOT}?code={row.normal_code}")
        assert staff.h1 == "Massage by the fire"
    clock.advance(dt.timedelta(minutes=2))
    end = "UPDATE token SET revoked_on = now() WHERE user_id = (SELECT id FROM app_user WHERE username = :name)"
    await venue.shop.execute(end, name=venue.names[1])
    await venue.shop.execute("UPDATE app_user SET is_active = false WHERE username = :name", name=venue.names[2])
    kept.forget(partner_id=venue.shop.partner.id)
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
    customer.http.cookies.set("coffret-staff", issued_token.token)
    assert (await customer.open(ROOT)).path == ROOT
    assert await venue.shop.one("SELECT expires_on FROM token") == ends
    clock.advance(dt.timedelta(hours=1, seconds=1))
    assert (await customer.open(ROOT)).path == LOG_IN


# ---- vouchers ------------------------------------------------------------------------------------------------------------


async def test_a_voucher_is_used_in_part_and_whole_and_brought_back(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(
        row.code.lower(), only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.UPDATE_VOUCHER, P.REOPEN_VOUCHER}
    )
    assert buttons(staff) == ["Start using it", "Mark as used", "Another code"]
    await press(staff, "Start using it")
    assert (note(staff), await venue.state(row)) == ("It is in use now.", "using")
    assert buttons(staff) == ["Mark as used", "Undo: not used yet", "Another code"]
    await staff.open(staff.path)
    assert note(staff) == ""
    await press(staff, "Mark as used")
    assert (note(staff), await venue.state(row)) == ("It is marked as used.", "used")
    assert verdict(await staff.open(staff.path)).startswith("Cannot be used It was used on ")
    assert buttons(staff) == ["Undo: used in part only", "Undo: not used yet", "Another code"]
    await press(staff, "Undo: used in part")
    assert (note(staff), await venue.state(row)) == ("It is in use now.", "using")
    await press(staff, "Undo: not used yet")
    assert (note(staff), await venue.state(row)) == ("It counts as not used again.", "paid")


async def test_who_cannot_take_it_back_is_asked_first(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(row.normal_code)
    (link,) = [a for a in staff.page.one("main").all("a", class_="button") if a.text == "Mark as used"]
    await staff.open(link.attributes["href"])
    assert "With your log-in this cannot be undone." in staff.page.one("main").text
    assert await venue.state(row) == "paid"
    check_headings(staff.page)
    await press(staff, "Yes, mark as used")
    assert (note(staff), await venue.state(row), buttons(staff)) == ("It is marked as used.", "used", ["Another code"])


async def test_a_form_does_its_work_once_and_never_on_what_others_changed(venue: Venue) -> None:
    row = await venue.voucher()
    ada, bob = (
        await venue.staff(row.normal_code, role=Role.MASTER),
        await venue.staff(row.normal_code, role=Role.MASTER),
    )
    form = ada.page.one("main").all("form")[1]
    fields = {i.attributes["name"]: i.attributes["value"] for i in form.all("input")}
    assert fields["to"] == "used"
    told = {"Origin": "http://shop.localhost", "Sec-Fetch-Site": "same-origin"}
    answers = await asyncio.gather(*(ada.http.post("/redeem/voucher/", data=fields, headers=told) for _ in range(5)))
    assert {answer.status_code for answer in answers} == {303}
    await ada.open(f"{ROOT}?code={row.normal_code}")
    assert (note(ada), await venue.state(row)) == ("It is marked as used.", "used")
    for label in ("Mark as used", "Start using it"):
        seen = bob.page
        await press(bob, label)
        assert "Somebody else has just changed this voucher." in note(bob)
        assert await venue.state(row) == "used"
        bob.page = seen
    moves = "SELECT count(*) FROM event WHERE type = 'voucher.state_changed'"
    assert await venue.shop.one(moves) == 1


async def test_what_cannot_be_used_says_why(venue: Venue) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    staff = await venue.staff()
    for state, more, why in (
        (VoucherState.DRAFT, {}, "It has not been paid for."),
        (VoucherState.ERROR, {}, "It has not been paid for."),
        (VoucherState.EXPIRED, {"expires_on": now - day}, "Its time was over on "),
        (VoucherState.PAID, {"expires_on": now - day}, "Its time was over on "),
        (VoucherState.PAID, {"activated_on": now + day}, "It works from "),
    ):
        row = await venue.voucher(state, **more)
        await staff.open(f"{ROOT}?code={row.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), (state, verdict(staff))
        assert buttons(staff) == ["Another code"]


async def test_permissions_are_those_of_the_user(venue: Venue) -> None:
    row, card = await venue.voucher(), await venue.shop.gift_card()
    looker = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.VIEW_GIFT_CARD})
    assert buttons(looker) == ["Another code"]
    assert buttons(await looker.open(f"{ROOT}?code={card.normal_code}")) == ["Another code"]
    user = await venue.staff(row.normal_code, only={P.VIEW_VOUCHER, P.USE_VOUCHER, P.REOPEN_VOUCHER})
    assert (await user.open(f"{ROOT}?code={card.normal_code}")).response.status_code == 404
    await user.open(f"{ROOT}?code={row.normal_code}")
    await venue.shop.execute("UPDATE app_user SET permissions = '{view_voucher}'")
    venue.shop.services.callers.forget(partner_id=venue.shop.partner.id)
    await press(user, "Mark as used")
    assert (user.response.status_code, user.h1) == (403, "You are not allowed to do this")
    assert await venue.state(row) == "paid"
    nothing = await venue.staff(row.normal_code, only={P.VIEW_ORDER})
    assert (nothing.response.status_code, nothing.h1) == (403, "You are not allowed to do this")


async def test_what_no_page_of_ours_sends_is_refused_and_changes_nothing(venue: Venue) -> None:
    card, row = await venue.shop.gift_card("50.00"), await venue.voucher()
    staff = await venue.staff(card.code)
    form = staff.page.one("form", class_="take")
    for action, changes in (
        ("/redeem/gift-card/", {"code": "", "amount": "5"}),
        ("/redeem/gift-card/", {"code": "A" * 41, "amount": "5"}),
        ("/redeem/gift-card/", {"code": card.code, "amount": "5", "once": ""}),
        ("/redeem/gift-card/back/", {"code": card.code, "hold": "0"}),
        ("/redeem/voucher/", {"code": "", "to": "used", "from": "paid"}),
        ("/redeem/voucher/", {"code": row.code, "to": "lost", "from": "paid"}),
    ):
        fields = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")} | changes
        await staff.post(action, fields)
        assert staff.response.status_code == 400, (action, changes)
        assert (await venue.left(card.id), await venue.state(row)) == (Decimal("50.00"), "paid")
    for pasted in ("http://[::1?code=x", "https://[bad/?code=", "code=", "?code=%ff"):
        await staff.open(f"{ROOT}?code={quote(pasted)}")
        assert staff.response.status_code in {400, 404}, pasted
    assert (await staff.open(f"{ROOT}?code={quote(f'http://[x/?code={card.code}#top')}")).h1 == "€50.00 left"


# ---- gift cards ------------------------------------------------------------------------------------------------------------


async def test_an_amount_is_taken_once_and_put_back(venue: Venue) -> None:
    card = await venue.shop.gift_card("50.00")
    staff = await venue.staff(card.code)
    assert staff.h1 == "€50.00 left"
    check_headings(staff.page)
    check_controls(staff.page)
    form = next(f for f in staff.page.one("main").all("form") if f.attributes["action"] == "/redeem/gift-card/")
    fields = {i.attributes["name"]: i.attributes.get("value", "") for i in form.all("input")}
    told = {"Origin": "http://shop.localhost", "Sec-Fetch-Site": "same-origin"}
    sent = fields | {"amount": "12,50 €", "reference": "Table 7"}
    answers = await asyncio.gather(*(staff.http.post("/redeem/gift-card/", data=sent, headers=told) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {303}
    await staff.open(f"{ROOT}?code={card.normal_code}")
    assert (note(staff), await venue.left(card.id)) == ("€12.50 taken Left on the card: €37.50.", Decimal("37.50"))
    assert "Table 7" in staff.page.one("ul", class_="taken").text
    for amount, why in (
        ("", "Enter an amount."),
        ("twelve", "Enter an amount like 12.50."),
        ("0", "Enter an amount like 12.50."),
        ("-5", "Enter an amount like 12.50."),
        ("1.005", "Enter an amount like 12.50."),
        ("37.51", "There is less left on the card. Nothing was taken."),
    ):
        await press(staff, "Take it off", amount=amount)
        assert staff.errors == [why], amount
        assert staff.page.one("input", id="amount").attributes["value"] == amount
        assert await venue.left(card.id) == Decimal("37.50")
    await press(staff, "Put back")
    assert (note(staff), await venue.left(card.id)) == ("€12.50 put back Left on the card: €50.00.", Decimal("50.00"))
    assert "put back" in staff.page.one("ul", class_="taken").text
    await press(staff, "Take it off", amount="50")
    assert verdict(await staff.open(staff.path)) == "Cannot be used All of it has been spent."
    assert await venue.shop.one("SELECT status FROM gift_card WHERE id = :id", id=card.id) == "used"
    clock.advance(dt.timedelta(hours=11))
    await staff.open(ROOT)
    clock.advance(dt.timedelta(hours=11))
    seen = (await staff.open(f"{ROOT}?code={card.normal_code}")).page
    clock.advance(dt.timedelta(hours=3))
    staff.page = seen
    await press(staff, "Put back")
    assert "cannot be put back any more" in note(staff)
    assert await venue.left(card.id) == Decimal("0.00")


async def test_what_gift_cards_cannot_be_spent_say_why(venue: Venue) -> None:
    staff = await venue.staff()
    yesterday = clock.now() - dt.timedelta(days=1)
    for more, why in (
        ({"status": GiftCardStatus.DRAFT}, "It has not been paid for."),
        ({"status": GiftCardStatus.CANCELLED}, "It was cancelled."),
        ({"expires_on": yesterday}, "Its time was over on "),
        ({"status": GiftCardStatus.EXPIRED}, "Its time is over."),
    ):
        card = await venue.shop.gift_card(**more)
        await staff.open(f"{ROOT}?code={card.normal_code}")
        assert verdict(staff).startswith(f"Cannot be used {why}"), more
        assert buttons(staff) == ["Another code"]


# ---- codes and forms ---------------------------------------------------------------------------------------------------------


async def test_codes_are_found_in_every_spelling_and_never_guessed(
    venue: Venue, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await venue.voucher()
    staff = await venue.staff()
    assert staff.response.headers["permissions-policy"].startswith("camera=(self)")
    check_headings(staff.page)
    check_controls(staff.page)
    for typed in (
        row.code,
        f" {row.code.lower().replace('-', ' ')} ",
        f"http://shop.localhost/redeem/?code={row.normal_code}",
    ):
        await staff.open(ROOT)
        await staff.open(f"{ROOT}?code={quote(typed)}")
        assert staff.h1 == "Massage by the fire", typed
        assert staff.response.headers["permissions-policy"].startswith("camera=()")
    for typed, status, why in (
        ("", 400, "Enter a code."),
        ("%00" * 3, 400, "No voucher or gift card of this shop has this code."),
        ("A" * 200, 400, "No voucher or gift card of this shop has this code."),
        (draw(), 404, "No voucher or gift card of this shop has this code."),
        (
            "2222-2222-2222-2223",
            404,
            "This code has a typing mistake. Compare it with the voucher, character by character.",
        ),
    ):
        await staff.open(f"{ROOT}?code={typed}")
        assert (staff.response.status_code, staff.errors) == (status, [why]), typed
    monkeypatch.setattr(venue.shop.services.settings, "guesses_per_user", "3/hour")
    for _ in range(4):
        await staff.open(f"{ROOT}?code={draw()}")
    assert (staff.response.status_code, staff.h1) == (429, "Too many attempts")
    await staff.open(f"{ROOT}?code={row.normal_code}")
    assert staff.response.status_code == 429, "what is asked for then tells nothing"


async def test_forms_of_others_and_of_nobody(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(row.normal_code, role=Role.MASTER)
    seen = staff.page
    for more in ({"csrf": "x"}, {"once": "x"}, {"to": "lost"}, {"from": ""}):
        staff.page = seen
        await press(staff, "Mark as used", **more)
        assert staff.response.status_code in {400, 403}, more
        assert await venue.state(row) == "paid"
    assert (await staff.open("/redeem/nothing/")).response.status_code == 404
    staff.page = seen
    staff.http.cookies.delete("coffret-staff")
    await press(staff, "Mark as used")
    assert staff.path == f"{LOG_IN}?code={row.normal_code}"
    assert await venue.state(row) == "paid"
    await staff.send("/redeem/language/", button=("language", "de"))
    assert staff.path == f"{LOG_IN}?code={row.normal_code}"
    assert staff.page.one("html").attributes["lang"] == "de"
    nobody = await venue.browsers().open("http://nobody.localhost/redeem/")
    assert nobody.response.status_code == 404
