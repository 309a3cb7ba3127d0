"""Fee rules of marketplaces, and the commission that follows from them."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field
from pydantic_core import PydanticCustomError
from sqlmodel import col, select

from resolvers.core.input_mapping import ById, apply, collect_marketplace, values_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, require_marketplace
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.money import Money
from schema.core.permission import Permission
from schema.payment.fee_input import CreateFeeRule, UpdateFeeRule
from schema.payment.fees import CommissionPreview, FeeRule
from schema.validation.numbers import parse_amount
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.fees import FeeRuleRow, commission_of


@graphql_enum
class FeeRuleSort(DescribedEnum):
    """Sort order of fee rules."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@graphql_input_for(FeeRule)
class FeeRuleFilter(OfPartner):
    """Filter for fee rules."""

    product: Annotated[str | None, Where("product")] = Field(
        default=None, description="Only rules that name this product."
    )
    origin: Annotated[str | None, Where("origin")] = Field(
        default=None, description="Only rules that name this origin."
    )
    is_active: Annotated[bool | None, Where("is_active")] = Field(
        default=None, description="Only active rules, which count, or only inactive ones."
    )


fee_rules = Listing(
    FeeRule,
    FeeRuleFilter,
    FeeRuleSort,
    Permission.VIEW_PAYMENT,
    "The fee rules visible to you, newest first. A partner sees those that can count for its payments.",
)
fee_rule = Lookup(FeeRule, "id", "fee rule", Permission.VIEW_PAYMENT, "A fee rule by its id.")


class _FeeRuleById(ById[FeeRuleRow]):
    """Finds a fee rule that the caller may change: users of a partner only read them."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> FeeRuleRow:
        require_marketplace(call.caller)
        return await super().find(call, id, lock=lock)


_fee_rule = _FeeRuleById(FeeRuleRow, "fee rule")


@operation(Permission.MANAGE_MARKETPLACE)
async def create_fee_rule(call: Call, input: CreateFeeRule) -> FeeRule:
    """Create a fee rule of a marketplace. A second active rule for the same partner, product and origin is refused."""
    require_marketplace(call.caller)
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    partner_id = None
    with findings.collect():
        partner_id = await _partner_of(call, marketplace, input.partner_uuid)
    findings.raise_problems()
    row = FeeRuleRow(
        marketplace_id=marketplace.id,
        partner_id=partner_id,
        currency=marketplace.currency,
        created_on=call.services.clock.now(),
        **values_of(input, {"marketplace_uuid"}),
    )
    return await _save(call, row)


@operation(Permission.MANAGE_MARKETPLACE, exists=_fee_rule)
async def update_fee_rule(call: Call, input: UpdateFeeRule) -> FeeRule:
    """Update a fee rule, or deactivate it. Payments that exist keep their commission."""
    row = await _fee_rule.find(call, input.id, lock=True)
    apply(row, input)
    return await _save(call, row)


async def _save(call: Call, row: FeeRuleRow) -> FeeRuleRow:
    row.product, row.origin = row.product or None, row.origin or None
    call.db.add(row)
    await call.db.flush()
    return row


async def _partner_of(call: Call, marketplace: MarketplaceRow, uuid: UUID | None) -> int | None:
    """The id of the partner of a new rule. Raises InvalidInput unless it belongs to the marketplace."""
    if uuid is None:
        return None
    query = select(PartnerRow.id).where(col(PartnerRow.uuid) == uuid, col(PartnerRow.marketplace_id) == marketplace.id)
    id = (await call.db.exec(query)).first()
    if id is None:
        raise InvalidInput.at("partner_uuid", "No partner of this marketplace has this uuid.")
    return id


@operation(Permission.VIEW_PAYMENT)
async def preview_commission(
    call: Call,
    partner_uuid: Annotated[UUID, strawberry.argument(description="The uuid of the partner that is paid.")],
    amount: Annotated[
        Decimal, strawberry.argument(description="What is paid by bank card, in the marketplace's currency.")
    ],
    product: Annotated[str, strawberry.argument(description="The product of the payment.")] = "",
    origin: Annotated[str, strawberry.argument(description="The origin of the payment.")] = "",
) -> CommissionPreview:
    """The commission that a payment would have by the fee rules of today. Nothing is stored."""
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
    paid = _amount_of(amount)
    found = await commission_of(call.db, partner.id, {product: paid}, origin)
    currency = (await call.db.get_one(MarketplaceRow, partner.marketplace_id)).currency
    return CommissionPreview(
        rule_id=found.rule_id,
        commission=Money(amount=found.amount, currency=currency),
        vat=Money(amount=found.vat, currency=currency),
        net=Money(amount=paid - found.amount, currency=currency),
    )


def _amount_of(amount: Decimal) -> Decimal:
    try:
        exact = parse_amount(amount)
    except PydanticCustomError as error:
        raise InvalidInput.at("amount", error.message()) from error
    if exact <= 0:
        raise InvalidInput.at("amount", "Send more than 0.00.", "OUT_OF_RANGE")
    return exact
