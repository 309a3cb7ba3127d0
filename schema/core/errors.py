"""Errors a client may see. Each class defines a code, a status and, in its docstring, the message; each transport
renders it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from schema.core.message_names import TemplatedMessage

ProblemPath = tuple[str | int, ...]
CONSTRAINT_ERRORS: "dict[str, Callable[[], AppError]]" = {}
"""Name of a database constraint -> the error for its violation under concurrency. Filled by `store/`, beside the
tables.
"""
MOST_PROBLEMS = 1_000
"""The maximum number of problems reported for one request."""


@dataclass(frozen=True)
class Problem:
    """One problem of an input, with its path (field names and list positions)."""

    path: ProblemPath
    code: str
    message: str


class AppError(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 400
    meaning: ClassVar[str] = ""
    """The description of the code in the schema, for messages with placeholders."""
    is_user_error: ClassVar[bool] = True
    """In a GraphQL mutation: reported in `userErrors` (for the user to correct) instead of `errors` (for the
    developer).
    """
    audited: bool = False
    """Whether the failure is recorded in the audit log."""

    retry_after: int | None = None
    """Seconds after which the client may try again."""

    def __init__(self, *path: str | int, **details: object) -> None:
        self.message = TemplatedMessage(" ".join((type(self).__doc__ or "").split()), **details)
        """The message. Enum members in the details are rendered with each transport's own names."""
        super().__init__(self.message)
        self.path: ProblemPath = path

    @classmethod
    def code(cls) -> str:
        """`INSUFFICIENT_BALANCE` for `InsufficientBalance`; lower case in REST."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response over HTTP."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems, one per path."""
        return (Problem(self.path, self.code(), self.message),)


class InvalidInput(AppError):
    """The input is not valid."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__()
        self._problems = problems[:MOST_PROBLEMS]

    @classmethod
    def at(cls, path: str | ProblemPath, message: str, code: str = "INVALID") -> "InvalidInput":
        """A single problem at one path."""
        return cls(Problem((path,) if isinstance(path, str) else path, code, message))

    @classmethod
    def of_proof(cls, field: str, message: str) -> "InvalidInput":
        """A wrong password, or a wrong code of one's own second factor: the audit log tells of it."""
        error = cls.at(field, message)
        error.audited = True
        return error

    @property
    def problems(self) -> Sequence[Problem]:
        return self._problems


class MalformedBody(AppError):
    """The body cannot be read: {reason}."""

    is_user_error = False


class WrongCredentials(AppError):
    """Unable to log in with provided credentials."""

    audited = True


class SecondFactorRequired(AppError):
    """This user logs in with a second factor: send a one-time code or a recovery code too, as `otp`."""

    def __init__(self, user_id: int = 0, proof: str = "") -> None:
        super().__init__()
        self.user_id = user_id
        self.proof = proof
        """Which password was found right, for pages that ask for the code next. It is not sent."""


class LinkOver(AppError):
    """This link was used already, or has expired. Ask for a new one."""

    status = 409
    meaning = "A link from a message works once, and for a while."


class Unauthenticated(AppError):
    """Authentication credentials were not provided or are not valid. Send `Authorization: Token <token>`."""

    status = 401
    is_user_error = False

    @property
    def headers(self) -> Mapping[str, str]:
        return {"WWW-Authenticate": "Token"}


class Forbidden(AppError):
    """This needs the permission {permission}."""

    status = 403
    is_user_error = False


class ReadOnlySession(AppError):
    """Who looks as somebody else changes nothing. End the look first."""

    status = 403
    is_user_error = False


class LogInOnly(AppError):
    """This is for log-ins of the back office only, and not for API tokens."""

    status = 403
    is_user_error = False


class PartnerOnly(AppError):
    """This needs a token that belongs to a partner."""

    status = 403
    is_user_error = False


class MarketplaceOnly(AppError):
    """This needs a token that belongs to a marketplace."""

    status = 403
    is_user_error = False


class NotFound(AppError):
    """No such {thing}."""

    status = 404
    meaning = "It does not exist, or the caller may not see it."

    def __init__(
        self, *path: str | int, lookup: Mapping[str, object] = MappingProxyType({}), **details: object
    ) -> None:
        super().__init__(*path, **details)
        self.lookup = lookup
        """The search criteria: column names and values."""


class CartNotFound(AppError):
    """Cart not found"""

    status = 404
    meaning = "The caller has no live cart with this id."


class TooLarge(AppError):
    """The request is larger than {limit}."""

    status = 413
    is_user_error = False


class UnsupportedMediaType(AppError):
    """Send {wanted}."""

    status = 415
    is_user_error = False


