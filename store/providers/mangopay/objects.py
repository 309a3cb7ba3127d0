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
from store.providers.mangopay.results import failure_reason, return_reason
from store.providers.money import MinorAmount
from store.providers.transactions import (
    Failure,
    PlatformBalance,
    PlatformWallet,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

Json = dict[str, Any]
Id = Annotated[str, StringConstraints(min_length=1, max_length=128)]

PAYMENT_PAGE_LASTS = dt.timedelta(minutes=15)
"""Lifetime of a hosted payment page, from the creation of its payment."""
_METHOD_PAGES_LAST = {"BCMC": dt.timedelta(hours=1), "IDEAL": dt.timedelta(minutes=30)}
"""The same of methods other than cards, by their type."""

_REGULAR = {
    "PAYIN": TransactionKind.PAYIN,
    "TRANSFER": TransactionKind.TRANSFER,
    "PAYOUT": TransactionKind.PAYOUT,
}
_CLIENT_WALLETS = {
    "FEES": PlatformWallet.FEES,
    "CREDIT": PlatformWallet.REPUDIATION,
    "DEFAULT": PlatformWallet.DEFAULT,
}
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

    def minor_amount(self) -> MinorAmount:
        return MinorAmount(self.currency, self.amount)


class PendingAction(MangopayObject):
    """Where a person must authenticate."""

    redirect_url: Annotated[str, StringConstraints(min_length=1)]


class ProviderWallet(MangopayObject):
    balance: MangopayMoney


class TaggedWallet(Created):
    """A wallet in a list, with our reference."""

    tag: str | None = None


class ClientWallet(Created):
    """A wallet that Mangopay opened for the platform."""

    funds_type: str
    balance: MangopayMoney

    def platform_balance(self) -> PlatformBalance:
        wallet = _CLIENT_WALLETS.get(self.funds_type, PlatformWallet.UNKNOWN)
        return PlatformBalance(wallet, self.id, self.balance.minor_amount())


class MangopayRefundReason(MangopayObject):
    """Why money was refunded."""

    refund_reason_type: str | None = None
    refund_reason_message: str | None = None

    def failure(self) -> Failure:
        """As the reason for which a payout came back."""
        code = self.refund_reason_type or ""
        return Failure(code, self.refund_reason_message or "", return_reason(code))


class MangopayTransaction(Created):
    """A pay-in, refund, transfer, payout, repudiation or settlement. The type of a refund is the direction of its money."""

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
    type: Literal["PAYIN", "TRANSFER", "PAYOUT"]
    nature: Literal["REGULAR", "REFUND", "REPUDIATION", "SETTLEMENT"]
    payment_type: str | None = None
    initial_transaction_id: str | None = None
    initial_transaction_type: str | None = None
    initial_transaction_nature: str | None = None
    repudiation_id: str | None = None
    debited_wallet_id: str | None = None
    credited_wallet_id: str | None = None
    redirect_url: str | None = Field(None, alias="RedirectURL")
    secure_mode_redirect_url: str | None = Field(None, alias="SecureModeRedirectURL")
    pending_user_action: PendingAction | None = None
    refund_reason: MangopayRefundReason | None = None

    def transaction(self, action: UserAction | None = None) -> Transaction:
        """The port's transaction, with the action of a PENDING one.

        An unknown status counts as PENDING, so that it is read again until it is final.
        """
        kind = _REGULAR[self.type] if self.nature == "REGULAR" else TransactionKind(self.nature.lower())
        status = _STATUSES.get(self.status, TransactionStatus.PENDING)
        refund = kind is TransactionKind.REFUND
        paid, fee = (self.credited_funds, -self.fees.amount) if refund else (self.debited_funds, self.fees.amount)
        parent_id, parent_kind = self._parent(kind)
        return Transaction(
            id=self.id,
            kind=kind,
            status=status,
            amount=paid.minor_amount(),
            fee=MinorAmount(self.fees.currency, fee),
            payer_id=self.author_id,
            created_at=self.creation_date,
            reference=self.tag or "",
            executed_at=self.execution_date if status is TransactionStatus.SUCCEEDED else None,
            parent_id=parent_id,
            parent_kind=parent_kind,
            debited_wallet_id=self.debited_wallet_id or None,
            credited_wallet_id=self.credited_wallet_id or None,
            failure=self._failure() if status is TransactionStatus.FAILED else None,
            action=action or self._page() if status is TransactionStatus.PENDING else None,
            return_reason=self._return_reason() if parent_kind is TransactionKind.PAYOUT else None,
        )

    def _parent(self, kind: TransactionKind) -> tuple[str | None, TransactionKind | None]:
        """The transaction that this one follows, with its kind."""
        match kind:
            case TransactionKind.SETTLEMENT:
                return self.repudiation_id or None, TransactionKind.REPUDIATION
            case TransactionKind.REPUDIATION:
                return self.initial_transaction_id, TransactionKind.PAYIN
            case TransactionKind.REFUND if self.initial_transaction_nature == "REPUDIATION":
                return self.initial_transaction_id, TransactionKind.REPUDIATION
            case TransactionKind.REFUND:
                return self.initial_transaction_id, _REGULAR.get(self.initial_transaction_type or "")
            case _:
                return None, None

    def _failure(self) -> Failure:
        code = self.result_code or ""
        return Failure(code, self.result_message or "", failure_reason(code))

    def _return_reason(self) -> Failure:
        return (self.refund_reason or MangopayRefundReason()).failure()

    def _page(self) -> UserAction | None:
        url = self.redirect_url or self.secure_mode_redirect_url
        if not url:
            return None
        lasts = _METHOD_PAGES_LAST.get(self.payment_type or "", PAYMENT_PAGE_LASTS)
        return UserAction(ActionKind.HOSTED_PAYMENT, url, self.creation_date + lasts)


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
