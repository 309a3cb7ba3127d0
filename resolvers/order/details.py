"""Correction of an order by staff: its buyer, its recipient, its address."""

from typing import Any, TypeAlias

from sqlmodel import col, exists, select, update
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import apply
from resolvers.core.operation import Call, operation
from resolvers.order.fulfilment import find_order
from schema.core.errors import InvalidInput
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.order.errors import AlreadySent, BuyerErased
from schema.order.fulfilment import FulfilmentState
from schema.order.input import OrderDeliveryInput, UpdateOrderDetails
from schema.order.order import Order, PostalAddress
from schema.validation.postal_codes import example_postal_code, is_postal_code
from store.customer import CustomerRow, customer_for
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.locks import lock_cards
from store.order.events import emit_details_corrected
from store.order.orders import OrderProductRow, OrderRow, lock_order
from store.payment.payments import PaymentRow
from store.payment.recording import lock_payment
from store.voucher.states import lock_vouchers_of_order
from store.voucher.vouchers import VoucherRow

GiftRow: TypeAlias = VoucherRow | GiftCardRow
PERSON = ("first_name", "last_name", "email")
POSTAL_CODE = "Send a postal code such as {example}."
ON_ITS_WAY = frozenset({FulfilmentState.SENT, FulfilmentState.DELIVERED})
DETAILS = (
    *("buyer_first_name", "buyer_last_name", "buyer_email", "buyer_phone", "recipient_name"),
    *PostalAddress.model_fields,
)


@operation(Permission.MANAGE_ORDER, exists=find_order)
async def update_order_details(call: Call, input: UpdateOrderDetails) -> Order:
    """Correct the buyer of an order, or to whom and where it is sent. What was sent has its address: it is refused with
    `ALREADY_SENT`. The payments of the order, and the vouchers and gift cards that its buyer gives, name the buyer as it is
    now; its company does not change. The same values change nothing, and nothing is mailed. An order whose personal data
    were erased is refused with `BUYER_ERASED`.
    """
    found = await find_order(call, {"id": input.id})
    gifts, payments = await _lock_before(call.db, found)
    order = await lock_order(call.db, found.id)
    if order.personal_data_erased_on is not None:
        raise BuyerErased
    before = _details_of(order)
    if input.delivery is not None:
        _check_address(order, input.delivery.value)
    apply(order, input, skip={"id"})
    if _details_of(order) == before:
        return order
    await call.db.flush()
    if any(getattr(order, f"buyer_{name}") != before[f"buyer_{name}"] for name in PERSON):
        await _name_buyer(call.db, order, before, gifts, payments)
    await emit_details_corrected(call.db, order, call.services.clock.now())
    return order


def _details_of(order: OrderRow) -> dict[str, Any]:
    return {name: getattr(order, name) for name in DETAILS}


async def _lock_before(db: AsyncSession, order: OrderRow) -> tuple[list[GiftRow], list[PaymentRow]]:
    """Lock the gift cards, vouchers and payments of an order, in the order in which all lock them, before the order."""
    line = OrderProductRow
    ids = (await db.exec(select(line.gift_card_id).where(col(line.order_id) == order.id))).all()
    cards = await lock_cards(db, [id for id in ids if id is not None])
    vouchers = await lock_vouchers_of_order(db, order.id)
    payments = (await db.exec(select(PaymentRow).where(col(PaymentRow.order_id) == order.id))).all()
    locked = [await lock_payment(db, each) for each in sorted(payments, key=lambda each: each.id)]
    return [*cards.values(), *vouchers], locked


def _check_address(order: OrderRow, delivery: OrderDeliveryInput) -> None:
    """Raise AlreadySent for an order that is on its way, InvalidInput for an address of one that is not sent to its
    buyer.
    """
    if order.fulfilment_state in ON_ITS_WAY:
        raise AlreadySent("delivery")
    if delivery.address is not None and order.country is None:
        raise InvalidInput.at(("delivery", "address"), "This order is not sent to an address of its buyer.")
    address = delivery.address.value if delivery.address is not None else None
    code = address.postal_code.value if address is not None and address.postal_code is not None else ""
    if code and not is_postal_code(code, order.country or ""):
        example = example_postal_code(order.country or "")
        raise InvalidInput.at(("delivery", "address", "postal_code"), TemplatedMessage(POSTAL_CODE, example=example))


async def _name_buyer(
    db: AsyncSession, order: OrderRow, before: dict[str, Any], gifts: list[GiftRow], payments: list[PaymentRow]
) -> None:
    """Write the buyer to the payments of an order, and to the vouchers and gift cards that were the buyer's."""
    person = [getattr(order, f"buyer_{name}") for name in PERSON]
    old_email = before["buyer_email"].lower()
    customer = await customer_for(db, order.partner_id, *person)
    for payment in payments:
        payment.customer_first_name, payment.customer_last_name, payment.customer_email = person
        payment.customer_id = customer
    for gift in gifts:
        if gift.gifter_email.lower() == old_email:
            gift.gifter_first_name, gift.gifter_last_name, gift.gifter_email = person
            if isinstance(gift, VoucherRow):
                gift.gifter_id = customer
        if (gift.giftee_email or "").lower() == old_email:
            gift.giftee_email = order.buyer_email
            if isinstance(gift, VoucherRow):
                gift.giftee_id = customer
    await db.flush()
    if old_email != order.buyer_email.lower():
        await _empty_unused(db, order.partner_id, old_email)


async def _empty_unused(db: AsyncSession, partner_id: int, email: str) -> None:
    """Empty the customer with an address if nothing names it any more: it was mistyped."""
    row, voucher = CustomerRow, VoucherRow
    bought = OrderRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
    is_used = (
        exists().where(bought.partner_id == partner_id, bought.buyer_normal_email == email)
        | exists().where(col(PaymentRow.customer_id) == col(row.id))
        | exists().where(col(voucher.gifter_id) == col(row.id))
        | exists().where(col(voucher.giftee_id) == col(row.id))
    )
    nothing = {"first_name": "", "last_name": "", "email": "", "normal_email": None}
    of_address = col(row.partner_id) == partner_id, col(row.normal_email) == email
    await db.exec(update(row).where(*of_address, ~is_used).values(**nothing))
