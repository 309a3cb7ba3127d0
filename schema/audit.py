"""The audit log: who changed what, when and from where."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from sqlalchemy import BigInteger
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel


@graphql_enum
class AuditActor(DescribedEnum):
    """The role in which an operation was run."""

    PARTNER = "partner", "A user of a partner."
    MARKETPLACE = "marketplace", "A user of a marketplace."
    MASTER = "master", "A user who sees everything."
    CUSTOMER = "customer", "A customer in a checkout."
    REPRESENTATIVE = "representative", "The holder of a link to a partner's onboarding page."
    COMMAND_LINE = "command_line", "The operator, over the command line."
    PROGRAM = "program", "Coffret itself, on a schedule."
    NOBODY = "nobody", "A caller who is not logged in."


@strawberry.pydantic.type(
    description="A change, or a refused log-in. Entries are written with the change and never altered."
)
class AuditEntry(SchemaModel):
    id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = id_column(
        "The entry's id; later entries do not always have higher ids.", sa_type=BigInteger
    )
    occurred_on: dt.datetime = datetime_column("When it happened.")
    operation: str = Field(max_length=80, description="The operation: the name of the GraphQL mutation in snake case.")
    refused: str | None = Field(
        default=None,
        max_length=80,
        description="The error code if it was refused, such as `WRONG_CREDENTIALS`; null if it succeeded.",
    )
    actor: AuditActor = enum_column(AuditActor, "The role in which it was run.")
    user_id: int | None = Field(default=None, description="The user who ran it; null if it was not a user.")
    username: str = Field(
        default="", max_length=254, description="The user's name at that time; empty if it was not a user."
    )
    token_id: int | None = Field(default=None, description="The token that was used.")
    token_hint: str = Field(default="", max_length=12, description="The first characters of the token.")
    address: str = Field(default="", max_length=64, description="The client's network address.")
    request_id: str = Field(
        default="",
        max_length=128,
        description="The id of the request, as in the header `X-Request-Id` and in the logs.",
    )
    partner_id: int | None = Field(
        default=None, description="The partner whose data changed; null if not of one partner."
    )
    marketplace_id: int | None = Field(
        default=None, description="The marketplace whose data changed, or whose partner's data changed."
    )
    subject_type: str = Field(
        default="", max_length=80, description="The type of the changed object, such as `Product`."
    )
    subject_id: str = Field(default="", max_length=80, description="The id of the changed object.")
    input: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        default_factory=dict,
        sa_type=JSONB,
        description="The fields that were sent. Secrets are replaced by `***`; only the end of a code is shown.",
    )
    changes: Annotated[list[dict[str, Any]], strawberry.field(graphql_type=JSON)] = Field(
        default_factory=list,
        sa_type=JSONB,
        description=(
            "Each resource that was created, updated or deleted: its `resource` (type name), its `id`, "
            "the `change` (`created`, `updated`, `deleted`) and the changed `fields` with their values "
            "`before` and `after`; masked like the input."
        ),
    )
    partner = partner_relation("The partner whose data changed.", nullable=True)
    marketplace = marketplace_relation(nullable=True)
