"""Fee rules: the commission that a marketplace takes from payments."""

from decimal import Decimal

import strawberry
from sqlalchemy import Numeric
from sqlmodel import Field

from schema.core.columns import id_column
from schema.core.money import Money, money, money_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel, relation


@strawberry.pydantic.type(
    description="A fee rule of a marketplace. Of the active rules that fit a payment, the most specific one counts: a rule "
    "that names the partner before one that names the product, and that before one that names the origin."
)
class FeeRule(SchemaModel):
    id: int = id_column("The rule's id.")
    product: str | None = Field(
        default=None, max_length=80, description="Only for payments of this product; null for all."
    )
    origin: str | None = Field(
        default=None, max_length=80, description="Only for payments from this origin; null for all."
    )
    percentage: Decimal = Field(
        default=Decimal("0.00"), sa_type=Numeric(5, 2), description="Percent of what comes in by bank card."
    )
    fixed_amount: Decimal = money_column(default=Decimal("0.00"))
    fixed = money("fixed_amount", description="A fixed amount for each payment, beside the percentage.")
    vat_rate: Decimal = Field(
        default=Decimal("0.00"),
        sa_type=Numeric(5, 2),
        description="Percent of VAT that is added to percentage and fixed amount.",
    )
    is_active: bool = Field(default=True, description="Whether it counts for new payments.")
    marketplace = marketplace_relation()
    partner = partner_relation("The partner whose payments it is for; null for all.", nullable=True)


@strawberry.type(description="The commission that a payment would have.")
class CommissionPreview:
    rule_id: strawberry.Private[int | None]
    rule: FeeRule | None = relation(
        FeeRule, "rule_id", "The fee rule that counts; null if none fits.", nullable=True, field=strawberry.field
    )
    commission: Money = strawberry.field(description="The commission, VAT included.")
    vat: Money = strawberry.field(description="The VAT in the commission.")
    net: Money = strawberry.field(description="What the partner keeps: amount − commission.")
