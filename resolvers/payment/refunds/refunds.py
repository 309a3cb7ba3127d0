"""Refunds of payments: lists, and what staff do: preview, refund, and retry."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Protocol
from uuid import UUID

from pydantic import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.payment.locking import LockedPayment, lock_with_sources
from resolvers.payment.refunds.recording import parts_of, promise_refund
from resolvers.payment.scoping import check_owns_money, find_payment
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import GiftCardNotSpendable, InvalidInput
from schema.core.inputs import graphql_input_for
from schema.core.message_names import MessageAmount, TemplatedMessage
from schema.core.money import Money
from schema.core.permission import Permission
from schema.payment.dispute import DisputeState
from schema.payment.errors import (
    AlreadyRefunded,
    NotRefundable,
    PaymentDisputed,
    RefundOfTwoOwners,
    RefundTooLate,
)
from schema.payment.input import PreviewRefund, RefundPayment, RefundSplit, RetryRefund
from schema.payment.payment import (
    PaymentSourceKind,
    PaymentStatus,
    PaymentTransactionStatus,
    Refund,
    RefundOrigin,
    RefundPreview,
    RefundPreviewLine,
    RefundState,
)
from schema.payment_method import PaymentMethod
from store.gift_card.states import takes_money_back
from store.job.jobs import JobKind, enqueue_job
from store.order.refunds import OrderRefund
from store.payment.disputes import disputes_of
from store.payment.payments import REFUND_STATES, PaymentRow, PaymentTransactionRow, RefundRow
from store.payment.postings import lock_owners
from store.payment.recording import lock_payment, paid_method
from store.payment.refund_amounts import NOTHING, BankCardPart, divide, divide_as_told, network_left, share_left

LONGEST_AGE = dt.timedelta(days=330)
"""The provider refunds a bank card for eleven months."""
LONGEST_AGES = {PaymentMethod.BANCONTACT: dt.timedelta(days=179)}
"""The same of methods that it refunds for another time."""


@graphql_enum
class RefundSort(DescribedEnum):
    """Sort order of refunds."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@graphql_input_for(Refund)
class RefundFilter(OfPartner):
    """Filter for refunds. Periods include both ends."""

    state: Annotated[RefundState | None, Where("state")] = Field(
        default=None, description="Only refunds in this state; `NEEDS_ACTION` are those that a person has to see to."
    )
    states: Annotated[list[RefundState] | None, Where("state", "in")] = Field(
        default=None, description="Only refunds in one of these states."
    )
    origin: Annotated[RefundOrigin | None, Where("origin")] = None
    payment_id: Annotated[UUID | None, Where("payment_id")] = Field(
        default=None, description="Only the refunds of this payment."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only refunds accepted at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only refunds accepted at or before this time."
    )


refunds = Listing(
    Refund, RefundFilter, RefundSort, Permission.VIEW_PAYMENT, "The refunds visible to you, newest first."
)
refund = Lookup(Refund, "id", "refund", Permission.VIEW_PAYMENT, "A refund by its id.")


@operation(Permission.REFUND_PAYMENT, exists=find_payment)
async def refund_payment(call: Call, input: RefundPayment) -> Refund:
    """Refund a payment, or a part of it. Each source of its money gets its proportion of what is left, or what `split`
    says; commission goes back in proportion. Gift cards have their money at once. The bank card's part is accepted, and
    sent by the payment provider: `state` tells how far it is. Send an `Idempotency-Key`, so that a retry does not refund
    twice.
    """
    payment = await find_payment(call, {"id": input.id})
    return await _refund(call, call.db, payment, input)


@operation(Permission.REFUND_PAYMENT, exists=find_payment)
async def preview_refund(call: Call, input: PreviewRefund) -> RefundPreview:
    """What a refund would do: it is made, and undone. Refused as the refund would be."""
    await find_payment(call, {"id": input.id})
    async with call.services.db.sessions() as db:  # never committed
        payment = await db.get_one(PaymentRow, input.id)
        refund = await _refund(call, db, payment, input)
        return await preview_of(db, payment, refund)


