"""Mangopay's objects, validated strictly for the fields that we use, and converted to the port's types."""

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
from store.providers.mangopay.results import failure_reason
from store.providers.money import MinorAmount
from store.providers.transactions import Failure, Transaction, TransactionKind, TransactionStatus

Json = dict[str, Any]
Id = Annotated[str, StringConstraints(min_length=1, max_length=128)]

PAYMENT_PAGE_LASTS = dt.timedelta(minutes=15)
"""Lifetime of a hosted payment page, from the creation of its payment."""

_STATUSES = {"SUCCEEDED": TransactionStatus.SUCCEEDED, "FAILED": TransactionStatus.FAILED}


class Unreadable(Exception):
    """A response that cannot be parsed as the expected type."""


class MangopayObject(BaseModel):
    """Base of Mangopay's objects. Unknown fields are ignored, because Mangopay adds fields without notice."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_pascal)


W = TypeVar("W", bound=MangopayObject)


def parse_object(shape: type[W], value: object) -> W:
    """Validate a response. Raises `Unreadable`."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, problem["loc"])) or "body" for problem in error.errors())
        raise Unreadable(f"{shape.__name__} cannot be read: {wrong}") from None


class AccessToken(MangopayObject):
    """An access token, valid for `expires_in` seconds."""

    model_config = ConfigDict(alias_generator=None)

    access_token: Annotated[str, StringConstraints(min_length=1)]
    expires_in: float = Field(gt=0)


class Created(MangopayObject):
    """The fields that every created object has."""

    id: Id


class Nothing(MangopayObject):
    """An empty response."""


class MangopayMoney(MangopayObject):
    """An amount in the smallest unit. Refunded fees are negative."""

    currency: str
    amount: int = Field(strict=True)


class ProviderWallet(MangopayObject):
    balance: MangopayMoney


class MangopayTransaction(Created):
    tag: str | None = None
    creation_date: AwareDatetime
    execution_date: AwareDatetime | None = None
    author_id: Id
    debited_funds: MangopayMoney
    credited_funds: MangopayMoney
    fees: MangopayMoney
    status: str
    result_code: str | None = None
    result_message: str | None = None
    nature: Literal["REGULAR", "REFUND"]
    initial_transaction_id: str | None = None
    redirect_url: str | None = Field(None, alias="RedirectURL")

    def transaction(self) -> Transaction:
        """The port's transaction. An unknown status counts as PENDING, so that it is read again until it is final."""
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
        return Failure(code, self.result_message or "", failure_reason(code))

    def _page(self) -> UserAction | None:
        if not self.redirect_url:
            return None
        return UserAction(ActionKind.HOSTED_PAYMENT, self.redirect_url, self.creation_date + PAYMENT_PAGE_LASTS)


class IdempotencyResponse(MangopayObject):
    """The first response to a call with an idempotency key.

    The status is a string on the wire, the resource a snapshot.
    """

    status_code: int
    resource: Json | None = None

    @field_validator("resource", mode="before")
    @classmethod
    def none(cls, value: object) -> object:
        """The resource of an empty response may be an empty string."""
        return None if value == "" else value


class Hook(MangopayObject):
    """The registration for notifications of one event type."""

    id: Id
    event_type: str
    url: str
    status: str
    validity: str


class MangopayEvent(MangopayObject):
    """An entry of the event list."""

    resource_id: Id
    event_type: str
    date: AwareDatetime


class ErrorBody(MangopayObject):
    """An error body. Every field is optional and coerced, so that a malformed refusal can still be processed."""

    message: str = ""
    type: str = ""
    id: str = ""
    errors: dict[str, str] = Field({}, validation_alias=AliasChoices("errors", "Errors"))

    @field_validator("message", "type", "id", mode="before")
    @classmethod
    def text(cls, value: object) -> str:
        """Null becomes empty; other values become strings."""
        return "" if value is None else str(value)

    @field_validator("errors", mode="before")
    @classmethod
    def parse_field_errors(cls, value: object) -> dict[str, str]:
        """Field names and messages; any value but an object becomes empty."""
        return {str(name): str(text) for name, text in value.items()} if isinstance(value, dict) else {}