class TooManyRequests(AppError):
    """Too many attempts. Try again in {seconds} seconds."""

    status = 429
    is_user_error = False
    retry_after: int

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class Conflict(AppError):
    """The current state does not allow this."""

    status = 409


class InsufficientBalance(Conflict):
    """The balance of the gift card is too low."""

    meaning = "Too little is left: on the gift card, of the partner's earnings, or of the network's funds."


class InsufficientFunds(InsufficientBalance):
    """Too little money is left for this: neither the partner's earnings nor the network's funds cover it."""

    @classmethod
    def code(cls) -> str:
        """That of the balance: programs treat both alike, and only the message differs."""
        return InsufficientBalance.code()


class GiftCardNotSpendable(Conflict):
    """This gift card cannot be spent: it is unpaid, expired, used up, cancelled, or of another mode (test or live) than its
    partner.
    """


class FrozenByDispute(Conflict):
    """This cannot be used: the bank of its buyer disputes the payment of its order. Once the dispute is won, it can be
    used again; the issuing partner can answer the dispute.
    """


class GiftCardsNotSold(Conflict):
    """This shop does not sell gift cards at the moment."""


class HoldOver(Conflict):
    """This hold is closed: it was captured or released, or it has expired."""


class OutOfStock(Conflict):
    """There is not enough stock of a product."""


class CouponUsedUp(Conflict):
    """This coupon has reached its usage limit."""


class CheckoutChanged(Conflict):
    """The amount to pay has changed since it was shown."""


class InvalidTransition(Conflict):
    """{thing} cannot go from {old} to {new}."""

    meaning = "The transition from the current status to the requested one is not allowed."


class StateChanged(Conflict):
    """The state is now {state}, which is not the one you expected. Read it again."""

    meaning = "The object has changed since you read it. Read it again."


class SecondFactorActive(Conflict):
    """Your second factor is on. Turn it off before you set up another one."""


class InvitationOver(Conflict):
    """This user has chosen a password already, or is inactive."""


class NotExtendable(Conflict):
    """This cannot be extended: it is unpaid, used or cancelled, or it never expires."""


class TooManyExports(Conflict):
    """You have {number} exports that are not finished. Wait for them, or cancel one."""

    meaning = "You have too many exports that are not finished. Wait for them, or cancel one."


class TooManyTokens(Conflict):
    """There are {number} valid tokens and log-ins of this user already. Revoke one first."""

    meaning = "The user has too many valid tokens and log-ins. Revoke one first."


class AlreadyQueued(Conflict):
    """An identical job is already queued or running. This one stays as it is."""


class PartnerInactive(Conflict):
    """The status of this partner does not allow sales at the moment."""


class ActivationRequired(Conflict):
    """The payment provider does not know this partner yet. Activate its payments first: `activatePayments`, over REST
    POST /api/payment_hub/partner/<partner_uuid>/activate-payments/.
    """


class IbanMissing(Conflict):
    """This partner has no IBAN. Set it with `updatePartner` first."""


class BankAccountRefused(Conflict):
    """The payment provider refused this bank account: {reason} Correct it with `updatePartner`, then register it."""

    meaning = "The payment provider refused the partner's bank account; the message gives the reason."


class OnlyInSandbox(Conflict):
    """Test partners and their wallets work only with the sandbox provider, and this installation takes real payments:
    make the partner active first.
    """


class RepresentativeUnknown(Conflict):
    """The legal representative of this partner has no e-mail address: set one first."""


class MediaInUse(Conflict):
    """A product uses this picture: remove it from the product first, or upload another."""


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used with another request. Use a new key for a new request."""


class IdempotencyInProgress(Conflict):
    """A request with this Idempotency-Key is still running. Try again in a moment."""

    is_user_error = False
    retry_after = 1


class AlreadyTaken(AppError):
    """This {what} is taken."""

    meaning = "The value must be unique, and another object already has it."


class PaymentDeclined(AppError):
    """The payment was declined."""

    status = 402


class ProviderFailed(AppError):
    """The payment provider failed. Nothing was charged twice; try again."""

    status = 502
    is_user_error = False


class ProviderTimedOut(AppError):
    """The payment provider did not answer in time. The outcome is being looked up; nothing is charged twice."""

    status = 504
    is_user_error = False


class Unavailable(AppError):
    """{what} cannot be reached at the moment. Try again shortly."""

    status = 503
    is_user_error = False
    retry_after = 5


class CartStoreFull(Unavailable):
    """The cart store is full at the moment. Existing carts can be read, paid for, and replaced by smaller ones."""

    retry_after = 30


class OutcomeUnknown(Unavailable):
    """The database connection was lost while this was being saved, so it may or may not have been done. Check before
    you send it again; with the same Idempotency-Key it is never done twice.
    """
