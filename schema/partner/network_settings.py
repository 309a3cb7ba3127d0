"""What a marketplace sets for the gift cards and vouchers of its network."""

from decimal import Decimal

from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import DescribedEnum, enum_column, graphql_enum
from schema.core.money import money, money_column
from schema.core.resource import EmbeddedColumns, embedded_type

NOTHING = Decimal("0.00")


@graphql_enum
class UsageFeePayer(DescribedEnum):
    """Who pays the fees of a usage."""

    PARTNER = "partner", "The partner: it receives the value of the usage less the fees."
    MARKETPLACE = "marketplace", "The marketplace: the partner receives the whole value."


VALIDITY = "The validity of new ones in months, to the end of the last day, unless the issuer sets another."
MANAGEMENT_FEE = "A fixed fee for each usage, without VAT."
COMMISSION_RATE = "The commission on each usage in percent of its value, without VAT."
VAT_RATE = "Percent of VAT that is added to management fee and commission."
BREAKAGE = "Whether what has expired is booked as income of the marketplace. Otherwise it stays owed to the holder."


@embedded_type("What holds for the gift cards of a network.", prefix="network_gift_card_")
class NetworkGiftCardSettings(EmbeddedColumns):
    network_gift_card_validity_months: int = Field(default=12, description=VALIDITY)
    network_gift_card_is_splittable: bool = Field(
        default=True, description="Whether new gift cards can be spent in several usages."
    )
    network_gift_card_management_fee_amount: Decimal = money_column(default=NOTHING)
    network_gift_card_management_fee = money("network_gift_card_management_fee_amount", description=MANAGEMENT_FEE)
    network_gift_card_commission_rate: Decimal = Field(
        default=NOTHING, sa_type=Numeric(5, 2), description=COMMISSION_RATE
    )
    network_gift_card_vat_rate: Decimal = Field(default=NOTHING, sa_type=Numeric(5, 2), description=VAT_RATE)
    network_gift_card_fees_paid_by: UsageFeePayer = enum_column(
        UsageFeePayer, "Who pays the fees of a usage.", default=UsageFeePayer.PARTNER
    )
    network_gift_card_books_breakage: bool = Field(default=False, description=BREAKAGE)


@embedded_type("What holds for the payouts of a marketplace.", prefix="payout_")
class MarketplacePayoutSettings(EmbeddedColumns):
    payout_approval_from_amount: Decimal | None = money_column(default=None, nullable=True)
    payout_approval_from = money(
        "payout_approval_from_amount",
        description="From which amount a second user has to approve an adjustment, whether it is given or taken; zero: always; "
        "null: never.",
        nullable=True,
    )
    payout_second_validation_from_amount: Decimal | None = money_column(default=None, nullable=True)
    payout_second_validation_from = money(
        "payout_second_validation_from_amount",
        description="From which amount two users have to validate a payout request; zero: always; null: never.",
        nullable=True,
    )


@embedded_type("What holds for the vouchers of a network.", prefix="network_voucher_")
class NetworkVoucherSettings(EmbeddedColumns):
    network_voucher_validity_months: int = Field(default=12, description=VALIDITY)
    network_voucher_management_fee_amount: Decimal = money_column(default=NOTHING)
    network_voucher_management_fee = money("network_voucher_management_fee_amount", description=MANAGEMENT_FEE)
    network_voucher_commission_rate: Decimal = Field(
        default=NOTHING, sa_type=Numeric(5, 2), description=COMMISSION_RATE
    )
    network_voucher_vat_rate: Decimal = Field(default=NOTHING, sa_type=Numeric(5, 2), description=VAT_RATE)
    network_voucher_fees_paid_by: UsageFeePayer = enum_column(
        UsageFeePayer, "Who pays the fees of a usage.", default=UsageFeePayer.PARTNER
    )
    network_voucher_books_breakage: bool = Field(default=False, description=BREAKAGE)
