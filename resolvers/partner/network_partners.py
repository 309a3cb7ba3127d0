"""Partners as the network that lists them makes and changes them."""

from collections.abc import Mapping
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from resolvers.core.input_mapping import apply
from resolvers.core.operation import Call, operation
from resolvers.partner.lookup import named
from resolvers.partner.partners import new_partner
from schema.core.permission import Permission
from schema.partner.network_input import CreateNetworkPartner, UpdateNetworkPartner
from schema.partner.partner import Partner, PartnerStatus
from store.partner.checks import check
from store.partner.partners import PartnerRow

KEYS = ("source_id", "siret_number")


@operation(Permission.CREATE_PARTNER)
async def create_network_partner(call: Call, input: CreateNetworkPartner) -> Partner:
    """List a partner of a network. It begins as new, and cannot be paid yet."""
    return await new_partner(call, input, status=PartnerStatus.NEW)


async def _listed(call: Call, given: Any, *, lock: bool = False) -> PartnerRow:
    sent = given if isinstance(given, Mapping) else {}
    values = {key: sent.get(key, sent.get(to_camel_case(key))) for key in KEYS}
    return await named(
        call, {key: str(value) if type(value) in {str, int} else None for key, value in values.items()}, lock=lock
    )


@operation(Permission.UPDATE_PARTNER, exists=_listed)
async def update_network_partner(call: Call, input: UpdateNetworkPartner) -> Partner:
    """Change what a network says of a partner, found by its source id or its company number."""
    row = await _listed(call, {key: getattr(input, key) for key in KEYS}, lock=True)
    apply(row, input, skip=KEYS)
    check(row, call.services.clock.now().date())
    await call.db.flush()
    call.services.callers.forget(partner_id=row.id)
    return row
