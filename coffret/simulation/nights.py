"""The nights: what the worker does with schedules and jobs, what banks do with payouts, the proof of the ledger, and its
reconciliation with the provider.
"""

import datetime as dt
import random
from dataclasses import dataclass, field

from sqlalchemy import text
from sqlmodel import col, select

from coffret.demo.payouts import unlogged
from coffret.simulation.bank import Bank
from coffret.simulation.market import Market
from resolvers.core.services import Services
from resolvers.job.registry import HANDLERS, SCHEDULES
from resolvers.payment.payouts.payouts import cancel_payout_request, validate_payout_request
from resolvers.payment.reconciliation.runs import advance_run, begin_reconciliation
from schema.payment.payout import CancelPayoutRequest, PayoutRequestStatus, ValidatePayoutRequest
from schema.reconciliation import ReconciliationFindingState, ReconciliationRunState
from store.core.retries import RunAgain
from store.job.jobs import JobKind, discard_job
from store.ledger.verification.run import verify_ledger
from store.payout.requests import PayoutRequestRow
from store.providers.errors import CallHeldBack
from store.reconciliation.rows import ReconciliationFindingRow

MONEY = (
    JobKind.PROVIDER_HINT,
    JobKind.CHECK_PAYIN,
    JobKind.CHECK_DISPUTE,
    JobKind.SEND_REFUND,
    JobKind.SEND_PAYOUT,
)
"""The jobs that move money; mails and webhooks are not sent."""
EVENING = (
    "expire_gift_card_holds",
    "expire_gift_cards",
    "expire_payment_requests",
    "expire_vouchers",
    "gather_payouts",
    "provider_catch_up",
)
FOLLOWED = (
    "follow_missed_disputes",
    "sweep_payins",
    "sweep_payments",
    "sweep_refunds",
    "sweep_disputes",
    "sweep_payouts",
)
KEPT = ("fold_ledger", "seal_ledger")
PASSES = 3
PAUSE = dt.timedelta(minutes=20)
"""Between the passes: as long as the provider works on a payout, and the worker waits to ask about it."""
REPORT_PAUSE = dt.timedelta(minutes=1)
QUEUED = "SELECT id, kind, convert_from(payload, 'UTF8')::json AS payload FROM job WHERE run_after <= now() ORDER BY id"


class LedgerBroken(Exception):
    """A night's proof of the ledger has found offenders."""


@dataclass(slots=True)
class Nights:
    """The worker's nights."""

    services: Services
    market: Market
    bank: Bank
    chance: random.Random
    count: dict[str, int] = field(default_factory=dict)
    """How many payouts were cancelled, refused and sent back."""

    async def run(self) -> None:
        """A night. Raises LedgerBroken."""
        await self._return_payouts()
        for name in EVENING:
            await SCHEDULES[name].run(self.services)
        await self._see_to_payouts()
        await self._run_passes()
        for name in KEPT:
            await SCHEDULES[name].run(self.services)
        await self.prove()

    async def prove(self) -> None:
        """Prove the ledger and the provider's books, and compare both. Raises LedgerBroken."""
        results = await verify_ledger(self.services.db, self.services.clock.now())
        broken = [f"{result.rule.name}: {'; '.join(result.sample)}" for result in results if not result.holds]
        broken += await self._reconcile()
        if not await self.bank.balanced():
            broken.append("the provider's books do not balance")
        if broken:
            raise LedgerBroken("\n".join(broken))

    async def _reconcile(self) -> list[str]:
        """What the provider's movements and the ledger disagree about, in words."""
        id = await begin_reconciliation(self.services)
        while (run := await advance_run(self.services, id)).state is ReconciliationRunState.REQUESTED:
            self.services.clock.advance(REPORT_PAUSE)
            await self.bank.tick()
        table, is_open = ReconciliationFindingRow, ReconciliationFindingState.OPEN
        async with self.services.db.sessions() as db:
            found = (await db.exec(select(table).where(col(table.state) == is_open))).all()
        wrong = [] if run.state is ReconciliationRunState.DONE else [f"the reconciliation failed: {run.detail}"]
        return wrong + [f"{each.kind} of {each.subject}: {each.detail}" for each in found]

    async def _run_passes(self) -> None:
        for number in range(PASSES):
            await self.bank.tick()
            for name in FOLLOWED:
                await SCHEDULES[name].run(self.services)
            with unlogged():  # payouts are meant to fail
                await self._run_jobs()
            if number == 0:
                await self._refuse_payouts()
            self.services.clock.advance(PAUSE)

    async def _run_jobs(self) -> None:
        """Run what is queued, until nothing is; what has to wait runs in the next pass."""
        waiting: set[int] = set()
        while True:
            jobs = [job for job in await self.services.db.rows(text(QUEUED)) if job.id not in waiting]
            if not jobs:
                return
            for job in jobs:
                try:
                    if job.kind in MONEY:
                        await HANDLERS[JobKind(job.kind)].run(self.services, job.payload)
                except (RunAgain, CallHeldBack):
                    waiting.add(job.id)
                    continue
                async with self.services.db.sessions() as db, db.begin():
                    await discard_job(db, job.id)

    # ---- payouts

    async def _see_to_payouts(self) -> None:
        """Staff validates what is not validated automatically, or cancels it."""
        managers = {each.row.id: each.marketplace.manager for each in self.market.partners}
        for payout in await self._payouts(PayoutRequestStatus.TO_BE_VALIDATED):
            manager = managers[payout.partner_id]
            if self.chance.random() < 0.1:
                await cancel_payout_request(manager, CancelPayoutRequest(id=payout.id))
                self._count("cancel_payout")
            elif self.chance.random() < 0.8:
                await validate_payout_request(manager, ValidatePayoutRequest(id=payout.id))

    async def _return_payouts(self) -> None:
        """Banks send some of the payouts of the last two days back."""
        for payout in await self._payouts(PayoutRequestStatus.PAID):
            recent = payout.paid_on and self.services.clock.now() - payout.paid_on < dt.timedelta(days=2)
            if recent and self.chance.random() < 0.06:
                await self.bank.ask(f"/payouts/{payout.provider_id}/return", {})
                self._count("return_payout")

    async def _refuse_payouts(self) -> None:
        """Banks refuse some of the payouts under way."""
        for payout in await self._payouts(PayoutRequestStatus.VALIDATED):
            if payout.provider_id and self.chance.random() < 0.08:
                await self.bank.ask(f"/payouts/{payout.provider_id}", {"outcome": "fail"})
                self._count("refuse_payout")

    async def _payouts(self, status: PayoutRequestStatus) -> list[PayoutRequestRow]:
        query = select(PayoutRequestRow).where(col(PayoutRequestRow.status) == status)
        async with self.services.db.sessions() as db:
            return list(await db.exec(query.order_by(col(PayoutRequestRow.id))))

    def _count(self, name: str) -> None:
        self.count[name] = self.count.get(name, 0) + 1
