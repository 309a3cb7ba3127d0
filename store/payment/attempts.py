"""Payment attempts of the checkout. An attempt is stored before the customer is redirected to the provider."""

import datetime as dt
import enum
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, Numeric, false, text
from sqlmodel import Field

from schema.checkout.checkout import Buyer, ShopKind, VatAmount
from schema.core.columns import amount_column, datetime_column, enum_column
from schema.coupon.coupon import ReceptionMode
from schema.payment_method import PaymentMethod
from store.core.provider_process import CheckedRow
from store.core.row import CreatedOn, PartnerOwned
from store.core.state_machine import StateMachine
from store.core.typed_json import typed_json_column
from store.legal import AcceptedDocuments
from store.payment.snapshot import (
    BUYER,
    CODES,
    DELIVERY,
    LINES,
    VAT,
    AttemptCode,
    AttemptDelivery,
    AttemptLine,
    Purchase,
)


class AttemptState(enum.StrEnum):
    """The state of a payment attempt.

    STARTING and OPEN hold stock, coupons and gift cards; COMPLETED has spent them.
    """

    STARTING = "starting"
    """Stored; the provider may or may not know of it yet."""
    OPEN = "open"
    """The customer is on the provider's page, or the pay-in is not final."""
    ABANDONED = "abandoned"
    """Reservations are released, but the pay-in could still be paid: it is polled until it is final."""
    COMPLETED = "completed"
    """The order exists."""
    FAILED = "failed"
    """Nothing was charged; reservations are released."""
    REFUNDING = "refunding"
    """Charged, but the order could not be fulfilled: reservations are released and a refund is in progress."""
    REFUNDED = "refunded"
    """The refund succeeded."""


LIVE = (AttemptState.STARTING, AttemptState.OPEN)
UNSETTLED = (*LIVE, AttemptState.ABANDONED)
"""The pay-in could still be paid."""
TRANSITIONS = StateMachine(
    "A checkout attempt",
    {
        AttemptState.STARTING: {
            AttemptState.OPEN,
            AttemptState.ABANDONED,
            AttemptState.COMPLETED,
            AttemptState.FAILED,
            AttemptState.REFUNDING,
        },
        AttemptState.OPEN: {
            AttemptState.ABANDONED,
            AttemptState.COMPLETED,
            AttemptState.FAILED,
            AttemptState.REFUNDING,
        },
        AttemptState.ABANDONED: {AttemptState.COMPLETED, AttemptState.FAILED, AttemptState.REFUNDING},
        AttemptState.FAILED: {AttemptState.ABANDONED},
        AttemptState.REFUNDING: {AttemptState.REFUNDED},
    },
)


