"""The activation of a partner's payments."""

from uuid import UUID

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel


@graphql_enum
class ActivationStatus(DescribedEnum):
    """The status of a payment activation. `COMPLETED` and `FAILED` are final."""

    PENDING_USER_ACTION = "PENDING_USER_ACTION", "The legal representative has to act, at `pendingUserAction`."
    PROCESSING = "PROCESSING", "The representative is done; the rest is being set up."
    COMPLETED = "COMPLETED", "The partner can receive payments."
    FAILED = "FAILED", "It failed; `failure` gives the reason. Activating again starts a new process."


@graphql_enum
class ActivationFailureReason(DescribedEnum):
    """Why an activation failed."""

    DATA_REFUSED = (
        "data_refused",
        "The provider refused some of the partner's data. Correct it, then activate again.",
    )
    NOT_AUTHENTICATED = (
        "not_authenticated",
        "The representative failed the provider's authentication. Activate again for a new session.",
    )
    ACCOUNT_BLOCKED = (
        "account_blocked",
        ("The provider does not let this partner receive money. Contact the provider, then activate again."),
    )
    ACCOUNT_CLOSED = "account_closed", "The provider's account was closed. Activating again requests a new one."
    KIND_CHANGED = "kind_changed", "The company type was changed. Activating again requests another account."
    OUTCOME_UNKNOWN = (
        "outcome_unknown",
        ("It is unknown whether the provider created the account. Check there, then call `settleActivation`."),
    )


@strawberry.pydantic.type(description="Why an activation failed, and what to do.")
class ActivationFailure(BaseModel):
    reason: ActivationFailureReason = PydanticField(description="The machine-readable reason.")
    message: str = PydanticField(description="The reason in a sentence, in the provider's words if there are any.")
    field: str | None = PydanticField(
        default=None, description="The partner's field that has to be corrected; null if none."
    )
    action: str = PydanticField(description="What to do: an operation, such as `updatePartner`, or a URL.")
    request_id: str | None = PydanticField(
        default=None, description="The provider's reference for the refusal, for its support; null if none."
    )


@strawberry.pydantic.type(description="The activation of a partner's payments.")
class PaymentActivation(BaseModel):
    id: UUID = PydanticField(
        description="The id of the process, for support. It stays the same until the process is final."
    )
    status: ActivationStatus = PydanticField(description="The status of the activation.")
    pending_user_action: str | None = PydanticField(
        default=None,
        description="Where the representative continues: the provider's site, for about ten minutes, or the "
        "onboarding page if data is missing. Null unless `PENDING_USER_ACTION`.",
    )
    failure: ActivationFailure | None = PydanticField(default=None, description="Why it failed; null unless `FAILED`.")


@graphql_input
class ActivatePayments(SchemaModel):
    """Activate the payments of a partner."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")


@graphql_input
class SettleActivation(SchemaModel):
    """Resolve an activation whose outcome is unknown."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    account_id: str = Field(
        default="",
        max_length=128,
        description="The id of the partner's account at the provider; empty if the provider has none.",
    )
