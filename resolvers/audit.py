"""The audit log, as it is read, and how long it is kept."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.auditing import audited_program
from resolvers.core.context import Services
from resolvers.core.listing import Listing, OfPartner, Where
from schema.audit import AuditActor, AuditEntry
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from store.audit.entries import prune


@closed_set
class AuditEntrySort(ClosedSet):
    """How to order the audit log."""

    NEWEST = "-occurred_on", "The newest first."
    OLDEST = "occurred_on", "The oldest first."


@writable_as(AuditEntry)
class AuditEntryFilter(OfPartner):
    """Which entries. Both ends of a period belong to it."""

    operation: Annotated[str | None, Where("operation")] = None
    actor: Annotated[AuditActor | None, Where("actor")] = None
    user_id: Annotated[int | None, Where("user_id")] = None
    token_id: Annotated[int | None, Where("token_id")] = None
    request_id: Annotated[str | None, Where("request_id")] = None
    partner_id: Annotated[int | None, Where("partner_id")] = None
    subject_type: Annotated[str | None, Where("subject_type")] = None
    subject_id: Annotated[str | None, Where("subject_id")] = None
    occurred_from: Annotated[dt.datetime | None, Where("occurred_on", ">=")] = Field(
        default=None, description="At this time or later."
    )
    occurred_until: Annotated[dt.datetime | None, Where("occurred_on", "<=")] = Field(
        default=None, description="At this time or earlier."
    )


audit_entries = Listing(
    AuditEntry,
    AuditEntryFilter,
    AuditEntrySort,
    Permission.VIEW_AUDIT,
    "Who changed what of the shops you see, when and from where, newest first.",
)


async def prune_entries(services: Services) -> None:
    """Delete what is older than `COFFRET_AUDIT_DAYS`, and leave an entry that says so; without the setting, nothing."""
    days = services.settings.audit_days
    if days is None:
        return
    before = services.clock.now() - dt.timedelta(days=days)
    async with services.db.sessions() as db, db.begin():
        deleted = await prune(db, before)
        if deleted:
            told = {"before": before, "deleted": deleted}
            await audited_program(db, "prune_audit_entries", told)
