"""Disputes: a buyer's bank takes money back, the partner gives in or contests, and the bank decides later."""

import io
from dataclasses import dataclass, field

from starlette.datastructures import UploadFile

from coffret.simulation.market import SimulatedMarketplace, SimulatedPartner
from coffret.simulation.trade import Disputable, Ground
from resolvers.core.services import Services
from resolvers.payment.disputes.disputes import accept_dispute, contest_dispute
from resolvers.payment.disputes.documents import push_dispute_document
from resolvers.payment.disputes.following import handle_dispute_notification
from schema.payment.dispute import AcceptDispute, ContestDispute, DisputeDocumentKind, PushDisputeDocument
from store.payment.disputes import DisputeRow, find_dispute_row

DOCUMENT = b"%PDF-1.7\n" + b"0" * 2000
DECIDED_AFTER = (5, 12)
"""Days until the bank decides."""


@dataclass(frozen=True, slots=True)
class OpenDispute:
    """A contested dispute, and when and how the bank decides."""

    provider_id: str
    payin: Disputable
    day: int
    is_won: bool


@dataclass(slots=True)
class Disputes:
    """The disputes that are open."""

    ground: Ground
    disputable: list[Disputable]
    open: list[OpenDispute] = field(default_factory=list)

    async def dispute(self, partner: SimulatedPartner, day: int) -> bool:
        """A sale is disputed as a whole. A third of the partners give in at once."""
        return await self._dispute(partner, day)

    async def dispute_refill(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        """A refill is disputed as a whole; the marketplace gives in or contests, as partners do."""
        return await self._dispute(marketplace, day)

    async def _dispute(self, owner: SimulatedPartner | SimulatedMarketplace, day: int) -> bool:
        payins = [each for each in self.disputable if each.owner is owner and each.day < day]
        if not payins:
            return False
        payin = self.ground.chance.choice(payins)
        self.disputable.remove(payin)
        opened = await self.ground.bank.ask(f"/payins/{payin.payin_id}/dispute", {})
        row = await self._followed(payin.staff.services, opened["Id"])
        if self.ground.chance.random() < 1 / 3:
            await accept_dispute(payin.staff, AcceptDispute(id=row.id))
            payin.model.lose()
            return True
        file = UploadFile(io.BytesIO(DOCUMENT), filename="proof.pdf")
        kind = DisputeDocumentKind.DELIVERY_PROOF
        await push_dispute_document(payin.staff, PushDisputeDocument(dispute_id=row.id, kind=kind, file=file))
        await contest_dispute(payin.staff, ContestDispute(id=row.id))
        later = self.ground.chance.randint(*DECIDED_AFTER)
        self.open.append(OpenDispute(opened["Id"], payin, day + later, self.ground.chance.random() < 1 / 2))
        return True

    async def _followed(self, services: Services, provider_id: str) -> DisputeRow:
        await handle_dispute_notification(services, provider_id)
        async with services.db.sessions() as db:
            row = await find_dispute_row(db, provider_id)
        assert row is not None, "it is that of a payment just made"
        return row

    async def decide(self, day: int | None = None) -> int:
        """The banks decide what is due on a day, or all; returns how many."""
        due = [each for each in self.open if day is None or each.day <= day]
        for dispute in due:
            await self.ground.bank.ask(
                f"/disputes/{dispute.provider_id}", {"outcome": "win" if dispute.is_won else "lose"}
            )
            if not dispute.is_won:
                dispute.payin.model.lose()
            self.open.remove(dispute)
        return len(due)
