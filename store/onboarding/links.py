"""Signed links to a partner's onboarding page. They are valid until the representative's e-mail address changes."""

import hashlib
import hmac
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.settings import Settings
from store.core.signed_links import BadLink, read_link, sign_link
from store.partner.partners import PartnerRow

PURPOSE = "onboarding"


def onboarding_path_for(settings: Settings, partner: PartnerRow) -> str:
    """The path of the page: `/onboarding/<token>/`."""
    return f"/onboarding/{sign_link(settings, PURPOSE, [partner.uuid.hex, _digest(partner)])}/"


def onboarding_url_for(settings: Settings, partner: PartnerRow) -> str:
    """The full URL of the page, for the representative. Opening it changes nothing."""
    return f"{settings.public_url}{onboarding_path_for(settings, partner)}"


def provider_return_url_for(settings: Settings, partner: PartnerRow) -> str:
    """The URL that the provider redirects the representative back to, whatever the outcome."""
    return f"{onboarding_url_for(settings, partner)}return/"


async def partner_of_token(db: AsyncSession, settings: Settings, token: str) -> PartnerRow | None:
    """The partner of a token; None if the token is forged or outdated."""
    try:
        uuid, digest = read_link(settings, PURPOSE, token)
        partner_uuid = UUID(hex=uuid)
    except (BadLink, ValueError, TypeError, AttributeError):
        return None
    partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.uuid) == partner_uuid))).one_or_none()
    return partner if partner is not None and hmac.compare_digest(_digest(partner), str(digest)) else None


def _digest(partner: PartnerRow) -> str:
    """Digest of the representative's e-mail address: a link sent to a former address stops working."""
    return hashlib.sha256(partner.legal_representative_email.strip().lower().encode()).hexdigest()[:16]
