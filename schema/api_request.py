"""The API log: requests of programs that were refused or that failed."""

import datetime as dt
from typing import Annotated

import strawberry
from sqlalchemy import BigInteger, Text
from sqlalchemy.dialects.postgresql import ARRAY, VARCHAR
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel


@graphql_enum
class ApiTransport(DescribedEnum):
    """The interface that a program uses."""

    GRAPHQL = "graphql", "GraphQL."
    REST = "rest", "The REST interface."


@strawberry.pydantic.type(
    description="A request over GraphQL or REST that was refused or that failed. Successful changes are in the audit log."
)
class ApiRequest(SchemaModel):
    id: Annotated[int, strawberry.field(graphql_type=strawberry.ID)] = id_column(
        "The id of the record; later requests do not always have higher ids.", sa_type=BigInteger
    )
    occurred_on: dt.datetime = datetime_column("When it was answered.")
    request_id: str = Field(
        max_length=128, description="The id of the request, as in the header `X-Request-Id` and in the logs."
    )
    transport: ApiTransport = enum_column(ApiTransport, "The interface that was used.")
    method: str = Field(max_length=16, description="The HTTP method.")
    path: str = Field(
        max_length=500,
        description=(
            "The path, over REST with the query of whoever has sent a valid token. Secrets are replaced by `***`; only "
            "the end of a code is shown."
        ),
    )
    operations: list[str] = Field(
        sa_type=ARRAY(VARCHAR(80)),
        description="The operations that were refused or that failed, in snake case: names of fields of GraphQL.",
    )
    status: int = Field(description="The HTTP status of the response; GraphQL answers most errors with 200.")
    error_codes: list[str] = Field(sa_type=ARRAY(VARCHAR(80)), description="The error codes, each once.")
    messages: list[str] = Field(
        sa_type=ARRAY(Text), description="The messages of the errors, each after the input field that it is about."
    )
    duration_ms: int = Field(description="Time to answer the request, in milliseconds.")
    user_id: int | None = Field(default=None, description="The user of the token; null without a valid one.")
    username: str = Field(
        default="", max_length=254, description="The user's name at that time; empty without a valid token."
    )
    token_id: int | None = Field(default=None, description="The token that was used; null without a valid one.")
    token_hint: str = Field(default="", max_length=12, description="The first characters of the token.")
    client: str = Field(
        default="", max_length=200, description="The program, as its header `User-Agent` says; shortened."
    )
    address: str = Field(default="", max_length=64, description="The client's network address.")
    partner_id: int | None = Field(default=None, description="The partner of the user; null if there is none.")
    marketplace_id: int | None = Field(default=None, description="The marketplace of the user or of its partner.")
    partner = partner_relation("The partner of the user.", nullable=True)
    marketplace = marketplace_relation(nullable=True)
