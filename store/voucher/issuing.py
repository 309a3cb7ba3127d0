"""Issuing of vouchers, by a paid order or by the partner."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.coupon.coupon import ReceptionMode
from schema.voucher.voucher import ExpeditionStatus, VoucherGiftee, VoucherGifter, VoucherState
from store.catalogue.catalogue import VoucherOptionLinkRow, VoucherOptionRow, VoucherPrototypeRow
from store.customer import Person, customers_for
from store.database.loaders import is_any_of
from store.database.unique_codes import add_with_unique_code
from store.voucher.events import emit_voucher_issued
from store.voucher.payment import activate_vouchers
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRow

POSTAL_MODES = (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)

COPIED_COLUMNS = (
    *("nb_nights", "nb_adults", "nb_children", "nb_babies", "state", "self_gifted", "message", "to_giftee"),
    *("from_gifter", "reception_mode", "language", "origin", "payment_type", "is_group_payment"),
    *("coupon_id", "order_id", "expires_on"),
)
"""Columns with the same name in NewVoucher and VoucherRow."""


@dataclass(frozen=True, slots=True)
class NewVoucherOption:
    """An option chosen with a voucher."""

    option_id: int
    count: int
    unit_price: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVoucher:
    """A voucher to issue. The caller has set the prices, in the partner's currency."""

    partner_id: int
    prototype_id: int
    options: Sequence[NewVoucherOption] = ()
    nb_nights: int = 0
    nb_adults: int = 0
    nb_children: int = 0
    nb_babies: int = 0
    rent_price: Decimal
    """Price of the prototype without options."""
    total_price: Decimal
    """Price with options, before coupons."""
    bought_rent_price: Decimal
    """Amount paid for the prototype."""
    purchase_price: Decimal
    """Amount paid in total."""
    state: VoucherState = VoucherState.PAID
    """`PAID`, or `DRAFT` for a voucher that is activated and counted as sold once it is paid."""
    gifter: VoucherGifter = field(default_factory=VoucherGifter)
    giftee: VoucherGiftee = field(default_factory=VoucherGiftee)
    self_gifted: bool = False
    message: str | None = None
    to_giftee: str = ""
    from_gifter: str = ""
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: str = "en"
    origin: str = ""
    payment_type: str = ""
    is_group_payment: bool = False
    coupon_id: int | None = None
    order_id: int | None = None
    expires_on: dt.datetime | None = None
    """When it expires; None: by the validity of its prototype."""

    @property
    def gifter_person(self) -> Person:
        return Person(self.gifter.gifter_first_name, self.gifter.gifter_last_name, self.gifter.gifter_email)

    @property
    def giftee_person(self) -> Person:
        """The giftee as a customer; the gifter if the voucher is self-gifted."""
        got = self.giftee
        return (
            self.gifter_person
            if self.self_gifted
            else Person(got.giftee_first_name or "", got.giftee_last_name or "", got.giftee_email or "")
        )


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
    partner_id = new[0].partner_id
    prototypes = await _prototypes(db, partner_id, new)
    people = await customers_for(
        db, partner_id, (who for each in new for who in (each.gifter_person, each.giftee_person))
    )
    rows = [_row(each, prototypes[each.prototype_id], people, now) for each in new]
    for row in rows:
        await add_with_unique_code(db, row, "voucher_code_key")
    await _add_options(db, new, rows)
    await activate_vouchers(db, [row for row in rows if row.state is VoucherState.PAID], now)
    for row in rows:
        await emit_voucher_issued(db, row)
    return rows


async def _prototypes(
    db: AsyncSession, partner_id: int, new: Sequence[NewVoucher]
) -> Mapping[int, VoucherPrototypeRow]:
    table = VoucherPrototypeRow
    is_named = is_any_of(col(table.id), [each.prototype_id for each in new])
    rows = (await db.exec(select(table).where(col(table.partner_id) == partner_id, is_named))).all()
    return {row.id: row for row in rows}


def _row(
    new: NewVoucher, prototype: VoucherPrototypeRow, people: Mapping[Person, int | None], now: dt.datetime
) -> VoucherRow:
    return VoucherRow(
        partner_id=new.partner_id,
        created_on=now,
        gifter_id=people[new.gifter_person],
        giftee_id=people[new.giftee_person],
        currency=prototype.currency,
        total_price_amount=new.total_price,
        purchase_price_amount=new.purchase_price,
        rent_price_amount=new.rent_price,
        bought_rent_price_amount=new.bought_rent_price,
        expedition_status=ExpeditionStatus.TO_SEND if new.reception_mode in POSTAL_MODES else ExpeditionStatus.NONE,
        **{name: getattr(new, name) for name in COPIED_COLUMNS},
        **prototype_columns(prototype),
        **new.gifter.model_dump(),
        **new.giftee.model_dump(),
    )


def prototype_columns(prototype: VoucherPrototypeRow) -> dict[str, Any]:
    """The prototype columns that a voucher copies at the time of issue."""
    return {
        "voucher_prototype_id": prototype.id,
        "prototype_name": prototype.name,
        "prototype_description": prototype.description,
        "prototype_rent_conditions": prototype.rent_conditions,
        "prototype_type": prototype.type,
    }


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
