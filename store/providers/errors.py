"""What a payment provider did not do, and what is known of it then."""

from collections.abc import Mapping

from store.providers.actions import UserAction
from store.providers.keys import Key
from store.providers.transactions import Transaction


class ProviderError(Exception):
    """The provider did not do what was asked. Quote `request_id` to its support."""

    def __init__(self, message: str, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class Declined(ProviderError):
    """The provider made the transaction and it failed at once; nothing moved. `transaction` keeps its id and failure."""

    def __init__(self, transaction: Transaction) -> None:
        failure = transaction.failure
        super().__init__(failure.message if failure else "Declined", code=failure.code if failure else "")
        self.transaction = transaction


class ActionRequired(ProviderError):
    """Nothing is done; somebody must authenticate first, at `action.url`."""

    def __init__(self, message: str, action: UserAction, *, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.action = action


class InvalidRequest(ProviderError):
    """Nothing is done and the same input fails again. `fields` says what is wrong, by the provider's field names."""

    def __init__(
        self, message: str, fields: Mapping[str, str] | None = None, *, code: str = "", request_id: str = ""
    ) -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.fields = dict(fields or {})


class NotAllowed(ProviderError):
    """Nothing is done: the credentials, the contract or the account forbid it."""


class NotFound(ProviderError):
    """The provider has no such object."""


class Transient(ProviderError):
    """Certainly not done: try again with the same key, after `retry_after` seconds when the provider says so."""

    def __init__(self, message: str, *, retry_after: float | None = None, code: str = "", request_id: str = "") -> None:
        super().__init__(message, code=code, request_id=request_id)
        self.retry_after = retry_after


class UnknownOutcome(ProviderError):
    """It may or may not have been done. Keep `key`, call `resolve` later, and never ask again under another key."""

    def __init__(self, key: Key, *, code: str = "", request_id: str = "") -> None:
        super().__init__(f"The provider has not told the outcome of {key}.", code=code, request_id=request_id)
        self.key = key
