"""A partner that cannot be paid yet, seen by whoever opens the link to its onboarding page."""

from collections.abc import Callable, Mapping
from typing import Any

from store.onboarding.links import onboarding_url_for
from tests.fixtures.activation import COMPLETE, Newcomer
from tests.funnel.checkout.customer import Customer

Visitors = Callable[[], Customer]
IBAN = "FR7630006000011234567890189"
BIRTHDAY = "legal_representative_birthday"

FORGOTTEN: Mapping[str, Any] = {
    name: None if name in {"company_type", "legal_representative_birthday"} else "" for name in COMPLETE
}
"""Columns of a partner of whom nothing is known."""
TYPED: Mapping[str, str] = {
    **{name: str(value) for name, value in COMPLETE.items() if name != "hq_country_code"},
    "company_type": "bus",
    "hq_country": "FR",
    "legal_representative_birthday_day": "5",
    "legal_representative_birthday_month": "4",
    "legal_representative_birthday_year": "1980",
}
"""What its representative types into the form."""


async def link(newcomer: Newcomer) -> str:
    """The address of its page, as it is now."""
    return onboarding_url_for(newcomer.services.settings, await newcomer.now())


def field_names(representative: Customer) -> set[str]:
    """The names of the fields on the page."""
    form = representative.page.one("form", class_="column")
    return {field.attributes["name"] for tag in ("input", "select") for field in form.all(tag)} - {"csrf"}


async def fill(representative: Customer, **changes: str) -> Customer:
    """Fill in whatever the page asks for, and continue."""
    wanted = field_names(representative)
    typed = {name: value for name, value in (dict(TYPED) | changes).items() if name in wanted}
    return await representative.send("/onboarding/", typed)


async def press(representative: Customer) -> Customer:
    """Press the button that leads to the provider."""
    (form,) = [form for form in representative.page.all("form") if form.attributes["action"].endswith("/provider/")]
    return await representative.send(form.attributes["action"])


async def to_provider(representative: Customer) -> str:
    """Press the button; answers where the page leads on to."""
    await press(representative)
    assert representative.step == "leaving"
    seconds, url = representative.refresh
    assert seconds == 0
    assert representative.page.one("a", class_="main").attributes["href"] == url
    return url


async def back(newcomer: Newcomer, representative: Customer) -> Customer:
    """Come back from the provider."""
    return await representative.open(f"{await link(newcomer)}return/")


def notes(representative: Customer) -> list[str]:
    """The titles of what the page says first."""
    return [note.one("h2").text for note in representative.page.all("div", class_="note")]
