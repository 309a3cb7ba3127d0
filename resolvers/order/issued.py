"""The vouchers and gift cards that an order has issued, as its buyer sees them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.coupon.coupon import ReceptionMode
from schema.order.page import IssuedItem
from schema.order.page import IssuedState as State
from schema.order.page_requests import Obstacle
from store.document.addresses import DocumentKind, document_path
from store.document.gift_names import giftee_name
from store.document.source import is_printable
from store.document.wallet.addresses import NO_PASSES, pass_paths
from store.document.wallet.content import owner_of_pass
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine
from store.voucher.vouchers import VoucherRow

Issued: TypeAlias = VoucherRow | GiftCardRow | NetworkVoucherRow
DOCUMENTS: Mapping[type[Issued], DocumentKind] = {
    VoucherRow: DocumentKind.VOUCHER,
    GiftCardRow: DocumentKind.GIFT_CARD,
    NetworkVoucherRow: DocumentKind.NETWORK_VOUCHER,
}


async def issued_rows(db: AsyncSession, order: OrderRow, lines: Sequence[AttemptLine]) -> list[Issued | None]:
    """What was issued for each line of an order's attempt; None for goods."""
    if all(line.is_goods for line in lines):
        return [None for _ in lines]
    rows: dict[tuple[type[Issued], int], Issued] = {}
    tables: tuple[Any, ...] = (VoucherRow, GiftCardRow, NetworkVoucherRow)
    for table in tables:
        found = (await db.exec(select(table).where(col(table.order_id) == order.id))).all()
        rows |= {(table, row.id): row for row in found}
    return [None if line.is_goods else rows[_issued_by(line)] for line in lines]


def _issued_by(line: AttemptLine) -> tuple[type[Issued], int]:
    """The table and the id of what was issued for a line."""
    if line.voucher_id is not None:
        return VoucherRow, line.voucher_id
    if line.network_voucher_id is not None:
        return NetworkVoucherRow, line.network_voucher_id
    return GiftCardRow, line.gift_card_id or line.network_gift_card_id or 0


def issued_item(
    services: Services, row: Issued, line: AttemptLine, attempt: AttemptRow, now: dt.datetime
) -> IssuedItem:
    """The view of what was issued for a line. `now` is in the time zone of the marketplace."""
    assert line.purchase is not None, "what was issued was bought"
    reception = attempt.reception_of(line.purchase)
    by_mail = reception is ReceptionMode.GIFTEE_EMAIL
    send_on = row.send_on.astimezone(now.tzinfo) if row.send_on is not None and row.send_on > now else None
    state, kind, has_document = issued_state(row, now), DOCUMENTS[type(row)], is_printable(row)
    is_whole = by_mail and state in {State.USABLE, State.NOT_BEGUN} and not _is_touched(row)
    passes = NO_PASSES
    if has_document:
        passes = pass_paths(services.wallet_keys, kind, owner_of_pass(row), row.document_token, now)
    return IssuedItem(
        state=state,
        code=row.code,
        currency=row.currency,
        value=_value_of(row),
        remaining=row.remaining_amount if isinstance(row, GiftCardRow) else None,
        usages_left=row.max_usages - row.usage_count if isinstance(row, NetworkVoucherRow) else None,
        starts_on=None if isinstance(row, VoucherRow) else row.starts_on,
        expires_on=min(ends_of(row), default=None),
        used_on=row.used_on if isinstance(row, VoucherRow) else None,
        document_path=document_path(kind, row.document_token) if has_document else "",
        apple_pass_path=passes.apple,
        google_pass_path=passes.google,
        giftee=giftee_name(row),
        reception=reception,
        recipient_email=_sent_to(row, reception, attempt.buyer.email),
        send_on=send_on,
        is_sendable=is_whole and send_on is None,
        is_waiting=is_whole and send_on is not None,
    )


def ends_of(row: Issued) -> list[dt.datetime]:
    """The ends of its validity; it can be used until the earliest."""
    usable_until = row.usable_until if isinstance(row, NetworkVoucherRow) else None
    return [end for end in (row.expires_on, usable_until) if end is not None]


def issued_state(row: Issued, now: dt.datetime) -> State:
    """What can be done with it. The end of the validity counts by itself, since the job that records expiry runs once a day."""
    status = row.state if isinstance(row, VoucherRow) else row.status
    if not is_printable(row) or (isinstance(row, VoucherRow) and row.refunded_on is not None):
        return State.WITHDRAWN
    if status == "used":
        return State.USED
    if status == "exprd" or any(end <= now for end in ends_of(row)):
        return State.EXPIRED
    if row.frozen_on is not None or not (isinstance(row, VoucherRow) or row.is_active):
        return State.PAUSED
    begins = None if isinstance(row, VoucherRow) else row.starts_on
    return State.NOT_BEGUN if begins is not None and begins > now else State.USABLE


def _is_touched(row: Issued) -> bool:
    """Whether a part of it was used, so that it is in its recipient's hands."""
    if isinstance(row, GiftCardRow):
        return row.remaining_amount < row.value_amount
    return row.usage_count > 0 if isinstance(row, NetworkVoucherRow) else row.state == "using"


def obstacle_of(row: Issued, now: dt.datetime) -> Obstacle | None:
    """What keeps a voucher or gift card from going back, as far as its buyer is concerned; None if nothing does."""
    if _is_touched(row):
        return Obstacle.USED
    gone = {State.USED: Obstacle.USED, State.EXPIRED: Obstacle.EXPIRED, State.WITHDRAWN: Obstacle.REFUNDED}
    return gone.get(issued_state(row, now))


def _value_of(row: Issued) -> Decimal:
    if isinstance(row, VoucherRow):
        return row.total_price_amount
    return row.value_amount if isinstance(row, GiftCardRow) else row.price_amount


def _sent_to(row: Issued, reception: ReceptionMode, buyer: str) -> str:
    by_mail = {ReceptionMode.PRINT_AT_HOME: buyer, ReceptionMode.GIFTEE_EMAIL: row.giftee_email or buyer}
    return by_mail.get(reception, "")
