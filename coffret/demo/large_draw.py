"""Generates vouchers and gift cards of the large demo partner. Within a run, a number always gives the same row."""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from coffret.demo.large_content import LanguagePeople, LargeContent
from coffret.demo.large_shelf import LargeCatalogue, PartyPrice, PurchasablePrototype
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import ExpeditionStatus, VoucherKind, VoucherState
from store.catalogue.catalogue import VoucherOptionRow
from store.core.codes import ALPHABET, LENGTH, normalize, with_check_character
from store.customer import Person
from store.voucher.issuing import POSTAL_MODES
from store.voucher.payment import end_of_validity

SEED = 20_200_229
YEARS = 6
SPAN = dt.timedelta(days=365 * YEARS)
JUST_NOW = dt.timedelta(minutes=10)
"""The age of the newest sale, so that everything that follows a sale has happened."""
BUYERS_PER_FIVE = 3
"""Distinct buyers per five vouchers: some buy again."""
MODES = (*[ReceptionMode.PRINT_AT_HOME] * 5, *[ReceptionMode.GIFTEE_EMAIL] * 4, *ReceptionMode)
CARD_MONTHS = 24
CARD_VALUES = tuple(map(Decimal, ("50.00", "75.00", "100.00", "150.00", "250.00")))
CENT = Decimal("0.01")


@lru_cache(maxsize=100_000)
def _end_of_validity(day: dt.date, months: int, zone: ZoneInfo) -> dt.datetime:
    return end_of_validity(dt.datetime.combine(day, dt.time(12), zone), months, zone)


@dataclass(frozen=True)
class NumberRange:
    """The row numbers of a run, from `first` to `end` (exclusive), spread over the years up to `now`, oldest first."""

    first: int
    end: int
    now: dt.datetime

    @property
    def numbers(self) -> range:
        return range(self.first, self.end)

    def moment(self, number: int, rng: Random) -> dt.datetime:
        """The time of sale of a number: more sales each year, and most before Christmas."""
        at = (number - self.first + rng.random()) / (self.end - self.first)
        latest = self.now - JUST_NOW
        sold = latest - SPAN * (1 - at**0.7)
        gift: dt.datetime = sold.replace(month=12, day=rng.randrange(1, 24)) if rng.random() < 0.2 else sold
        return gift if gift <= latest else sold


@dataclass
class GeneratedVoucher:
    """A generated voucher: its columns, people, prototype and options."""

    columns: dict[str, Any]
    gifter: Person
    giftee: Person | None
    sold: PurchasablePrototype
    chosen: list[tuple[VoucherOptionRow, int]] = field(default_factory=list)


@dataclass(frozen=True)
class RowGenerator:
    """Generates rows from a partner's catalogue."""

    catalogue: LargeCatalogue
    content: LargeContent
    number_range: NumberRange

    @cached_property
    def _languages(self) -> tuple[list[str], list[int]]:
        return list(self.content.languages), [each.weight for each in self.content.languages.values()]

    def voucher(self, number: int) -> GeneratedVoucher:
        rng = Random(SEED + number)  # noqa: S311 - not a secret
        sold = rng.choice(self.catalogue.prototypes)
        sale = rng.choice(sold.party_prices)
        sold_on = self.number_range.moment(number, rng)
        language = rng.choices(*self._languages)[0]
        chosen = _chosen_options(sold, rng)
        speakers, gifter = self._gifter(number, language)
        code = draw_code(rng)
        columns: dict[str, Any] = {
            "code": code,
            "normal_code": normalize(code),
            "language": language,
            "created_on": sold_on,
            "nb_nights": sale.nights,
            "nb_adults": sale.party.adults,
            "nb_children": sale.party.children,
            **self._state_columns(rng, sold_on, sold.row.validity_months),
            **self._price_columns(rng, sale, chosen),
            **self._source_columns(rng),
        }
        giftee = self._giftee(number, rng, speakers)
        columns |= _gift_columns(rng, speakers, gifter, giftee)
        columns |= _delivery_columns(rng, columns, speakers)
        return GeneratedVoucher(columns, gifter, giftee, sold, chosen)

    def _gifter(self, number: int, language: str) -> tuple[LanguagePeople, Person]:
        """The buyer of a number, shared with neighbouring numbers, and the people of the language."""
        speakers = self.content.languages[language]
        who = number // 5 * BUYERS_PER_FIVE + number % 5 % BUYERS_PER_FIVE
        rng = Random(-SEED - who)  # noqa: S311
        return speakers, draw_person(rng, speakers, f"{language}{who}")

    def _giftee(self, number: int, rng: Random, speakers: LanguagePeople) -> Person | None:
        """The giftee; None if the buyer keeps the voucher. Some giftees have no e-mail address."""
        if rng.random() < 0.4:
            return None
        who = draw_person(rng, speakers, f"g{number}")
        return who if rng.random() < 0.6 else Person(who.first_name, who.last_name)

    def _state_columns(self, rng: Random, sold_on: dt.datetime, months: int) -> dict[str, Any]:
        """The state and its dates."""
        dates: dict[str, Any] = {"activated_on": None, "used_on": None, "expires_on": None, "updated_on": sold_on}
        luck = rng.random()
        if luck < 0.03:
            return {**dates, "state": VoucherState.ERROR if luck < 0.01 else VoucherState.DRAFT}
        now, paid_on = self.number_range.now, sold_on + dt.timedelta(seconds=rng.randrange(20, 500))
        expires_on = _end_of_validity(paid_on.astimezone(self.catalogue.zone).date(), months, self.catalogue.zone)
        used_on = paid_on + (expires_on - paid_on) * rng.betavariate(1.6, 2.2)
        dates |= {"activated_on": paid_on, "expires_on": expires_on, "updated_on": paid_on}
        if luck < 0.78 and used_on <= now:
            return {**dates, "state": VoucherState.USED, "used_on": used_on, "updated_on": used_on}
        if expires_on <= now:
            return {**dates, "state": VoucherState.EXPIRED, "updated_on": expires_on}
        return {**dates, "state": VoucherState.USING if luck > 0.96 else VoucherState.PAID}

    def _price_columns(
        self, rng: Random, sale: PartyPrice, chosen: list[tuple[VoucherOptionRow, int]]
    ) -> dict[str, Any]:
        total = sale.rent + sum((option.selling_price_amount * count for option, count in chosen), Decimal(0))
        coupon = rng.choice(self.catalogue.coupons) if rng.random() < 0.12 else None
        off = Decimal(1) if coupon is None else 1 - (coupon.discount_percentage or Decimal(0)) / 100
        return {
            "coupon_id": None if coupon is None else coupon.id,
            "total_price_amount": total,
            "rent_price_amount": sale.rent,
            "purchase_price_amount": (total * off).quantize(CENT),
            "bought_rent_price_amount": (sale.rent * off).quantize(CENT),
        }

    def _source_columns(self, rng: Random) -> dict[str, Any]:
        imported = rng.random() < 0.04
        return {
            "kind": VoucherKind.IMPORTED if imported else VoucherKind.SOLD,
            "imported_from": rng.choice(self.content.systems) if imported else "",
            "origin": rng.choice(self.content.origins),
            "payment_type": "" if imported else "credit_card",
            "is_group_payment": not imported and rng.random() < 0.02,
        }

    def gift_card(self, number: int) -> tuple[dict[str, Any], Decimal]:
        """The columns of a gift card, and the spent amount."""
        rng = Random(f"{SEED} gift card {number}")  # noqa: S311
        sold_on = self.number_range.moment(number, rng)
        language = rng.choices(*self._languages)[0]
        speakers, gifter = self._gifter(number, language)
        giftee = draw_person(rng, speakers, f"c{number}")
        value, luck, code = rng.choice(CARD_VALUES), rng.random(), draw_code(rng)
        expires_on = _end_of_validity(sold_on.astimezone(self.catalogue.zone).date(), CARD_MONTHS, self.catalogue.zone)
        spent = value if luck < 0.5 else Decimal(rng.randrange(1, int(value))) if luck < 0.7 else Decimal(0)
        usual = {value: GiftCardStatus.USED, Decimal(0): GiftCardStatus.PAID}.get(spent, GiftCardStatus.USING)
        over = expires_on <= self.number_range.now and spent < value
        return {
            "code": code,
            "normal_code": normalize(code),
            "status": GiftCardStatus.EXPIRED if over else usual,
            "created_on": sold_on,
            "expires_on": expires_on,
            "value_amount": value,
            "remaining_amount": value - spent,
            "language": language,
            "reception_mode": rng.choice(MODES),
            "message": rng.choice(speakers.messages),
            **names_of("gifter", gifter),
            **names_of("giftee", giftee),
        }, spent


