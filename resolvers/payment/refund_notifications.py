"""Notifications about refunds: ours, those that somebody made at the provider, and those of disputes and of payouts that
came back.
"""

from resolvers.core.services import Services
from resolvers.payment.disputes.following import handle_repudiation_notification
from resolvers.payment.payouts.notifications import record_return
from resolvers.payment.refunds.provider_refunds import record_provider_refund, refund_with
from resolvers.payment.refunds.sending import CHECKS, claim_by_reference
from store.providers.errors import ProviderNotFound
from store.providers.transactions import TransactionKind, TransactionStatus


async def handle_refund_notification(services: Services, refund_id: str) -> None:
    """Handle a notification about a refund: check its part if it is ours, and record it if somebody made it at the
    provider.
    """
    async with services.db.sessions() as db:
        part_id = (await db.exec(refund_with(refund_id))).first()
    if part_id is not None:
        return await CHECKS.poll(services, part_id)
    try:
        refund = await services.provider.get_transaction(TransactionKind.REFUND, refund_id)
    except ProviderNotFound:
        return None
    if refund.parent_kind is TransactionKind.REPUDIATION:
        return await handle_repudiation_notification(services, refund.parent_id or "")
    if refund.parent_kind is TransactionKind.PAYOUT:
        if refund.status is TransactionStatus.SUCCEEDED:
            await record_return(services, refund)
        return None
    part_id = await claim_by_reference(services, refund)
    if part_id is not None:
        return await CHECKS.poll(services, part_id)
    if refund.status is TransactionStatus.SUCCEEDED:
        await record_provider_refund(services, refund)
    return None
