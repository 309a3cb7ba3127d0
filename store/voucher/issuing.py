"""How vouchers come to be, for whoever sells them: an order that is paid, or the partner itself."""

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
from store.database.loaders import among
from store.database.unique_codes import add_with_fresh_code
from store.voucher.activation import pay
from store.voucher.events import tell_of_issue
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRow

ON_PAPER = (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)

AS_GIVEN = (
    *("nb_nights", "nb_adults", "nb_children", "nb_babies", "state", "self_gifted", "message", "to_giftee"),
    *("from_gifter", "reception_mode", "language", "origin", "payment_type", "is_group_payment"),
    *("coupon_id", "order_id", "expires_on"),
)
"""What a new voucher and its row call by the same name."""


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An option to buy with a voucher."""

    option_id: int
    count: int
    unit_price: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVoucher:
    """A voucher to be issued. Prices are of the partner's currency, settled by whoever sells: nothing is priced here."""

    partner_id: int
    prototype_id: int
    options: Sequence[ChosenOption] = ()
    nb_nights: int = 0
    nb_adults: int = 0
    nb_children: int = 0
    nb_babies: int = 0
    rent_price: Decimal
    """Of the prototype, options left out."""
    total_price: Decimal
    """With its options, before any coupon."""
    bought_rent_price: Decimal
    """What was paid for the prototype."""
    purchase_price: Decimal
    """What was paid in all."""
    state: VoucherState = VoucherState.PAID
    """`PAID`, or `DRAFT`: it works, and counts as sold, once it is paid."""
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
    """When it stops working, where that is settled otherwise than by its prototype; None: as the prototype says."""

    @property
    def gives(self) -> Person:
        """Who gives it, as a customer."""
        return Person(self.gifter.first_name, self.gifter.last_name, self.gifter.email)

    @property
    def gets(self) -> Person:
        """Who gets it, as a customer: whoever keeps it gave it too."""
        got = self.giftee
        return self.gives if self.self_gifted else Person(got.first_name or "", got.last_name or "", got.email or "")


async def issue_voucher(db: AsyncSession, new: NewVoucher, now: dt.datetime) -> VoucherRow:
    """Issue one voucher, in the session's transaction; see `issue_vouchers`, which is for several."""
    return (await issue_vouchers(db, [new], now))[0]


async def issue_vouchers(db: AsyncSession, new: Sequence[NewVoucher], now: dt.datetime) -> list[VoucherRow]:
    """Issue vouchers of one partner, in the session's transaction: codes drawn, names of the day kept, customers known,
    events written, sales counted. Answers the rows, in the order of what they were made from.

    All that goes together is issued by one call: rows that others want too are locked in one order, customers first, then
    options and prototypes, each ascending. Whoever calls has checked what is sold, and prices it.
    """
    if not new:
        return []
    partner_id = new[0].partner_id
    prototypes = await _prototypes(db, partner_id, new)
    people = await customers_for(db, partner_id, (who for each in new for who in (each.gives, each.gets)))
    rows = [_row(each, prototypes[each.prototype_id], people, now) for each in new]
    for row in rows:
        await add_with_fresh_code(db, row, "voucher_code_key")
    await _add_options(db, new, rows)
    await pay(db, [row for row in rows if row.state is VoucherState.PAID], now)
    for row in rows:
        await tell_of_issue(db, row)
    return rows


async def _prototypes(
    db: AsyncSession, partner_id: int, new: Sequence[NewVoucher]
) -> Mapping[int, VoucherPrototypeRow]:
    table = VoucherPrototypeRow
    wanted = among(col(table.id), [each.prototype_id for each in new])
    found = (await db.exec(select(table).where(col(table.partner_id) == partner_id, wanted))).all()
    return {row.id: row for row in found}


def _row(
    new: NewVoucher, prototype: VoucherPrototypeRow, people: Mapping[Person, int | None], now: dt.datetime
) -> VoucherRow:
    return VoucherRow(
        partner_id=new.partner_id,
        created_on=now,
        gifter_id=people[new.gives],
        giftee_id=people[new.gets],
        currency=prototype.currency,
        total_price_amount=new.total_price,
        purchase_price_amount=new.purchase_price,
        rent_price_amount=new.rent_price,
        bought_rent_price_amount=new.bought_rent_price,
        expedition_status=ExpeditionStatus.TO_SEND if new.reception_mode in ON_PAPER else ExpeditionStatus.NONE,
        **{name: getattr(new, name) for name in AS_GIVEN},
        **prototype_columns(prototype),
        **gifter_columns(new.gifter),
        **giftee_columns(new.giftee),
    )


def prototype_columns(prototype: VoucherPrototypeRow) -> dict[str, Any]:
    """What a voucher keeps of its prototype, as it is that day."""
    return {
        "voucher_prototype_id": prototype.id,
        "prototype_name": prototype.name,
        "prototype_description": prototype.description,
        "prototype_rent_conditions": prototype.rent_conditions,
        "prototype_type": prototype.type,
    }


def gifter_columns(gifter: VoucherGifter) -> dict[str, Any]:
    """The columns that say who gave a voucher."""
    return {f"gifter_{name}": value for name, value in gifter.model_dump().items()}


def giftee_columns(giftee: VoucherGiftee) -> dict[str, Any]:
    """The columns that say whom a voucher is for."""
    columns = {"address": "recipient_address"}
    return {columns.get(name, f"giftee_{name}"): value for name, value in giftee.model_dump().items()}


async def _add_options(db: AsyncSession, new: Sequence[NewVoucher], rows: Sequence[VoucherRow]) -> None:
    """Keep what was chosen, and what came with the prototypes."""
    chosen = [(row, choice) for row, each in zip(rows, new, strict=True) for choice in each.options]
    query = select(VoucherOptionRow).where(
        col(VoucherOptionRow.partner_id) == rows[0].partner_id,
        among(col(VoucherOptionRow.id), [choice.option_id for _, choice in chosen]),
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
    await add_included(db, rows)
    await db.flush()


async def add_included(db: AsyncSession, vouchers: Sequence[VoucherRow]) -> None:
    """Keep which options come with vouchers, as their prototypes say that day."""
    link, option = VoucherOptionLinkRow, VoucherOptionRow
    query = (
        select(link, option)
        .join(option, col(option.id) == col(link.option_id))
        .where(among(col(link.voucher_prototype_id), list({row.voucher_prototype_id for row in vouchers})))
        .where(col(link.included))
        .order_by(col(option.ranking), col(option.id))
    )
    found = (await db.exec(query)).all()
    for row in vouchers:
        db.add_all(
            VoucherIncludedOptionRow(
                partner_id=row.partner_id,
                voucher_id=row.id,
                option_id=included.id,
                name=included.name,
                source_id=included.source_id,
                count=made.count,
            )
            for made, included in found
            if made.voucher_prototype_id == row.voucher_prototype_id
        )