def draw_code(rng: Random) -> str:
    """A random code."""
    return with_check_character("".join(rng.choices(ALPHABET, k=LENGTH - 1)))


def draw_person(rng: Random, speakers: LanguagePeople, mark: str) -> Person:
    """A random person. `mark` tells the e-mail address from others."""
    return Person(rng.choice(speakers.first_names), rng.choice(speakers.last_names), f"{mark}@mail.example")


def names_of(who: str, person: Person) -> dict[str, Any]:
    """The columns of a person who is the `gifter` or the `giftee`."""
    return {f"{who}_{name}": getattr(person, name) for name in ("first_name", "last_name", "email")}


def _chosen_options(sold: PurchasablePrototype, rng: Random) -> list[tuple[VoucherOptionRow, int]]:
    """The added options; mostly none."""
    if not sold.offered or rng.random() < 0.65:
        return []
    options = rng.sample(sold.offered, min(len(sold.offered), rng.randrange(1, 3)))
    return [(option, rng.randrange(1, 4) if option.countable else 1) for option in options]


def _gift_columns(rng: Random, speakers: LanguagePeople, gifter: Person, giftee: Person | None) -> dict[str, Any]:
    postal_code, town, country = rng.choice(speakers.towns)
    given = {
        **names_of("gifter", gifter),
        "gifter_address": f"{rng.randrange(1, 180)}, {rng.choice(speakers.last_names)}",
        "gifter_postal_code": postal_code,
        "gifter_city": town,
        "gifter_country": country,
        "gifter_mobile_phone": f"+33 6 {rng.randrange(10**7, 10**8)}" if rng.random() < 0.5 else None,
        "self_gifted": giftee is None,
        "from_gifter": gifter.first_name,
    }
    if giftee is None:
        return given
    return given | {
        **names_of("giftee", giftee),
        "giftee_email": giftee.email or None,
        "to_giftee": giftee.first_name,
        "message": rng.choice(speakers.messages) if rng.random() < 0.7 else None,
    }


def _delivery_columns(rng: Random, columns: dict[str, Any], speakers: LanguagePeople) -> dict[str, Any]:
    """The reception mode and the state of the expedition."""
    mode = rng.choice(MODES)
    sent: dict[str, Any] = {"reception_mode": mode, "expedition_status": ExpeditionStatus.NONE}
    if mode not in POSTAL_MODES:
        return sent
    code, town, country = rng.choice(speakers.towns)
    sent["recipient_address"] = f"{rng.choice(speakers.last_names)}\n{code} {town}\n{country}"
    if columns["used_on"] is None:
        return sent | {"expedition_status": ExpeditionStatus.TO_SEND}
    return sent | {"expedition_status": ExpeditionStatus.SENT, "expedition_date": columns["activated_on"]}
