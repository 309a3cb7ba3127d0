"""Errors a client may see. Raised once, rendered by each transport: a class is a code, a status, and its docstring the message."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from schema.core.message_names import Words

Path = tuple[str | int, ...]
CONSTRAINTS: "dict[str, Callable[[], AppError]]" = {}
"""Name of a database constraint -> the error that a lost race becomes. Filled in by `store/`, beside the tables."""
MOST_PROBLEMS = 1_000
"""Of one request that are told."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with what was sent, and where (a path of input field names and list positions)."""

    path: Path
    code: str
    message: str


class AppError(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 400
    meaning: ClassVar[str] = ""
    """What the code means, for the readers of the schema, where the message has gaps to fill."""
    told_as_data: ClassVar[bool] = True
    """In a GraphQL mutation: under `userErrors` (what a user can put right) rather than `errors` (what a program got wrong)."""
    audited: ClassVar[bool] = False
    """Whether it is worth an entry in the audit log that somebody got this far."""

    def __init__(self, *path: str | int, **details: object) -> None:
        self.message = Words(" ".join((type(self).__doc__ or "").split()), **details)
        """What is wrong; details that are members of enums are told by the names that each transport has for them."""
        super().__init__(self.message)
        self.path: Path = path

    @classmethod
    def code(cls) -> str:
        """`INSUFFICIENT_BALANCE` for `InsufficientBalance`; REST writes it in lower case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()

    @property
    def problems(self) -> Sequence[Problem]:
        """What is wrong, one entry for each place."""
        return (Problem(self.path, self.code(), self.message),)


class InvalidInput(AppError):
    """Some of what was sent cannot be used."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__()
        self._problems = problems[:MOST_PROBLEMS]

    @classmethod
    def at(cls, path: str | Path, message: str, code: str = "INVALID") -> "InvalidInput":
        """One problem in one place."""
        return cls(Problem((path,) if isinstance(path, str) else path, code, message))

    @property
    def problems(self) -> Sequence[Problem]:
        return self._problems


class MalformedBody(AppError):
    """The body cannot be read: {reason}."""

    told_as_data = False


class WrongCredentials(AppError):
    """Unable to log in with provided credentials."""

    audited = True


class Unauthenticated(AppError):
    """Authentication credentials were not provided or are not valid. Send `Authorization: Token <token>`."""

    status = 401
    told_as_data = False


class Forbidden(AppError):
    """This needs the permission {permission}."""

    status = 403
    told_as_data = False


class PartnerOnly(AppError):
    """This needs a token that belongs to a partner."""

    status = 403
    told_as_data = False


class NotFound(AppError):
    """No such {thing}."""

    status = 404
    meaning = "There is no such thing, or the caller may not see it."

    def __init__(self, *path: str | int, by: Mapping[str, object] = MappingProxyType({}), **details: object) -> None:
        super().__init__(*path, **details)
        self.by = by
        """What it was looked for by: names of columns and their values."""


class CartNotFound(AppError):
    """Cart not found"""

    status = 404
    meaning = "The caller has no live cart with this id."


class TooLarge(AppError):
    """The request is larger than {limit}."""

    status = 413
    told_as_data = False


class UnsupportedMediaType(AppError):
    """Send {wanted}."""

    status = 415
    told_as_data = False


class TooManyRequests(AppError):
    """Too many attempts. Try again in {seconds} seconds."""

    status = 429
    told_as_data = False

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class Conflict(AppError):
    """The state of things does not allow this."""

    status = 409


class InsufficientBalance(Conflict):
    """The card holds less than what is asked."""


class GiftCardNotSpendable(Conflict):
    """This gift card cannot be spent: it is not paid for, its time is over, it is used up, or it was cancelled."""


class GiftCardsNotSold(Conflict):
    """This shop does not sell gift cards at the moment."""


class HoldOver(Conflict):
    """This hold is over: it was captured or released, or its time has run out."""


class OutOfStock(Conflict):
    """There is not enough left of a product."""


class CouponUsedUp(Conflict):
    """This coupon has been used as often as it may be."""


class CheckoutChanged(Conflict):
    """What is to be paid has changed since it was shown."""


class InvalidTransition(Conflict):
    """{thing} cannot go from {old} to {new}."""

    meaning = "What it is about cannot go from the status it has to that one."


class StateChanged(Conflict):
    """It is {state} by now, and not what you saw. Look at it again."""

    meaning = "Somebody has changed it since you saw it. Look at it again."


class NotExtendable(Conflict):
    """This cannot be given more time: it is not paid for, it has been used or cancelled, or it never ends."""


class AlreadyQueued(Conflict):
    """Another job does the same already, or is about to. This one is kept as it is."""


class PartnerInactive(Conflict):
    """This partner does not sell at the moment: its status says so."""


class PaymentsNotActive(Conflict):
    """Payments of this partner are not active yet."""


class ActivationRequired(Conflict):
    """The payment provider does not know this partner yet. Activate its payments first: `activatePayments`, over REST
    POST /api/payment_hub/partner/<partner_uuid>/activate-payments/."""


class IbanMissing(Conflict):
    """This partner has no IBAN. Set it with `updatePartner` first."""


class BankAccountRefused(Conflict):
    """The payment provider does not take this bank account: {reason} Correct it with `updatePartner`, then register it."""

    meaning = "The payment provider does not take the partner's bank account; the message says why."


class OnlyInSandbox(Conflict):
    """A test partner tries things out in the sandbox, and this installation takes real money: make it active first."""


class RepresentativeUnknown(Conflict):
    """The partner has no e-mail address of a legal representative to write to: give it one first."""


class MediaInUse(Conflict):
    """A product uses this picture: take it out there first, or upload another."""


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used with another request. Use a new key for a new request."""


class IdempotencyInProgress(Conflict):
    """A request with this Idempotency-Key is still running. Try again in a moment."""

    told_as_data = False
    retry_after = 1


class AlreadyTaken(AppError):
    """This {what} is taken."""

    meaning = "Something else has this value already, and only one may."


class PaymentDeclined(AppError):
    """The payment was declined."""

    status = 402


class ProviderFailed(AppError):
    """The payment provider failed. Nothing was charged twice; try again."""

    status = 502
    told_as_data = False


class ProviderTimedOut(AppError):
    """The payment provider did not answer in time. The outcome is being looked up; nothing is charged twice."""

    status = 504
    told_as_data = False


class Unavailable(AppError):
    """{what} cannot be reached at the moment. Try again shortly."""

    status = 503
    told_as_data = False
    retry_after = 5


class CartStoreFull(Unavailable):
    """There is no room for another cart at the moment. Carts that are there can be read, paid, and replaced by smaller ones."""

    retry_after = 30


class OutcomeUnknown(Unavailable):
    """The database was lost while this was being saved, so it may have been done or not. Look before you send it again; sent
    again with the Idempotency-Key that it had, it is never done twice."""
