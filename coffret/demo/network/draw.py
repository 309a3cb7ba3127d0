"""Generates sold gift cards and vouchers of the demo network. Within a run, a number always gives the same one."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from random import Random
from typing import Any

from coffret.demo.large_content import LargeContent
from coffret.demo.large_draw import draw_code, draw_person, names_of
from coffret.demo.network.stock import BoxOnSale, NetworkStock
from store.core.codes import normalize
from store.voucher.payment import end_of_validity

SEED = "demo network"
SPAN, OVER_SINCE = dt.timedelta(days=270), dt.timedelta(days=150)
"""How long ago the oldest was sold, but for those that have expired, and since when these have."""
JUST_NOW = dt.timedelta(hours=6)
"""The age of the newest sale, so that everything that follows a sale has happened."""
TO_CANCEL = dt.timedelta(minutes=5)
"""How long after a usage it is cancelled."""
CARD_VALUES = tuple(map(Decimal, ("30.00", "50.00", "50.00", "100.00", "150.00", "250.00")))
CENT = Decimal("0.01")


class Fate(StrEnum):
    """What has become of a gift card or voucher."""

    DRAFT = "draft"
    PAID = "paid"
    USING = "using"
    USED = "used"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    TEST = "test"


FATES = {
    Fate.DRAFT: 4,
    Fate.PAID: 34,
    Fate.USING: 17,
    Fate.USED: 29,
    Fate.EXPIRED: 8,
    Fate.CANCELLED: 5,
    Fate.TEST: 3,
}
"""With their shares in percent."""


@dataclass(frozen=True, slots=True)
class DrawnUsage:
    """A usage: where and when, of a gift card with its value, and of a voucher with the offer."""

    partner_id: int
    used_on: dt.datetime
    reservation_id: str
    value: Decimal = Decimal(0)
    offer_id: int | None = None
    is_cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """A gift card or voucher: the columns of its sale, and what followed."""

    fate: Fate
    columns: dict[str, Any]
    usages: list[DrawnUsage]
    box: BoxOnSale | None = None

    @property
    def is_test(self) -> bool:
        return self.fate is Fate.TEST


@dataclass(frozen=True)
class NetworkGenerator:
    """Generates from a network's stock."""

    stock: NetworkStock
    content: LargeContent
    now: dt.datetime

    def gift_card(self, number: int) -> Drawn:
        rng = Random(f"{SEED} gift card {number}")  # noqa: S311 - not a secret
        fate, value = _fate(rng), rng.choice(CARD_VALUES)
        columns = self._sale(rng, number, fate, self.stock.network.network_gift_card_validity_months)
        designs = self.stock.design_ids
        columns |= {"value_amount": value, "design_id": rng.choice(designs) if designs else None}
        parts = _parts(rng, fate, value)
        moments = self._moments(rng, columns, len(parts))
        partners = list(self.stock.card_terms)
        usages = [
            DrawnUsage(rng.choice(partners), moment, _booking(rng), part)
            for part, moment in zip(parts, moments, strict=True)
        ]
        return Drawn(fate, columns, _with_cancelled(rng, fate, usages, value))

    def voucher(self, number: int) -> Drawn:
        rng = Random(f"{SEED} voucher {number}")  # noqa: S311 - not a secret
        fate = _fate(rng)
        several = [box for box in self.stock.boxes if box.row.max_usages > 1]
        if fate is Fate.USING and not several:
            fate = Fate.PAID
        box = rng.choice(several if fate is Fate.USING else self.stock.boxes)
        columns = self._sale(rng, number, fate, self.stock.network.network_voucher_validity_months)
        most = box.row.max_usages
        times = {Fate.USED: most, Fate.USING: rng.randrange(1, max(2, most)), Fate.EXPIRED: rng.randrange(most)}
        moments = self._moments(rng, columns, times.get(fate, 0), box.row.max_days_after_first_usage)
        usages = [self._voucher_usage(rng, box, moment) for moment in moments]
        return Drawn(fate, columns, _with_cancelled(rng, fate, usages), box)

    def _voucher_usage(self, rng: Random, box: BoxOnSale, moment: dt.datetime) -> DrawnUsage:
        partner_id, offer_id = rng.choice(box.offers)
        return DrawnUsage(partner_id, moment, _booking(rng), offer_id=offer_id)

    def _sale(self, rng: Random, number: int, fate: Fate, months: int) -> dict[str, Any]:
        """The code, the dates, and the people."""
        language = rng.choices(list(self.content.languages), [each.weight for each in self.content.languages.values()])
        speakers = self.content.languages[language[0]]
        sold_on = self.now - JUST_NOW - SPAN * rng.random()
        if fate is Fate.EXPIRED:
            sold_on = self.now - dt.timedelta(days=31 * months + 2) - OVER_SINCE * rng.random()
        code = draw_code(rng)
        gifter, giftee = (draw_person(rng, speakers, f"n{who}{number}") for who in "ab")
        return {
            "code": code,
            "normal_code": normalize(code),
            "created_on": sold_on,
            "starts_on": sold_on,
            "expires_on": end_of_validity(sold_on, months, self.stock.zone),
            "language": language[0],
            "message": rng.choice(speakers.messages),
            **names_of("gifter", gifter),
            **names_of("giftee", giftee),
        }

    def _moments(self, rng: Random, columns: dict[str, Any], count: int, days: int = 0) -> list[dt.datetime]:
        """When it was used, ascending: within its validity, and within `days` after the first time."""
        first, until = columns["created_on"], min(columns["expires_on"], self.now) - 2 * TO_CANCEL
        begun = first + (until - first) * rng.betavariate(1.5, 3)
        if days:
            until = min(until, begun + dt.timedelta(days=days))
        return [begun, *sorted(begun + (until - begun) * rng.random() for _ in range(count - 1))][:count]


def _fate(rng: Random) -> Fate:
    return rng.choices(list(FATES), list(FATES.values()))[0]


def _booking(rng: Random) -> str:
    return f"R-{rng.randrange(10_000, 100_000)}" if rng.random() < 0.6 else ""


def _parts(rng: Random, fate: Fate, value: Decimal) -> list[Decimal]:
    """What the usages of a gift card take of its value."""
    if fate is Fate.USED:
        first = (value * rng.randrange(20, 80) / 100).quantize(CENT)
        return rng.choice(([value], [first, value - first]))
    if fate is Fate.USING or (fate in {Fate.EXPIRED, Fate.CANCELLED} and rng.random() < 0.5):
        return [(value * rng.randrange(10, 45) / 100).quantize(CENT) for _ in range(rng.randrange(1, 3))]
    return []


def _with_cancelled(rng: Random, fate: Fate, usages: list[DrawnUsage], value: Decimal = Decimal(0)) -> list[DrawnUsage]:
    """The usages, and for some an earlier one by mistake, which was cancelled."""
    if not usages or fate is Fate.EXPIRED or rng.random() < 0.8:
        return usages
    first = usages[0]
    part = (value * rng.randrange(10, 100) / 100).quantize(CENT)
    by_mistake = DrawnUsage(
        first.partner_id, first.used_on - 2 * TO_CANCEL, first.reservation_id, part, first.offer_id, is_cancelled=True
    )
    return [by_mistake, *usages]
