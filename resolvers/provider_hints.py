"""What is done when the provider says that something has happened: whatever it is about is read again."""

from resolvers import activation_watch, attempt_watch, bank_accounts, kyc
from resolvers.context import Services
from store.providers.base import Subject, TransactionKind


async def follow(services: Services, subject: Subject, id: str) -> None:
    """Look at what the provider names. What is not ours is left alone."""
    if subject in {Subject.PAYIN, Subject.REFUND}:
        await attempt_watch.follow_hint(services, TransactionKind(subject), id)
    if subject is Subject.ACCOUNT:
        await activation_watch.follow_hint(services, id)
    if subject in {Subject.ACCOUNT, Subject.DOCUMENT, Subject.IDENTITY_CHECK}:
        await kyc.follow_kyc(services, subject, id)
    if subject is Subject.DESTINATION:
        await bank_accounts.follow_bank_account(services, id)
