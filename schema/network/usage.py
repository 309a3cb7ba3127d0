"""What usages of a network's gift cards and vouchers have in common."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import datetime_column, enum_column, id_column
from schema.core.derived import restricted_column
from schema.core.field_permission import ANYBODY, NOBODY, FieldPermission
from schema.core.money import money, money_column, money_value
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, restricted
from schema.partner.network_settings import UsageFeePayer

NOTHING = Decimal("0.00")
OF_OWN_USAGES = FieldPermission(None, owner_columns=("partner_id", ANYBODY))
"""Limits a field to the partner where something was used, and the network."""
OF_NETWORK = FieldPermission(None, owner_columns=(NOBODY, "marketplace_id"))
"""Limits a field of a network's gift card or voucher to the network."""
HIDDEN = "Null for usages at other partners."


class NetworkUsage(SchemaModel):
    """A usage at a partner, and what the partner earns by it."""

    id: int = id_column("The usage's id.")
    used_on: dt.datetime = datetime_column("When it was used, as the partner has said; it decides about the payout.")
    recorded_on: dt.datetime = datetime_column("When it was recorded.")
    value_amount: Decimal = money_column()
    value = money("value_amount", description="What was used.")
    management_fee_amount: Decimal = money_column(default=NOTHING)
    management_fee = restricted(
        money_value("management_fee_amount"), OF_OWN_USAGES, f"The fixed fee of the network, VAT included. {HIDDEN}"
    )
    management_fee_vat_amount: Decimal = money_column(default=NOTHING)
    management_fee_vat = restricted(
        money_value("management_fee_vat_amount"), OF_OWN_USAGES, f"The VAT in the management fee. {HIDDEN}"
    )
    commission_rate: Decimal = Field(default=NOTHING, sa_type=Numeric(5, 2), exclude=True)
    visible_commission_rate = restricted_column(
        Decimal,
        "commission_rate",
        OF_OWN_USAGES,
        f"The commission in percent of the value, without VAT. {HIDDEN}",
        name="commissionRate",
    )
    commission_amount: Decimal = money_column(default=NOTHING)
    commission = restricted(
        money_value("commission_amount"), OF_OWN_USAGES, f"The commission of the network, VAT included. {HIDDEN}"
    )
    commission_vat_amount: Decimal = money_column(default=NOTHING)
    commission_vat = restricted(
        money_value("commission_vat_amount"), OF_OWN_USAGES, f"The VAT in the commission. {HIDDEN}"
    )
    fees_vat_rate: Decimal = Field(default=NOTHING, sa_type=Numeric(5, 2), exclude=True)
    visible_fees_vat_rate = restricted_column(
        Decimal, "fees_vat_rate", OF_OWN_USAGES, f"The VAT in both fees in percent. {HIDDEN}", name="feesVatRate"
    )
    fees_paid_by: UsageFeePayer = enum_column(
        UsageFeePayer, "Who pays management fee and commission.", default=UsageFeePayer.PARTNER
    )
    net_amount: Decimal = money_column()
    net = restricted(money_value("net_amount"), OF_OWN_USAGES, f"What the partner earns. {HIDDEN}")
    is_active: bool = Field(default=True, description="Whether it counts; false once it was cancelled.")
    cancelled_on: dt.datetime | None = datetime_column(
        "When it was cancelled; null if it was not.", default=None, nullable=True
    )
    comment: str = Field(default="", max_length=500, exclude=True)
    visible_comment = restricted_column(
        str, "comment", OF_OWN_USAGES, f"A note; that of the cancellation, if it has one. {HIDDEN}", name="comment"
    )
    reservation_id: str = Field(default="", max_length=80, exclude=True)
    visible_reservation_id = restricted_column(
        str, "reservation_id", OF_OWN_USAGES, f"The id of the booking; empty if none. {HIDDEN}", name="reservationId"
    )
    freeze_payout_date: dt.datetime | None = datetime_column(
        "Decides about the payout instead of `used_on`.", default=None, nullable=True, exclude=True
    )
    visible_freeze_payout_date = restricted_column(
        dt.datetime,
        "freeze_payout_date",
        OF_OWN_USAGES,
        f"Decides about the payout instead of `usedOn`; null if not set. {HIDDEN}",
        name="freezePayoutDate",
    )
    partner = partner_relation("The partner where it was used.")
