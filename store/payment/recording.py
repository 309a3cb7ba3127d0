"""Writing of payments: the row, its sources and movements, and the transfers between wallets."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payment import (
    PaymentSourceKind,
    PaymentStatus,
    PaymentTransactionStatus,
    PaymentTransactionType,
)
from schema.payment.transfer import TransferType
from schema.payment_method import PaymentMethod
from schema.wallet import WalletKind
from store.ledger.books import book_of_partner, is_current_book
from store.ledger.posting import post
from store.ledger.wallets import WalletRow, marketplace_wallet, wallet_of_partner
from store.partner.partners import PartnerRow
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow, PaymentSourceRow, PaymentTransactionRow
from store.payment.postings import lock_owners, payin_journal
from store.payment.transfers import TransferRow
from store.providers.transactions import Transaction

CARD, GIFT_CARD = PaymentSourceKind.CREDIT_CARD, PaymentSourceKind.GIFT_CARD
NOTHING = Decimal("0.00")
ORIGIN = "shop"
"""The origin of payments of the checkout, for fee rules."""


async def lock_payment(db: AsyncSession, payment: PaymentRow) -> PaymentRow:
    """Lock and reload a payment."""
    return await lock_payment_of(db, payment.id)


async def lock_payment_of(db: AsyncSession, id: UUID) -> PaymentRow:
    """Lock and reload the payment with this id."""
    query = select(PaymentRow).where(col(PaymentRow.id) == id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def lock_card_part(db: AsyncSession, reference: str) -> PaymentTransactionRow | None:
    """Lock the bank card's part of the refund that the provider's reference names; None if it names none of ours."""
    try:
        refund_id = UUID(reference)
    except ValueError:
        return None
    table = PaymentTransactionRow
    query = select(table).where(col(table.refund_id) == refund_id, col(table.payment_method) == CARD)
    return (await db.exec(query.with_for_update())).first()


async def is_wholly_refunded(db: AsyncSession, payment: PaymentRow) -> bool:
    """True once all of a payment's money has gone back, and not while a part of it is only promised."""
    if payment.refunded_amount < payment.payment_amount:
        return False
    table = PaymentTransactionRow
    promised = select(table.id).where(
        col(table.payment_id) == payment.id,
        col(table.type) == PaymentTransactionType.REFUND,
        col(table.status) == PaymentTransactionStatus.IN_PROGRESS,
    )
    return (await db.exec(promised)).first() is None


async def has_open_payin(db: AsyncSession, payment: PaymentRow) -> bool:
    """True while a pay-in of a locked payment could still be paid."""
    table = PaymentTransactionRow
    query = select(table.id).where(
        col(table.payment_id) == payment.id, col(table.status) == PaymentTransactionStatus.IN_PROGRESS
    )
    return (await db.exec(query)).first() is not None


async def was_refunded_today(db: AsyncSession, source: PaymentSourceRow, amount: Decimal, now: dt.datetime) -> bool:
    """True if the same amount of a source went back today already, or is promised: the provider takes it once a day."""
    table = PaymentTransactionRow
    same = select(table.id).where(
        col(table.payment_id) == source.payment_id,
        col(table.source_id) == source.id,
        col(table.type) == PaymentTransactionType.REFUND,
        col(table.status) != PaymentTransactionStatus.ERROR,
        col(table.transaction_amount) == amount,
        col(table.created_on) >= now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0),
    )
    return (await db.exec(same.limit(1))).first() is not None


async def sources_of(db: AsyncSession, payment: PaymentRow) -> Sequence[PaymentSourceRow]:
    """The sources of a locked payment, gift cards first."""
    query = select(PaymentSourceRow).where(col(PaymentSourceRow.payment_id) == payment.id)
    rows = (await db.exec(query.order_by(col(PaymentSourceRow.id)).execution_options(populate_existing=True))).all()
    return sorted(rows, key=lambda row: row.kind is CARD)


async def card_wallet_of(db: AsyncSession, partner_id: int, payin: Transaction | None = None) -> WalletRow | None:
    """The wallet that a partner's card payments go to, or that this one went to.

    None if the partner's payments were never activated.
    """
    partner = select(col(PartnerRow.provider_wallet_id)).where(col(PartnerRow.id) == partner_id)
    wallet_id = (payin and payin.credited_wallet_id) or (await db.exec(partner)).one()
    return await wallet_of_partner(db, partner_id, wallet_id) if wallet_id else None


