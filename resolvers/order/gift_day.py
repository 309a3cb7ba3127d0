"""Presents that wait for their day: their buyers send them now, on another day, or to another address."""

import datetime as dt
from collections.abc import Sequence
from uuid import uuid4
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from resolvers.order.gifts import (
    NO_EMAIL,
    LockedGift,
    change_recipient,
    check_gift_limit,
    lock_gift,
    mail_gifts,
    read_email,
)
from resolvers.order.issued import Issued, issued_item
from schema.checkout.basket import Gift
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule
from schema.event import EventType
from schema.mail import MailKind
from schema.order.errors import GiftNotWaiting
from store.checkout.basket_lines import LATEST_SENDING, sending_problems
from store.coupon.gift_validity import end_from
from store.event.data import datetime_data
from store.event.events import emit
from store.gift_card.events import emit_gift_card_event
from store.mail.content import GiftContent
from store.mail.waiting_gifts import PRESENT_ROLES, lock_waiting_mails, take_out_of_mails
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.network.vouchers import NetworkVoucherRow
from store.voucher.events import emit_voucher_extended
from store.voucher.vouchers import VoucherRow

TOO_LATE = Problem(
    ("send_on",),
    "OUT_OF_RANGE",
    TemplatedMessage("Choose a day within {days} days of the order.", days=LATEST_SENDING.days),
)
NO_DAY = Problem(("send_on",), "REQUIRED", "Choose a day.")


@operation(AccessRule.CUSTOMER)
async def send_gift_now(call: Call, token: str, position: int, email: str) -> None:
    """Send what waits for its day, for a line of the order of a link, to its recipient now, at this address.

    Raises NotFound for a forged link and for a line without a voucher or gift card; GiftNotWaiting for what is sent
    already, is being sent, or can no longer be used; InvalidInput, at `email`, for what is no address; TooManyRequests
    if presents of this order are sent too often.
    """
    gift = await _lock_waiting(call, token, position)
    address = read_email(email)
    if address is None:
        raise InvalidInput(NO_EMAIL)
    await _move(call, gift, address, gift.now.astimezone(dt.UTC))


@operation(AccessRule.CUSTOMER)
async def reschedule_gift(
    call: Call, token: str, position: int, email: str, day: dt.date | None, time: dt.time | None
) -> None:
    """Send what waits for its day, for a line of the order of a link, on this day, to this address. Day and time are in the
    time zone of the marketplace: within a year of the order, and in the morning without a time. If
    that morning is over, it is sent now.

    Raises NotFound for a forged link and for a line without a voucher or gift card; GiftNotWaiting for what is sent
    already, is being sent, or can no longer be used; InvalidInput, at `email`, `send_on` and `send_at`;
    TooManyRequests if presents of this order are sent too often.
    """
    gift = await _lock_waiting(call, token, position)
    address, chosen = read_email(email), Gift(send_on=day, send_at=time)
    moment, problems = _moment_of(gift, chosen)
    if address is None:
        problems = [NO_EMAIL, *problems]
    if problems or address is None or moment is None:
        raise InvalidInput(*problems)
    if (moment, address) != (gift.row.send_on, gift.row.giftee_email):
        await _move(call, gift, address, moment)


def _moment_of(gift: LockedGift, chosen: Gift) -> tuple[dt.datetime | None, Sequence[Problem]]:
    """When a present is sent: as before, at the chosen time, or now if that is a morning that is over; with the problems
    of another time than before.
    """
    local, before = chosen.sending_moment(ZoneInfo(str(gift.now.tzinfo))), gift.item.send_on
    if local is None or before is None:
        return None, [NO_DAY]
    if local.replace(tzinfo=None) == before.replace(tzinfo=None):
        return gift.row.send_on, []
    last = gift.attempt.created_on.astimezone(gift.now.tzinfo).date() + LATEST_SENDING
    if problems := sending_problems(chosen, gift.now) or ([TOO_LATE] if local.date() > last else []):
        return None, problems
    return max(local.astimezone(dt.UTC), gift.now.astimezone(dt.UTC)), []


