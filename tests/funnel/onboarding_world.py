"""A partner that cannot be paid yet, seen by whoever opens the link to its onboarding page."""

from collections.abc import Callable, Mapping
from typing import Any

from store.onboarding_links import link_for
from tests.activation_world import COMPLETE, Newcomer
from tests.funnel.customer import Customer

Visitors = Callable[[], Customer]

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
    return link_for(newcomer.services.settings, await newcomer.now())
