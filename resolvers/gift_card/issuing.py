"""Gift cards that a partner issues itself, without a checkout; activation, extension and cancellation."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlmodel import col, select

from resolvers.core.brute_force import throttled_code_lookup
from resolvers.core.input_mapping import (
    check_later_expiry,
    collect_owner,
    currency_of,
    embedded_of,
    id_from_input,
    id_or_code,
)
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.errors import GiftCardNotSpendable, InvalidInput, NotExtendable
from schema.core.id_or_code import IdOrCode
from schema.core.input_errors import ProblemCollector
from schema.core.permission import Permission
from schema.coupon.coupon import ReceptionMode
from schema.event import EventType
from schema.gift_card.gift_card import GiftCard, GiftCardGiftee, GiftCardGifter, GiftCardMovementKind, GiftCardStatus
from schema.gift_card.input import ActivateGiftCard, CancelGiftCard, ExtendGiftCard, IssueGiftCard
from store.core.codes import normalize
from store.customer import Person
from store.event.data import datetime_data
from store.gift_card.designs import check_design, designs_of_partner
from store.gift_card.events import emit_gift_card_event
from store.gift_card.gift_cards import GiftCardMovementRow, GiftCardRow
from store.gift_card.holds import cancel_card
from store.gift_card.issuing import NewGiftCard
from store.gift_card.issuing import issue_gift_card as issue
from store.gift_card.states import transition
from store.voucher.payment import end_of_validity, zone_of

ISSUABLE_STATUSES = (GiftCardStatus.PAID, GiftCardStatus.DRAFT)
BY_POST = (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)
EXTENDABLE = (GiftCardStatus.DRAFT, GiftCardStatus.PAID, GiftCardStatus.USING, GiftCardStatus.EXPIRED)


async def find_gift_card(call: Call, input: Any, *, lock: bool = False) -> GiftCardRow:
    """The gift card of an input's `id` or `code`. Raises NotFound if the caller cannot see it; for a code that also
    counts as a miss.
    """
    code = input.get("code") if isinstance(input, Mapping) else None
    if not isinstance(code, str):
        return await find_visible(call.db, call.caller, GiftCardRow, "gift card", lock=lock, id=id_from_input(input))

    async def look() -> GiftCardRow:
        return await find_visible(
            call.db, call.caller, GiftCardRow, "gift card", lock=lock, normal_code=normalize(code)
        )

    return await throttled_code_lookup(call.context, "gift card", code, look)


async def lock_card(call: Call, input: IdOrCode) -> GiftCardRow:
    """The gift card of an input, locked. Raises InvalidInput unless exactly one of id and code is sent."""
    return await find_gift_card(call, id_or_code(input), lock=True)


@operation(Permission.MANAGE_GIFT_CARD)
async def issue_gift_card(call: Call, input: IssueGiftCard) -> GiftCard:
    """Issue a gift card without a checkout: by telephone, at a venue, or as a goodwill gesture. Nothing is charged, and
    no mail is sent.
    """
    now = call.services.clock.now()
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    for check in CHECKS:
        with findings.collect():
            check(input, now)
    with findings.collect():
        await check_design(call.db, designs_of_partner(partner.id), input.design_id)
    findings.raise_problems()
    if input.expires_on is None:
        zone = await zone_of(call.db, partner.id)
        until: dt.datetime | None = end_of_validity(now, partner.gift_card_offer_validity_months, zone)
    else:
        until = input.expires_on.value
    gifter = embedded_of(GiftCardGifter, input.gifter_details)
    giftee = embedded_of(GiftCardGiftee, input.giftee_details)
    new = NewGiftCard(
        partner_id=partner.id,
        value=input.value,
        currency=await currency_of(call, partner),
        gifter=Person(gifter.gifter_first_name, gifter.gifter_last_name, gifter.gifter_email),
        giftee=Person(giftee.giftee_first_name or "", giftee.giftee_last_name or "", giftee.giftee_email or ""),
        recipient_address=giftee.recipient_address or "",
        message=input.message or "",
        reception_mode=input.reception_mode,
        language=input.language,
        expires_on=until,
        status=input.status,
        design_id=input.design_id,
    )
    return await issue(call.db, new, now)


def _check_value(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    if input.value <= 0:
        raise InvalidInput.at("value", "Send more than 0.00.", "OUT_OF_RANGE")


def _check_status(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    if input.status not in ISSUABLE_STATUSES:
        raise InvalidInput.at("status", "A gift card is issued as `PAID` or as `DRAFT`.")


def _check_expiry(input: IssueGiftCard, now: dt.datetime) -> None:
    if input.expires_on is not None and input.expires_on.value is not None and input.expires_on.value <= now:
        raise InvalidInput.at("expires_on", "Send a time in the future.")


def _check_reception(input: IssueGiftCard, now: dt.datetime) -> None:  # noqa: ARG001
    giftee = embedded_of(GiftCardGiftee, input.giftee_details)
    if input.reception_mode is ReceptionMode.GIFTEE_EMAIL and not giftee.giftee_email:
        raise InvalidInput.at(
            ("giftee_details", "email"), "The gift card is sent by e-mail: send the address.", "REQUIRED"
        )
    if input.reception_mode in BY_POST and not giftee.recipient_address:
        raise InvalidInput.at(
            ("giftee_details", "address"), "The gift card is sent by post: send the address.", "REQUIRED"
        )


CHECKS = (_check_value, _check_status, _check_expiry, _check_reception)
"""The checks of a new gift card."""


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def activate_gift_card(call: Call, input: ActivateGiftCard) -> GiftCard:
    """Activate a draft that has been paid for, so that it can be spent. A gift card that is `PAID` already stays
    unchanged.
    """
    card = await lock_card(call, input)
    if card.expires_on is not None and card.expires_on <= call.services.clock.now():
        raise GiftCardNotSpendable
    if transition(card, GiftCardStatus.PAID):
        await emit_gift_card_event(call.db, EventType.GIFT_CARD_ACTIVATED, card)
    return card


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def extend_gift_card(call: Call, input: ExtendGiftCard) -> GiftCard:
    """Extend the validity of a gift card. An expired gift card can be spent again, with its remaining balance."""
    card = await lock_card(call, input)
    now, old = call.services.clock.now(), card.expires_on
    check_later_expiry(input.expires_on, old, now)
    if old is None or card.status not in EXTENDABLE:
        raise NotExtendable
    card.expires_on = input.expires_on
    if card.status is GiftCardStatus.EXPIRED:
        is_used = bool(card.used_elsewhere_amount) or await _has_captures(call, card)
        transition(card, GiftCardStatus.USING if is_used else GiftCardStatus.PAID)
    await emit_gift_card_event(call.db, EventType.GIFT_CARD_EXTENDED, card, old_expires_on=datetime_data(old))
    return card


async def _has_captures(call: Call, card: GiftCardRow) -> bool:
    table = GiftCardMovementRow
    captures = col(table.gift_card_id) == card.id, col(table.kind) == GiftCardMovementKind.CAPTURE
    return (await call.db.exec(select(table.id).where(*captures).limit(1))).first() is not None


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def cancel_gift_card(call: Call, input: CancelGiftCard) -> GiftCard:
    """Cancel a gift card: its balance can no longer be spent. Its holds are released. A shop payment in progress with
    the card fails, and its customer is refunded. The remaining balance stays recorded on the card.
    """
    card = await lock_card(call, input)
    await cancel_card(call.db, card, call.services.clock.now())
    return card
