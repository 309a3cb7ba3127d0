"""The renewal of an identification: reminders of the provider's deadline by mail."""

import datetime as dt

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.mail import MailKind
from store.kyc import PartnerKycRow
from store.mail.content import RenewalContent
from store.mail.outbox import enqueue_mail
from store.onboarding.links import onboarding_url_for
from store.partner.partners import MarketplaceRow, PartnerRow

NOTICE = dt.timedelta(days=90)
"""How long before the deadline the provider tells of it. Earlier ones may still change."""
REMINDERS = (NOTICE, dt.timedelta(days=30), dt.timedelta(days=7))
"""How long before the deadline a mail is sent, if the identity was not verified again until then."""


def is_due(renew_by: dt.date | None, now: dt.datetime) -> bool:
    """True from 90 days before the deadline on."""
    return renew_by is not None and renew_by - now.date() <= NOTICE


def deadline_of(renew_by: dt.date) -> dt.datetime:
    """The last second of the day in UTC."""
    return dt.datetime.combine(renew_by, dt.time(23, 59, 59), dt.UTC)


async def remind(services: Services, db: AsyncSession, partner: PartnerRow, kyc: PartnerKycRow) -> None:
    """Queue the mail that is due, in the session's transaction: one for each reminder of each deadline."""
    if kyc.renew_by is None:
        return
    left = kyc.renew_by - services.clock.now().date()
    reached = [each for each in REMINDERS if dt.timedelta(0) <= left <= each]
    if not reached:
        return
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    about = RenewalContent(
        first_name=partner.legal_representative_first_name,
        url=onboarding_url_for(services.settings, partner),
        renew_by=kyc.renew_by,
        platform=marketplace.name,
        platform_address=marketplace.domain,
    )
    await enqueue_mail(
        db,
        MailKind.IDENTITY_RENEWAL,
        to=partner.legal_representative_email or partner.agency_email,
        language=partner.language,
        partner_id=partner.id,
        about=about.model_dump(),
        unique_key=f"{partner.id}:{kyc.account_id}:{kyc.renew_by}:{reached[-1].days}",
    )
