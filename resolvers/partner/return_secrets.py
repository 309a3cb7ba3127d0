"""The secret that a partner's shop checks returning customers with."""

import datetime as dt

from resolvers.core.input_mapping import owner_of
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.permission import Permission
from schema.partner.return_secret import IssuedReturnSecret, RotateReturnSecret
from store.order.return_signatures import RETURN_SECRET, ReturnSecretRow
from store.order.signing_secrets import new_salt, rotate
from store.partner.partners import PartnerRow


@operation(Permission.MANAGE_WEBHOOK)
async def rotate_return_secret(call: Call, input: RotateReturnSecret) -> IssuedReturnSecret:
    """Give a partner a new secret for its returns, or its first one. It is answered here and never again.

    From then on the address that a customer comes back to has a `signature` beside the number of the `order`, if the partner
    has `returnWithOrderNumber`. Unless told otherwise, returns are signed with the secret before as well for a day.
    """
    partner = await owner_of(call, input.partner_uuid)
    await find(call.db, call.caller, PartnerRow, "partner", lock=True, id=partner.id)
    row = await call.db.get(ReturnSecretRow, partner.id)
    if row is None:
        row = ReturnSecretRow(partner_id=partner.id, secret_salt=new_salt())
        call.db.add(row)
    else:
        overlap = dt.timedelta(hours=call.services.settings.webhook_secret_hours)
        rotate(row, call.services.clock.now(), overlap, revoke=input.revoke_previous)
    await call.db.flush()
    secret = RETURN_SECRET.secret_of(call.services.settings.secret, row.secret_salt)
    return IssuedReturnSecret(secret=secret, previous_secret_until=row.previous_secret_until)
