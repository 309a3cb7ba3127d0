"""Reconciliation: what the payment provider tells, compared with what is recorded here."""

import datetime as dt
from decimal import Decimal
from typing import Annotated

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.inputs import graphql_input_for
from schema.core.money import money, money_column
from schema.core.ownership import marketplace_relation
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to

REASON_LENGTH = 500


@graphql_enum
class ReconciliationFindingKind(DescribedEnum):
    """How the payment provider and the ledger disagree."""

    MISSING_HERE = "missing_here", "The provider has moved money, and nothing here tells why."
    MISSING_THERE = "missing_there", "Money is recorded as moved, and a day later the provider does not report it."
    DIFFERS = "differs", "Both know of the movement, with other amounts, or here it is not recorded as done."
    BALANCE = "balance", "A wallet of the platform or of a marketplace holds another amount than the ledger counts."
    SUSPENSE = "suspense", "A journal has put a part of a movement that it cannot explain into suspense."


@graphql_enum
class ReconciliationFindingState(DescribedEnum):
    """How far a finding is."""

    OPEN = "open", "It is still true, and nobody has explained it."
    EXPLAINED = "explained", "A person has explained it. It is open again if it changes."
    RESOLVED = "resolved", "It is true no longer: both sides agree."


@graphql_enum
class ReconciliationRunState(DescribedEnum):
    """How far a reconciliation is."""

    REQUESTED = "requested", "The provider makes the report, or it is being read."
    DONE = "done", "The report was compared."
    FAILED = "failed", "The provider made no report; the next reconciliation covers the same period."


@strawberry.pydantic.type(
    description="Something about which the payment provider and the ledger disagree. It is resolved by itself once they agree."
)
class ReconciliationFinding(SchemaModel):
    id: int = id_column("The finding's id.")
    kind: ReconciliationFindingKind = enum_column(ReconciliationFindingKind, "How they disagree.")
    state: ReconciliationFindingState = enum_column(
        ReconciliationFindingState, "How far it is.", default=ReconciliationFindingState.OPEN
    )
    subject: str = Field(
        max_length=128,
        description="What it is about: the provider's id of the movement; of a `BALANCE` that of the wallet; of a `SUSPENSE` "
        "the id of the journal.",
    )
    provider_amount: Decimal | None = money_column(default=None, nullable=True)
    reported = money("provider_amount", description="What the provider tells; null if nothing.", nullable=True)
    own_amount: Decimal | None = money_column(default=None, nullable=True)
    recorded = money("own_amount", description="What is recorded here; null if nothing.", nullable=True)
    detail: str = Field(default="", max_length=300, description="What was found, in words.")
    reason: str = Field(
        default="", max_length=REASON_LENGTH, description="How a person has explained it; empty if nobody has."
    )
    first_seen_on: dt.datetime = datetime_column("When it was found first.")
    last_seen_on: dt.datetime = datetime_column("When it was found last.")
    suspended_on: dt.datetime | None = datetime_column(
        "When its money was put into suspense; null if it was not.", default=None, nullable=True
    )
    closed_on: dt.datetime | None = datetime_column(
        "When it was explained or resolved; null while open.", default=None, nullable=True
    )
    marketplace = marketplace_relation("The marketplace whose money it is about; null if of none.", nullable=True)


@strawberry.pydantic.type(description="A reconciliation: one report of the payment provider, compared with the ledger.")
class ReconciliationRun(SchemaModel):
    id: int = id_column("The reconciliation's id.")
    state: ReconciliationRunState = enum_column(
        ReconciliationRunState, "How far it is.", default=ReconciliationRunState.REQUESTED
    )
    since: dt.datetime = datetime_column("The beginning of the period that it compares.")
    until: dt.datetime = datetime_column("The end of that period: when it was begun.")
    finished_on: dt.datetime | None = datetime_column("When it was finished; null before.", default=None, nullable=True)
    movements: int = Field(default=0, description="How many movements the provider has reported.")
    detail: str = Field(default="", max_length=300, description="What holds it up or why it failed; empty if nothing.")


@graphql_input_for(ReconciliationFinding)
class ExplainReconciliationFinding(SchemaModel):
    """Explain an open finding. Money in suspense becomes that of the owner of the wallet in which it lies."""

    id: int
    reason: Annotated[str, line_up_to(REASON_LENGTH, min_length=1)]
