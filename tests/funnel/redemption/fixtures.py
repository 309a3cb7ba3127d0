"""A venue: a shop with vouchers, gift cards and people who work there, and what they press on its page."""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from resolvers.account.administration import NewUser, create_user
from resolvers.core.caller import Role
from schema.core.permission import Permission
from schema.voucher.voucher import VoucherState
from store.account.users import UserRow
from store.core.clock import clock
from store.voucher.vouchers import VoucherRow
from tests.fixtures.basket import Experiences
from tests.fixtures.document import voucher as issued
from tests.fixtures.shop import Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element

PASSWORD = "seven-lakes-7"
ROOT, LOG_IN = "/redeem/", "/redeem/log-in/"


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

    async def remaining_amount(self, card_id: int) -> Decimal:
        """What is left on a gift card, which is the sum of its movements."""
        left = Decimal(await self.shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card_id))
        moved = "SELECT sum(amount) FROM gift_card_movement WHERE gift_card_id = :id"
        assert Decimal(await self.shop.one(moved, id=card_id)) == left
        return left


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
    pressed = {button.attributes["name"]: button.attributes["value"]} if "name" in button.attributes else {}
    return await post(customer, form, **pressed | changes)


async def post(customer: Customer, form: Element, **changes: str) -> Customer:
    """Send a form of the page."""
    sent = [
        i.attributes for i in form.all("input") if i.attributes.get("type") != "checkbox" or "checked" in i.attributes
    ]
    fields = {each["name"]: each.get("value", "") for each in sent} | changes
    return await customer.post(str(customer.response.url.join(form.attributes["action"])), fields)


def note(customer: Customer) -> str:
    """The message at the top."""
    return " ".join(found.text for found in customer.page.all("div", class_="note"))