class AttemptRow(PartnerOwned, CreatedOn, CheckedRow, AcceptedDocuments, table=True):
    """A payment attempt. A session and cart have at most one live attempt."""

    __tablename__ = "checkout_attempt"
    __table_args__ = (
        Index(
            "checkout_attempt_one_live_key",
            "partner_id",
            "kind",
            "cart_id",
            "session_digest",
            unique=True,
            postgresql_where=text("state IN ('starting', 'open')"),
        ),
        Index(
            "checkout_attempt_one_live_basket_key",
            "partner_id",
            "cart_id",
            "session_digest",
            unique=True,
            postgresql_where=text("state IN ('starting', 'open') AND kind IN ('vouchers', 'gift_cards', 'mixed')"),
        ),
        Index("checkout_attempt_cart_idx", "partner_id", "cart_id"),
        Index(
            "checkout_attempt_due_idx",
            "check_on",
            postgresql_where=text("state IN ('starting', 'open', 'abandoned')"),
        ),
        Index(
            "checkout_attempt_unerased_idx",
            "created_on",
            "id",
            postgresql_where=text("state IN ('failed', 'refunded') AND personal_data_erased_on IS NULL"),
        ),
        CheckConstraint("total_amount = gift_card_amount + card_amount", name="is_paid"),
    )
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    kind: ShopKind = enum_column(ShopKind, "What is bought.", default=ShopKind.PRODUCTS)
    state: AttemptState = enum_column(AttemptState, "State.", default=AttemptState.STARTING)
    cart_id: UUID = Field(description="The id of the cart or basket.")
    cart_last_modified: int = Field(sa_type=BigInteger)
    from_cart: bool = Field(
        default=False,
        sa_column_kwargs={"server_default": false()},
        description="Whether a cart is ordered, with what was added to it. Of releases that sold goods alone it is false.",
    )
    session_digest: str = Field(max_length=64, description="Digest of the session id.")
    language: str = Field(default="en", max_length=2)
    return_url: str = Field(default="", max_length=2048)
    lines: tuple[AttemptLine, ...] = typed_json_column(LINES, "The ordered lines.")
    buyer: Buyer = typed_json_column(BUYER, "The buyer.")
    delivery: AttemptDelivery = typed_json_column(DELIVERY, "The chosen delivery.")
    vat: tuple[VatAmount, ...] = typed_json_column(VAT, "The VAT contained in the total.")
    coupons: tuple[AttemptCode, ...] = typed_json_column(CODES, "The coupons with their discounts.", default=())
    cards: tuple[AttemptCode, ...] = typed_json_column(CODES, "The gift cards that pay a part of it.", default=())
    held: bool = Field(default=False, description="True while reservations are held, and after they were spent.")
    payment_method: PaymentMethod = enum_column(
        PaymentMethod, "What the customer pays with.", default=PaymentMethod.CARD
    )
    round: int = Field(default=0, description="How often reservations were taken.")
    currency: str = Field(max_length=3)
    products_amount: Decimal = amount_column()
    discount_amount: Decimal = amount_column()
    delivery_amount: Decimal = amount_column()
    total_amount: Decimal = amount_column()
    gift_card_amount: Decimal = amount_column()
    card_amount: Decimal = amount_column()
    commission_amount: Decimal = amount_column("Our part of the card amount.", default=Decimal("0.00"))
    commission_vat_amount: Decimal = amount_column("The VAT in it.", default=Decimal("0.00"))
    commission_vat_rate: Decimal = Field(default=Decimal("0.00"), sa_type=Numeric(5, 2))
    """In percent."""
    is_reverse_charge: bool = False
    """Whether no VAT was added because the partner owes it."""
    fee_rule_id: int | None = Field(default=None, foreign_key="fee_rule.id")
    link_expires_on: dt.datetime | None = datetime_column(
        "When the provider's link expires.", default=None, nullable=True
    )
    payin_key: UUID = Field(default_factory=uuid4)
    notified: bool = Field(default=False, description="True once the provider has notified about its pay-in.")
    payer_id: str = Field(default="", max_length=128)
    payin_id: str = Field(default="", max_length=128, index=True)
    redirect_url: str = Field(default="", max_length=2048)
    fingerprint: str = Field(
        default="", max_length=64, description="Digest of the checkout, to detect a repeated submit."
    )
    failure_code: str = Field(default="", max_length=20)
    failure_reason: str = Field(default="", max_length=40)
    personal_data_erased_on: dt.datetime | None = datetime_column(
        "When the data of the buyer and the giftees were erased.", default=None, nullable=True
    )

    @property
    def orders_cart(self) -> bool:
        """Whether a cart is ordered, which is then deleted."""
        return self.from_cart or self.kind is ShopKind.PRODUCTS

    @property
    def is_for_marketplace(self) -> bool:
        """Whether it has what the network sells: then all of it is paid into the marketplace's own wallet."""
        return self.kind is ShopKind.NETWORK or any(line.is_of_network for line in self.lines)

    def partner_share_of(self, card_amount: Decimal, commission: Decimal = Decimal("0.00")) -> Decimal:
        """What of an amount by bank card is the partner's: all but what the network's lines cost, for which only the bank
        card pays, and at least its commission. Of an order from the network's shop nothing.
        """
        if self.kind is ShopKind.NETWORK:
            return Decimal("0.00")
        of_network = sum((line.paid for line in self.lines if line.is_of_network), Decimal("0.00"))
        return max(card_amount - of_network, commission)

    def reception_of(self, bought: Purchase) -> ReceptionMode:
        """How a voucher or gift card of it is received."""
        mode = bought.reception or self.delivery.reception
        assert mode is not None, "a basket has a reception"
        return mode

    @property
    def receptions(self) -> frozenset[ReceptionMode]:
        """How its vouchers and gift cards are received."""
        return frozenset(self.reception_of(line.purchase) for line in self.lines if line.purchase is not None)

    def has_ordered(self, cart_last_modified: int) -> bool:
        """True if it completed an order for this version of its cart or basket. The cart may still exist."""
        return self.state is AttemptState.COMPLETED and self.cart_last_modified == cart_last_modified


def transition(attempt: AttemptRow, to: AttemptState) -> None:
    """Change the state of a locked attempt. Raises RuntimeError for a transition that is not allowed."""
    attempt.state = TRANSITIONS.require(attempt.state, to)


LINK_LIFE = dt.timedelta(minutes=15)
"""Assumed lifetime of a payment link if the provider reports no expiry."""


RESERVATION_GRACE = dt.timedelta(minutes=20)


def reservations_end(attempt: AttemptRow) -> dt.datetime:
    """The latest time until which a live attempt keeps its reservations."""
    return (attempt.link_expires_on or attempt.created_on + LINK_LIFE) + RESERVATION_GRACE
