"""Baskets of vouchers or gift cards, stored in the customer's session until a payment starts."""

import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from schema.checkout.basket import BasketChoice, GiftCardChoice, Giftee, VoucherChoice
from schema.checkout.checkout import CheckoutNotice, ShopKind
from schema.coupon.coupon import ReceptionMode

MAX_BASKETS = 4


@dataclass(slots=True)
class BasketEdits:
    """A basket: its lines by id, and the chosen reception."""

    last_modified: int
    """Creation time in milliseconds; it never changes. Payments of different contents differ by their fingerprint."""
    kind: ShopKind
    lines: dict[uuid.UUID, BasketChoice] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    delivery_id: int | None = None
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[CheckoutNotice] = field(default_factory=list)


def basket_from_json(raw: dict[str, Any]) -> BasketEdits:
    return BasketEdits(
        last_modified=raw["last_modified"],
        kind=ShopKind(raw["kind"]),
        lines={uuid.UUID(id): _choice_from_json(line) for id, line in raw["lines"].items()},
        reception=ReceptionMode(raw["reception"]) if raw["reception"] else None,
        delivery_id=raw["delivery_id"],
        country=raw["country"],
        codes=raw["codes"],
        notices=[CheckoutNotice(notice) for notice in raw["notices"]],
    )


def _choice_from_json(raw: dict[str, Any]) -> BasketChoice:
    giftee = Giftee(**raw.pop("giftee"))
    if "value" in raw:
        return GiftCardChoice(value=Decimal(raw.pop("value")), giftee=giftee, **raw)
    options = {int(id): count for id, count in raw.pop("options").items()}
    return VoucherChoice(giftee=giftee, options=options, **raw)
