"""Mail about payouts, to the partner and to those of the marketplace who may validate them."""

from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.staff import staff_who_may
from schema.core.permission import Permission
from schema.mail import MailKind
from store.account.staff import STAFF_LANGUAGE
from store.mail.content import PayoutMailContent
from store.mail.outbox import enqueue_mail
from store.partner.partners import PartnerRow
from store.payout.requests import PayoutRequestRow


async def queue_payout_mail(
    db: AsyncSession,
    kind: MailKind,
    payout: PayoutRequestRow,
    *,
    missing: Decimal | None = None,
    cause: str = "",
    reason: str = "",
    matter: str = "",
) -> None:
    """Queue the mail about a payout request. Each recipient gets one of a kind, and one for each `matter` of it."""
    partner = await db.get_one(PartnerRow, payout.partner_id)
    about = PayoutMailContent(
        payout_id=payout.id,
        amount=payout.payout_amount,
        currency=payout.currency,
        first_day=payout.first_day,
        last_day=payout.last_day,
        partner="",
        missing=missing,
        cause=cause,
        reason=reason,
        is_returned=payout.returned_on is not None,
    )
    once = f"{payout.id}:{matter}" if matter else str(payout.id)
    await enqueue_mail(
        db,
        kind,
        to=partner.agency_email,
        language=partner.language,
        partner_id=partner.id,
        about=about.model_dump(),
        unique_key=once,
    )
    if kind is not MailKind.PAYOUT_PAID:
        await _queue_for_marketplace(db, kind, partner, about, once)


async def _queue_for_marketplace(
    db: AsyncSession, kind: MailKind, partner: PartnerRow, about: PayoutMailContent, once: str
) -> None:
    told = about.model_copy(update={"partner": partner.commercial_name})
    for user in await staff_who_may(db, partner.marketplace_id, Permission.VALIDATE_PAYOUT):
        await enqueue_mail(
            db,
            kind,
            to=user.email,
            language=STAFF_LANGUAGE,
            partner_id=None,
            marketplace_id=partner.marketplace_id,
            about=told.model_dump(),
            unique_key=f"{once}:{user.id}",
        )
