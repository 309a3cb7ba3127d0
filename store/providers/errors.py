"""Errors of payment providers, each with what is known of the outcome."""

from collections.abc import Mapping

from store.providers.actions import UserAction
from store.providers.keys import IdempotencyKey
from store.providers.transactions import Transaction


class ProviderError(Exception):
    """Base of the provider's errors. `request_id` identifies the request to the provider's support."""

    def __init__(self, message: str, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class Declined(ProviderError):
    """The provider created the transaction and it failed at once; no money moved.

    `transaction` has its id and failure.
    """

    def __init__(self, transaction: Transaction) -> None:
        failure = transaction.failure
        super().__init__(failure.message if failure else "Declined", code=failure.code if failure else "")
        self.transaction = transaction


class ActionRequired(ProviderError):
    """Nothing was done: a person must authenticate first, at `action.url`."""

    def __init__(self, message: str, action: UserAction, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.action = action


class InvalidRequest(ProviderError):
    """Nothing was done, and the same input will fail again. `fields` has the problems by the provider's field names."""

    def __init__(
        self, message: str, fields: Mapping[str, str] | None = None, *, code: str = "", request_id: str = ""
    ) -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.fields = dict(fields or {})


class PayerRefused(InvalidRequest):
    """Nothing was done: the provider does not know the payer, or has closed it. Another payer is needed."""


class NotAllowed(ProviderError):
    """Nothing was done: the credentials, the contract or the account do not allow it."""


class ProviderNotFound(ProviderError):
    """The provider has no such object."""


class TransientError(ProviderError):
    """Certainly not done. Repeat it with the same key, after `retry_after` seconds if the provider reports them."""

    def __init__(self, message: str, *, retry_after: float | None = None, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.retry_after = retry_after


class CallHeldBack(TransientError):
    """Not sent, because the few calls that the provider still allows are kept for more urgent ones, or none is left."""

    retry_after: float

    def __init__(self, kind: str, retry_after: float) -> None:
        super().__init__(f"A call of the class {kind} is held back.", retry_after=retry_after)


class UnknownOutcome(ProviderError):
    """It may or may not have been done. Store `key`, call `resolve` later, and never repeat it with another key."""

    def __init__(self, key: IdempotencyKey, *, code: str = "", request_id: str = "") -> None:
        super().__init__(f"The provider has not reported the outcome of {key}.", code=code, request_id=request_id)
        self.key = key
