"""Delivery modes of a shop and their rates."""

from collections.abc import Sequence
from typing import Annotated

from sqlmodel import col, delete

from resolvers.core.input_mapping import ById, apply, collect_owner, currency_of, require_name, text_of, values_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.delivery.delivery import DeliveryKind, DeliveryMode
from schema.delivery.input import CreateDeliveryMode, DeliveryRateInput, UpdateDeliveryMode
from store.delivery import DeliveryModeRow, DeliveryRateRow


@graphql_enum
class DeliveryModeSort(DescribedEnum):
    """Sort order of delivery modes."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_input_for(DeliveryMode)
class DeliveryModeFilter(OfPartner):
    """Filter for delivery modes."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    kind: Annotated[DeliveryKind | None, Where("kind")] = None


delivery_modes = Listing(
    DeliveryMode,
    DeliveryModeFilter,
    DeliveryModeSort,
    Permission.VIEW_CATALOGUE,
    "The delivery modes visible to you, by ranking, lowest first.",
)


_mode = ById(DeliveryModeRow, "delivery mode")


delivery_mode = Lookup(DeliveryMode, "id", "delivery mode", Permission.VIEW_CATALOGUE, "A delivery mode by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_delivery_mode(call: Call, input: CreateDeliveryMode) -> DeliveryMode:
    """Create a delivery mode. A mode without rates is free. With rates, home delivery is limited to the countries of
    its rates.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    findings.raise_problems()
    columns = {"description": text_of(input.description), **values_of(input, skip={"rates"})}
    row = DeliveryModeRow(partner_id=partner.id, currency=await currency_of(call, partner), **columns)
    call.db.add(row)
    await call.db.flush()
    await _put_rates(call, row, input.rates)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_mode)
async def update_delivery_mode(call: Call, input: UpdateDeliveryMode) -> DeliveryMode:
    """Update a delivery mode. If `rates` is sent, it replaces all rates."""
    row = await _mode.find(call, input.id, lock=True)
    apply(row, input, skip={"rates"})
    require_name(row.name)
    if input.rates is not None:
        await call.db.exec(delete(DeliveryRateRow).where(col(DeliveryRateRow.delivery_mode_id) == row.id))
        await _put_rates(call, row, input.rates.value)
    await call.db.flush()
    return row


async def _put_rates(call: Call, mode: DeliveryModeRow, rates: Sequence[DeliveryRateInput]) -> None:
    for rate in rates:
        columns = values_of(rate)
        call.db.add(
            DeliveryRateRow(partner_id=mode.partner_id, delivery_mode_id=mode.id, currency=mode.currency, **columns)
        )
    await call.db.flush()
