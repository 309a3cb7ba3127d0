"""Creates the demo payouts of a partner, one in every status, while its payments are created."""

import contextlib
import datetime as dt
import logging
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

import httpx
from sqlmodel import col, select

from coffret.demo.payment_content import DemoAdjustment, DemoPayee, DemoPayout
from resolvers.bank_account import check_bank_accounts, register_bank_account
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.kyc.levels import refresh_kyc
from resolvers.partner.marketplaces import update_marketplace
from resolvers.payment.payouts.adjustments import create_payout_adjustment
from resolvers.payment.payouts.payouts import cancel_payout_request, create_payout_request, validate_payout_request
from resolvers.payment.payouts.sending import send_payout
from schema.bank_account import RegisterBankAccount
from schema.partner.marketplace_input import UpdateMarketplace
from schema.payment.adjustment import CreatePayoutAdjustment
from schema.payment.payout import (
    CancelPayoutRequest,
    CreatePayoutRequest,
    PayoutRequestStatus,
    ValidatePayoutRequest,
)
from store.job.jobs import JobKind, discard_job
from store.job.rows import JobRow
from store.ledger.accounts import network_earnings
from store.ledger.balances import lock_balance
from store.ledger.books import book_of_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.requests import PayoutRequestRow
from store.providers.money import MinorAmount

DAY, LATER = dt.timedelta(days=1), dt.timedelta(seconds=30)
OUTCOMES = {
    PayoutRequestStatus.PAID: {"outcome": "succeed"},
    PayoutRequestStatus.FAILED: {"outcome": "fail"},
    PayoutRequestStatus.VALIDATED: {"outcome": "hang"},
}
"""What the bank does with a payout that is sent, by the status in which it ends."""


@contextlib.contextmanager
def unlogged() -> Iterator[None]:
    """What is meant to fail is not logged."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutSeeder:
    """Makes the payouts of one partner."""

    services: Services
    control: httpx.AsyncClient
    """The control plane of the sandbox."""
    partner: PartnerRow
    marketplace: Context
    payee: DemoPayee

    async def require_approval(self, amount: Decimal) -> None:
        """From this amount on, a second user approves adjustments."""
        settings = {"id": self.partner.marketplace_id, "payout_settings": {"approval_from": amount}}
        await update_marketplace(self.marketplace, UpdateMarketplace.model_validate(settings))

    async def prepare(self) -> None:
        """The provider has identified the partner, and its bank account is active."""
        async with self.services.db.sessions() as db, db.begin():
            partner = await db.get_one(PartnerRow, self.partner.id)
            for name, value in asdict(self.payee).items():
                setattr(partner, name, value)
        await refresh_kyc(self.services, self.partner.id)
        account = RegisterBankAccount(partner_uuid=self.partner.uuid)
        registered: Any = await register_bank_account(self.marketplace, account)
        if registered.redirect_url is not None:
            token = registered.redirect_url.partition("token=")[2].partition("&")[0]
            await self._ask(f"/sca/{token}", {"outcome": "succeed"})
        await check_bank_accounts(self.services, self.partner.id)

    async def earned_in_network(self) -> Decimal:
        """What the partner has earned in its network."""
        async with self.services.db.sessions() as db:
            currency = (await db.get_one(MarketplaceRow, self.partner.marketplace_id)).currency
            book_id = await book_of_partner(db, self.partner.id)
            earned = await lock_balance(db, book_id, network_earnings(self.partner.id))
        return MinorAmount(currency, earned).decimal

    async def adjust(self, story: DemoAdjustment) -> None:
        """The marketplace gives the partner an amount, or takes it; a large one waits for a second user."""
        values = {"partner_uuid": self.partner.uuid, "amount": story.amount, "reason": story.reason}
        with self.services.clock.set_back(DAY * story.days_ago):
            await create_payout_adjustment(self.marketplace, CreatePayoutAdjustment.model_validate(values))

    async def add(self, story: DemoPayout) -> None:
        """What has been earned until then is paid out, or is to be."""
        clock, ago = self.services.clock, DAY * story.days_ago
        with clock.set_back(ago):
            created: Any = await create_payout_request(
                self.marketplace, CreatePayoutRequest(partner_uuid=self.partner.uuid)
            )
            if story.status is PayoutRequestStatus.CANCELLED:
                await cancel_payout_request(self.marketplace, CancelPayoutRequest(id=created.id))
            elif story.status in OUTCOMES:
                await validate_payout_request(self.marketplace, ValidatePayoutRequest(id=created.id))
                await send_payout(self.services, created.id)
        if story.status in OUTCOMES:
            with clock.set_back(max(ago - LATER, dt.timedelta())):
                await self._end(created.id, OUTCOMES[story.status])

    async def _end(self, id: int, outcome: dict[str, str]) -> None:
        async with self.services.db.sessions() as db:
            payout = await db.get_one(PayoutRequestRow, id)
        await self._ask(f"/payouts/{payout.provider_id}", outcome)
        with unlogged():
            await send_payout(self.services, id)

    async def discard_jobs(self) -> None:
        """Payouts were sent above."""
        async with self.services.db.sessions() as db, db.begin():
            for job in (await db.exec(select(JobRow).where(col(JobRow.kind) == JobKind.SEND_PAYOUT))).all():
                await discard_job(db, job.id)

    async def _ask(self, path: str, body: dict[str, str]) -> None:
        (await self.control.post(path, json=body)).raise_for_status()
