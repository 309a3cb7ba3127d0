"""The validation of payout requests: their money is reserved, and the worker sends it."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.caller import Caller
from resolvers.core.scoping import require_marketplace
from resolvers.core.services import Services
from resolvers.payment.payouts.four_eyes import is_one_person, token_creator_of
from resolvers.payment.payouts.readiness import check_ready, readiness_of
from schema.core.errors import OnlyInSandbox
from schema.event import EventType
from schema.payment.errors import MarketplacePaymentsNotActive, PayoutNotReady, SecondValidationRequired
from schema.payment.transfer import TransferStatus, TransferType
from store.bank_account import BankAccountRow
from store.job.jobs import JobKind, enqueue_job
from store.ledger.books import book_of_partner
from store.ledger.payables import PayableItemRow
from store.ledger.posting import post
from store.ledger.wallets import WalletRow, marketplace_wallet, wallet_of_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.transfers import TransferRow
from store.payout.events import emit_payout_events
from store.payout.gathering import refresh
from store.payout.postings import PartnerBalances, lock_balances, validated_journal
from store.payout.requests import CANCELLED, PAID, PAYOUT_STATES, VALIDATED, PayoutRequestRow, lock_items
from store.providers.money import MinorAmount

NOTHING = Decimal("0.00")
ALONE = dt.timedelta(hours=24)
"""How long what one user has validated counts with what follows."""
SECOND_USER = "One user has validated it. A second one has to."
TAKEN_BACK = "All that it contained was taken back: there was nothing left to pay out."


async def validate_payout(
    services: Services, db: AsyncSession, payout: PayoutRequestRow, caller: Caller | None = None
) -> None:
    """Validate a locked payout request for a user, or automatically: its amount is reserved, and a job sends it.

    Raises InvalidTransition; what `check_ready` raises; OnlyInSandbox; MarketplacePaymentsNotActive if the network's part
    has no wallet to come from; what `_record_user` raises. If all of it was taken back meanwhile, it is cancelled. The
    first of two users only leaves a record.
    """
    status = PAYOUT_STATES.require(payout.status, VALIDATED)
    readiness = (await readiness_of(db, [payout.partner_id]))[payout.partner_id]
    bank_account, partner = check_ready(readiness), readiness.partner
    if requires_sandbox(services, partner):
        raise OnlyInSandbox
    now, wallet = services.clock.now(), await _wallet_of(db, payout, partner)
    await lock_items(db, [partner.id])
    balances = await lock_balances(db, payout.book_id, partner.id)  # nothing more is taken back from here on
    await refresh(db, payout)
    if payout.status is CANCELLED:
        payout.detail = TAKEN_BACK
        return
    if not await _record_user(db, payout, bank_account, caller, now):
        return
    payout.network_amount = await _network_part(db, payout, balances)
    payout.recovered_amount = await _recovered(db, payout, balances)
    payout.status, payout.validated_on, payout.check_on = status, now, now
    payout.bank_account_id, payout.wallet_id = bank_account.id, wallet.id
    payout.bank_account_iban, payout.bank_account_bic, payout.detail = bank_account.iban, partner.bic, ""
    if payout.network_amount:
        await _plan_transfer(db, payout, wallet, now)
    else:
        payout.settled_on = now
    await post(db, [validated_journal(payout)])
    await enqueue_job(db, JobKind.SEND_PAYOUT, {"id": payout.id}, unique_key=str(payout.id))
    await emit_payout_events(db, EventType.PAYOUT_REQUEST_VALIDATED, [payout])


async def _record_user(
    db: AsyncSession, payout: PayoutRequestRow, bank_account: BankAccountRow, caller: Caller | None, now: dt.datetime
) -> bool:
    """Record who validates a locked payout request. True if it is validated by that: by anybody, or by the second of two users
    if its marketplace wants two for what was gathered into it and into those before it. Raises SecondValidationRequired for
    nobody and for the first one again, also behind the token of another user, and MarketplaceOnly for users of a partner.
    Another amount or bank account than the first one's needs a new first.
    """
    marketplaces = select(MarketplaceRow).join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    marketplace = (await db.exec(marketplaces.where(col(PartnerRow.id) == payout.partner_id))).one()
    user_id = None if caller is None else caller.user_id
    amount = max(payout.gathered_amount, payout.payout_amount) + await _validated_alone(db, payout, now)
    if not marketplace.requires_second_validation(amount):
        payout.first_validated_by_id = payout.first_validated_on = payout.first_token_created_by_id = None
        payout.first_validated_amount = payout.first_validated_bank_account_id = None
        payout.validated_by_id = user_id
        return True
    what = payout.payout_amount, bank_account.id
    is_second = what == (payout.first_validated_amount, payout.first_validated_bank_account_id)
    if caller is None:
        raise SecondValidationRequired
    creator_id = await token_creator_of(db, caller)
    first = payout.first_validated_by_id, payout.first_token_created_by_id
    if is_second and is_one_person(first, (user_id, creator_id)):
        raise SecondValidationRequired
    require_marketplace(caller)
    if not is_second:
        payout.first_validated_by_id, payout.first_validated_on, payout.detail = user_id, now, SECOND_USER
        payout.first_validated_amount, payout.first_validated_bank_account_id = what
        payout.first_token_created_by_id = creator_id
        return False
    payout.validated_by_id = user_id
    return True


async def _validated_alone(db: AsyncSession, payout: PayoutRequestRow, now: dt.datetime) -> Decimal:
    """What was gathered into the partner's other payout requests that one user, or none, has validated of late."""
    row = PayoutRequestRow
    amount = func.greatest(row.gathered_amount, row.payout_amount)
    query = select(func.coalesce(func.sum(amount), NOTHING)).where(
        col(row.partner_id) == payout.partner_id,
        col(row.book_id) == payout.book_id,
        col(row.status).in_((VALIDATED, PAID)),
        col(row.validated_on) > now - ALONE,
        col(row.first_validated_by_id).is_(None),
    )
    return Decimal((await db.exec(query)).one())


