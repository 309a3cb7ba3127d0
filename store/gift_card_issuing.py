"""How gift cards come to be, for whoever sells them: an order that is paid, or the partner itself."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.coupon import ReceptionMode
from schema.gift_card import GiftCardMovementKind, GiftCardStatus
from store.codes import draw, normal
from store.constraints import broken
from store.customer_rows import Person
from store.gift_card_events import tell_of_issue
from store.gift_cards import GiftCardEntryRow, GiftCardRow

DRAWS = 5
"""How often another code is drawn where one is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGiftCard:
    """A gift card to be issued."""

    partner_id: int
    value: Decimal
    """What can be spent with it, which may be more than was paid for it."""
    currency: str
    gifter: Person = field(default_factory=Person)
    giftee: Person = field(default_factory=Person)
    recipient_address: str = ""
    """Where it is sent by post, in lines; empty: nowhere, or to the gifter."""
    message: str = ""
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: str = "en"
    expires_on: dt.datetime | None = None
    """When it stops working; None: never."""
    order_id: int | None = None
    status: GiftCardStatus = GiftCardStatus.PAID
    """`PAID`, or `DRAFT`: it cannot be spent before it is activated."""


async def issue_gift_card(db: AsyncSession, new: NewGiftCard, now: dt.datetime) -> GiftCardRow:
    """Issue one gift card, in the session's transaction; see `issue_gift_cards`, which is for several."""
    return (await issue_gift_cards(db, [new], now))[0]


async def issue_gift_cards(db: AsyncSession, new: Sequence[NewGiftCard], now: dt.datetime) -> list[GiftCardRow]:
    """Issue gift cards, in the session's transaction: codes drawn, first entries and events written.

    Answers the rows, in the order of what they were made from. No row that others want is locked.
    """
    rows = [_row(each, now) for each in new]
    for row in rows:
        await _add(db, row)
    db.add_all(
        GiftCardEntryRow(
            partner_id=row.partner_id,
            gift_card_id=row.id,
            kind=GiftCardMovementKind.ISSUE,
            amount=row.value_amount,
            currency=row.currency,
            created_on=now,
        )
        for row in rows
    )
    await db.flush()
    for row in rows:
        await tell_of_issue(db, row)
    return rows


def _row(new: NewGiftCard, now: dt.datetime) -> GiftCardRow:
    return GiftCardRow(
        partner_id=new.partner_id,
        code="",
        normal_code="",
        status=new.status,
        created_on=now,
        expires_on=new.expires_on,
        value_amount=new.value,
        remaining_amount=new.value,
        currency=new.currency,
        gifter_first_name=new.gifter.first_name,
        gifter_last_name=new.gifter.last_name,
        gifter_email=new.gifter.email,
        giftee_first_name=new.giftee.first_name or None,
        giftee_last_name=new.giftee.last_name or None,
        giftee_email=new.giftee.email or None,
        recipient_address=new.recipient_address or None,
        message=new.message or None,
        reception_mode=new.reception_mode,
        language=new.language,
        order_id=new.order_id,
    )


async def _add(db: AsyncSession, row: GiftCardRow) -> None:
    """Put a gift card into the database, under a code that nobody has."""
    for left in reversed(range(DRAWS)):
        row.code = draw()
        row.normal_code = normal(row.code)
        try:
            async with db.begin_nested():
                db.add(row)
                await db.flush()
        except IntegrityError as error:
            if left == 0 or broken(error) != "gift_card_code_key":
                raise
        else:
            return
