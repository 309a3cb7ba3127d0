"""The provider's objects: read strictly where we rely on them, and turned into ours."""

import datetime as dt
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AliasChoices,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
)
from pydantic.alias_generators import to_pascal

from store.providers.actions import ActionKind, UserAction
from store.providers.base import Failure, MinorAmount, Transaction, TransactionKind, TransactionStatus
from store.providers.mangopay.results import reason

Json = dict[str, Any]
Id = Annotated[str, StringConstraints(min_length=1, max_length=128)]

PAYMENT_PAGE_LASTS = dt.timedelta(minutes=15)
"""How long a hosted payment page can be used, from the creation of its payment."""

_STATUSES = {"SUCCEEDED": TransactionStatus.SUCCEEDED, "FAILED": TransactionStatus.FAILED}


class Unreadable(Exception):
    """An answer that is not what its call answers."""


class Wire(BaseModel):
    """An object of the provider. What it has besides is ignored: it grows without notice."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_pascal)


W = TypeVar("W", bound=Wire)


def read(shape: type[W], value: object) -> W:
    """An answer as an object of ours; `Unreadable` when it is not one."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, problem["loc"])) or "body" for problem in error.errors())
        raise Unreadable(f"{shape.__name__} cannot be read: {wrong}") from None


class Token(Wire):
    """An access token, good for `expires_in` seconds."""

    model_config = ConfigDict(alias_generator=None)

    access_token: Annotated[str, StringConstraints(min_length=1)]
    expires_in: float = Field(gt=0)


class Created(Wire):
    """What every created object has."""

    id: Id


class Nothing(Wire):
    """The answer of a call that answers nothing."""


class Money(Wire):
    """An amount in the smallest unit, negative for fees that are given back."""

    currency: str
    amount: int = Field(strict=True)


class Wallet(Wire):
    """A wallet."""

    balance: Money


class Movement(Created):
    """A pay-in or a refund."""

    tag: str | None = None
    creation_date: AwareDatetime
    execution_date: AwareDatetime | None = None
    author_id: Id
    debited_funds: Money
    credited_funds: Money
    fees: Money
    status: str
    result_code: str | None = None
    result_message: str | None = None
    nature: Literal["REGULAR", "REFUND"]
    initial_transaction_id: str | None = None
    redirect_url: str | None = Field(None, alias="RedirectURL")

    def transaction(self) -> Transaction:
        """As the port tells it. A status that is not known counts as PENDING: it is read again until it is final."""
        refund = self.nature == "REFUND"
        status = _STATUSES.get(self.status, TransactionStatus.PENDING)
        paid, fee = (self.credited_funds, -self.fees.amount) if refund else (self.debited_funds, self.fees.amount)
        return Transaction(
            id=self.id,
            kind=TransactionKind.REFUND if refund else TransactionKind.PAYIN,
            status=status,
            amount=MinorAmount(paid.currency, paid.amount),
            fee=MinorAmount(self.fees.currency, fee),
            payer_id=self.author_id,
            created_at=self.creation_date,
            reference=self.tag or "",
            executed_at=self.execution_date if status is TransactionStatus.SUCCEEDED else None,
            parent_id=self.initial_transaction_id if refund else None,
            failure=self._failure() if status is TransactionStatus.FAILED else None,
            action=self._page() if status is TransactionStatus.PENDING else None,
        )

    def _failure(self) -> Failure:
        code = self.result_code or ""
        return Failure(code, self.result_message or "", reason(code))

    def _page(self) -> UserAction | None:
        if not self.redirect_url:
            return None
        return UserAction(ActionKind.HOSTED_PAYMENT, self.redirect_url, self.creation_date + PAYMENT_PAGE_LASTS)


class KeptAnswer(Wire):
    """The first answer to a call with an idempotency key. Its status is text on the wire, and its resource a snapshot."""

    status_code: int
    resource: Json | None = None

    @field_validator("resource", mode="before")
    @classmethod
    def none(cls, value: object) -> object:
        """A call that answered nothing may have kept an empty text."""
        return None if value == "" else value


class Hook(Wire):
    """Where notifications of one type of event are sent."""

    id: Id
    event_type: str
    url: str
    status: str
    validity: str


class Event(Wire):
    """Something that happened, in the list of events."""

    resource_id: Id
    event_type: str
    date: AwareDatetime


class Refusal(Wire):
    """The body of an error, as much of it as there is: a refusal has to be understood even when it is malformed."""

    message: str = ""
    type: str = ""
    id: str = ""
    errors: dict[str, str] = Field({}, validation_alias=AliasChoices("errors", "Errors"))

    @field_validator("message", "type", "id", mode="before")
    @classmethod
    def text(cls, value: object) -> str:
        """Null and other kinds of value are read as text."""
        return "" if value is None else str(value)

    @field_validator("errors", mode="before")
    @classmethod
    def named(cls, value: object) -> dict[str, str]:
        """Field names and texts; null and other kinds of value hold none."""
        return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}