async def own_card_wallet_of(db: AsyncSession, partner_id: int, payin: Transaction | None = None) -> WalletRow | None:
    """The marketplace's own wallet that card payments go to for what a partner sells of its network, or that this one
    went to. None if the marketplace has none in the partner's mode.
    """
    if payin is not None and payin.credited_wallet_id:
        marketplace = select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == partner_id).scalar_subquery()
        query = select(WalletRow).where(
            col(WalletRow.provider_wallet_id) == payin.credited_wallet_id,
            col(WalletRow.kind) == WalletKind.MARKETPLACE,
            col(WalletRow.marketplace_id) == marketplace,
        )
        credited = (await db.exec(query.order_by(is_current_book(col(WalletRow.book_id), partner_id).desc()))).first()
        if credited is not None:
            return credited
    return await marketplace_wallet(db, await book_of_partner(db, partner_id))


async def add_sources(
    db: AsyncSession, payment: PaymentRow, gift_cards: Mapping[int, tuple[int, Decimal]]
) -> Sequence[PaymentSourceRow]:
    """Add the sources of a stored payment: gift cards, as id -> (id of the wallet, amount), and the bank card."""
    payment.extra_wallet_id = next((wallet_id for wallet_id, _ in gift_cards.values()), None)
    of: dict[str, Any] = {"payment_id": payment.id, "partner_id": payment.partner_id, "currency": payment.currency}
    rows = [
        PaymentSourceRow(**of, kind=GIFT_CARD, source_amount=amount, gift_card_id=card_id, wallet_id=wallet_id)
        for card_id, (wallet_id, amount) in gift_cards.items()
    ]
    if payment.card_amount:
        rows.append(PaymentSourceRow(**of, kind=CARD, source_amount=payment.card_amount))
    db.add_all(rows)
    await db.flush()
    return rows


async def record_gift_card_payins(
    db: AsyncSession, payment: PaymentRow, sources: Sequence[PaymentSourceRow], now: dt.datetime
) -> None:
    """Record what gift cards have paid: their journals are posted already."""
    for source in sources:
        if source.kind is GIFT_CARD:
            payin = new_payin(payment, source, now)
            payin.status, payin.executed_on = PaymentTransactionStatus.OK, now
            db.add(payin)
            db.add(await transfer_of(db, payment, source, source.source_amount, TransferType.PAYMENT, now))
    await db.flush()


async def transfer_of(
    db: AsyncSession,
    payment: PaymentRow,
    source: PaymentSourceRow,
    amount: Decimal,
    kind: TransferType,
    now: dt.datetime,
) -> TransferRow:
    """A transfer between the wallet of a gift card and the partner's: to the partner, or back. What a network's card has
    paid is not in the partner's wallet before its payout: that side is missing.
    """
    card = (await db.exec(select(WalletRow).where(col(WalletRow.id) == source.wallet_id))).one()
    partner_wallet = None
    if card.partner_id is not None:
        partner_wallet = None if payment.is_for_marketplace else payment.wallet_id
        if partner_wallet is None and (wallet := await card_wallet_of(db, payment.partner_id)) is not None:
            partner_wallet = wallet.id
    wallets = (card.id, partner_wallet) if kind is TransferType.PAYMENT else (partner_wallet, card.id)
    return TransferRow(
        marketplace_id=card.marketplace_id,
        partner_id=payment.partner_id,
        currency=payment.currency,
        type=kind,
        transfer_amount=amount,
        created_on=now,
        payment_id=payment.id,
        debited_wallet_id=wallets[0],
        credited_wallet_id=wallets[1],
    )


async def paid_method(db: AsyncSession, payment: PaymentRow) -> PaymentMethod:
    """What a payment was paid with at the provider; pay-ins without a method are by card."""
    table = PaymentTransactionRow
    query = select(table.method).where(
        col(table.payment_id) == payment.id,
        col(table.type) == PaymentTransactionType.PAYIN,
        col(table.status) == PaymentTransactionStatus.OK,
        col(table.payment_method) == CARD,
    )
    return PaymentMethod((await db.exec(query)).first() or PaymentMethod.CARD)


