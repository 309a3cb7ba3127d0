"""Links to the onboarding page of a partner: signed, without an end, and dead once the representative's address changes."""

import hashlib
import hmac
from uuid import UUID

from itsdangerous import BadData, URLSafeSerializer
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.settings import Settings
from store.partner.partners import PartnerRow


def path_for(settings: Settings, partner: PartnerRow) -> str:
    """Where the page is, from the root: `/onboarding/<token>/`."""
    return f"/onboarding/{_serializer(settings).dumps([partner.uuid.hex, _digest(partner)])}/"


def link_for(settings: Settings, partner: PartnerRow) -> str:
    """The page's full address: what is sent to the representative. Opening it changes nothing."""
    return f"{settings.public_url}{path_for(settings, partner)}"


def return_url_for(settings: Settings, partner: PartnerRow) -> str:
    """Where the provider sends the representative back to, whatever the outcome."""
    return f"{link_for(settings, partner)}return/"


async def partner_of_token(db: AsyncSession, settings: Settings, token: str) -> PartnerRow | None:
    """The partner whose page a token opens; None for one that is forged, or dead."""
    try:
        uuid, digest = _serializer(settings).loads(token)
        wanted = UUID(hex=uuid)
    except (BadData, ValueError, TypeError, AttributeError):
        return None
    partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.uuid) == wanted))).one_or_none()
    return partner if partner is not None and hmac.compare_digest(_digest(partner), str(digest)) else None


def _serializer(settings: Settings) -> URLSafeSerializer:
    return URLSafeSerializer(settings.secret.get_secret_value(), salt="onboarding", signer_kwargs=_SIGNED)


def _digest(partner: PartnerRow) -> str:
    """Of the representative's address: whoever got the link at another one is no longer the representative."""
    return hashlib.sha256(partner.legal_representative_email.strip().lower().encode()).hexdigest()[:16]


_SIGNED = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
