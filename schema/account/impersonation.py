"""Looks at the back office as a partner, and the inputs that begin and end them."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.inputs import graphql_input, graphql_input_for
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to
from schema.validation.numbers import RowId, WholeNumberRule

MOST_MINUTES = 30
REASON_LENGTH = 200


@strawberry.pydantic.type(
    description="A look at the back office as one of its partners: a log-in sees what the partner's users see, and changes "
    "nothing."
)
class Impersonation(SchemaModel):
    id: int = id_column("Its id.")
    reason: str = Field(max_length=REASON_LENGTH, description="Why; the partner reads it in its audit log.")
    created_on: dt.datetime = datetime_column("When it began.")
    expires_on: dt.datetime = datetime_column("When it ends by itself, with its log-in at the latest.")
    ended_on: dt.datetime | None = datetime_column(
        "When it was ended before; null if it was not.", default=None, nullable=True
    )
    partner = partner_relation("The partner.")


@graphql_input_for(Impersonation)
class ImpersonatePartner(SchemaModel):
    """Look at the back office as one of its partners."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    reason: Annotated[str, line_up_to(REASON_LENGTH, min_length=1)]
    minutes: Annotated[int, WholeNumberRule(ge=1, le=MOST_MINUTES)] = Field(
        default=MOST_MINUTES, description="For how many minutes, 30 at most."
    )


@graphql_input
class EndImpersonation(SchemaModel):
    """Stop looking at the back office as a partner."""

    id: RowId | None = Field(default=None, description="The id of one of your looks; null for that of this log-in.")
