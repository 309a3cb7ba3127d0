"""What prototypes can name, and the least and the most that is sent of one."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schema.languages import LANGUAGES
from schema.values import Text
from store.catalogue import EnvironmentRow, UniverseRow
from store.media import MediaRow
from tests.prototype_transports import TEXTS, Prototypes
from tests.tenants import Tenants

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


@dataclass(frozen=True)
class Catalogue:
    """What prototypes can name."""

    universe: int
    other_universe: int
    """Of another marketplace."""
    closed_universe: int
    environment: int
    other_environment: int
    media: tuple[int, ...]
    """Of the first partner."""
    archived: int
    of_another: int


async def open_catalogue(tenants: Tenants) -> Catalogue:
    """Universes, environments and pictures."""

    def media(partner: str, **more: Any) -> MediaRow:
        of: dict[str, Any] = {
            "partner_id": tenants.partners[partner].id,
            "name": "A picture",
            "content_type": "image/webp",
        }
        return MediaRow(**of, size=10, width=4, height=3, digest="0" * 64, **more)

    async def added(row: Any) -> int:
        id: int = (await tenants.add(row)).id
        return id

    a, b = (tenants.marketplaces[name].id for name in ("a", "b"))
    return Catalogue(
        universe=await added(UniverseRow(marketplace_id=a, name=Text(en="Stays"))),
        other_universe=await added(UniverseRow(marketplace_id=b, name=Text(en="Stays"))),
        closed_universe=await added(UniverseRow(marketplace_id=a, name=Text(en="Old"), is_active=False)),
        environment=await added(EnvironmentRow(marketplace_id=a, name=Text(en="By the sea"))),
        other_environment=await added(EnvironmentRow(marketplace_id=b, name=Text(en="By the sea"))),
        media=tuple([await added(media("a1")) for _ in range(3)]),
        archived=await added(media("a1", archived_on=NOW)),
        of_another=await added(media("a2")),
    )


def in_each(text: str, said: str) -> dict[str, str]:
    """A text in all languages."""
    return {f"{text}_{at}": f"{said} {at}" for at in LANGUAGES}


def least(catalogue: Catalogue) -> dict[str, Any]:
    """What is required, and nothing else."""
    texts = {**in_each("name", "A night"), **in_each("description", "Of sleep"), **in_each("long_description", "Long")}
    return {**texts, "type": "stay", "stay_price": 99.9, "universe": catalogue.universe}


def full(catalogue: Catalogue) -> dict[str, Any]:
    """All documented keys."""
    return {
        **least(catalogue),
        **in_each("rent_conditions", "If <you> & I like"),
        **in_each("how_to_book_html", "<p>Write to <b>us</b></p>"),
        **in_each("pdf_description", "é" * 290),
        "is_active": True,
        "type": "fixed_stay",
        "is_highlight": True,
        "price_scope": 2,
        "max_capacity": 4,
        "min_capacity": 2,
        "adults_price": 45.5,
        "children_price": 20,
        "baby_price": 0,
        "environment": catalogue.environment,
        "last_active_day": "2031-12-31",
        "ranking": 7,
        "images": [catalogue.media[1], catalogue.media[0]],
        "cover_image": 2,
    }


DEFAULTS: Mapping[str, Any] = {
    "is_active": False,
    "is_highlight": False,
    "price_scope": 1,
    "max_capacity": 0,
    "min_capacity": 1,
    "adults_price": None,
    "children_price": None,
    "baby_price": None,
    "environment": None,
    "last_active_day": None,
    "ranking": 1,
    "images": [],
    "cover_image": 1,
    "nb_orders": 0,
    **{f"{text}_{at}": "" for text in TEXTS[3:] for at in LANGUAGES},
}


async def made(prototypes: Prototypes, sent: Mapping[str, Any], who: str = "a1") -> dict[str, Any]:
    """A prototype that was made."""
    answer = await prototypes.create(who, sent)
    assert answer.done, answer
    result: dict[str, Any] = answer.result
    return result
