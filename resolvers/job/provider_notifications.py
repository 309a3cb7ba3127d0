"""Dispatches provider notifications: the object that a notification names is read again from the provider."""

from collections.abc import Awaitable, Callable, Mapping

from resolvers import bank_account
from resolvers.activation import polling
from resolvers.core.provider.events import note_handled
from resolvers.core.services import Services
from resolvers.kyc import levels
from resolvers.payment import refund_notifications
from resolvers.payment.checkout import polling as payment_polling
from resolvers.payment.disputes import documents, following
from resolvers.payment.page import process
from resolvers.payment.payouts import notifications as payouts
from store.providers.base import Subject

HANDLERS: Mapping[Subject, Callable[[Services, str], Awaitable[None]]] = {
    Subject.DISPUTE: following.handle_dispute_notification,
    Subject.DISPUTE_DOCUMENT: documents.handle_document_notification,
    Subject.REPUDIATION: following.handle_repudiation_notification,
    Subject.SETTLEMENT: following.handle_settlement_notification,
    Subject.PAYOUT: payouts.handle_payout_notification,
    Subject.TRANSFER: payouts.handle_transfer_notification,
}


async def dispatch_notification(
    services: Services, subject: Subject, id: str, *, event: str = "", notified: bool = False
) -> None:
    """Update the object that an event names. Unknown objects are ignored.

    `notified`: the provider has sent it, in contrast to an event that was read from its list.
    """
    if subject is Subject.PAYIN:
        await _handle_payin_notification(services, id, notified=notified)
    if subject is Subject.REFUND:
        await refund_notifications.handle_refund_notification(services, id)
    if subject in HANDLERS:
        await HANDLERS[subject](services, id)
    if subject is Subject.ACCOUNT:
        await polling.handle_notification(services, id)
    if subject in {Subject.ACCOUNT, Subject.DOCUMENT, Subject.IDENTITY_CHECK, Subject.OWNER_CHECK}:
        await levels.handle_kyc_notification(services, subject, id)
    if subject is Subject.DESTINATION:
        await bank_account.handle_notification(services, id)
    if event:
        await note_handled(services, event)


async def _handle_payin_notification(services: Services, id: str, *, notified: bool) -> None:
    """Handle a hint about a pay-in of a payment link or of a checkout. One whose id was lost is found by its reference."""
    if await process.handle_payin_notification(services, id):
        return
    if not await payment_polling.handle_notification(services, id, notified=notified):
        await process.complete_by_reference(services, id)