async def _lock_waiting(call: Call, token: str, position: int) -> LockedGift:
    gift = await lock_gift(call, token, position)
    if not gift.item.recipient_email:
        raise NotFound("position", thing="gift")
    if not gift.item.is_waiting:
        raise GiftNotWaiting
    return gift


async def _move(call: Call, gift: LockedGift, email: str, moment: dt.datetime) -> None:
    """Take a present out of the messages in which it waits, and queue it for another moment, in one message with what
    goes to the same address at that moment.
    """
    db, row = call.db, gift.row
    await check_gift_limit(call, gift)
    if not await _take_out(db, gift, row):
        raise GiftNotWaiting
    await change_recipient(db, row, email)
    if row.send_on != moment:
        await _change_day(db, gift, moment)
    together = {other.id for other in await _others_at(call, gift) if await _take_out(db, gift, other)} | {row.id}
    alike = [one for one in gift.issued if one is not None and type(one) is type(row) and one.id in together]
    await mail_gifts(db, alike, again=uuid4().hex)


async def _take_out(db: AsyncSession, gift: LockedGift, row: Issued) -> bool:
    """Take a present out of the messages in which it waits; False if a worker has claimed one of them."""
    assert row.send_on is not None, "it waits for its day"
    names = {one.id: one.giftee_first_name or "" for one in gift.issued if type(one) is type(row) and one is not None}
    return await take_out_of_mails(db, _kind_of(row), row.id, row.send_on, names)


async def _others_at(call: Call, gift: LockedGift) -> Sequence[Issued]:
    """The presents of the order that a message brings to the same address at the same moment."""
    row, kind = gift.row, _kind_of(gift.row)
    if row.send_on is None or row.send_on <= gift.now:
        return []
    others = [
        other
        for other, line in zip(gift.issued, gift.attempt.lines, strict=True)
        if other is not None
        and other is not row
        and _kind_of(other) is kind
        and (other.send_on, other.giftee_email) == (row.send_on, row.giftee_email)
        and issued_item(call.services, other, line, gift.attempt, gift.now).is_waiting
    ]
    mails = await lock_waiting_mails(call.db, kind, [other.id for other in others], row.send_on)
    contents = [GiftContent.model_validate(mail.content) for mail in mails if mail.recipient == row.giftee_email]
    found = {item.id for content in contents if content.role in PRESENT_ROLES for item in content.items}
    return [other for other in others if other.id in found]


async def _change_day(db: AsyncSession, gift: LockedGift, moment: dt.datetime) -> None:
    """Set when a present is sent. Its validity counts from that day, if that is later."""
    row, old, bought = gift.row, gift.row.expires_on, gift.line.purchase
    assert bought is not None, "a present was bought"
    row.expires_on = await end_from(db, row, bought, moment, ZoneInfo(str(gift.now.tzinfo)))
    row.send_on = moment
    await db.flush()
    if old is not None and row.expires_on != old:
        await _emit_extended(db, row, old)


async def _emit_extended(db: AsyncSession, row: Issued, old: dt.datetime) -> None:
    if isinstance(row, VoucherRow):
        await emit_voucher_extended(db, row, old)
    elif isinstance(row, NetworkVoucherRow):
        await emit(db, network_vouchers.event("extended", row, old_expires_on=datetime_data(old)))
    elif row.network_id is not None:
        await emit(db, network_gift_cards.event("extended", row, old_expires_on=datetime_data(old)))
    else:
        await emit_gift_card_event(db, EventType.GIFT_CARD_EXTENDED, row, old_expires_on=datetime_data(old))


def _kind_of(row: Issued) -> MailKind:
    if isinstance(row, VoucherRow):
        return MailKind.VOUCHER
    if isinstance(row, NetworkVoucherRow):
        return MailKind.NETWORK_VOUCHER
    return MailKind.GIFT_CARD if row.network_id is None else MailKind.NETWORK_GIFT_CARD
