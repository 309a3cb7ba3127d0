"""What happened to a gift card or voucher, as its holder sees it: usages, and what was given back."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.network.holder import HolderMovement
from schema.payment.payment import PaymentTransactionType
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import OfferRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import PartnerRow
from store.payment.payments import PaymentSourceRow, PaymentTransactionRow

Part = tuple[dt.datetime, Decimal]
"""When a refund gave back a part of a usage, and how much."""
MOST: Final = 100
"""The most usages of which the holder sees the movements: the newest."""


async def movements_of(db: AsyncSession, held: GiftCardRow | NetworkVoucherRow) -> tuple[HolderMovement, ...]:
    """The movements, the newest first. A cancelled usage has two, one of a payment has one more for each part that refunds gave
    back.
    """
    query = _voucher_usages(held) if isinstance(held, NetworkVoucherRow) else _card_usages(held)
    rows = (await db.exec(query)).all()
    parts = {} if isinstance(held, NetworkVoucherRow) else await _returned_parts(db, held, [usage for usage, _ in rows])
    movements = [each for usage, *more in rows for each in _movements(usage, parts.get(usage.id, ()), *more)]
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


async def _returned_parts(
    db: AsyncSession, card: GiftCardRow, usages: Sequence[NetworkGiftCardUsageRow]
) -> Mapping[int, Sequence[Part]]:
    """When and how much refunds gave back to a card, by the id of the usage."""
    ids = {usage.payment_id: usage.id for usage in usages if usage.returned_amount}
    table, parts = PaymentTransactionRow, defaultdict[int, list[Part]](list)
    query = (
        select(col(table.payment_id), col(table.created_on), col(table.transaction_amount))
        .join(PaymentSourceRow, col(PaymentSourceRow.id) == col(table.source_id))
        .where(
            col(table.payment_id).in_(ids),
            col(table.type) == PaymentTransactionType.REFUND,
            col(PaymentSourceRow.gift_card_id) == card.id,
        )
    )
    for payment_id, moment, amount in (await db.exec(query)) if ids else ():
        parts[ids[payment_id]].append((moment, amount))
    return parts


def _movements(
    usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow,
    parts: Sequence[Part],
    partner: str,
    offer: Text | None = None,
) -> list[HolderMovement]:
    """Those of a usage. One that went back in parts is cancelled with the last of them."""
    common: dict[str, Any] = {"partner": partner, "offer": offer or Text()}
    movements = [HolderMovement(moment=usage.used_on, amount=-usage.value_amount, **common)]
    movements += [HolderMovement(moment=moment, amount=amount, **common) for moment, amount in parts]
    if usage.cancelled_on is not None and not parts:
        movements.append(HolderMovement(moment=usage.cancelled_on, amount=usage.value_amount, **common))
    return movements
