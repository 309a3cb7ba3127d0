"""Dispatches provider notifications: the object that a notification names is read again from the provider."""

from resolvers import bank_account
from resolvers.activation import polling
from resolvers.core.services import Services
from resolvers.kyc import levels
from resolvers.payment import polling as payment_polling
from store.providers.base import Subject
from store.providers.transactions import TransactionKind


async def dispatch_notification(services: Services, subject: Subject, id: str) -> None:
    """Update the object that a notification names. Unknown objects are ignored."""
    if subject in {Subject.PAYIN, Subject.REFUND}:
        await payment_polling.handle_notification(services, TransactionKind(subject), id)
    if subject is Subject.ACCOUNT:
        await polling.handle_notification(services, id)
    if subject in {Subject.ACCOUNT, Subject.DOCUMENT, Subject.IDENTITY_CHECK, Subject.OWNER_CHECK}:
        await levels.handle_kyc_notification(services, subject, id)
    if subject is Subject.DESTINATION:
        await bank_account.handle_notification(services, id)
