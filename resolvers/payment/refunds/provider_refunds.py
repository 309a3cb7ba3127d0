"""Refunds that somebody made at the provider: they have happened, and are recorded as they are."""

import datetime as dt
from decimal import Decimal
from typing import Any

import structlog
from sqlalchemy import ColumnElement
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from resolvers.core.services import Services
from resolvers.order.fulfilment import cancel_if_refunded
from resolvers.payment.events import emit_refund_event
from resolvers.payment.locking import LockedPayment
from resolvers.payment.refunds.goods import SoldGoods, lock_goods, release_vouchers, reopen_lines, withdraw_refunded
from resolvers.payment.refunds.recording import (
    finish_if_done,
    promise_refund,
    record_refund_failed,
    refund_of,
    take_back,
)
from schema.core.errors import InsufficientFunds
from schema.event import EventType
from schema.payment.errors import CommissionOnly
from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType, RefundOrigin
from store.ledger.posting import post
from store.order.orders import lock_order
from store.order.refunds import OrderRefund, record_order_refund, still_open_of
from store.payment.payments import PaymentRow, PaymentSourceRow, PaymentTransactionRow, RefundRow
from store.payment.postings import lock_owners, provider_refund_journals
from store.payment.recording import lock_card_part
from store.payment.refund_amounts import left_of, part_of_share, share_left
from store.providers.transactions import Transaction

log = structlog.get_logger(__name__)
TABLE = PaymentTransactionRow


async def record_provider_refund(services: Services, refund: Transaction) -> None:
    """Record a refund that somebody made at the provider, or one of ours that was given up and made all the same. It has
    happened: a partner without enough earnings owes it.
    """
    async with services.db.sessions() as db, db.begin():
        payin = (await db.exec(_payin_with(refund.parent_id or ""))).first()
        if payin is None:
            log.error("a refund of an unknown payment", refund=refund.id, payin=refund.parent_id)
            return
        payment = (await db.exec(select(PaymentRow).where(col(PaymentRow.id) == payin.payment_id))).one()
        goods = await lock_goods(db, payment)
        if (await db.exec(refund_with(refund.id))).first() is not None:
            return
        locked, now = goods.locked, services.clock.now()
        await lock_owners(db, locked.payment)
        source = next(row for row in locked.sources if row.id == payin.source_id)
        made_room = await _make_room(db, locked, source, refund.amount.decimal)
        await _write(db, goods, source, refund, now)
        for each, amount in made_room:
            if rest := min(amount, left_of(source)):
                await _promise_rest(db, locked, source, rest, each, now)


async def _promise_rest(
    db: AsyncSession,
    locked: LockedPayment,
    source: PaymentSourceRow,
    rest: Decimal,
    given_up: RefundRow,
    now: dt.datetime,
) -> None:
    """Promise again what is left of a refund that was given up, for its lines: the buyer has the other part of them by
    the refund at the provider. What has happened is recorded in any case.
    """
    reopened = await reopen_lines(db, locked.payment, given_up, rest)
    about: dict[str, Any] = {"origin": given_up.origin, "reason": given_up.reason, "of_order": reopened}
    about["of_network"] = reopened.of_network if reopened and (reopened.lines or reopened.delivery) else None
    try:
        async with db.begin_nested():
            await promise_refund(db, locked, {source.id: rest}, now=now, **about)
    except (CommissionOnly, InsufficientFunds):
        log.exception("a refund that was given up cannot be promised again", refund=str(given_up.id))
        await _reload(db, locked, reopened)
        await release_vouchers(db, reopened)


async def _reload(db: AsyncSession, locked: LockedPayment, reopened: OrderRefund | None) -> None:
    """Read again what a rollback to a savepoint has expired."""
    of_order = [] if reopened is None else [reopened.order, *(each.line for each in reopened.lines)]
    for row in (locked.payment, *locked.sources, *of_order):
        await db.refresh(row)


async def _make_room(
    db: AsyncSession, locked: LockedPayment, source: PaymentSourceRow, amount: Decimal
) -> list[tuple[RefundRow, Decimal]]:
    """Give up promised refunds that the provider would now refuse, as too little is left of the payment. Returns them with their amounts."""
    given_up: list[tuple[RefundRow, Decimal]] = []
    promised = select(TABLE).where(
        col(TABLE.source_id) == source.id,
        col(TABLE.type) == PaymentTransactionType.REFUND,
        col(TABLE.status) == PaymentTransactionStatus.IN_PROGRESS,
        col(TABLE.provider_id) == "",
    )
    for part in (await db.exec(promised.order_by(col(TABLE.id).desc()))).all():
        if left_of(source) >= amount:
            break
        await record_refund_failed(db, locked.payment, part, "It was refunded at the payment provider instead.")
        given_up.append((await refund_of(db, part), part.transaction_amount))
    return given_up


