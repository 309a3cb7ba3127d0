"""Reads what a partner keeps about a person."""

import datetime as dt
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.audit import AuditActor
from schema.checkout.checkout import Buyer
from schema.core.money import Money
from schema.personal_data.export import (
    PersonalAddress,
    PersonalBilling,
    PersonalCheckout,
    PersonalContact,
    PersonalCustomer,
    PersonalData,
    PersonalGift,
    PersonalGiftWords,
    PersonalMail,
    PersonalNetworkUsage,
    PersonalOrder,
    PersonalOrderLine,
    PersonalPayment,
    PersonalPaymentRequest,
    PersonalRecord,
    PersonalRefundRequest,
)
from store.audit.entries import AuditEntryRow
from store.core.telemetry.logs import MASK
from store.database.loaders import is_any_of
from store.mail.rows import MailRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.order.orders import OrderProductRow, OrderRow
from store.order.refund_requests import RefundRequestRow
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow
from store.payment.requests import PaymentRequestRow
from store.personal_data.audit_log import entries_about
from store.personal_data.emptied import texts_of
from store.personal_data.rows import GIFTER, GiftRow, PersonKey, PersonRows, kind_of, rows_of_person
from store.personal_data.scrubbing import PersonalTexts
from store.personal_data.traces import events_with, mails_to
from store.voucher.vouchers import VoucherRentalRow, VoucherRow


async def personal_data_of(db: AsyncSession, person: PersonKey, now: dt.datetime) -> PersonalData:
    """All that a partner keeps about a person."""
    person_rows = await rows_of_person(db, person)
    texts = PersonalTexts(person.email, texts_of(person_rows))
    bought = {("Order", str(order.id)) for order in person_rows.orders}
    return PersonalData(
        partner_id=person.partner_id,
        email=person.email,
        exported_on=now,
        customers=[
            PersonalCustomer(id=each.id, created_on=each.created_on, contact=_contact(each, ""))
            for each in person_rows.customers
        ],
        orders=await _orders(db, person_rows.orders),
        checkouts=[
            each
            for each in (_checkout(person_rows, attempt) for attempt in person_rows.attempts)
            if each.buyer or each.gifts
        ],
        payments=[_payment(each) for each in person_rows.payments],
        payment_requests=[_payment_request(each) for each in person_rows.payment_requests],
        refund_requests=[_refund_request(each) for each in person_rows.refund_requests],
        gifts=[await _gift(db, person_rows, gift) for gift in person_rows.gifts],
        network_usages=await _network_usages(db, person_rows.gifts),
        mails=[_mail(each) for each in await mails_to(db, person)],
        events=[
            PersonalRecord(id=each.key, name=each.type, occurred_on=each.occurred_on, data=texts.keep(each.data, MASK))
            for each in await events_with(db, person, texts)
        ],
        audit_entries=[
            _entry(each, texts, is_buyers=_is_of_buyer(each, bought))
            for each in await entries_about(db, person, texts, bought)
            if texts.has_email([each.input, each.changes]) or _is_of_buyer(each, bought)
        ],
    )


def _payment(payment: PaymentRow) -> PersonalPayment:
    return PersonalPayment(
        id=payment.id,
        status=payment.status,
        created_on=payment.created_on,
        amount=_money(payment.payment_amount, payment.currency),
        description=payment.description,
        customer=_contact(payment, "customer_"),
    )


def _payment_request(request: PaymentRequestRow) -> PersonalPaymentRequest:
    return PersonalPaymentRequest(
        id=request.id,
        status=request.status,
        created_on=request.created_on,
        amount=_money(request.request_amount, request.currency),
        reference=request.reference,
        description=request.description,
        customer=_contact(request, "customer_"),
    )


def _refund_request(request: RefundRequestRow) -> PersonalRefundRequest:
    return PersonalRefundRequest(
        id=request.id,
        kind=request.kind,
        state=request.state,
        requested_on=request.requested_on,
        name=request.customer_name,
        email=request.customer_email,
        reason=request.reason,
        answer=request.answer,
    )


