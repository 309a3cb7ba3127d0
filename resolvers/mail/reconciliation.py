"""Mail about what the payment provider and the ledger disagree about, to those who run the installation."""

from collections.abc import Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.mail.staff import masters
from schema.mail import MailKind
from store.account.staff import STAFF_LANGUAGE
from store.mail.content import FindingContent, ReconciliationContent
from store.mail.outbox import enqueue_mail
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow

MOST_TOLD = 20


async def queue_reconciliation_mail(db: AsyncSession, run: ReconciliationRunRow, finding_ids: Sequence[int]) -> None:
    """Queue one mail about the findings that a run has opened, for each user who may explain them."""
    table = ReconciliationFindingRow
    query = select(table).where(col(table.id).in_(finding_ids)).order_by(col(table.id)).limit(MOST_TOLD)
    findings = (await db.exec(query)).all()
    about = ReconciliationContent(
        count=len(finding_ids),
        first_day=run.since.date(),
        last_day=run.until.date(),
        findings=tuple(
            FindingContent(
                id=each.id,
                subject=each.subject,
                reported=each.provider_amount,
                recorded=each.own_amount,
                currency=each.currency,
                detail=each.detail,
            )
            for each in findings
        ),
    )
    for user in await masters(db):
        await enqueue_mail(
            db,
            MailKind.RECONCILIATION,
            to=user.email,
            language=STAFF_LANGUAGE,
            partner_id=None,
            about=about.model_dump(),
            unique_key=f"{run.id}:{user.id}",
        )
