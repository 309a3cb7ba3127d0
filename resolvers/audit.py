"""The list of audit entries, and the job that deletes old ones."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.auditing import audit_program
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.services import Services
from schema.audit import AuditActor, AuditEntry
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from store.audit.entries import prune_audit_log


@graphql_enum
class AuditEntrySort(DescribedEnum):
    """Sort order of audit entries."""

    NEWEST = "-occurred_on", "The newest first."
    OLDEST = "occurred_on", "The oldest first."


@graphql_input_for(AuditEntry)
class AuditEntryFilter(OfPartner):
    """Filter for audit entries. Periods include both ends."""

    operation: Annotated[str | None, Where("operation")] = None
    actor: Annotated[AuditActor | None, Where("actor")] = None
    user_id: Annotated[int | None, Where("user_id")] = None
    token_id: Annotated[int | None, Where("token_id")] = None
    request_id: Annotated[str | None, Where("request_id")] = None
    partner_id: Annotated[int | None, Where("partner_id")] = None
    subject_type: Annotated[str | None, Where("subject_type")] = None
    subject_id: Annotated[str | None, Where("subject_id")] = None
    occurred_from: Annotated[dt.datetime | None, Where("occurred_on", ">=")] = Field(
        default=None, description="Only entries at or after this time."
    )
    occurred_until: Annotated[dt.datetime | None, Where("occurred_on", "<=")] = Field(
        default=None, description="Only entries at or before this time."
    )


audit_entries = Listing(
    AuditEntry,
    AuditEntryFilter,
    AuditEntrySort,
    Permission.VIEW_AUDIT,
    "The audit entries visible to you: who changed what, when and from where. Newest first.",
)
audit_entry = Lookup(AuditEntry, "id", "audit entry", Permission.VIEW_AUDIT, "An audit entry by its id.")


async def prune_entries(services: Services) -> None:
    """Delete entries older than `COFFRET_AUDIT_DAYS`, and write one entry about the deletion. Without the setting,
    nothing is deleted.
    """
    days = services.settings.audit_days
    if days is None:
        return
    before = services.clock.now() - dt.timedelta(days=days)
    async with services.db.sessions() as db, db.begin():
        deleted = await prune_audit_log(db, before)
        if deleted:
            result = {"before": before, "deleted": deleted}
            await audit_program(db, "prune_audit_entries", result)
