"""Network vouchers from their issue to their end: issued, paid, extended, expired, cancelled."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import NotExtendable
from schema.event import EventType
from schema.ledger import LedgerAccountRole as Role
from schema.network.usage import NOTHING
from store.database.unique_codes import add_with_unique_code
from store.event.data import datetime_data
from store.ledger.accounts import LedgerAccount
from store.ledger.books import book_of_marketplace
from store.ledger.posting import post
from store.network.boxes import BoxRow
from store.network.postings import (
    NetworkLiability,
    breakage_journal,
    breakage_reversal_journal,
    issue_journal,
    issue_journals,
    void_journal,
)
from store.network.states import check_activatable, check_not_over
from store.network.voucher_events import emit_network_voucher_event
from store.network.voucher_states import (
    CANCELLED,
    DRAFT,
    EXPIRED,
    PAID,
    TEST,
    TRANSITIONS,
    USABLE,
    status_by_usages,
    transition,
)
from store.network.vouchers import CODE_KEY, NetworkVoucherRow
from store.partner.partners import MarketplaceRow

EXTENDABLE = (DRAFT, *USABLE, EXPIRED)


def liability_of(voucher: NetworkVoucherRow) -> NetworkLiability:
    """What a network owes for one of its vouchers."""
    account = LedgerAccount(Role.NETWORK_VOUCHER, voucher.id)
    return NetworkLiability(account, voucher.book_id, voucher.currency, "network_voucher", voucher.id)


def copy_box(voucher: NetworkVoucherRow, box: BoxRow) -> None:
    """Copy what a voucher has of its box: later changes of the box do not concern it."""
    voucher.box_id, voucher.marketplace_id = box.id, box.marketplace_id
    voucher.price_amount, voucher.currency = box.price_amount, box.currency
    voucher.max_usages, voucher.max_days_after_first_usage = box.max_usages, box.max_days_after_first_usage


async def issue_network_voucher(db: AsyncSession, voucher: NetworkVoucherRow) -> None:
    """Store a new voucher of a network, and post what is not used of its price unless it is a draft or cancelled. Without
    a code of its own it gets a random one.
    """
    await issue_network_vouchers(db, [voucher])


async def issue_network_vouchers(db: AsyncSession, vouchers: Sequence[NetworkVoucherRow]) -> None:
    """The same for several vouchers of one network, all of them to try with or none."""
    if not vouchers:
        return
    is_test = vouchers[0].status is TEST
    book_id = await book_of_marketplace(db, vouchers[0].marketplace_id, is_live=not is_test)
    for voucher in vouchers:
        voucher.is_test, voucher.book_id = is_test, book_id
        if voucher.status in (DRAFT, CANCELLED):
            voucher.unowed_amount = voucher.left_amount
        if voucher.code:
            db.add(voucher)
            await db.flush()
        else:
            await add_with_unique_code(db, voucher, CODE_KEY)
    owed = [(liability_of(voucher), voucher.left_amount) for voucher in vouchers if not voucher.unowed_amount]
    await post(db, await issue_journals(db, owed))
    for voucher in vouchers:
        await emit_network_voucher_event(db, EventType.NETWORK_VOUCHER_ISSUED, voucher)


async def activate_voucher(db: AsyncSession, voucher: NetworkVoucherRow, now: dt.datetime) -> bool:
    """Let a locked draft be used, since it is paid; returns False if it is paid already. Raises InvalidTransition for other
    statuses, Expired for a draft whose end is past.
    """
    if voucher.status in USABLE:
        return False
    check_activatable(TRANSITIONS, voucher.status, DRAFT, PAID)
    check_not_over(voucher.expires_on, now)
    transition(voucher, PAID)
    voucher.unowed_amount = NOTHING
    await post(db, [await issue_journal(db, liability_of(voucher), voucher.left_amount)])
    await emit_network_voucher_event(db, EventType.NETWORK_VOUCHER_ACTIVATED, voucher)
    return True


async def cancel_voucher(db: AsyncSession, voucher: NetworkVoucherRow, refunded: Decimal = NOTHING) -> bool:
    """Cancel a locked voucher; returns False if it is cancelled already. What is not used of it is owed no more. `refunded`
    is what goes back to its buyer next.
    """
    owed = voucher.left_amount - voucher.unowed_amount
    if not transition(voucher, CANCELLED):
        return False
    voucher.unowed_amount = voucher.left_amount
    await post(db, [await void_journal(db, liability_of(voucher), owed, refunded=refunded)])
    await emit_network_voucher_event(db, EventType.NETWORK_VOUCHER_CANCELLED, voucher)
    return True


async def extend_voucher(db: AsyncSession, voucher: NetworkVoucherRow, expires_on: dt.datetime) -> None:
    """Extend the validity of a locked voucher. An expired one can be used again; what was booked as breakage is owed again.

    Raises NotExtendable for a voucher that never expires, is used up or cancelled.
    """
    old = voucher.expires_on
    if old is None or voucher.status not in EXTENDABLE:
        raise NotExtendable
    voucher.expires_on = expires_on
    if voucher.status is EXPIRED:
        transition(voucher, status_by_usages(voucher))
        booked, voucher.unowed_amount = voucher.unowed_amount, NOTHING
        await post(db, [breakage_reversal_journal(liability_of(voucher), booked, old)])
    more: dict[str, Any] = {"old_expires_on": datetime_data(old)}
    await emit_network_voucher_event(db, EventType.NETWORK_VOUCHER_EXTENDED, voucher, **more)


async def expire_network_vouchers(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire at most `most` vouchers of networks that are due, oldest first; returns their number. Locked ones are skipped.

    What is not used of them stays owed, unless the network books it as breakage.
    """
    due = (
        select(NetworkVoucherRow, MarketplaceRow.network_voucher_books_breakage)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(NetworkVoucherRow.marketplace_id))
        .where(col(NetworkVoucherRow.status).in_(USABLE), col(NetworkVoucherRow.expires_on) <= now)
        .order_by(col(NetworkVoucherRow.expires_on), col(NetworkVoucherRow.id))
        .limit(most)
        .with_for_update(skip_locked=True, of=NetworkVoucherRow)
    )
    rows = (await db.exec(due)).all()
    for voucher, books_breakage in rows:
        transition(voucher, EXPIRED)
        if books_breakage and voucher.expires_on is not None:
            voucher.unowed_amount = voucher.left_amount
            await post(db, [breakage_journal(liability_of(voucher), voucher.left_amount, voucher.expires_on)])
        await emit_network_voucher_event(db, EventType.NETWORK_VOUCHER_EXPIRED, voucher)
    return len(rows)
