"""Whether a partner sells: asked where a cart is saved, a shop is opened, a payment begins, and where it is told."""

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from schema.core.errors import PartnerInactive
from schema.partner.partner import PartnerStatus
from store.core.settings import ProviderName
from store.partner.partners import partner_status


def may_sell(services: Services, status: PartnerStatus | None) -> bool:
    """Whether a partner of this status sells: an active one, and a test partner where the sandbox takes the money."""
    if status is PartnerStatus.TEST:
        return services.settings.provider is ProviderName.SANDBOX
    return status is PartnerStatus.ACTIVE


async def require_selling(services: Services, db: AsyncSession, partner_id: int, *, lock: bool = False) -> None:
    """Raise PartnerInactive where a partner does not sell; with `lock`, it stays so until the end of this transaction."""
    if not may_sell(services, await partner_status(db, partner_id, lock=lock)):
        raise PartnerInactive
