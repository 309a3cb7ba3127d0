"""How a shop delivers."""

from collections.abc import Sequence
from typing import Annotated

from sqlmodel import col, delete

from resolvers.core.input_mapping import ById, apply, currency_of, named, owner_among, text_of, values_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.delivery import DeliveryKind, DeliveryMode
from schema.product.input import CreateDeliveryMode, DeliveryRateInput, UpdateDeliveryMode
from store.delivery import DeliveryModeRow, DeliveryRateRow


@closed_set
class DeliveryModeSort(ClosedSet):
    """How to order delivery modes."""

    RANKING = "ranking", "By ranking, lowest first."


@writable_as(DeliveryMode)
class DeliveryModeFilter(OfPartner):
    """Which delivery modes."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    kind: Annotated[DeliveryKind | None, Where("kind")] = None


delivery_modes = Listing(
    DeliveryMode, DeliveryModeFilter, DeliveryModeSort, Permission.VIEW_CATALOGUE, "How the shops you see deliver."
)


_mode = ById(DeliveryModeRow, "delivery mode")


delivery_mode = Lookup(DeliveryMode, "id", "delivery mode", Permission.VIEW_CATALOGUE, "A delivery mode by its id.")


@operation(Permission.MANAGE_CATALOGUE)
async def create_delivery_mode(call: Call, input: CreateDeliveryMode) -> DeliveryMode:
    """Add a way to deliver. A mode without rates costs nothing; home delivery goes where its rates lead."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    findings.tell()
    columns = {"description": text_of(input.description), **values_of(input, skip={"rates"})}
    row = DeliveryModeRow(partner_id=partner.id, currency=await currency_of(call, partner), **columns)
    call.db.add(row)
    await call.db.flush()
    await _put_rates(call, row, input.rates)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_mode)
async def update_delivery_mode(call: Call, input: UpdateDeliveryMode) -> DeliveryMode:
    """Change a way to deliver."""
    row = await _mode.find(call, input.id, lock=True)
    apply(row, input, skip={"rates"})
    named(row.name)
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
