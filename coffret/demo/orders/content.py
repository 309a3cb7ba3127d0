"""The orders of the demo data, loaded from `orders.toml` in a partner's folder. A mistake raises a `ValueError` that names
the file.
"""

from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Amount, Count, Key, read_toml
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.order.fulfilment import FulfilmentState
from schema.payment_method import PaymentMethod

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class DemoGift:
    """For whom something is bought. Without an e-mail address the buyer hands it over."""

    name: str
    email: str = ""
    message: str = ""
    days_until_sent: Count | None = None
    """None: it is sent as soon as it is paid."""


@dataclass(frozen=True, config=_CONFIG)
class DemoOrderLine:
    """A line: goods or an experience by its English name, or a gift card by its value."""

    name: str = ""
    quantity: Annotated[int, Field(ge=1)] = 1
    """Of goods; adults of an experience."""
    gift_card: Amount | None = None
    gift: DemoGift | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoAddressOfBuyer:
    """Where goods are sent."""

    line: str
    postal_code: str
    city: str
    country: str


@dataclass(frozen=True, config=_CONFIG)
class DemoRefundRequest:
    """A withdrawal of the buyer from the whole order, which staff has not answered."""

    days_ago: Count
    reason: str


@dataclass(frozen=True, config=_CONFIG)
class DemoOrder:
    """A paid order. Goods have a `delivery`, experiences and gift cards a `reception`."""

    key: Key
    days_ago: Count
    customer: Key
    lines: Annotated[tuple[DemoOrderLine, ...], Field(min_length=1)]
    delivery: DeliveryKind | None = None
    reception: ReceptionMode | None = None
    address: DemoAddressOfBuyer | None = None
    method: PaymentMethod = PaymentMethod.CARD
    states: tuple[FulfilmentState, ...] = ()
    """What staff has recorded, a day after each other."""
    request: DemoRefundRequest | None = None


@dataclass(frozen=True, config=_CONFIG)
class _OrdersFile:
    orders: tuple[DemoOrder, ...]


def load_orders(partner: str) -> tuple[DemoOrder, ...]:
    """Load and validate the orders in a partner's folder. Raises ValueError that names the file."""
    path = FOLDER / partner / "orders.toml"
    orders = read_toml(_OrdersFile, path).orders
    for order in orders:
        if (order.delivery is None) is (order.reception is None):
            raise ValueError(f"{path}: {order.key} needs either a delivery or a reception.")
    return orders
