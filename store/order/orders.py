"""The tables of orders. Rows are written once, when a payment attempt completes."""

from typing import cast
from uuid import UUID

from sqlalchemy import CheckConstraint, Column, Computed, Index, String, Table, UniqueConstraint, false, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.checkout import ShopKind
from schema.order.fulfilment import OrderFulfilment
from schema.order.order import (
    Order,
    OrderBilling,
    OrderBuyer,
    OrderDelivery,
    OrderDiscount,
    OrderProduct,
    OrderVariant,
    OrderVat,
    PostalAddress,
)
from store.core.row import CreatedOn, InCurrency, PartnerIndexed
from store.database.text_search import GENERATED_COLUMN, declare_searchable
from store.legal import AcceptedDocuments

FULFILS_BY_KIND = (
    "fulfilment_state IS NULL"
    " OR delivery_kind = 'click_and_collect'"
    " AND fulfilment_state IN ('to_prepare', 'ready_to_collect', 'collected', 'cancelled')"
    " OR delivery_kind = 'home_delivery'"
    " AND fulfilment_state IN ('to_prepare', 'sent', 'delivered', 'cancelled')"
)
"""The states that an order can be in, by the kind of its delivery."""

BILLING = tuple(OrderBilling.model_fields)
"""The columns of the company: all or none of them are null."""