async def preview_of(
    db: AsyncSession, payment: PaymentRow, refund: RefundRow, of_order: OrderRefund | None = None
) -> RefundPreview:
    """A refund that was made and will be undone."""
    parts = await parts_of(db, refund)

    def money(value: Decimal) -> Money:
        return Money(amount=value, currency=refund.currency)

    def of(kind: PaymentSourceKind) -> Decimal:
        return sum((it.transaction_amount for it in parts if it.payment_method is kind), Decimal("0.00"))

    return RefundPreview(
        amount=money(refund.refund_amount),
        by_card=money(of(PaymentSourceKind.CREDIT_CARD)),
        by_gift_card=money(of(PaymentSourceKind.GIFT_CARD)),
        commission_back=money(sum((part.commission_amount for part in parts), Decimal("0.00"))),
        left=money(payment.payment_amount - payment.refunded_amount),
        detail=refund.detail,
        delivery=money(refund.delivery_amount),
        lines=[
            RefundPreviewLine(id=each.line.id, quantity=each.quantity, amount=money(each.amount))
            for each in (of_order.lines if of_order else ())
        ],
    )


async def _refund(call: Call, db: AsyncSession, payment: PaymentRow, input: RefundPayment) -> RefundRow:
    if not payment.is_mixed:
        check_owns_money(call, payment)
    check_split(input, input.amount)
    locked = await lock_with_sources(db, payment)
    left = await left_to_refund(db, locked.payment)
    if input.amount > left:
        told = TemplatedMessage("Only {left} is left to refund.", left=MessageAmount(left, payment.currency))
        raise InvalidInput.at("amount", told, "OUT_OF_RANGE")
    await lock_owners(db, locked.payment)
    of_network = _network_part(call, locked, input.amount, left) if payment.is_mixed else None
    return await refund_by_source(db, locked, input.amount, input, call.services.clock.now(), of_network=of_network)


def _network_part(call: Call, locked: LockedPayment, amount: Decimal, left: Decimal) -> Decimal:
    """What of an amount of a payment of two owners is the network's, if it can only be one thing. Raises RefundOfTwoOwners
    if it cannot, MarketplaceOnly for what a partner's users may not refund.
    """
    of_network = network_left_of(locked)
    if not of_network:
        return of_network
    if of_network < left and amount < left:
        raise RefundOfTwoOwners
    check_owns_money(call, locked.payment)
    return min(of_network, amount)


def network_left_of(locked: LockedPayment) -> Decimal:
    """What is left of the network's part of a payment with what it sells."""
    cards = (source for source in locked.sources if source.kind is PaymentSourceKind.CREDIT_CARD)
    return sum((network_left(locked.payment, card) for card in cards), Decimal("0.00"))


async def left_to_refund(db: AsyncSession, payment: PaymentRow) -> Decimal:
    """What is left to refund of a locked payment. Raises what keeps all of it from being refunded."""
    if payment.status is not PaymentStatus.OK:
        raise NotRefundable
    left = payment.payment_amount - payment.refunded_amount
    if not left:
        raise AlreadyRefunded
    if any(dispute.state is not DisputeState.CANCELLED for dispute in await disputes_of(db, payment)):
        raise PaymentDisputed
    return left


class RefundWish(Protocol):
    """What an input says about any refund."""

    @property
    def split(self) -> RefundSplit | None: ...

    @property
    def reason(self) -> str: ...


def check_split(wish: RefundWish, amount: Decimal) -> None:
    """Raise InvalidInput if the split of a refund is of another amount."""
    if wish.split is not None and wish.split.extra_source_amount + wish.split.additional_payin_amount != amount:
        raise InvalidInput.at("split", "Its parts must sum to the amount.")


