"""Rows of the large demo partner, copied into the database: a batch is one transaction."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import asyncpg
import orjson
from pydantic_core import PydanticUndefined
from sqlmodel import SQLModel

from coffret.demo.large_draw import Voucher
from schema.core.resource import Text
from schema.gift_card.gift_card import GiftCardMovementKind
from store.core.document_tokens import document_token
from store.customer import Person
from store.gift_card.gift_cards import GiftCardEntryRow, GiftCardRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow

CUSTOMERS = """
    INSERT INTO customer (partner_id, first_name, last_name, email, normal_email, created_on)
    SELECT $1, given.*, $5 FROM unnest($2::text[], $3::text[], $4::text[], $4::text[]) AS given
    ON CONFLICT (partner_id, normal_email) DO NOTHING
"""
KNOWN = "SELECT normal_email, id FROM customer WHERE partner_id = $1 AND normal_email = ANY($2::text[])"
IDS = "SELECT nextval(pg_get_serial_sequence($1, 'id')) FROM generate_series(1, $2::int)"
Row = Mapping[str, Any]


async def copy_vouchers(db: asyncpg.Connection, partner_id: int, drawn: Sequence[Voucher], now: dt.datetime) -> None:
    """Write vouchers, with their customers, their options and the bookings that used them."""
    customers = await _customers(db, partner_id, drawn, now)
    of: Row = {"partner_id": partner_id}
    kept = {id(each.sold): _kept(each) for each in drawn}
    rows, chosen, included, rentals = [], [], [], []
    for id_, each in zip(await _ids(db, "voucher", len(drawn)), drawn, strict=True):
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
    await _copy(db, VoucherRow, rows)
    for kind, several in (
        (VoucherChosenOptionRow, chosen),
        (VoucherIncludedOptionRow, included),
        (VoucherRentalRow, rentals),
    ):
        ids = await _ids(db, str(kind.__tablename__), len(several))
        await _copy(db, kind, [{"id": id_, **row} for id_, row in zip(ids, several, strict=True)])


async def copy_gift_cards(
    db: asyncpg.Connection, partner_id: int, drawn: Sequence[tuple[dict[str, Any], Decimal]], now: dt.datetime
) -> None:
    """Write gift cards, with the movements that explain what is left on them."""
    of: Row = {"partner_id": partner_id}
    cards, entries = [], []
    for id_, (columns, spent) in zip(await _ids(db, "gift_card", len(drawn)), drawn, strict=True):
        cards.append({**of, "id": id_, "document_token": document_token(), **columns})
        mine: Row = {**of, "gift_card_id": id_}
        issue = {
            "kind": GiftCardMovementKind.ISSUE,
            "amount": columns["value_amount"],
            "created_on": columns["created_on"],
        }
        entries.append({**mine, **issue})
        if spent:
            spent_on = min(columns["expires_on"], now)
            entries.append({**mine, "kind": GiftCardMovementKind.CAPTURE, "amount": -spent, "created_on": spent_on})
    await _copy(db, GiftCardRow, cards)
    ids = await _ids(db, "gift_card_entry", len(entries))
    await _copy(db, GiftCardEntryRow, [{"id": id_, **row} for id_, row in zip(ids, entries, strict=True)])


async def _customers(
    db: asyncpg.Connection, partner_id: int, drawn: Sequence[Voucher], now: dt.datetime
) -> Mapping[str, int]:
    """The customers by address: those that are there already stay as they are."""
    people: dict[str, Person] = {}
    for each in drawn:
        for who in filter(None, (each.gifter, each.giftee)):
            if who.email:
                people.setdefault(who.email, who)
    names = [[getattr(who, name) for who in people.values()] for name in ("first_name", "last_name", "email")]
    await db.execute(CUSTOMERS, partner_id, *names, now)
    return dict(await db.fetch(KNOWN, partner_id, names[-1]))


async def _ids(db: asyncpg.Connection, table: str, count: int) -> list[int]:
    return [row[0] for row in await db.fetch(IDS, table, count)]


async def _copy(db: asyncpg.Connection, kind: type[SQLModel], rows: Iterable[Row]) -> None:
    """Copy rows, with the defaults of their columns; KeyError names a column that has none and was not given."""
    table = SQLModel.metadata.tables[str(kind.__tablename__)]
    names = [column.name for column in table.c if column.computed is None]
    fields = kind.model_fields
    usual = {
        name: fields[name].default for name in names if name in fields and fields[name].default is not PydanticUndefined
    }
    records = [tuple(map({**usual, **row}.__getitem__, names)) for row in rows]
    await db.copy_records_to_table(table.name, records=records, columns=names)


def _kept(voucher: Voucher) -> Row:
    """What a voucher keeps of its prototype, as JSON where it is text."""
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
    """The booking that used a voucher, made two weeks before."""
    used_on: dt.datetime = columns["used_on"]
    day = used_on.date()
    return {
        "starts_on": day,
        "ends_on": day + dt.timedelta(days=columns["nb_nights"]),
        "reference": f"B-{number}",
        "created_on": max(columns["activated_on"], used_on - dt.timedelta(days=14)),
    }
