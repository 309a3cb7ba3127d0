"""Issuing of vouchers, by a paid order or by the partner."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.coupon.coupon import ReceptionMode
from schema.voucher.voucher import ExpeditionStatus, VoucherState
from store.catalogue.catalogue import VoucherOptionLinkRow, VoucherOptionRow, VoucherPrototypeRow
from store.customer import Person, customers_for
from store.database.loaders import is_any_of
from store.database.unique_codes import add_with_unique_codes
from store.voucher.events import emit_vouchers_issued
from store.voucher.payment import activate_vouchers
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRow

POSTAL_MODES = (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)


@dataclass(frozen=True, slots=True)
class NewVoucherOption:
    """An option chosen with a voucher."""

    option_id: int
    count: int
    unit_price: Decimal


@dataclass(frozen=True, slots=True)
class NewVoucher:
    """A voucher to issue: its row with all that the seller decides, the prices included, and the options chosen with
    it.

    Issuing adds the code, the customers, the currency, and the texts of the prototype. A row without an expiry is valid
    as long as its prototype says; one in state `DRAFT` is activated and counted as sold once it is paid.
    """

    row: VoucherRow
    options: Sequence[NewVoucherOption] = ()


def gifter_person(voucher: VoucherRow) -> Person:
    return Person(voucher.gifter_first_name, voucher.gifter_last_name, voucher.gifter_email)


def giftee_person(voucher: VoucherRow) -> Person:
    """The giftee as a customer; the gifter if the voucher is self-gifted."""
    if voucher.self_gifted:
        return gifter_person(voucher)
    return Person(voucher.giftee_first_name or "", voucher.giftee_last_name or "", voucher.giftee_email or "")


async def put_customers(db: AsyncSession, partner_id: int, vouchers: Sequence[VoucherRow]) -> None:
    """Set the customers of new vouchers of one partner, creating those that are not there yet."""
    people = [(gifter_person(row), giftee_person(row)) for row in vouchers]
    found = await customers_for(db, partner_id, (who for both in people for who in both))
    for row, (gifter, giftee) in zip(vouchers, people, strict=True):
        row.gifter_id, row.giftee_id = found[gifter], found[giftee]


async def issue_voucher(db: AsyncSession, new: NewVoucher, now: dt.datetime) -> VoucherRow:
    """Issue one voucher, in the session's transaction. Use `issue_vouchers` for several."""
    return (await issue_vouchers(db, [new], now))[0]


async def issue_vouchers(db: AsyncSession, new: Sequence[NewVoucher], now: dt.datetime) -> list[VoucherRow]:
    """Issue vouchers of one partner, in the session's transaction. Returns the rows in the order of `new`.

    Draws the codes, copies the prototypes' texts, creates or finds the customers, counts the sales and emits the
    events. The caller has checked that the prototypes are on sale, and has priced the vouchers.

    Issue all vouchers of a transaction in one call: shared rows are locked in one order (customers, options,
    prototypes, each ascending).
    """
    if not new:
        return []
    rows = [each.row for each in new]
    partner_id = rows[0].partner_id
    prototypes = await _prototypes(db, partner_id, rows)
    await put_customers(db, partner_id, rows)
    for row in rows:
        row.created_on = now
        row.expedition_status = (
            ExpeditionStatus.TO_SEND if row.reception_mode in POSTAL_MODES else ExpeditionStatus.NONE
        )
        copy_prototype(row, prototypes[row.voucher_prototype_id])
    await add_with_unique_codes(db, rows, "voucher_code_key")
    await _add_options(db, new, rows)
    await activate_vouchers(db, [row for row in rows if row.state is VoucherState.PAID], now)
    await emit_vouchers_issued(db, rows)
    return rows


async def _prototypes(
    db: AsyncSession, partner_id: int, vouchers: Sequence[VoucherRow]
) -> Mapping[int, VoucherPrototypeRow]:
    table = VoucherPrototypeRow
    is_named = is_any_of(col(table.id), [row.voucher_prototype_id for row in vouchers])
    rows = (await db.exec(select(table).where(col(table.partner_id) == partner_id, is_named))).all()
    return {row.id: row for row in rows}


def copy_prototype(voucher: VoucherRow, prototype: VoucherPrototypeRow) -> None:
    """Copy what a voucher keeps of its prototype, as it is at the time of issue."""
    voucher.currency = prototype.currency
    voucher.prototype_name = prototype.name
    voucher.prototype_description = prototype.description
    voucher.prototype_rent_conditions = prototype.rent_conditions
    voucher.prototype_type = prototype.type


async def _add_options(db: AsyncSession, new: Sequence[NewVoucher], rows: Sequence[VoucherRow]) -> None:
    """Store the chosen options and those included with the prototypes."""
    chosen = [(row, choice) for row, each in zip(rows, new, strict=True) for choice in each.options]
    query = select(VoucherOptionRow).where(
        col(VoucherOptionRow.partner_id) == rows[0].partner_id,
        is_any_of(col(VoucherOptionRow.id), [choice.option_id for _, choice in chosen]),
    )
    options = {option.id: option for option in (await db.exec(query)).all()} if chosen else {}
    for row, choice in chosen:
        db.add(
            VoucherChosenOptionRow(
                partner_id=row.partner_id,
                voucher_id=row.id,
                option_id=choice.option_id,
                name=options[choice.option_id].name,
                count=choice.count,
                currency=row.currency,
                unit_price_amount=choice.unit_price,
                total_price_amount=choice.unit_price * choice.count,
            )
        )
    await add_included_options(db, rows)
    await db.flush()


async def add_included_options(db: AsyncSession, vouchers: Sequence[VoucherRow]) -> None:
    """Store the options that the prototypes include at the time of issue."""
    link, option = VoucherOptionLinkRow, VoucherOptionRow
    query = (
        select(link, option)
        .join(option, col(option.id) == col(link.option_id))
        .where(is_any_of(col(link.voucher_prototype_id), list({row.voucher_prototype_id for row in vouchers})))
        .where(col(link.included))
        .order_by(col(option.ranking), col(option.id))
    )
    rows = (await db.exec(query)).all()
    for row in vouchers:
        db.add_all(
            VoucherIncludedOptionRow(
                partner_id=row.partner_id,
                voucher_id=row.id,
                option_id=included.id,
                name=included.name,
                source_id=included.source_id,
                count=voucher.count,
            )
            for voucher, included in rows
            if voucher.voucher_prototype_id == row.voucher_prototype_id
        )