async def refund_by_source(
    db: AsyncSession,
    locked: LockedPayment,
    amount: Decimal,
    wish: RefundWish,
    now: dt.datetime,
    of_order: OrderRefund | None = None,
    of_network: Decimal | None = None,
) -> RefundRow:
    """Refund an amount that is left, in proportion or as the split says. Raises what keeps a source from being
    refunded so. `of_network` is what of an amount without lines is the network's, of a payment of two owners.
    """
    if of_order is not None and locked.payment.is_mixed:
        of_network = of_order.of_network
    amounts = _amounts_by_source(locked, amount, wish.split, of_order, of_network)
    cards = {row.id for row in locked.sources if row.kind is PaymentSourceKind.CREDIT_CARD}
    if cards & amounts.keys():
        method = await paid_method(db, locked.payment)
        if now - locked.payment.created_on > LONGEST_AGES.get(method, LONGEST_AGE):
            raise RefundTooLate
    returned = (row for row in locked.sources if row.id in amounts and row.gift_card_id is not None)
    if not all(takes_money_back(locked.cards[row.gift_card_id or 0]) for row in returned):
        raise GiftCardNotSpendable
    about: dict[str, Any] = {"origin": RefundOrigin.STAFF, "reason": wish.reason, "of_order": of_order}
    return await promise_refund(db, locked, amounts, now=now, of_network=of_network, **about)


def _amounts_by_source(
    locked: LockedPayment,
    amount: Decimal,
    split: RefundSplit | None,
    of_order: OrderRefund | None,
    of_network: Decimal | None,
) -> Mapping[int, Decimal]:
    """The amounts by source id. Raises InvalidInput if a split takes of one owner's part of the bank card's what is the
    other's to give back.
    """
    most_by_bank = None if of_network is None else of_network + _share_left_of(locked)
    if split is None:
        only_by_bank = of_order.only_by_bank if of_order else BankCardPart()
        return divide(locked.sources, amount, only_by_bank, most_by_bank)
    by_bank = split.additional_payin_amount
    if most_by_bank is not None and not (of_network or NOTHING) <= by_bank <= most_by_bank:
        most = TemplatedMessage(
            "From {least} to {most} of it goes back to the bank card.",
            least=MessageAmount(of_network or NOTHING, locked.payment.currency),
            most=MessageAmount(most_by_bank, locked.payment.currency),
        )
        raise InvalidInput.at(("split", "additional_payin_amount"), most, "OUT_OF_RANGE")
    return divide_as_told(locked.sources, split.extra_source_amount, split.additional_payin_amount)


def _share_left_of(locked: LockedPayment) -> Decimal:
    """What is left of the partner's share of the bank card's part."""
    cards = (source for source in locked.sources if source.kind is PaymentSourceKind.CREDIT_CARD)
    return sum((share_left(locked.payment, card) for card in cards), Decimal("0.00"))


async def find_refund(call: Call, input: Any) -> RefundRow:
    """The refund of an input's `id`. Raises NotFound if the caller cannot see it."""
    id = uuid_from_input(input, "id")
    return await find_visible(call.db, call.caller, RefundRow, "refund", id=id)


@operation(Permission.REFUND_PAYMENT, exists=find_refund)
async def retry_refund(call: Call, input: RetryRefund) -> Refund:
    """Send a refund again that `NEEDS_ACTION`, after what held it up is settled. One in another state is refused with
    `INVALID_TRANSITION`.
    """
    refund = await find_refund(call, {"id": input.id})
    payment = await lock_payment(call.db, await find_payment(call, {"id": refund.payment_id}))
    parts = await parts_of(call.db, refund)
    if not payment.is_mixed or not all(_is_of_partner(part) for part in parts):
        check_owns_money(call, payment)
    await call.db.refresh(refund)
    refund.state = REFUND_STATES.require(refund.state, RefundState.PENDING)
    now = call.services.clock.now()
    for part in parts:
        if part.status is PaymentTransactionStatus.IN_PROGRESS:
            part.tries, part.check_on, part.sent_at = 0, now, now
            await enqueue_job(call.db, JobKind.SEND_REFUND, {"id": part.id}, unique_key=str(part.id))
    return refund


def _is_of_partner(part: PaymentTransactionRow) -> bool:
    """Whether nothing of a part of a refund is the network's: gift cards pay for what is the partner's own only."""
    is_by_card = part.payment_method is PaymentSourceKind.CREDIT_CARD
    return not is_by_card or part.partner_share_amount == part.transaction_amount