async def _write(
    db: AsyncSession, goods: SoldGoods, source: PaymentSourceRow, refund: Transaction, now: dt.datetime
) -> None:
    payment, promised = goods.payment, await _given_up(db, goods.payment, refund)
    given_up = None if promised is None else await refund_of(db, promised)
    row = RefundRow(
        partner_id=payment.partner_id,
        payment_id=payment.id,
        currency=payment.currency,
        created_on=refund.created_at,
        origin=RefundOrigin.PROVIDER if given_up is None else given_up.origin,
        reason="" if given_up is None else given_up.reason,
        refund_amount=refund.amount.decimal,
    )
    db.add(row)
    await db.flush()
    if given_up is not None:
        await _refund_lines(db, goods, row, given_up, now)
    part = _part_of(row, payment, source, refund, now)
    if payment.partner_share_amount:
        part.partner_share_amount = max(_share_in(payment, source, row, promised), part.commission_amount)
    db.add(part)
    take_back(payment, source, part)
    await db.flush()
    await post(db, await provider_refund_journals(db, payment, part))
    log.warning("a refund was made at the provider", payment=str(payment.id), refund=refund.id)
    await emit_refund_event(db, EventType.REFUND_CREATED, row)
    await finish_if_done(db, payment, row, now)
    await cancel_if_refunded(db, payment.order_id, now, tells=True)


def _share_in(
    payment: PaymentRow, source: PaymentSourceRow, refund: RefundRow, given_up: PaymentTransactionRow | None
) -> Decimal:
    """The partner's share in a refund: that of the one that was given up, also if what was refunded since leaves the other
    owner with less; or in proportion to what is left of both. More than is left of the share is the marketplace's, whose
    wallet it has left.
    """
    if given_up is None:
        return part_of_share(payment, source, refund.refund_amount)
    share = given_up.partner_share_amount * refund.refund_amount / given_up.transaction_amount
    return min(share.quantize(refund.refund_amount), share_left(payment, source))


async def _given_up(db: AsyncSession, payment: PaymentRow, refund: Transaction) -> PaymentTransactionRow | None:
    """The part of our refund that was given up and that the provider has made all the same; None if somebody made it there."""
    part = await lock_card_part(db, refund.reference)
    if part is None or part.payment_id != payment.id or part.status is not PaymentTransactionStatus.ERROR:
        return None
    return part


async def _refund_lines(
    db: AsyncSession, goods: SoldGoods, row: RefundRow, given_up: RefundRow, now: dt.datetime
) -> None:
    """The refund is for the lines of one that was given up, as far as they are still open."""
    if goods.payment.order_id is None:
        return
    order = await lock_order(db, goods.payment.order_id)
    plan = await still_open_of(db, given_up, order, row.refund_amount)
    await record_order_refund(db, row, plan)
    await withdraw_refunded(db, goods, plan, now)


def _part_of(
    row: RefundRow, payment: PaymentRow, source: PaymentSourceRow, refund: Transaction, now: dt.datetime
) -> PaymentTransactionRow:
    commission = refund.fee.decimal
    return TABLE(
        partner_id=row.partner_id,
        payment_id=row.payment_id,
        refund_id=row.id,
        currency=row.currency,
        source_id=source.id,
        type=PaymentTransactionType.REFUND,
        status=PaymentTransactionStatus.OK,
        payment_method=source.kind,
        transaction_amount=row.refund_amount,
        commission_amount=commission,
        commission_vat_amount=_vat_back(payment, source, commission),
        net_amount=row.refund_amount - commission,
        created_on=row.created_on,
        executed_on=refund.executed_at or now,
        provider_id=refund.id,
    )


def refund_with(provider_id: str) -> SelectOfScalar[int]:
    """The id of the part of a refund with this id at the provider."""
    return select(col(TABLE.id)).where(col(TABLE.type) == PaymentTransactionType.REFUND, *_is_at_provider(provider_id))


def _payin_with(provider_id: str) -> SelectOfScalar[PaymentTransactionRow]:
    return select(TABLE).where(
        col(TABLE.type) == PaymentTransactionType.PAYIN,
        col(TABLE.provider_id) == provider_id,
        col(TABLE.provider_id) != "",
    )


def _is_at_provider(id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """With the condition of the index, which leaves out transactions that the provider does not know yet."""
    return col(TABLE.provider_id) == id, col(TABLE.provider_id) != ""


def _vat_back(payment: PaymentRow, source: PaymentSourceRow, commission: Decimal) -> Decimal:
    """The VAT in the commission that went back: in proportion, and all that is left with the last of it."""
    left = payment.commission_vat_amount - source.commission_vat_back_amount
    if commission == payment.commission_amount - source.commission_back_amount or not payment.commission_amount:
        return min(commission, left)
    return min(left, (commission * payment.commission_vat_amount / payment.commission_amount).quantize(commission))