def _mail(mail: MailRow) -> PersonalMail:
    return PersonalMail(
        id=mail.id,
        kind=mail.kind,
        state=mail.state,
        created_on=mail.created_on,
        sent_on=mail.sent_on,
        recipient=mail.recipient,
        subject=mail.subject,
        content=mail.content,
    )


async def _orders(db: AsyncSession, orders: Sequence[OrderRow]) -> list[PersonalOrder]:
    query = select(OrderProductRow).where(is_any_of(col(OrderProductRow.order_id), [order.id for order in orders]))
    lines = (await db.exec(query.order_by(col(OrderProductRow.id)))).all()
    return [_order(order, [line for line in lines if line.order_id == order.id]) for order in orders]


def _order(order: OrderRow, lines: Sequence[OrderProductRow]) -> PersonalOrder:
    return PersonalOrder(
        id=order.id,
        number=order.number,
        status=order.status,
        created_on=order.created_on,
        language=order.language,
        buyer=_contact(order, "buyer_"),
        address=_address(order, order.recipient_name),
        billing=_billing(order, "billing_company_name", "billing_vat_id"),
        message=order.message,
        tracking_number=order.fulfilment_tracking_number or "",
        lines=[
            PersonalOrderLine(name=each.name, quantity=each.quantity, total=_money(each.total_amount, each.currency))
            for each in lines
        ],
        total=_money(order.total_amount, order.currency),
    )


def _checkout(person_rows: PersonRows, attempt: AttemptRow) -> PersonalCheckout:
    buyer, is_buyer = attempt.buyer, person_rows.is_buyer(attempt)
    purchases = [line.purchase for line in attempt.lines if line.purchase is not None]
    return PersonalCheckout(
        id=attempt.id,
        created_on=attempt.created_on,
        state=attempt.state.value,
        buyer=_contact(buyer, "") if is_buyer else None,
        address=_address(buyer, buyer.recipient_name) if is_buyer else None,
        billing=_billing(buyer, "company_name", "vat_id") if is_buyer else None,
        message=buyer.message if is_buyer else "",
        gifts=[
            PersonalGiftWords(
                giftee=_contact(purchase.giftee, ""),
                address=_address(purchase.giftee, ""),
                from_gifter=purchase.from_gifter,
                message=purchase.message,
            )
            for purchase in purchases
            if is_buyer
            or (person_rows.person is not None and purchase.giftee.email.lower() == person_rows.person.email)
        ],
    )


async def _gift(db: AsyncSession, person_rows: PersonRows, gift: GiftRow) -> PersonalGift:
    roles = person_rows.roles(gift)
    return PersonalGift(
        kind=kind_of(gift),
        id=gift.id,
        roles=sorted(roles, key=lambda role: role.value),
        created_on=gift.created_on,
        expires_on=gift.expires_on,
        value=_money(_value(gift), gift.currency),
        gifter=_gifter(gift) if GIFTER in roles else None,
        gifter_address=_gifter_address(gift) if GIFTER in roles and isinstance(gift, VoucherRow) else None,
        giftee=PersonalContact(
            first_name=gift.giftee_first_name or "",
            last_name=gift.giftee_last_name or "",
            email=gift.giftee_email or "",
            phone=(gift.giftee_phone_number or "") if isinstance(gift, VoucherRow) else "",
        ),
        giftee_address=gift.recipient_address or "",
        from_gifter=gift.from_gifter or "",
        to_giftee=gift.to_giftee if isinstance(gift, VoucherRow) else "",
        message=gift.message or "",
        notes=await _notes(db, gift),
    )


def _value(gift: GiftRow) -> Decimal:
    if isinstance(gift, VoucherRow):
        return gift.total_price_amount
    return gift.price_amount if isinstance(gift, NetworkVoucherRow) else gift.value_amount


def _gifter(gift: GiftRow) -> PersonalContact:
    contact = _contact(gift, "gifter_")
    if isinstance(gift, VoucherRow):
        contact.phone = gift.gifter_mobile_phone or gift.gifter_wired_phone or ""
    return contact


