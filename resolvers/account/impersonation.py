"""Looks at the back office as a partner: begun for a reason, for half an hour at most, and without any change."""

import dataclasses
import datetime as dt
from dataclasses import dataclass

from sqlmodel import col, select

from resolvers.account.second_factor import own_id
from resolvers.core.authentication import DENIED_TO_PARTNERS
from resolvers.core.caller import Caller, Role
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, require_marketplace
from resolvers.core.services import Services
from schema.account.impersonation import EndImpersonation, ImpersonatePartner, Impersonation
from schema.account.user import TokenKind
from schema.core.errors import LogInOnly, NotFound
from schema.core.permission import AccessRule, Permission
from store.account.impersonations import ImpersonationRow, end_impersonations, lock_impersonation
from store.account.users import TokenRow
from store.partner.partners import MarketplaceRow, PartnerRow

VISIBLE = frozenset(each for each in Permission if each.startswith("view_")) - DENIED_TO_PARTNERS
"""What somebody who looks as a partner may do at most."""


@dataclass(frozen=True, slots=True)
class PartnerView:
    """A look that is going on: who sees what, as whom, and until when."""

    caller: Caller
    partner_name: str
    expires_on: dt.datetime


@operation(Permission.IMPERSONATE_PARTNER)
async def impersonate_partner(call: Call, input: ImpersonatePartner) -> Impersonation:
    """Look at the back office as one of your partners: your log-in there sees what the partner's users see, without codes and
    secrets, and every change is refused. It ends after 30 minutes at most, with `endImpersonation`, and with your log-in. It
    is for log-ins of the back office only, and the partner reads it in its audit log, with the reason.
    """
    require_marketplace(call.caller)
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    token_id, now = await _log_in(call), call.services.clock.now()
    await end_impersonations(call.db, token_id, now)
    row = ImpersonationRow(
        user_id=own_id(call),
        token_id=token_id,
        partner_id=partner.id,
        reason=input.reason,
        created_on=now,
        expires_on=now + dt.timedelta(minutes=input.minutes),
    )
    call.db.add(row)
    await call.db.flush()
    return row


@operation(AccessRule.AUTHENTICATED)
async def end_impersonation(call: Call, input: EndImpersonation) -> Impersonation:
    """Stop looking at the back office as a partner. It is not found if it does not go on."""
    now = call.services.clock.now()
    row = await lock_impersonation(call.db, own_id(call), call.caller.token_id, input.id, now)
    if row is None:
        raise NotFound(lookup={"id": input.id}, thing="look as a partner")
    row.ended_on = now
    await call.db.flush()
    return row


async def find_partner_view(services: Services, own: Caller) -> PartnerView | None:
    """As whom a log-in looks at the back office now; None if as itself. Whoever may no longer, or no longer sees the partner,
    does not.
    """
    if own.token_id is None or own.role is Role.PARTNER or not own.may(Permission.IMPERSONATE_PARTNER):
        return None
    query = (
        select(ImpersonationRow, PartnerRow, MarketplaceRow.time_zone)
        .join(PartnerRow, col(PartnerRow.id) == col(ImpersonationRow.partner_id))
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(
            col(ImpersonationRow.token_id) == own.token_id,
            col(ImpersonationRow.ended_on).is_(None),
            col(ImpersonationRow.expires_on) > services.clock.now(),
        )
    )
    async with services.db.sessions() as db:
        found = (await db.exec(query)).one_or_none()
    if found is None:
        return None
    row, partner, time_zone = found
    if not own.sees(partner.id, partner.marketplace_id):
        return None
    caller = dataclasses.replace(
        own,
        role=Role.PARTNER,
        permissions=frozenset(each for each in VISIBLE if own.may(each)),
        partner_id=partner.id,
        marketplace_id=partner.marketplace_id,
        site_domain=partner.site_domain,
        return_hosts=tuple(partner.return_hosts or ()),
        partner_status=partner.status,
        time_zone=time_zone,
        is_read_only=True,
    )
    return PartnerView(caller, partner.commercial_name, row.expires_on)


async def _log_in(call: Call) -> int:
    """The token of the caller, which is a log-in. Raises LogInOnly."""
    kind = select(TokenRow.kind).where(col(TokenRow.id) == call.caller.token_id)
    if (await call.db.exec(kind)).one_or_none() is not TokenKind.LOG_IN:
        raise LogInOnly
    assert call.caller.token_id is not None
    return call.caller.token_id
