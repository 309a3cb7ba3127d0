"""Copies sold gift cards and vouchers of the demo network, with their usages and the ledger. The caller runs each batch in
a transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import uuid4

import asyncpg

from coffret.demo.bulk import Row, columns_of, copy_rows, next_ids
from coffret.demo.network.draw import TO_CANCEL, Drawn, DrawnUsage, Fate
from coffret.demo.network.posting import NetworkFunds, breakage, lock_funds, usage_journals
from coffret.demo.network.stock import NetworkStock
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.wallet import WalletKind
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.posting import Journal, post_on
from store.ledger.wallets import WalletRow
from store.network.fees import UsageTerms, apply_fees
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import network_gift_cards
from store.network.postings import NetworkLiability
from store.network.states import status_by_balance
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.voucher_states import next_value, set_first_usage, status_by_usages
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow

CARD_ENDS = {
    Fate.DRAFT: GiftCardStatus.DRAFT,
    Fate.EXPIRED: GiftCardStatus.EXPIRED,
    Fate.CANCELLED: GiftCardStatus.CANCELLED,
}
VOUCHER_ENDS = {
    Fate.DRAFT: NetworkVoucherStatus.DRAFT,
    Fate.EXPIRED: NetworkVoucherStatus.EXPIRED,
    Fate.CANCELLED: NetworkVoucherStatus.CANCELLED,
}
Funds = Mapping[int, NetworkFunds]


@dataclass(frozen=True, slots=True)
class Sold:
    """A gift card or voucher as it is posted: its value, its usages, and what nobody owes of it now."""

    liability: NetworkLiability
    drawn: Drawn
    usages: Sequence[NetworkGiftCardUsageRow | NetworkVoucherUsageRow]
    value: Decimal
    unowed: Decimal


async def copy_network_cards(db: asyncpg.Connection, drawn: Sequence[Drawn], *, stock: NetworkStock) -> None:
    """Write gift cards with their usages."""
    funds = await _funds(db, stock)
    ids, wallets = [await next_ids(db, table, len(drawn)) for table in ("gift_card", "wallet")]
    usage_ids = iter(await _usage_ids(db, "network_gift_card_usage", drawn))
    await copy_rows(db, WalletRow, [_wallet(stock, id, each) for id, each in zip(wallets, drawn, strict=True)])
    cards, usages, sold = [], [], []
    for id, wallet_id, each in zip(ids, wallets, drawn, strict=True):
        card = _card(stock, id, wallet_id, each)
        liability = network_gift_cards.liability_of(card)
        used = [_card_usage(stock, card, next(usage_ids), usage) for usage in each.usages]
        card.remaining_amount -= sum(usage.value_amount for usage in used if usage.is_active)
        card.status = CARD_ENDS.get(each.fate) or status_by_balance(card.remaining_amount, card.value_amount)
        books = stock.network.network_gift_card_books_breakage
        card.unowed_amount = card.remaining_amount if _is_unowed(each, books=books) else card.unowed_amount
        sold.append(Sold(liability, each, used, card.value_amount, card.unowed_amount))
        cards.append(card)
        usages += used
    await copy_rows(db, GiftCardRow, map(columns_of, cards))
    await copy_rows(db, NetworkGiftCardUsageRow, map(columns_of, usages))
    await _post(db, funds, sold)


async def copy_network_vouchers(db: asyncpg.Connection, drawn: Sequence[Drawn], *, stock: NetworkStock) -> None:
    """Write vouchers with their usages."""
    funds = await _funds(db, stock)
    ids = await next_ids(db, "network_voucher", len(drawn))
    usage_ids = iter(await _usage_ids(db, "network_voucher_usage", drawn))
    vouchers, usages, sold = [], [], []
    for id, each in zip(ids, drawn, strict=True):
        voucher = _voucher(stock, id, each)
        liability = network_vouchers.liability_of(voucher)
        used = [_voucher_usage(stock, voucher, next(usage_ids), usage) for usage in each.usages]
        voucher.status = VOUCHER_ENDS.get(each.fate) or status_by_usages(voucher)
        books = stock.network.network_voucher_books_breakage
        voucher.unowed_amount = voucher.left_amount if _is_unowed(each, books=books) else voucher.unowed_amount
        sold.append(Sold(liability, each, used, voucher.price_amount, voucher.unowed_amount))
        vouchers.append(voucher)
        usages += used
    await copy_rows(db, NetworkVoucherRow, map(columns_of, vouchers))
    await copy_rows(db, NetworkVoucherUsageRow, map(columns_of, usages))
    await _post(db, funds, sold)


async def _funds(db: asyncpg.Connection, stock: NetworkStock) -> Funds:
    return {book_id: await lock_funds(db, book_id) for book_id in sorted((stock.live_book, stock.test_book))}


async def _usage_ids(db: asyncpg.Connection, table: str, drawn: Sequence[Drawn]) -> list[int]:
    return await next_ids(db, table, sum(len(each.usages) for each in drawn))


def _is_unowed(drawn: Drawn, *, books: bool) -> bool:
    """Whether nobody owes what is left. `books`: the network books what has expired as income."""
    return drawn.fate in {Fate.DRAFT, Fate.CANCELLED} or (drawn.fate is Fate.EXPIRED and books)


async def _post(db: asyncpg.Connection, funds: Funds, sold: Sequence[Sold]) -> None:
    """Post all sales and then what followed, so that the sale opens the account, which is of no partner."""
    issued = [each for each in sold if each.drawn.fate is not Fate.DRAFT]
    await post_on(
        db,
        [
            funds[each.liability.book_id].issue(each.liability, each.value, each.drawn.columns["created_on"])
            for each in issued
        ],
    )
    await post_on(db, [journal for each in issued for journal in _followers(funds[each.liability.book_id], each)])


def _followers(funds: NetworkFunds, sold: Sold) -> list[Journal]:
    """The journals of what followed a sale."""
    liability, columns = sold.liability, sold.drawn.columns
    journals = [
        journal
        for usage in sold.usages
        for journal in usage_journals(liability, usage, usage.used_on, usage.cancelled_on)
    ]
    if sold.drawn.fate is Fate.CANCELLED:
        last = max([columns["created_on"], *(usage.used_on for usage in sold.usages)])
        journals.append(funds.void(liability, sold.unowed, last))
    elif sold.unowed:
        journals.append(breakage(liability, sold.unowed, columns["expires_on"]))
    return journals


def _wallet(stock: NetworkStock, id: int, drawn: Drawn) -> Row:
    return {
        "id": id,
        "uuid": uuid4(),
        "kind": WalletKind.GIFT_CARD,
        "marketplace_id": stock.network.id,
        "book_id": stock.book(is_test=drawn.is_test),
        "is_live": not drawn.is_test,
        "partner_id": None,
        "provider_wallet_id": None,
    }


def _card(stock: NetworkStock, id: int, wallet_id: int, drawn: Drawn) -> GiftCardRow:
    return GiftCardRow(
        id=id,
        network_id=stock.network.id,
        wallet_id=wallet_id,
        book_id=stock.book(is_test=drawn.is_test),
        is_test=drawn.is_test,
        currency=stock.network.currency,
        remaining_amount=drawn.columns["value_amount"],
        **drawn.columns,
    )


def _card_usage(stock: NetworkStock, card: GiftCardRow, id: int, drawn: DrawnUsage) -> NetworkGiftCardUsageRow:
    usage = NetworkGiftCardUsageRow(
        id=id, gift_card_id=card.id, value_amount=drawn.value, net_amount=drawn.value, **_usage_columns(drawn)
    )
    _finish(usage, stock.card_terms[drawn.partner_id], card.currency)
    return usage


def _voucher(stock: NetworkStock, id: int, drawn: Drawn) -> NetworkVoucherRow:
    assert drawn.box is not None, "it is a voucher"
    voucher = NetworkVoucherRow(
        id=id, is_test=drawn.is_test, book_id=stock.book(is_test=drawn.is_test), **drawn.columns
    )
    copy_box(voucher, drawn.box.row)
    return voucher


def _voucher_usage(
    stock: NetworkStock, voucher: NetworkVoucherRow, id: int, drawn: DrawnUsage
) -> NetworkVoucherUsageRow:
    """A usage. One that counts takes its part of the voucher."""
    value = next_value(voucher)
    usage = NetworkVoucherUsageRow(
        id=id,
        network_voucher_id=voucher.id,
        offer_id=drawn.offer_id,
        value_amount=value,
        net_amount=value,
        **_usage_columns(drawn),
    )
    _finish(usage, stock.voucher_terms[drawn.partner_id], voucher.currency)
    if usage.is_active:
        voucher.used_amount, voucher.usage_count = voucher.used_amount + value, voucher.usage_count + 1
        set_first_usage(voucher, voucher.first_used_on or usage.used_on, stock.zone)
    return usage


def _usage_columns(drawn: DrawnUsage) -> dict[str, Any]:
    return {
        "partner_id": drawn.partner_id,
        "used_on": drawn.used_on,
        "recorded_on": drawn.used_on,
        "reservation_id": drawn.reservation_id,
        "is_active": not drawn.is_cancelled,
        "cancelled_on": drawn.used_on + TO_CANCEL if drawn.is_cancelled else None,
        "comment": "",
    }


def _finish(usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow, terms: UsageTerms, currency: str) -> None:
    usage.currency = currency
    apply_fees(usage, terms, currency)
