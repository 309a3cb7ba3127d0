"""Issuing of gift cards, by a paid order or by the partner."""

import datetime as dt
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from operator import attrgetter

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCardStatus
from store.customer import Person
from store.database.unique_codes import add_with_unique_codes
from store.gift_card.events import emit_gift_cards_issued
from store.gift_card.gift_cards import CODE_KEY, GiftCardRow
from store.gift_card.movements import import_value, issue_value
from store.ledger.books import book_of_partner
from store.ledger.posting import post
from store.ledger.wallets import open_card_wallets


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGiftCard:
    partner_id: int
    value: Decimal
    """The balance of the new card. It can exceed the price paid."""
    currency: str
    gifter: Person = field(default_factory=Person)
    giftee: Person = field(default_factory=Person)
    recipient_address: str = ""
    """Postal address, one part a line; empty if it is not posted, or posted to the gifter."""
    from_gifter: str = ""
    """The name printed after "from"; empty for the gifter's name."""
    message: str = ""
    reception_mode: ReceptionMode = ReceptionMode.PRINT_AT_HOME
    language: str = "en"
    expires_on: dt.datetime | None = None
    """When it expires; None: never."""
    send_on: dt.datetime | None = None
    """When it is e-mailed to its giftee; None for at once, and if it is not."""
    order_id: int | None = None
    design_id: int | None = None
    status: GiftCardStatus = GiftCardStatus.PAID
    """`PAID`, or `DRAFT` for a card that cannot be spent before it is activated."""


async def issue_gift_card(db: AsyncSession, new: NewGiftCard, now: dt.datetime) -> GiftCardRow:
    """Issue one gift card, in the session's transaction. Use `issue_gift_cards` for several."""
    return (await issue_gift_cards(db, [new], now))[0]


async def issue_gift_cards(db: AsyncSession, new: Sequence[NewGiftCard], now: dt.datetime) -> list[GiftCardRow]:
    """Issue gift cards in the session's transaction: draw the codes, post their value, emit the events.

    Returns the rows in the order of `new`. Locks no existing rows.
    """
    rows = [_row(each, now) for each in new]
    await open_accounts(db, rows)
    await add_with_unique_codes(db, rows, CODE_KEY)
    await post(db, map(issue_value, rows))
    await emit_gift_cards_issued(db, rows)
    return rows


async def add_gift_card(db: AsyncSession, card: GiftCardRow) -> None:
    """Store a card with the code that it has, and post its value."""
    await open_accounts(db, [card])
    db.add(card)
    await db.flush()
    await post(db, [issue_value(card)])


async def import_gift_cards(db: AsyncSession, cards: Sequence[GiftCardRow], now: dt.datetime) -> None:
    """Store cards of another system with their codes: post what is left of each, emit the events.

    They are inserted in the order of their codes, so that concurrent imports of the same codes cannot deadlock. Raises
    the IntegrityError of a code that exists.
    """
    await open_accounts(db, cards)
    db.add_all(sorted(cards, key=attrgetter("normal_code")))
    await db.flush()
    await post(db, [import_value(card, now) for card in cards])
    await emit_gift_cards_issued(db, cards)


async def open_accounts(db: AsyncSession, cards: Sequence[GiftCardRow]) -> None:
    """Give new cards, which are not stored yet, their book and their wallets."""
    for partner_id, group in itertools.groupby(cards, key=lambda card: card.issuing_partner_id):
        book_id = await book_of_partner(db, partner_id)
        await open_accounts_in(db, book_id, list(group))


async def open_accounts_in(db: AsyncSession, book_id: int, cards: Sequence[GiftCardRow]) -> None:
    """The same for cards of one issuer, in a certain book."""
    wallets = await open_card_wallets(db, book_id, cards[0].partner_id, len(cards))
    for card, wallet in zip(cards, wallets, strict=True):
        card.book_id, card.wallet_id, card.is_test = wallet.book_id, wallet.id, not wallet.is_live


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
        from_gifter=new.from_gifter or None,
        message=new.message or None,
        send_on=new.send_on,
        reception_mode=new.reception_mode,
        language=new.language,
        order_id=new.order_id,
        design_id=new.design_id,
    )
