"""Gift cards that a partner issues by itself, and what becomes of them: activated, extended, cancelled."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlmodel import col, select

from resolvers.core.brute_force import look_up_code
from resolvers.core.input_mapping import currency_of, ends_later, given_id, owner_among
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.errors import GiftCardNotSpendable, InvalidInput, NotExtendable
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.coupon.coupon import ReceptionMode
from schema.event import EventType
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardMovementKind, GiftCardStatus
from schema.gift_card.input import ActivateGiftCard, CancelGiftCard, ExtendGiftCard, IssueGiftCard, WhichGiftCard
from store.core.codes import normal
from store.customer import Person
from store.event.data import told_moment
from store.gift_card.events import tell
from store.gift_card.gift_cards import GiftCardEntryRow, GiftCardRow
from store.gift_card.holds import cancel
from store.gift_card.issuing import NewGiftCard
from store.gift_card.issuing import issue_gift_card as issue
from store.gift_card.states import move
from store.voucher.activation import end_of_validity, zone_of

ISSUED = (GiftCardStatus.PAID, GiftCardStatus.DRAFT)
BY_POST = (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)
EXTENDABLE = (GiftCardStatus.DRAFT, GiftCardStatus.PAID, GiftCardStatus.USING, GiftCardStatus.EXPIRED)


async def find_gift_card(call: Call, given: Any, *, lock: bool = False) -> GiftCardRow:
    """The gift card whose id or code an input holds; NotFound where the caller sees none, for a code a miss as well."""
    code = given.get("code") if isinstance(given, Mapping) else None
    if not isinstance(code, str):
        return await find(call.db, call.caller, GiftCardRow, "gift card", lock=lock, id=given_id(given))

    async def look() -> GiftCardRow:
        return await find(call.db, call.caller, GiftCardRow, "gift card", lock=lock, normal_code=normal(code))

    return await look_up_code(call.context, "gift card", code, look)


async def locked_card(call: Call, input: WhichGiftCard) -> GiftCardRow:
    """The gift card that an input names, locked. InvalidInput unless it is named in just one way."""
    if (input.id is None) is (input.code is None):
        raise InvalidInput.at("code", "Send its id or its code, and not both.")
    given = {"id": input.id} if input.code is None else {"code": input.code}
    return await find_gift_card(call, given, lock=True)


@operation(Permission.MANAGE_GIFT_CARD)
async def issue_gift_card(call: Call, input: IssueGiftCard) -> GiftCard:
    """Issue a gift card: on the telephone, at the desk, as a gesture. Nothing is charged, and no mail is written."""
    now = call.services.clock.now()
    findings = Findings()
    partner = await owner_among(findings, call, input)
    for check in CHECKS:
        with findings.of_one():
            check(input, now)
    findings.tell()
    if input.expires_on is None:
        zone = await zone_of(call.db, partner.id)
        until: dt.datetime | None = end_of_validity(now, partner.gift_card_offer_validity_months, zone)
    else:
        until = input.expires_on.value
    gifter = GiftCardGifter() if input.gifter_details is None else input.gifter_details
    giftee = GiftCardGiftee() if input.giftee_details is None else input.giftee_details
    new = NewGiftCard(
        partner_id=partner.id,
        value=input.value,
        currency=await currency_of(call, partner),
        gifter=Person(gifter.first_name, gifter.last_name, gifter.email),
        giftee=Person(giftee.first_name or "", giftee.last_name or "", giftee.email or ""),
        recipient_address=giftee.address or "",
        message=input.message or "",
        reception_mode=input.reception_mode,
        language=input.language,
        expires_on=until,
        status=input.status,
    )
    return await issue(call.db, new, now)


def _worth_something(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    if input.value <= 0:
        raise InvalidInput.at("value", "Send more than 0.00.", "OUT_OF_RANGE")


def _issued(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    if input.status not in ISSUED:
        raise InvalidInput.at("status", "A gift card is issued as `PAID` or as `DRAFT`.")


def _ends_in_the_future(input: IssueGiftCard, now: dt.datetime) -> None:
    if input.expires_on is not None and input.expires_on.value is not None and input.expires_on.value <= now:
        raise InvalidInput.at("expires_on", "Choose a time to come.")


def _arrives(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    giftee = GiftCardGiftee() if input.giftee_details is None else input.giftee_details
    if input.reception_mode is ReceptionMode.GIFTEE_EMAIL and not giftee.email:
        raise InvalidInput.at(("giftee_details", "email"), "It goes by e-mail: send the address.", "REQUIRED")
    if input.reception_mode in BY_POST and not giftee.address:
        raise InvalidInput.at(("giftee_details", "address"), "It goes by post: send the address.", "REQUIRED")


CHECKS = (_worth_something, _issued, _ends_in_the_future, _arrives)
"""What a new card must pass."""


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def activate_gift_card(call: Call, input: ActivateGiftCard) -> GiftCard:
    """Let a draft be spent: it has been paid for. One that is `PAID` already stays as it is."""
    card = await locked_card(call, input)
    if card.expires_on is not None and card.expires_on <= call.services.clock.now():
        raise GiftCardNotSpendable
    if move(card, GiftCardStatus.PAID):
        await tell(call.db, EventType.GIFT_CARD_ACTIVATED, card)
    return card


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def extend_gift_card(call: Call, input: ExtendGiftCard) -> GiftCard:
    """Give a gift card more time. One that has expired can be spent again, with what was left on it."""
    card = await locked_card(call, input)
    now, old = call.services.clock.now(), card.expires_on
    ends_later(input.expires_on, old, now)
    if old is None or card.status not in EXTENDABLE:
        raise NotExtendable
    card.expires_on = input.expires_on
    if card.status is GiftCardStatus.EXPIRED:
        move(card, GiftCardStatus.USING if await _spent(call, card) else GiftCardStatus.PAID)
    await tell(call.db, EventType.GIFT_CARD_EXTENDED, card, old_expires_on=told_moment(old))
    return card


async def _spent(call: Call, card: GiftCardRow) -> bool:
    """Whether something of a card has been spent."""
    table = GiftCardEntryRow
    captures = col(table.gift_card_id) == card.id, col(table.kind) == GiftCardMovementKind.CAPTURE
    return (await call.db.exec(select(table.id).where(*captures).limit(1))).first() is not None


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def cancel_gift_card(call: Call, input: CancelGiftCard) -> GiftCard:
    """Take a gift card back: nothing of it can be spent any more. Its holds are released; a payment in the shop that is
    under way with it comes to nothing, and its customer is refunded. What is left stays written on it.
    """
    card = await locked_card(call, input)
    await cancel(call.db, card, call.services.clock.now())
    return card
