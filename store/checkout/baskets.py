"""Bags of vouchers or gift cards, as they are kept in a customer's session until a payment is begun."""

import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from schema.checkout.basket import BagChoice, GiftCardChoice, Giftee, VoucherChoice
from schema.checkout.checkout import Notice, ShopKind
from schema.coupon.coupon import ReceptionMode

KEPT_BAGS = 4


@dataclass(slots=True)
class BagEdits:
    """A bag: what is in it, by the ids of its lines, and how it is to be received."""

    last_modified: int
    """When it was begun, in milliseconds. It stays: what is in it later tells two payments apart."""
    kind: ShopKind
    lines: dict[uuid.UUID, BagChoice] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    delivery_id: int | None = None
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def bag_from(raw: dict[str, Any]) -> BagEdits:
    """A bag from its JSON form."""
    return BagEdits(
        last_modified=raw["last_modified"],
        kind=ShopKind(raw["kind"]),
        lines={uuid.UUID(id): _choice(line) for id, line in raw["lines"].items()},
        reception=ReceptionMode(raw["reception"]) if raw["reception"] else None,
        delivery_id=raw["delivery_id"],
        country=raw["country"],
        codes=raw["codes"],
        notices=[Notice(notice) for notice in raw["notices"]],
    )


def _choice(raw: dict[str, Any]) -> BagChoice:
    giftee = Giftee(**raw.pop("giftee"))
    if "value" in raw:
        return GiftCardChoice(value=Decimal(raw.pop("value")), giftee=giftee, **raw)
    options = {int(id): count for id, count in raw.pop("options").items()}
    return VoucherChoice(giftee=giftee, options=options, **raw)
