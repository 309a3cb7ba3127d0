"""The payments of the demo data, loaded from `payments.toml` in a partner's folder. A mistake raises a `ValueError` that
names the file.
"""

import datetime as dt
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Amount, Count, Key, Percent, read_bytes, read_toml
from coffret.demo.orders.content import DemoOrder, load_orders
from schema.partner.parts import CompanyType
from schema.payment.dispute import DisputeState
from schema.payment.payment import RefundState
from schema.payment.payout import PayoutRequestStatus
from schema.validation.languages import Language

_CONFIG = ConfigDict(extra="forbid")
PositiveAmount = Annotated[Amount, Field(gt=0)]


class DemoPaymentEnd(StrEnum):
    """What has become of a payment."""

    PAID = "paid"
    IN_PROGRESS = "in_progress"
    """The customer is on the page of the payment provider."""
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class DemoRequestEnd(StrEnum):
    """What has become of a payment request."""

    PENDING = "pending"
    REMINDED = "reminded"
    PAID = "paid"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, config=_CONFIG)
class DemoCustomer:
    """A customer, who reads `language`."""

    key: Key
    first_name: str
    last_name: str
    email: str
    language: Language


@dataclass(frozen=True, config=_CONFIG)
class DemoFeeRule:
    """A fee rule of the marketplace: for all partners, or for this one."""

    percentage: Percent
    vat_rate: Percent
    fixed: Amount = Decimal("0.00")
    product: str | None = None
    is_of_partner: bool = False


@dataclass(frozen=True, config=_CONFIG)
class DemoRefund:
    """A refund. The payment provider refuses it once, for ever or until a person has to see to it, unless it is `done`."""

    days_ago: Count
    amount: PositiveAmount
    reason: str
    state: RefundState = RefundState.DONE


@dataclass(frozen=True, config=_CONFIG)
class DemoPayment:
    """A payment. `gift_card` is the part of its amount that the gift card pays; a refund or a dispute follows it if it
    is paid.
    """

    key: Key
    days_ago: Count
    customer: Key
    product: Key
    amount: PositiveAmount
    description: str
    discount: Amount = Decimal("0.00")
    gift_card: PositiveAmount | None = None
    end: DemoPaymentEnd = DemoPaymentEnd.PAID
    refund: DemoRefund | None = None
    dispute: DisputeState | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoRequest:
    """A payment request."""

    key: Key
    days_ago: Count
    customer: Key
    product: Key
    reference: str
    amount: PositiveAmount
    description: str
    end: DemoRequestEnd


@dataclass(frozen=True, config=_CONFIG)
class DemoPayee:
    """What the bank account of a partner is registered with."""

    iban: str
    company_type: CompanyType
    siret_number: str
    legal_representative_first_name: str
    legal_representative_last_name: str
    legal_representative_email: str
    legal_representative_birthday: dt.date
    legal_representative_nationality: str
    legal_representative_country_of_residence: str


@dataclass(frozen=True, config=_CONFIG)
class DemoPayout:
    """A payout of what was earned until then, and what has become of it."""

    days_ago: Count
    status: PayoutRequestStatus


@dataclass(frozen=True, config=_CONFIG)
class DemoAdjustment:
    """An adjustment of what the partner has earned, as far as one user brings it."""

    days_ago: Count
    amount: Decimal
    reason: str


DemoStory: TypeAlias = DemoPayment | DemoRequest | DemoOrder | DemoAdjustment | DemoPayout


@dataclass(frozen=True, config=_CONFIG)
class DemoPayments:
    """A partner's payments, payment requests, orders and payouts."""

    gift_card: PositiveAmount
    """The value of the gift card that pays for some of them."""
    dispute_document: Annotated[bytes, Field(repr=False)]
    """What contests a dispute: a PDF."""
    fee_rules: tuple[DemoFeeRule, ...]
    customers: dict[Key, DemoCustomer]
    payments: tuple[DemoPayment, ...]
    requests: tuple[DemoRequest, ...]
    orders: tuple[DemoOrder, ...]
    adjustments: tuple[DemoAdjustment, ...]
    approval_from: PositiveAmount
    """From which amount a second user has to approve an adjustment."""
    payouts: tuple[DemoPayout, ...]
    payee: DemoPayee

    @property
    def stories(self) -> list[DemoStory]:
        """All of them, the oldest first, payouts after what is of the same day."""
        stories: list[DemoStory] = [*self.payments, *self.requests, *self.orders, *self.adjustments, *self.payouts]
        return sorted(stories, key=lambda story: -story.days_ago)


@dataclass(frozen=True, config=_CONFIG)
class _PaymentsFile:
    gift_card: PositiveAmount
    dispute_document: str
    fee_rules: tuple[DemoFeeRule, ...]
    customers: tuple[DemoCustomer, ...]
    payments: tuple[DemoPayment, ...]
    requests: tuple[DemoRequest, ...]
    adjustments: tuple[DemoAdjustment, ...]
    approval_from: PositiveAmount
    payouts: tuple[DemoPayout, ...]
    payee: DemoPayee


def load_payments(partner: str) -> DemoPayments:
    """Load and validate the payments in a partner's folder. Raises ValueError that names the file."""
    path = FOLDER / partner / "payments.toml"
    read = read_toml(_PaymentsFile, path)
    customers = {customer.key: customer for customer in read.customers}
    orders = load_orders(partner)
    named = {payment.customer for payment in read.payments} | {request.customer for request in read.requests}
    named |= {order.customer for order in orders}
    if unknown := named - customers.keys():
        raise ValueError(f"{path}: it has no customer {', '.join(sorted(unknown))}.")
    return DemoPayments(
        gift_card=read.gift_card,
        dispute_document=read_bytes(path.with_name(read.dispute_document)),
        fee_rules=read.fee_rules,
        customers=customers,
        payments=read.payments,
        adjustments=read.adjustments,
        approval_from=read.approval_from,
        payouts=read.payouts,
        payee=read.payee,
        requests=read.requests,
        orders=orders,
    )
