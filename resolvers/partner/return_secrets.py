"""The secret with which a partner's shop verifies signed return URLs."""

import datetime as dt

from resolvers.core.input_mapping import owner_of
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.permission import Permission
from schema.partner.return_secret import IssuedReturnSecret, RotateReturnSecret
from store.order.return_signatures import RETURN_SECRET, ReturnSecretRow
from store.order.signing_secrets import new_salt, rotate
from store.partner.partners import PartnerRow


@operation(Permission.MANAGE_WEBHOOK)
async def rotate_return_secret(call: Call, input: RotateReturnSecret) -> IssuedReturnSecret:
    """Issue a new return secret to a partner, or its first one. The secret is returned only here.

    If the partner has `returnWithOrderNumber`, the URL that a customer returns to then has a `signature` parameter
    besides `order`. For a day, returns are also signed with the previous secret, unless it is revoked.
    """
    partner = await owner_of(call, input.partner_uuid)
    await find_visible(call.db, call.caller, PartnerRow, "partner", lock=True, id=partner.id)
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
