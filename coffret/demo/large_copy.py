"""Copies rows of the large demo partner to the database. The caller runs each batch in a transaction."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import asyncpg
import orjson

from coffret.demo.bulk import Row, copy_rows, next_ids
from coffret.demo.large_draw import GeneratedVoucher
from schema.core.text import Text
from schema.ledger import LedgerJournalKind
from schema.wallet import WalletKind
from store.core.codes import document_token
from store.customer import Person
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.movements import issue_value
from store.ledger.accounts import card_account, issued_value
from store.ledger.posting import Journal, credit, debit, post_on
from store.ledger.wallets import WalletRow
from store.providers.money import MinorAmount
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow

INSERT_CUSTOMERS = """
    INSERT INTO customer (partner_id, first_name, last_name, email, normal_email, created_on)
    SELECT $1, given.*, $5 FROM unnest($2::text[], $3::text[], $4::text[], $4::text[]) AS given
    ON CONFLICT (partner_id, normal_email) DO NOTHING
"""
SELECT_CUSTOMERS = "SELECT normal_email, id FROM customer WHERE partner_id = $1 AND normal_email = ANY($2::text[])"
BOOK = """
    SELECT b.id FROM partner p JOIN ledger_book b ON b.marketplace_id = p.marketplace_id AND b.is_live = (p.status <> 't')
    WHERE p.id = $1
"""


async def copy_vouchers(
    db: asyncpg.Connection, generated: Sequence[GeneratedVoucher], *, partner_id: int, now: dt.datetime
) -> None:
    """Write vouchers with their customers, options and rentals."""
    customers = await _customers(db, partner_id, generated, now)
    of: Row = {"partner_id": partner_id}
    kept = {id(each.sold): _prototype_snapshot(each) for each in generated}
    rows, chosen, included, rentals = [], [], [], []
    for id_, each in zip(await next_ids(db, "voucher", len(generated)), generated, strict=True):
        gifter = customers[each.gifter.email]
        giftee = gifter if each.giftee is None else customers.get(each.giftee.email)
        people = {"gifter_id": gifter, "giftee_id": giftee, "document_token": document_token()}
        rows.append({**of, "id": id_, **kept[id(each.sold)], **people, **each.columns})
        mine: Row = {**of, "voucher_id": id_}
        chosen += [{**mine, **_choice(option, count)} for option, count in each.chosen]
        included += [
            {**mine, **_option(option, count), "source_id": option.source_id} for option, count in each.sold.included
        ]
        if each.columns["used_on"] is not None and each.columns["nb_nights"]:
            rentals.append({**mine, **_rental(id_, each.columns)})
    await copy_rows(db, VoucherRow, rows)
    for kind, several in (
        (VoucherChosenOptionRow, chosen),
        (VoucherIncludedOptionRow, included),
        (VoucherRentalRow, rentals),
    ):
        ids = await next_ids(db, str(kind.__tablename__), len(several))
        await copy_rows(db, kind, [{"id": id_, **row} for id_, row in zip(ids, several, strict=True)])


async def copy_gift_cards(
    db: asyncpg.Connection, generated: Sequence[tuple[dict[str, Any], Decimal]], *, partner_id: int, now: dt.datetime
) -> None:
    """Write gift cards with the movements that add up to their balance."""
    book_id = await db.fetchval(BOOK, partner_id)
    wallets = await next_ids(db, "wallet", len(generated))
    ids = await next_ids(db, "gift_card", len(generated))
    of: Row = {"partner_id": partner_id, "book_id": book_id}
    marketplace_id = await db.fetchval("SELECT marketplace_id FROM partner WHERE id = $1", partner_id)
    kind: Row = {**of, "kind": WalletKind.GIFT_CARD, "marketplace_id": marketplace_id, "provider_wallet_id": None}
    await copy_rows(db, WalletRow, [{**kind, "id": wallet_id, "uuid": uuid4()} for wallet_id in wallets])
    cards, journals = [], []
    for id_, wallet_id, (columns, spent) in zip(ids, wallets, generated, strict=True):
        row = {**of, "id": id_, "uuid": uuid4(), "wallet_id": wallet_id, "document_token": document_token(), **columns}
        cards.append(row)
        card = GiftCardRow(**row)
        journals.append(issue_value(card))
        if spent:
            journals.append(_capture(card, spent, min(columns["expires_on"], now)))
    await copy_rows(db, GiftCardRow, cards)
    await post_on(db, journals)


def _capture(card: GiftCardRow, spent: Decimal, at: dt.datetime) -> Journal:
    issue, amount = issue_value(card), MinorAmount.of(spent, card.currency).minor
    entries = debit(card_account(card.id), amount), credit(issued_value(card.issuing_partner_id), amount)
    return replace(issue, kind=LedgerJournalKind.CAPTURE, entries=entries, recorded_on=at)


async def _customers(
    db: asyncpg.Connection, partner_id: int, generated: Sequence[GeneratedVoucher], now: dt.datetime
) -> Mapping[str, int]:
    """Insert missing customers. Returns ids by e-mail address. Existing customers are unchanged."""
    people: dict[str, Person] = {}
    for each in generated:
        for who in filter(None, (each.gifter, each.giftee)):
            if who.email:
                people.setdefault(who.email, who)
    names = [[getattr(who, name) for who in people.values()] for name in ("first_name", "last_name", "email")]
    await db.execute(INSERT_CUSTOMERS, partner_id, *names, now)
    return dict(await db.fetch(SELECT_CUSTOMERS, partner_id, names[-1]))


def _prototype_snapshot(voucher: GeneratedVoucher) -> Row:
    """The copy of a prototype that a voucher stores. Texts are JSON."""
    row = voucher.sold.row
    texts = {f"prototype_{name}": _json(getattr(row, name)) for name in ("name", "description", "rent_conditions")}
    return {"voucher_prototype_id": row.id, "prototype_type": row.type, "currency": row.currency, **texts}


def _json(text: Text) -> str:
    return orjson.dumps(text.model_dump(exclude_none=True)).decode()


def _option(option: Any, count: int) -> Row:
    return {"option_id": option.id, "name": _json(option.name), "count": count}


def _choice(option: Any, count: int) -> Row:
    price = option.selling_price_amount
    return {**_option(option, count), "unit_price_amount": price, "total_price_amount": price * count}


def _rental(number: int, columns: Row) -> Row:
    """The rental that used a voucher, created up to two weeks before."""
    used_on: dt.datetime = columns["used_on"]
    day = used_on.date()
    return {
        "starts_on": day,
        "ends_on": day + dt.timedelta(days=columns["nb_nights"]),
        "reference": f"B-{number}",
        "created_on": max(columns["activated_on"], used_on - dt.timedelta(days=14)),
    }
