"""What partners are made of, for better and for worse, and partners that were made."""

from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

from tests.partner_transports import Partners
from tests.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN

Stored = Callable[[], Awaitable[Any]]
LEAST: dict[str, Any] = {
    "status": "a",
    "commercial_name": "La Tisane",
    "short_name": "Tisane",
    "legal_representative_email": "ada@tisane.example",
    "agency_email": "bonjour@tisane.example",
}
MORE: dict[str, Any] = {
    "name": "La Tisane SARL",
    "company_type": "bus",
    "siret_number": "73282932000074",
    "legal_representative_first_name": "Ada",
    "legal_representative_last_name": "Martin",
    "legal_representative_birthday": "1980-04-12",
    "hq_address_line_1": "4 rue des Herbes",
    "hq_address_line_2": "Bâtiment B",
    "hq_postal_code": "69002",
    "hq_city": "Lyon",
    "hq_country": "France",
    "rcs": "Lyon B 732 829 320",
    "ape": "4729Z",
    "vat_id": "FR44732829320",
    "agency_phone": "+33 4 72 00 00 00",
    "website": "https://tisane.example/a?b=c",
    "payout_frequency": "bimth",
    "auto_validate_payout": True,
    "freeze_payout": True,
    "block_payout_validation": True,
    "iban": "FR1420041010050500013M02606",
    "bic": "PSSTFRPPPAR",
    "hide_from_stats": True,
    "third_party_sales_only": True,
    "referrer": 12,
}
NOTHING: Mapping[str, Any] = (
    dict.fromkeys([key for key, value in MORE.items() if isinstance(value, str)], "")
    | dict.fromkeys([key for key, value in MORE.items() if value is True], False)
    | {"referrer": None}
)
"""What is answered of all that was not sent."""
ANSWERED = {"legal_representative_birthday": "1980-04-12T00:00:00.000000Z"}
BAD: list[tuple[str, Any]] = [
    ("status", "n"),
    ("commercial_name", " "),
    ("commercial_name", "x" * 121),
    ("short_name", ""),
    ("short_name", "x" * 61),
    ("name", "x" * 121),
    ("legal_representative_email", "ada"),
    ("legal_representative_email", ""),
    ("agency_email", "bonjour@"),
    ("agency_email", f"{'x' * 300}@tisane.example"),
    ("agency_phone", "call us"),
    ("agency_phone", "04 72 00 00 00"),
    ("website", "tisane.example"),
    ("website", "ftp://tisane.example"),
    ("website", "https://ada:secret@tisane.example"),
    ("siret_number", "73282932000075"),
    ("siret_number", "7328293200007"),
    ("siret_number", "732829320000AB"),
    ("vat_id", "FR40303265046"),
    ("vat_id", "DE000"),
    ("vat_id", "?!"),
    ("iban", "FR1420041010050500013M02607"),
    ("iban", "FR14"),
    ("bic", "PSST"),
    ("hq_country", "Narnia"),
    ("hq_country", "QQ"),
    ("hq_postal_code", "x" * 21),
    ("legal_representative_birthday", "2999-01-01"),
    ("legal_representative_birthday", "2015-01-01"),
    ("legal_representative_birthday", "1800-01-01"),
    ("legal_representative_nationality", "France"),
    ("legal_representative_country_of_residence", "ZZ"),
    ("referrer", 0),
    ("source_id", "A7"),
    ("source_id", "07"),
    ("source_id", "1" * 19),
]
OF_TYPES = [
    ("status", "z"),
    ("company_type", "gmbh"),
    ("payout_frequency", "daily"),
    ("auto_validate_payout", "perhaps"),
    ("legal_representative_birthday", "12/04/1980"),
    ("referrer", "somebody"),
    ("marketplace_uuid", "x"),
]
"""What GraphQL's types refuse before the operation is asked."""
MAY_NOT = {NO_TOKEN: 401, BAD_TOKEN: 401, "a1": 403, "powerless": 403}
NETWORK = {
    **{key: MORE[key] for key in ("name", "siret_number", "rcs", "ape", "vat_id", "website", "hq_city", "hq_country")},
    **{key: LEAST[key] for key in ("commercial_name", "short_name", "agency_email")},
    "legal_representative_first_name": "Ada",
    "legal_representative_last_name": "Martin",
    "hq_address_line_1": "4 rue des Herbes",
    "hq_postal_code": "69002",
}


async def made(partners: Partners, who: str = "market a", **sent: Any) -> dict[str, Any]:
    """A partner that was made."""
    answer = await partners.create(who, {**LEAST, **sent})
    assert answer.done, answer
    result: dict[str, Any] = answer.result
    return result


async def kept(tenants: Tenants, id: int) -> Any:
    """What is kept of a partner."""
    return SimpleNamespace(**await tenants.row("partner", id))


async def listed(partners: Partners, **sent: Any) -> dict[str, Any]:
    """A partner that was listed by its network."""
    answer = await partners.list_in_network("market a", {**NETWORK, **sent})
    assert answer.done, answer
    result: dict[str, Any] = answer.result
    return result
