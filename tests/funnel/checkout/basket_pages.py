"""The pages of vouchers and gift cards as a customer uses them: their addresses, what they show, and the way through them."""

from collections.abc import Mapping

from tests.fixtures.basket import Experiences
from tests.fixtures.shop import GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element

WINDOW, GIFT_CARDS, STEPS = "/vouchers/shop/", "/giftcards/shop/", "/shop/"
FORM = f"{STEPS}customization/?"
PERSONAL = {"for", "from", "message", "send_on", "send_at", "reception", "country"}
"""The fields of the second part of a line's form, beside those of the giftee."""
CONTINUE, UPDATE, ANOTHER = ("do", "continue"), ("do", "update"), ("do", "another")


async def open_form(customer: Customer, prototype_id: int) -> Customer:
    """The form of an experience: its page, and the button there."""
    await open_page(customer, prototype_id)
    return await customer.send("/vouchers/", None, ("do", "begin"))


async def open_page(customer: Customer, prototype_id: int) -> Customer:
    """The page of an experience, by its former address."""
    return await customer.open(f"{STEPS}customization/?prototype={prototype_id}")


def language_link(customer: Customer, language: str) -> str:
    """The address of a public page in another language."""
    return customer.page.one("nav", class_="languages").one("a", hreflang=language).attributes["href"]


def line(customer: Customer) -> dict[str, str]:
    """The lines of the order summary, by their beginnings, and the total."""
    return {row.all("span")[0].text: row.one("span", class_="amount").text for row in _basket(customer).all("li")}


def total(customer: Customer) -> str:
    """What it all comes to."""
    return customer.page.all("strong", data_live="total")[0].text


def _basket(customer: Customer) -> Element:
    return customer.page.one("div", data_live="basket").one("ul")


def wrong(customer: Customer, place: str) -> str:
    """What is said beside a field; its control points there."""
    said = customer.page.one(id=f"{place}-wrong")
    assert said.text
    return said.text


async def filled(
    customer: Customer,
    action: str,
    fields: Mapping[str, str] | None = None,
    button: tuple[str, str] = CONTINUE,
) -> Customer:
    """Fill in the form of a line and go on: first what is chosen, then for whom it is and how it is received. Ends at the
    first part if something is wrong there.
    """
    typed = dict(fields or {})
    personal = {name: value for name, value in typed.items() if name in PERSONAL or name.startswith("giftee-")}
    if customer.form(action).all("input", name="line") and "part=personal" not in customer.path:
        chosen = {name: value for name, value in typed.items() if name not in personal}
        await customer.send(action, chosen, CONTINUE)
        if "part=personal" not in customer.path:
            return customer
        typed = personal
    return await customer.send(action, typed, button)


async def chosen_massage(customer: Customer, sold: Experiences, **fields: str) -> Customer:
    """A massage in the basket, printed at home; at the second step."""
    await open_form(customer, sold.massage.id)
    return await filled(customer, FORM, {"reception": "print_at_home", "giftee-name": "Marie Curie", **fields})


async def paid(shop: Shop, customer: Customer) -> Customer:
    """Pay what stands at the third step, and come back."""
    root = customer.path.split("/shop/")[0]
    await customer.send(f"{root}/shop/payment/?")
    attempt = await shop.one("SELECT id FROM checkout_attempt WHERE state = 'open'")
    cart = await shop.one("SELECT cart_id FROM checkout_attempt WHERE state = 'open'")
    payin = await shop.payin_of(attempt)
    await shop.control("POST", f"/payins/{payin}/pay", {"card": GOOD_CARD, "challenge": "confirm"})
    return await customer.open(f"{root}/shop/payment/return/{cart}/{attempt}/")


async def identified(customer: Customer, root: str, **more: str) -> Customer:
    """Say who buys."""
    person = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", **more}
    return await customer.send(f"{root}information/", person)
