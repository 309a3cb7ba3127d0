"""Which events and mails are about rows of a person: by their ids, and by nothing that other people have too."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, and_, false, func, or_
from sqlmodel import col

from schema.mail import MailKind
from schema.personal_data.export import PersonalGiftKind
from store.event.events import EventRow
from store.mail.rows import MailRow
from store.personal_data.rows import GiftRow, PersonRows, kind_of

ISSUED_IN = {
    PersonalGiftKind.VOUCHER: MailKind.VOUCHER,
    PersonalGiftKind.GIFT_CARD: MailKind.GIFT_CARD,
    PersonalGiftKind.NETWORK_GIFT_CARD: MailKind.NETWORK_GIFT_CARD,
    PersonalGiftKind.NETWORK_VOUCHER: MailKind.NETWORK_VOUCHER,
}
"""The mail that brings each."""
USED_IN = {
    PersonalGiftKind.NETWORK_GIFT_CARD: MailKind.NETWORK_GIFT_CARD_USED,
    PersonalGiftKind.NETWORK_VOUCHER: MailKind.NETWORK_VOUCHER_USED,
}
NUMBER_OF_ORDER_IN = (
    *(MailKind.ORDER_CONFIRMATION, MailKind.NEW_ORDER, MailKind.ORDER_LINK),
    *(MailKind.ORDER_READY, MailKind.ORDER_SENT, MailKind.ORDER_CANCELLED),
    *(MailKind.REQUEST_RECEIPT, MailKind.NEW_REQUEST, MailKind.REQUEST_DECLINED),
)
"""Mails with `number`, the number of an order. Others have `order_number`."""


TO_CUSTOMERS = (
    *(MailKind.ORDER_CONFIRMATION, MailKind.PAYMENT_REFUNDED, MailKind.ORDER_REFUNDED, MailKind.ORDER_LINK),
    *(MailKind.ORDER_READY, MailKind.ORDER_SENT, MailKind.ORDER_CANCELLED),
    *(MailKind.REQUEST_RECEIPT, MailKind.REQUEST_DECLINED),
    *(MailKind.PAYMENT_REQUEST, MailKind.PAYMENT_REQUEST_REMINDER),
    *ISSUED_IN.values(),
)
"""The kinds of mail to buyers and giftees alone. A partner, its staff and a network may have the address of one, too."""


ABOUT_LOG_INS = (MailKind.PASSWORD_RESET, MailKind.USER_INVITATION, MailKind.ACCOUNT_CHANGED)
"""The kinds of mail to users, which tell of no buyer."""


def is_to(email: str) -> ColumnElement[bool]:
    """Whether a mail is to a buyer or giftee with an address that is in lower case. Of usages of what a network has sold,
    the network has a mail of its own.
    """
    to_holder = and_(col(MailRow.kind).in_(USED_IN.values()), ~col(MailRow.content).contains({"is_for_network": True}))
    return and_(func.lower(col(MailRow.recipient)) == email, or_(col(MailRow.kind).in_(TO_CUSTOMERS), to_holder))


def brings(gift: GiftRow) -> ColumnElement[bool]:
    """Whether a mail brings a gift card or voucher."""
    is_in = col(MailRow.content).contains({"items": [{"id": gift.id}]})
    return and_(col(MailRow.kind) == ISSUED_IN[kind_of(gift)], is_in)


def mails_about(person_rows: PersonRows) -> ColumnElement[bool]:
    """Mails about orders, gift cards and vouchers among these rows."""
    content = col(MailRow.content)
    numbers = [str(order.number) for order in person_rows.orders]
    at_partner = col(MailRow.partner_id) == person_rows.partner_id
    of_kind = col(MailRow.kind).in_(NUMBER_OF_ORDER_IN)
    about = [and_(at_partner, content["order_number"].astext.in_(numbers))] if numbers else []
    about += [and_(at_partner, of_kind, content["number"].astext.in_(numbers))] if numbers else []
    for gift in person_rows.gifts:
        about.append(brings(gift))
        used_in = USED_IN.get(kind_of(gift))
        if used_in is not None:
            about.append(and_(col(MailRow.kind) == used_in, content.contains({"used_id": gift.id})))
    return or_(false(), *about)


def events_about(person_rows: PersonRows) -> ColumnElement[bool]:
    """Events whose subject is one of these rows."""
    subjects: dict[str, list[str]] = {
        "order": _ids(person_rows.orders),
        "payment": _ids(person_rows.payments),
        "payment_request": _ids(person_rows.payment_requests),
        "refund_request": _ids(person_rows.refund_requests),
    }
    for gift in person_rows.gifts:
        subjects.setdefault(kind_of(gift).value, []).append(str(gift.id))
    kind = func.split_part(col(EventRow.type), ".", 1)
    return or_(false(), *(and_(col(EventRow.subject).in_(ids), kind == name) for name, ids in subjects.items() if ids))


def _ids(rows: Sequence[Any]) -> list[str]:
    return [str(row.id) for row in rows]
