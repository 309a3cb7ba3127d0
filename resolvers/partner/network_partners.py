"""Partners created and updated by their network."""

from collections.abc import Mapping
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from resolvers.core.input_mapping import apply
from resolvers.core.operation import Call, operation
from resolvers.partner.lookup import find_named_partner
from resolvers.partner.partners import new_partner
from schema.core.permission import Permission
from schema.partner.network_input import CreateNetworkPartner, UpdateNetworkPartner
from schema.partner.partner import Partner, PartnerStatus
from store.partner.checks import check_partner
from store.partner.partners import PartnerRow

KEYS = ("source_id", "siret_number")


@operation(Permission.CREATE_PARTNER)
async def create_network_partner(call: Call, input: CreateNetworkPartner) -> Partner:
    """Create a network partner. Its status is `NEW`, and it cannot receive payments yet."""
    return await new_partner(call, input, status=PartnerStatus.NEW)


async def _find_partner(call: Call, input: Any, *, lock: bool = False) -> PartnerRow:
    fields = input if isinstance(input, Mapping) else {}
    values = {key: fields.get(key, fields.get(to_camel_case(key))) for key in KEYS}
    return await find_named_partner(
        call, {key: str(value) if type(value) in {str, int} else None for key, value in values.items()}, lock=lock
    )


@operation(Permission.UPDATE_PARTNER, exists=_find_partner)
async def update_network_partner(call: Call, input: UpdateNetworkPartner) -> Partner:
    """Update the network data of a partner, identified by its source id or company number."""
    row = await _find_partner(call, {key: getattr(input, key) for key in KEYS}, lock=True)
    apply(row, input, skip=KEYS)
    check_partner(row, call.services.clock.now().date())
    await call.db.flush()
    call.services.authenticator.invalidate(partner_id=row.id)
    return row
