"""The lists of findings and of reconciliations."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.lists.filters import Filter, OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.reconciliation import (
    ReconciliationFinding,
    ReconciliationFindingKind,
    ReconciliationFindingState,
    ReconciliationRun,
    ReconciliationRunState,
)


@graphql_enum
class ReconciliationFindingSort(DescribedEnum):
    """Sort order of findings."""

    NEWEST = "-first_seen_on", "The newest first."
    OLDEST = "first_seen_on", "The oldest first."


@graphql_input_for(ReconciliationFinding)
class ReconciliationFindingFilter(OfMarketplace):
    """Filter for findings. Periods include both ends."""

    state: Annotated[ReconciliationFindingState | None, Where("state")] = None
    kinds: Annotated[list[ReconciliationFindingKind] | None, Where("kind", "in")] = Field(
        default=None, description="Only findings of these kinds."
    )
    subject: Annotated[str | None, Where("subject")] = None
    first_seen_from: Annotated[dt.datetime | None, Where("first_seen_on", ">=")] = Field(
        default=None, description="Only what was first found at or after this time."
    )
    first_seen_until: Annotated[dt.datetime | None, Where("first_seen_on", "<=")] = Field(
        default=None, description="Only what was first found at or before this time."
    )


reconciliation_findings = Listing(
    ReconciliationFinding,
    ReconciliationFindingFilter,
    ReconciliationFindingSort,
    Permission.MANAGE_MASTERADMIN,
    "What the payment provider and the ledger disagree about, the newest first.",
)
reconciliation_finding = Lookup(
    ReconciliationFinding, "id", "finding", Permission.MANAGE_MASTERADMIN, "A finding of reconciliation by its id."
)


@graphql_enum
class ReconciliationRunSort(DescribedEnum):
    """Sort order of reconciliations."""

    NEWEST = "-until", "The newest first."
    OLDEST = "until", "The oldest first."


@graphql_input_for(ReconciliationRun)
class ReconciliationRunFilter(Filter):
    """Filter for reconciliations."""

    state: Annotated[ReconciliationRunState | None, Where("state")] = None


reconciliation_runs = Listing(
    ReconciliationRun,
    ReconciliationRunFilter,
    ReconciliationRunSort,
    Permission.MANAGE_MASTERADMIN,
    "The reconciliations with the payment provider, the newest first.",
)
reconciliation_run = Lookup(
    ReconciliationRun, "id", "reconciliation", Permission.MANAGE_MASTERADMIN, "A reconciliation by its id."
)