async def _wallet_of(db: AsyncSession, payout: PayoutRequestRow, partner: PartnerRow) -> WalletRow:
    if await book_of_partner(db, partner.id) != payout.book_id or not partner.provider_wallet_id:
        raise PayoutNotReady(missing="The partner has no wallet at the payment provider for this payout request.")
    return await wallet_of_partner(db, partner.id, partner.provider_wallet_id)


async def _network_part(db: AsyncSession, payout: PayoutRequestRow, balances: PartnerBalances) -> Decimal:
    """What comes out of the marketplace's wallet: what the lines say, as far as either wallet has it."""
    item = PayableItemRow
    own_lines = select(func.coalesce(func.sum(item.own_amount), 0)).where(col(item.payout_request_id) == payout.id)
    amount = MinorAmount.of(payout.payout_amount, payout.currency).minor
    own = min(max(int((await db.exec(own_lines)).one()), 0), balances.own, amount)
    return MinorAmount(payout.currency, amount - max(own, amount - balances.network)).decimal


async def _recovered(db: AsyncSession, payout: PayoutRequestRow, balances: PartnerBalances) -> Decimal:
    """What is kept for debts, and no other payout takes along."""
    others = select(func.coalesce(func.sum(PayoutRequestRow.recovered_amount), NOTHING)).where(
        col(PayoutRequestRow.partner_id) == payout.partner_id,
        col(PayoutRequestRow.book_id) == payout.book_id,
        col(PayoutRequestRow.status) == VALIDATED,
    )
    return MinorAmount(payout.currency, balances.recovery_due).decimal - Decimal((await db.exec(others)).one())


async def _plan_transfer(db: AsyncSession, payout: PayoutRequestRow, wallet: WalletRow, now: dt.datetime) -> None:
    """Write the transfer of the network's part; it is sent with the payout."""
    source = await marketplace_wallet(db, payout.book_id)
    if source is None:
        raise MarketplacePaymentsNotActive
    transfer = TransferRow(
        marketplace_id=source.marketplace_id,
        partner_id=payout.partner_id,
        payout_request_id=payout.id,
        type=TransferType.SETTLEMENT,
        status=TransferStatus.PENDING,
        transfer_amount=payout.network_amount,
        currency=payout.currency,
        created_on=now,
        debited_wallet_id=source.id,
        credited_wallet_id=wallet.id,
    )
    db.add(transfer)
