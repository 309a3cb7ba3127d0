"""Whether a partner may sell: checked when a cart is saved, a shop is opened and a payment starts."""

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call
from resolvers.core.services import Services
from schema.core.errors import PartnerInactive
from schema.partner.partner import PartnerStatus
from store.core.settings.provider import ProviderName
from store.partner.partners import partner_status


def may_sell(services: Services, status: PartnerStatus | None) -> bool:
    """True for an active partner, and for a test partner if payments go to the sandbox."""
    if status is PartnerStatus.TEST:
        return services.settings.provider is ProviderName.SANDBOX
    return status is PartnerStatus.ACTIVE


async def require_selling(services: Services, db: AsyncSession, partner_id: int, *, lock: bool = False) -> None:
    """Raise PartnerInactive if the partner may not sell. With `lock`, its status cannot change until the end of the
    transaction.
    """
    if not may_sell(services, await partner_status(db, partner_id, lock=lock)):
        raise PartnerInactive


async def require_open_shop(call: Call, db: AsyncSession, partner_id: int) -> None:
    """Raise PartnerInactive if customers find the shop closed. A preview shows it all the same."""
    if not call.caller.is_preview:
        await require_selling(call.services, db, partner_id)
