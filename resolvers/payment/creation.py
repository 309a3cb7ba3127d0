"""Payments over the API: create, change, cancel."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from resolvers.core.input_mapping import collect_owner
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from resolvers.payment.ending import cancel_locked, capture_gift_cards, hold_gift_cards
from resolvers.payment.events import emit_payment_event
from resolvers.payment.locking import lock_with_sources
from resolvers.payment.opening import open_payment
from resolvers.payment.scoping import find_payment
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import ProblemCollector, raise_if_problems
from schema.core.permission import Permission
from schema.event import EventType
from schema.payment.errors import PaymentEnded, PaymentInProgress
from schema.payment.input import CancelPayment, CreatePayment, UpdatePayment
from schema.payment.payment import Payment, PaymentStatus
from schema.validation.dates import moment_in
from store.customer import Person
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.locks import lock_card_of_wallet
from store.network.card_payments import check_can_pay
from store.network.payouts import chosen_date, move_payment
from store.partner.checks import check_freezing
from store.partner.partners import PartnerRow
from store.payment.payments import PaymentRow, link_token
from store.payment.recording import add_sources, has_open_payin
from store.voucher.payment import zone_of

LIFETIME = dt.timedelta(days=1)
"""How long a payment can be paid on its page."""
NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class ExtraSource:
    """The gift card that pays a part of a payment, and how much."""

    card: GiftCardRow
    amount: Decimal


@operation(Permission.CREATE_PAYMENT)
async def create_payment(call: Call, input: CreatePayment) -> Payment:
    """Create a payment. The customer pays at its `paymentUrl`, over REST the URL in `Link: <…>; rel="payment"`, within
    a day. `amount` is what is collected; `extraSourceAmount` of it is taken from the wallet of a gift card, and the rest
    is paid by bank card. A payment that a gift card covers wholly is paid at once.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        _check_payer(input)
    with findings.collect():
        check_freezing(partner, input.freeze_payout_date)
    extra = await _extra_source(findings, call, input, partner)
    findings.raise_problems()
    await require_selling(call.services, call.db, partner.id, lock=True)
    card_amount = input.amount - (extra.amount if extra else NOTHING)
    payment = await _write(call, input, partner, card_amount)
    gift_cards = {extra.card.id: (extra.card.wallet_id, extra.amount)} if extra else {}
    await add_sources(call.db, payment, gift_cards)
    locked = await lock_with_sources(call.db, payment)
    await hold_gift_cards(call.db, locked)
    if not payment.card_amount:
        await capture_gift_cards(call.db, locked, call.services.clock.now())
        payment.status, payment.check_on = PaymentStatus.OK, None
        await emit_payment_event(call.db, EventType.PAYMENT_SUCCEEDED, payment)
    return payment


def _check_payer(input: CreatePayment) -> None:
    """Raise InvalidInput if a bank card is to pay, and the customer lacks what the provider needs of who pays by it."""
    if (input.extra_source_amount or NOTHING) < input.amount:
        blank = [name for name in type(input.customer).model_fields if not getattr(input.customer, name)]
        raise_if_problems(Problem(("customer", name), "REQUIRED", "Fill this in.") for name in blank)


async def _write(call: Call, input: CreatePayment, partner: PartnerRow, card_amount: Decimal) -> PaymentRow:
    now, who = call.services.clock.now(), input.customer
    return await open_payment(
        call.db,
        partner,
        Person(who.first_name, who.last_name, who.email),
        card_amount=card_amount,
        now=now,
        payment_amount=input.amount,
        discount_amount=input.discount,
        type=input.type,
        product=input.product,
        origin=input.origin,
        description=input.description,
        language=input.language,
        freeze_payout_date=moment_in(await zone_of(call.db, partner.id), input.freeze_payout_date),
        expires_on=now + LIFETIME,
        check_on=now + LIFETIME,
        link_token=link_token(),
    )


async def _extra_source(
    findings: ProblemCollector, call: Call, input: CreatePayment, partner: PartnerRow
) -> ExtraSource | None:
    """The gift card of an input's wallet, locked. None if the input names none."""
    wallet_uuid, amount = input.extra_source_wallet_uuid, input.extra_source_amount or NOTHING
    with findings.collect():
        if amount > input.amount:
            raise InvalidInput.at("extra_source_amount", "Send at most the amount.", "OUT_OF_RANGE")
        if amount and wallet_uuid is None:
            raise InvalidInput.at("extra_source_wallet_uuid", "Say from which wallet it is taken.", "REQUIRED")
        if wallet_uuid is not None and input.extra_source_amount is None:
            raise InvalidInput.at("extra_source_amount", "Say how much of the amount is taken from it.", "REQUIRED")
    if wallet_uuid is None:
        return None
    card: GiftCardRow | None = None
    with findings.collect():
        card = await _card_of_wallet(call, wallet_uuid, partner)
    if card is None or not 0 < amount <= input.amount:
        return None
    await check_can_pay(call.db, card, partner, amount, call.services.clock.now(), amount_at="extra_source_amount")
    return ExtraSource(card, amount)


async def _card_of_wallet(call: Call, wallet_uuid: UUID, partner: PartnerRow) -> GiftCardRow:
    card = await lock_card_of_wallet(call.db, partner.id, wallet_uuid)
    if card is None:
        raise InvalidInput.at("extra_source_wallet_uuid", "This partner accepts no gift card with this wallet.")
    return card


@operation(Permission.CREATE_PAYMENT, exists=find_payment)
async def update_payment(call: Call, input: UpdatePayment) -> Payment:
    """Change the date that decides about the payout of a payment, if the partner may do so; null: the day of the
    payment.
    """
    payment = (await lock_with_sources(call.db, await find_payment(call, {"id": input.id}))).payment
    payment.freeze_payout_date = await chosen_date(call.db, payment.partner_id, input.freeze_payout_date)
    await move_payment(call.db, payment)
    return payment


@operation(Permission.CREATE_PAYMENT, exists=find_payment)
async def cancel_payment(call: Call, input: CancelPayment) -> Payment:
    """Cancel a payment that is not paid yet: its page says so, and its gift cards are released. Cancelling it again
    changes nothing. A payment that is paid is refused with `PAYMENT_ENDED`, one that the customer is paying now with
    `PAYMENT_IN_PROGRESS`.
    """
    payment = await cancel_locked(call.db, await find_payment(call, {"id": input.id}), call.services.clock.now())
    if payment.status is PaymentStatus.OK:
        raise PaymentEnded
    if payment.status is not PaymentStatus.CANCELLED and await has_open_payin(call.db, payment):
        raise PaymentInProgress
    return payment