def _gifter_address(voucher: VoucherRow) -> PersonalAddress | None:
    if not voucher.gifter_address:
        return None
    return PersonalAddress(
        recipient_name="",
        line_1=voucher.gifter_address,
        line_2="",
        postal_code=voucher.gifter_postal_code,
        city=voucher.gifter_city,
        country=voucher.gifter_country,
    )


async def _notes(db: AsyncSession, gift: GiftRow) -> list[str]:
    if not isinstance(gift, VoucherRow):
        return []
    query = select(VoucherRentalRow.comment).where(VoucherRentalRow.voucher_id == gift.id)
    return [comment for comment in (await db.exec(query.order_by(col(VoucherRentalRow.id)))).all() if comment]


async def _network_usages(db: AsyncSession, gifts: Sequence[GiftRow]) -> list[PersonalNetworkUsage]:
    by_kind: dict[Any, dict[int, GiftRow]] = {NetworkGiftCardUsageRow: {}, NetworkVoucherUsageRow: {}}
    for gift in gifts:
        if isinstance(gift, NetworkVoucherRow):
            by_kind[NetworkVoucherUsageRow][gift.id] = gift
        elif not isinstance(gift, VoucherRow) and gift.network_id is not None:
            by_kind[NetworkGiftCardUsageRow][gift.id] = gift
    usages: list[PersonalNetworkUsage] = []
    for row, used in by_kind.items():
        owner = "gift_card_id" if row is NetworkGiftCardUsageRow else "network_voucher_id"
        columns = row.__table__.c
        query = select(row).where(columns[owner].in_(used)).order_by(columns.id)
        usages += [
            PersonalNetworkUsage(
                kind=kind_of(used[getattr(usage, owner)]),
                gift_id=getattr(usage, owner),
                used_on=usage.used_on,
                partner_id=usage.partner_id,
                amount=_money(usage.value_amount, usage.currency),
                comment=usage.comment,
            )
            for usage in (await db.exec(query)).all()
        ]
    return usages


def _is_of_buyer(entry: AuditEntryRow, bought: Collection[tuple[str, str]]) -> bool:
    """Whether an entry is of what the buyer has changed at the page of one of these orders (type, id)."""
    return entry.actor is AuditActor.CUSTOMER and (entry.subject_type, entry.subject_id) in bought


def _entry(entry: AuditEntryRow, texts: PersonalTexts, *, is_buyers: bool) -> PersonalRecord:
    """What an entry says about the person; and the network address, if it was the person who has bought."""
    data: dict[str, Any] = texts.keep({"input": entry.input, "changes": entry.changes}, MASK)
    if is_buyers or (entry.actor is AuditActor.CUSTOMER and texts.has_email(entry.input.get("buyer"))):
        data["address"] = entry.address
    return PersonalRecord(id=str(entry.id), name=entry.operation, occurred_on=entry.occurred_on, data=data)


def _contact(row: Any, prefix: str) -> PersonalContact:
    names = {name: getattr(row, prefix + name) for name in ("first_name", "last_name", "email")}
    return PersonalContact(**names, phone=getattr(row, f"{prefix}phone", ""))


def _address(row: Any, recipient_name: str) -> PersonalAddress | None:
    if not row.address_line_1:
        return None
    return PersonalAddress(
        recipient_name=recipient_name,
        line_1=row.address_line_1,
        line_2=row.address_line_2,
        postal_code=row.postal_code,
        city=row.city,
        country=row.country,
    )


def _billing(row: OrderRow | Buyer, name: str, vat_id: str) -> PersonalBilling | None:
    if not getattr(row, name):
        return None
    address = None
    if row.billing_line_1:
        address = PersonalAddress(
            recipient_name="",
            line_1=row.billing_line_1,
            line_2=row.billing_line_2 or "",
            postal_code=row.billing_postal_code or "",
            city=row.billing_city or "",
            country=row.billing_country or "",
        )
    return PersonalBilling(company_name=getattr(row, name), vat_id=getattr(row, vat_id), address=address)


def _money(amount: Decimal, currency: str) -> Money:
    return Money(amount=amount, currency=currency)
