"""What is done when the provider says that something has happened: whatever it is about is read again."""

from resolvers import bank_account
from resolvers.activation import polling
from resolvers.core.context import Services
from resolvers.kyc import levels
from resolvers.payment import polling as payment_polling
from store.providers.base import Subject, TransactionKind


async def follow(services: Services, subject: Subject, id: str) -> None:
    """Look at what the provider names. What is not ours is left alone."""
    if subject in {Subject.PAYIN, Subject.REFUND}:
        await payment_polling.follow_hint(services, TransactionKind(subject), id)
    if subject is Subject.ACCOUNT:
        await polling.follow_hint(services, id)
    if subject in {Subject.ACCOUNT, Subject.DOCUMENT, Subject.IDENTITY_CHECK}:
        await levels.follow_kyc(services, subject, id)
    if subject is Subject.DESTINATION:
        await bank_account.follow_bank_account(services, id)