def new_payin(
    payment: PaymentRow, source: PaymentSourceRow, now: dt.datetime, method: PaymentMethod | None = None
) -> PaymentTransactionRow:
    """A pay-in of a source, not stored yet; `method` is None for a gift card's. The commission comes out of the other."""
    by_card = source.kind is CARD
    commission = payment.commission_amount if by_card else NOTHING
    return PaymentTransactionRow(
        partner_id=payment.partner_id,
        payment_id=payment.id,
        currency=payment.currency,
        source_id=source.id,
        type=PaymentTransactionType.PAYIN,
        payment_method=source.kind,
        method=method,
        transaction_amount=source.source_amount,
        commission_amount=commission,
        commission_vat_amount=payment.commission_vat_amount if by_card else NOTHING,
        partner_share_amount=payment.partner_share_amount if by_card else NOTHING,
        net_amount=source.source_amount - commission,
        created_on=now,
        sent_at=now,
    )


async def record_success(
    db: AsyncSession, payment: PaymentRow, payin: PaymentTransactionRow, transaction: Transaction, now: dt.datetime
) -> None:
    """Record that the pay-in of a locked payment has succeeded, and post it."""
    payin.status, payin.provider_id, payin.check_on = PaymentTransactionStatus.OK, transaction.id, None
    payin.executed_on, payin.payer_id = transaction.executed_at or now, transaction.payer_id
    payin.result_code, payin.result_message = "", ""
    payment.status, payment.check_on = PaymentStatus.OK, None
    payment.payin_result_code, payment.payin_result_message = "", ""
    await lock_owners(db, payment)
    await post(db, [await payin_journal(db, payment, payin)])


async def record_checkout_payment(
    db: AsyncSession,
    attempt: AttemptRow,
    payin: Transaction | None,
    now: dt.datetime,
    *,
    order_id: int | None,
    gift_cards: Mapping[int, tuple[int, Decimal]],
) -> PaymentRow:
    """Record what a checkout has paid; without `order_id`, what is to be refunded. It has the id of the attempt."""
    payment = await _checkout_payment(db, attempt, payin, sum((amount for _, amount in gift_cards.values()), NOTHING))
    payment.order_id, payment.created_on = order_id, now
    db.add(payment)
    await db.flush()
    sources = await add_sources(db, payment, gift_cards)
    await record_gift_card_payins(db, payment, sources, now)
    if payin is not None:
        row = new_payin(payment, sources[-1], now, attempt.payment_method)
        row.key, row.sent_at = attempt.payin_key, attempt.created_on
        db.add(row)
        await db.flush()
        await record_success(db, payment, row, payin, now)
    return payment


async def _checkout_payment(
    db: AsyncSession, attempt: AttemptRow, payin: Transaction | None, extra: Decimal
) -> PaymentRow:
    by_card = NOTHING if payin is None else payin.amount.decimal
    commission = NOTHING if payin is None else payin.fee.decimal
    wallet_of = own_card_wallet_of if attempt.is_for_marketplace else card_wallet_of
    wallet = await wallet_of(db, attempt.partner_id, payin) if payin else None
    return PaymentRow(
        id=attempt.id,
        attempt_id=attempt.id,
        partner_id=attempt.partner_id,
        book_id=wallet.book_id if wallet else await book_of_partner(db, attempt.partner_id),
        wallet_id=wallet.id if wallet else None,
        is_for_marketplace=attempt.is_for_marketplace,
        partner_share_amount=attempt.partner_share_of(by_card, commission) if attempt.is_for_marketplace else NOTHING,
        currency=attempt.currency,
        payment_amount=by_card + extra,
        card_amount=by_card,
        extra_amount=extra,
        discount_amount=attempt.discount_amount,
        commission_amount=commission,
        commission_vat_amount=min(attempt.commission_vat_amount, commission),
        net_amount=by_card + extra - commission,
        commission_vat_rate=attempt.commission_vat_rate,
        is_reverse_charge=attempt.is_reverse_charge,
        fee_rule_id=attempt.fee_rule_id,
        product=attempt.kind.value,
        origin=ORIGIN,
        language=attempt.language,
        customer_first_name=attempt.buyer.first_name,
        customer_last_name=attempt.buyer.last_name,
        customer_email=attempt.buyer.email,
        status=PaymentStatus.OK,
    )
