"""Disputes: a buyer's bank takes money back, the partner gives in or contests, and the bank decides later."""

import io
from dataclasses import dataclass, field

from starlette.datastructures import UploadFile

from coffret.simulation.market import SimulatedPartner
from coffret.simulation.trade import Ground, PaidSale, Sales
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
    sale: PaidSale
    day: int
    is_won: bool


@dataclass(slots=True)
class Disputes:
    """The disputes that are open."""

    ground: Ground
    sales: Sales
    open: list[OpenDispute] = field(default_factory=list)

    async def dispute(self, partner: SimulatedPartner, day: int) -> bool:
        """A sale is disputed as a whole. A third of the partners give in at once."""
        sales = [each for each in self.sales.disputable if each.partner is partner and each.day < day]
        if not sales:
            return False
        sale = self.ground.chance.choice(sales)
        self.sales.disputable.remove(sale)
        opened = await self.ground.bank.ask(f"/payins/{sale.payin_id}/dispute", {})
        row = await self._followed(partner, opened["Id"])
        if self.ground.chance.random() < 1 / 3:
            await accept_dispute(partner.staff, AcceptDispute(id=row.id))
            sale.model.is_lost = True
            return True
        file = UploadFile(io.BytesIO(DOCUMENT), filename="proof.pdf")
        kind = DisputeDocumentKind.DELIVERY_PROOF
        await push_dispute_document(partner.staff, PushDisputeDocument(dispute_id=row.id, kind=kind, file=file))
        await contest_dispute(partner.staff, ContestDispute(id=row.id))
        later = self.ground.chance.randint(*DECIDED_AFTER)
        self.open.append(OpenDispute(opened["Id"], sale, day + later, self.ground.chance.random() < 1 / 2))
        return True

    async def _followed(self, partner: SimulatedPartner, provider_id: str) -> DisputeRow:
        services = partner.staff.services
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
            dispute.sale.model.is_lost = not dispute.is_won
            self.open.remove(dispute)
        return len(due)