class OrderRow(
    PartnerIndexed,
    InCurrency,
    CreatedOn,
    AcceptedDocuments,
    OrderBuyer,
    OrderBilling,
    OrderDelivery,
    PostalAddress,
    OrderFulfilment,
    Order,
    table=True,
):
    """An order. A payment attempt has at most one; numbers have no gaps within a partner."""

    __tablename__ = "shop_order"
    __table_args__ = (
        UniqueConstraint("partner_id", "number", name="order_number_key"),
        UniqueConstraint("attempt_id", name="order_attempt_key"),
        Index("shop_order_created_on_idx", "created_on"),
        Index("shop_order_unerased_idx", "created_on", "id", postgresql_where=text("personal_data_erased_on IS NULL")),
        Index("shop_order_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("shop_order_total_amount_list_idx", "partner_id", "total_amount", "id"),
        Index(
            "shop_order_fulfilment_list_idx",
            *("partner_id", "fulfilment_state", "created_on", "id"),
            postgresql_where=text("fulfilment_state IS NOT NULL"),
        ),
        CheckConstraint("total_amount = products_amount - discount_amount + delivery_amount", name="adds_up"),
        CheckConstraint("total_amount = gift_card_amount + card_amount", name="is_paid"),
        CheckConstraint("delivery_refunded_amount BETWEEN 0 AND delivery_amount", name="refunds_no_more"),
        CheckConstraint(
            "num_nulls(address_line_1, address_line_2, postal_code, city, country) IN (0, 5)", name="whole_address"
        ),
        CheckConstraint(f"num_nulls({', '.join(BILLING)}) IN (0, {len(BILLING)})", name="whole_billing"),
        CheckConstraint(FULFILS_BY_KIND, name="fulfils_by_kind"),
        CheckConstraint("lower(fulfilment_tracking_url) LIKE 'https://%'", name="tracks_over_https"),
    )
    attempt_id: UUID = Field(foreign_key="checkout_attempt.id")
    has_goods: bool = Field(
        default=False,
        sa_column_kwargs={"server_default": false()},
        description="Whether goods are among its lines. Of releases that sold goods alone it is false.",
    )
    has_network_lines: bool = False
    """Whether it has gift cards or boxes of the network, whose codes the seller never reads."""

    @property
    def sells_goods(self) -> bool:
        """Whether goods are among its lines."""
        return self.has_goods or self.kind is ShopKind.PRODUCTS


BUYER_TEXT = (
    "search_text(buyer_first_name || ' ' || buyer_last_name || chr(10) || buyer_email || chr(10) "
    "|| coalesce(billing_company_name, ''))"
)


_ORDERS = cast("Table", OrderRow.__table__)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
declare_searchable(_ORDERS, {"buyer_text": ("b", BUYER_TEXT)})
_BUYER = Column("buyer_normal_email", String, Computed("nullif(lower(buyer_email), '')", persisted=True), nullable=True)
"""The address of the buyer in lower case, as that of a customer; null if there is none."""
_BUYER.info = dict(GENERATED_COLUMN)
_ORDERS.append_column(_BUYER)
Index("shop_order_buyer_idx", _ORDERS.c.partner_id, _BUYER, _ORDERS.c.created_on, _ORDERS.c.id)


class OrderProductRow(PartnerIndexed, InCurrency, OrderProduct, table=True):
    __tablename__ = "order_product"
    __table_args__ = (
        CheckConstraint(
            "num_nonnulls(product_id, voucher_id, gift_card_id, network_gift_card_id, network_voucher_id) = 1",
            name="sells_one_thing",
        ),
        CheckConstraint(
            "(network_id IS NULL) = (num_nonnulls(network_gift_card_id, network_voucher_id) = 0)",
            name="names_the_network",
        ),
        CheckConstraint("discount_amount BETWEEN 0 AND total_amount", name="discounts_no_more"),
        CheckConstraint("refunded_quantity BETWEEN 0 AND quantity", name="refunds_no_more_pieces"),
        CheckConstraint("refunded_amount BETWEEN 0 AND total_amount - discount_amount", name="refunds_no_more"),
        CheckConstraint("restocked_quantity BETWEEN 0 AND quantity", name="restocks_no_more"),
    )
    order_id: int = Field(foreign_key="shop_order.id", index=True)
    order_variant_id: int | None = Field(default=None, foreign_key="order_variant.id")
    voucher_id: int | None = Field(default=None, foreign_key="voucher.id", index=True)
    gift_card_id: int | None = Field(default=None, foreign_key="gift_card.id", index=True)
    """A partner's own gift card. Those of networks have a column of their own, so that sellers never read them."""
    network_gift_card_id: int | None = Field(default=None, foreign_key="gift_card.id", index=True)
    network_voucher_id: int | None = Field(default=None, foreign_key="network_voucher.id", index=True)
    network_id: int | None = Field(default=None, foreign_key="marketplace.id")
    """The marketplace whose gift card or voucher it is."""
    picture_url: str = Field(default="", max_length=300)
    """Path of the picture on this service; empty if none."""
    restocked_quantity: int = 0
    """How many of it refunds have put back into stock, those that failed later included."""

    @property
    def is_prepaid(self) -> bool:
        """True if it is money to spend later: its sale bears no VAT."""
        return any(id is not None for id in (self.gift_card_id, self.network_gift_card_id, self.network_voucher_id))


class OrderVariantRow(PartnerIndexed, OrderVariant, table=True):
    """The variant and the chosen attribute values of an ordered product."""

    __tablename__ = "order_variant"
    order_id: int = Field(foreign_key="shop_order.id", index=True)


class OrderVatRow(PartnerIndexed, InCurrency, OrderVat, table=True):
    __tablename__ = "order_vat"
    order_id: int = Field(foreign_key="shop_order.id", index=True)


class OrderDiscountRow(PartnerIndexed, InCurrency, OrderDiscount, table=True):
    """A coupon's discount on an order."""

    __tablename__ = "order_discount"
    order_id: int = Field(foreign_key="shop_order.id", index=True)


def address_lines(order: OrderRow) -> tuple[str, ...]:
    """The lines of the address that an order is sent to, without the country; empty if it is not sent to its buyer."""
    to = order.recipient_name or f"{order.buyer_first_name} {order.buyer_last_name}".strip()
    place = f"{order.postal_code or ''} {order.city or ''}".strip()
    lines = (to, order.address_line_1, order.address_line_2, place) if order.country else ()
    return tuple(line for line in lines if line)


def billing_lines(order: OrderRow) -> tuple[str, ...]:
    """The lines of the address of the company that has bought, without its name and country; empty for a person."""
    place = f"{order.billing_postal_code or ''} {order.billing_city or ''}".strip()
    return tuple(line for line in (order.billing_line_1, order.billing_line_2, place) if line)


async def lock_order(db: AsyncSession, id: int) -> OrderRow:
    """Lock and reload an order."""
    query = select(OrderRow).where(col(OrderRow.id) == id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()
