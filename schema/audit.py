"""The audit log: who changed what, when, from where."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.ownership import of_marketplace, of_partner
from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment


@closed_set
class AuditActor(ClosedSet):
    """In which role somebody acted."""

    PARTNER = "partner", "A user of a partner."
    MARKETPLACE = "marketplace", "A user of a marketplace."
    MASTER = "master", "A user who sees everything."
    CUSTOMER = "customer", "A customer in a checkout."
    REPRESENTATIVE = "representative", "Whoever holds the link to a partner's onboarding page."
    COMMAND_LINE = "command_line", "Whoever runs the installation, by the command line."
    PROGRAM = "program", "The program by itself, on a schedule."
    NOBODY = "nobody", "Somebody who had not logged in."


@strawberry.pydantic.type(
    description="A change that somebody made, or a log-in that was refused. It is written with the change, and never altered."
)
class AuditEntry(Fields):
    """A change that somebody made, or a log-in that was refused."""

    id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = Field(
        description="Its id; later entries do not always have higher ones."
    )
    occurred_on: dt.datetime = moment("When it happened.")
    operation: str = Field(max_length=80, description="What was done, as GraphQL's mutations are named in snake case.")
    refused: str | None = Field(
        default=None,
        max_length=80,
        description="The code of the error where it was refused: `WRONG_CREDENTIALS`; null: it was done.",
    )
    actor: AuditActor = choice(AuditActor, "In which role it was done.")
    user_id: int | None = Field(default=None, description="The user who did it; null: it was no user.")
    username: str = Field(default="", max_length=254, description="The user's name that day; empty: it was no user.")
    token_id: int | None = Field(default=None, description="The token it was done with.")
    token_hint: str = Field(default="", max_length=12, description="The first characters of the token.")
    address: str = Field(default="", max_length=64, description="The network address it was asked from.")
    request_id: str = Field(
        default="",
        max_length=128,
        description="The id of the request, as in the header `X-Request-Id` and in the logs.",
    )
    partner_id: int | None = Field(default=None, description="The partner whose data changed; null: no one partner's.")
    marketplace_id: int | None = Field(
        default=None, description="The marketplace whose data, or whose partner's, changed."
    )
    subject_type: str = Field(
        default="", max_length=80, description="What was changed, as its type is named here: `Product`."
    )
    subject_id: str = Field(default="", max_length=80, description="The id of what was changed.")
    input: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        default_factory=dict,
        sa_type=JSONB,
        description="What was sent, as far as it was sent. Secrets are `***`, and of codes only the end is left.",
    )
    changes: Annotated[list[dict[str, Any]], strawberry.field(graphql_type=JSON)] = Field(
        default_factory=list,
        sa_type=JSONB,
        description=(
            "Each resource that was made, changed or deleted: its `resource` (a type's name), its `id`, the `change` "
            "(`created`, `updated`, `deleted`) and the `fields` that changed, with what was there `before` and `after`; "
            "masked like the input."
        ),
    )
    partner = of_partner("The partner whose data changed.", nullable=True)
    marketplace = of_marketplace(nullable=True)
