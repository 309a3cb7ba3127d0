"""A present that its buyer sends again, to another address if the first one was mistyped."""

from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from resolvers.order.issued import Issued, issued_item, issued_rows
from resolvers.order.mailing import mail_window
from resolvers.order.page import order_of_link
from schema.core.errors import InvalidInput, NotFound
from schema.core.permission import AccessRule
from schema.validation.contact import email_address
from store.customer import customer_for
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.locks import card_ids_of_order, lock_cards
from store.mail.gifts import mail_gift_cards, mail_network_gift_cards, mail_network_vouchers, mail_vouchers
from store.network.vouchers import NetworkVoucherRow, lock_network_vouchers_of_order
from store.order.orders import OrderRow
from store.partner.partners import partner_with_time_zone
from store.payment.attempts import AttemptRow
from store.voucher.states import lock_vouchers_of_order
from store.voucher.vouchers import VoucherRow


@operation(AccessRule.CUSTOMER)
async def send_gift(call: Call, token: str, position: int, email: str) -> None:
    """Send what was issued for a line of the order of a link to its recipient again, at this address. To one address it
    is sent once in a quarter of an hour.

    Raises NotFound for a forged link and for what is not sent by e-mail, is yet to be sent, was used, or can no longer
    be used; InvalidInput, at `email`, for what is no address; TooManyRequests if presents of this order are sent again
    too often.
    """
    db, order = call.db, await order_of_link(call.context, call.db, token)
    await call.services.limits.gifts.check(str(order.uuid))
    await lock_issued(db, order)
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    found = await issued_rows(db, order, attempt.lines)
    row = found[position] if position < len(found) else None
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    now = call.services.clock.now().astimezone(ZoneInfo(time_zone))
    if row is None or not issued_item(call.services, row, attempt, now).is_sendable:
        raise NotFound(thing="gift")
    try:
        row.giftee_email = email_address(email.strip())
    except ValueError as error:
        raise InvalidInput.at("email", "Write an e-mail address like name@example.com.", "INVALID_EMAIL") from error
    if isinstance(row, VoucherRow) and not row.self_gifted:
        names = row.giftee_first_name or "", row.giftee_last_name or ""
        row.giftee_id = await customer_for(db, row.partner_id, *names, row.giftee_email)
    await db.flush()
    await _mail(db, row, f"{row.giftee_email}:{mail_window(call)}")


async def lock_issued(db: AsyncSession, order: OrderRow) -> None:
    """In the order in which refunds and disputes lock them."""
    await lock_cards(db, await card_ids_of_order(db, order.id))
    await lock_vouchers_of_order(db, order.id)
    await lock_network_vouchers_of_order(db, order.id)


async def _mail(db: AsyncSession, row: Issued, again: str) -> None:
    if isinstance(row, VoucherRow):
        await mail_vouchers(db, [row], again=again)
    elif isinstance(row, NetworkVoucherRow):
        await mail_network_vouchers(db, [row], again=again)
    elif isinstance(row, GiftCardRow) and row.network_id is not None:
        await mail_network_gift_cards(db, [row], again=again)
    else:
        await mail_gift_cards(db, [row], again=again)
