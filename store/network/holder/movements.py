"""What happened to a gift card or voucher, as its holder sees it: usages, and what was given back."""

from typing import Any, Final

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.network.holder import HolderMovement
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import OfferRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import PartnerRow

MOST: Final = 100
"""The most usages of which the holder sees the movements: the newest."""


async def movements_of(db: AsyncSession, held: GiftCardRow | NetworkVoucherRow) -> tuple[HolderMovement, ...]:
    """The movements, the newest first. A cancelled usage has two."""
    query = _voucher_usages(held) if isinstance(held, NetworkVoucherRow) else _card_usages(held)
    movements = [movement for row in await db.exec(query) for movement in _movements(*row)]
    return tuple(sorted(movements, key=lambda movement: movement.moment, reverse=True))


def _card_usages(card: GiftCardRow) -> Any:
    table = NetworkGiftCardUsageRow
    query = select(table, col(PartnerRow.commercial_name)).join(PartnerRow, col(PartnerRow.id) == col(table.partner_id))
    newest = query.where(col(table.gift_card_id) == card.id).order_by(col(table.used_on).desc(), col(table.id).desc())
    return newest.limit(MOST)


def _voucher_usages(voucher: NetworkVoucherRow) -> Any:
    table = NetworkVoucherUsageRow
    query = (
        select(table, col(PartnerRow.commercial_name), col(OfferRow.name))
        .join(PartnerRow, col(PartnerRow.id) == col(table.partner_id))
        .outerjoin(OfferRow, col(OfferRow.id) == col(table.offer_id))
        .where(col(table.network_voucher_id) == voucher.id)
    )
    return query.order_by(col(table.used_on).desc(), col(table.id).desc()).limit(MOST)


def _movements(
    usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow, partner: str, offer: Text | None = None
) -> list[HolderMovement]:
    common: dict[str, Any] = {"partner": partner, "offer": offer or Text()}
    movements = [HolderMovement(moment=usage.used_on, amount=-usage.value_amount, **common)]
    if usage.cancelled_on is not None:
        movements.append(HolderMovement(moment=usage.cancelled_on, amount=usage.value_amount, **common))
    return movements
