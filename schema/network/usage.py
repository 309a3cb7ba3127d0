"""What usages of a network's gift cards and vouchers have in common."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import datetime_column, enum_column, id_column
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel
from schema.partner.network_settings import UsageFeePayer

NOTHING = Decimal("0.00")


class NetworkUsage(SchemaModel):
    """A usage at a partner, and what the partner earns by it."""

    id: int = id_column("The usage's id.")
    used_on: dt.datetime = datetime_column("When it was used, as the partner has said; it decides about the payout.")
    recorded_on: dt.datetime = datetime_column("When it was recorded.")
    value_amount: Decimal = money_column()
    value = money("value_amount", description="What was used.")
    management_fee_amount: Decimal = money_column(default=NOTHING)
    management_fee = money("management_fee_amount", description="The fixed fee of the network, VAT included.")
    management_fee_vat_amount: Decimal = money_column(default=NOTHING)
    management_fee_vat = money("management_fee_vat_amount", description="The VAT in the management fee.")
    commission_rate: Decimal = Field(
        default=NOTHING, sa_type=Numeric(5, 2), description="The commission in percent of the value, without VAT."
    )
    commission_amount: Decimal = money_column(default=NOTHING)
    commission = money("commission_amount", description="The commission of the network, VAT included.")
    commission_vat_amount: Decimal = money_column(default=NOTHING)
    commission_vat = money("commission_vat_amount", description="The VAT in the commission.")
    fees_paid_by: UsageFeePayer = enum_column(
        UsageFeePayer, "Who pays management fee and commission.", default=UsageFeePayer.PARTNER
    )
    net_amount: Decimal = money_column()
    net = money("net_amount", description="What the partner earns.")
    is_active: bool = Field(default=True, description="Whether it counts; false once it was cancelled.")
    cancelled_on: dt.datetime | None = datetime_column(
        "When it was cancelled; null if it was not.", default=None, nullable=True
    )
    comment: str = Field(default="", max_length=500, description="A note; that of the cancellation, if it has one.")
    reservation_id: str = Field(default="", max_length=80, description="The id of the booking; empty if none.")
    freeze_payout_date: dt.datetime | None = datetime_column(
        "Decides about the payout instead of `usedOn`; null if not set.", default=None, nullable=True
    )
    partner = partner_relation("The partner where it was used.")
