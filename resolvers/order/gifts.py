"""Presents on the page of an order: sent again, now, on another day, or to another address."""

import datetime as dt
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from resolvers.order.issued import Issued, issued_item, issued_rows
from resolvers.order.mailing import mail_window
from resolvers.order.page import order_of_link
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.core.permission import AccessRule
from schema.order.page import IssuedItem
from schema.validation.contact import email_address
from store.customer import customer_for
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.locks import card_ids_of_order, lock_cards
from store.mail.gifts import mail_gift_cards, mail_network_gift_cards, mail_network_vouchers, mail_vouchers
from store.network.vouchers import NetworkVoucherRow, lock_network_vouchers_of_order
from store.order.orders import OrderRow
from store.partner.partners import partner_with_time_zone
from store.payment.attempts import AttemptRow
from store.payment.snapshot import AttemptLine
from store.voucher.states import lock_vouchers_of_order
from store.voucher.vouchers import VoucherRow

NO_EMAIL = Problem(("email",), "INVALID_EMAIL", "Write an e-mail address like name@example.com.")


@dataclass(frozen=True, slots=True)
class LockedGift:
    """What was issued for a line of an order, and what was issued with it. All of it is locked."""

    row: Issued
    item: IssuedItem
    line: AttemptLine
    order: OrderRow
    attempt: AttemptRow
    issued: tuple[Issued | None, ...]
    """What was issued for each line."""
    now: dt.datetime
    """In the time zone of the marketplace."""


@operation(AccessRule.CUSTOMER)
async def resend_gift(call: Call, token: str, position: int, email: str) -> None:
    """Send what was issued for a line of the order of a link to its recipient again, at this address. To one address it
    is sent once in a quarter of an hour.

    Raises NotFound for a forged link and for what is not sent by e-mail, is yet to be sent, was used, or can no longer
    be used; InvalidInput, at `email`, for what is no address; TooManyRequests if presents of this order are sent again
    too often.
    """
    gift = await lock_gift(call, token, position)
    if not gift.item.is_sendable:
        raise NotFound("position", thing="gift")
    address = read_email(email)
    if address is None:
        raise InvalidInput(NO_EMAIL)
    await check_gift_limit(call, gift)
    await change_recipient(call.db, gift.row, address)
    await mail_gifts(call.db, [gift.row], again=f"{address}:{mail_window(call)}")


async def lock_gift(call: Call, token: str, position: int) -> LockedGift:
    """Lock what was issued for a line of the order of a link, to send it. Raises NotFound for a forged link and for a
    line without a voucher or gift card.
    """
    db, order = call.db, await order_of_link(call.context, call.db, token)
    await lock_issued(db, order)
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    issued = await issued_rows(db, order, attempt.lines)
    row = issued[position] if 0 <= position < len(issued) else None
    if row is None:
        raise NotFound("position", thing="gift")
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    now = call.services.clock.now().astimezone(ZoneInfo(time_zone))
    line = attempt.lines[position]
    item = issued_item(call.services, row, line, attempt, now)
    return LockedGift(row, item, line, order, attempt, tuple(issued), now)


async def check_gift_limit(call: Call, gift: LockedGift) -> None:
    """Count a change of what was issued for an order. Raises TooManyRequests if there are too many."""
    await call.services.limits.gifts.check(str(gift.order.uuid))


async def lock_issued(db: AsyncSession, order: OrderRow) -> None:
    """In the order in which refunds and disputes lock them."""
    await lock_cards(db, await card_ids_of_order(db, order.id))
    await lock_vouchers_of_order(db, order.id)
    await lock_network_vouchers_of_order(db, order.id)


def read_email(typed: str) -> str | None:
    """The e-mail address that was typed; None if it is none."""
    try:
        return email_address(typed.strip())
    except ValueError:
        return None


async def change_recipient(db: AsyncSession, row: Issued, email: str) -> None:
    """Set the address that a present is sent to."""
    row.giftee_email = email
    if isinstance(row, VoucherRow) and not row.self_gifted:
        names = row.giftee_first_name or "", row.giftee_last_name or ""
        row.giftee_id = await customer_for(db, row.partner_id, *names, email)
    await db.flush()


async def mail_gifts(db: AsyncSession, rows: list[Issued], *, again: str) -> None:
    """Queue the messages about presents of one kind, once for each `again`."""
    first = rows[0]
    if isinstance(first, VoucherRow):
        await mail_vouchers(db, [row for row in rows if isinstance(row, VoucherRow)], again=again)
    elif isinstance(first, NetworkVoucherRow):
        await mail_network_vouchers(db, [row for row in rows if isinstance(row, NetworkVoucherRow)], again=again)
    else:
        cards = [row for row in rows if isinstance(row, GiftCardRow)]
        mail = mail_gift_cards if first.network_id is None else mail_network_gift_cards
        await mail(db, cards, again=again)
