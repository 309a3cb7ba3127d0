"""Exports of lists: asked for, looked at and cancelled. `running.py` writes them."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.list_reader import ListColumn
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.document import signed_document_url
from resolvers.export.checks import check_filter, check_list, check_readable, columns_of, order_of
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidTransition, TooManyExports
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import AccessRule
from schema.export import CancelExport, CreateExport, Export, ExportState
from store.account.second_factor import lock_user
from store.export.exports import FOLDER, UNFINISHED, ExportRow, count_unfinished
from store.job.jobs import JobKind, enqueue_job

MOST_UNFINISHED = 5
"""Exports of a user that may wait or be written at the same time."""


@graphql_enum
class ExportSort(DescribedEnum):
    """Sort order of exports."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@graphql_input_for(Export)
class ExportFilter(OfPartner):
    """Filter for exports. Periods include both ends."""

    list: Annotated[str | None, Where("list")] = None
    state: Annotated[ExportState | None, Where("state")] = None
    user_id: Annotated[int | None, Where("user_id")] = Field(
        default=None, description="Only exports of the user with this id."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only exports asked for at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only exports asked for at or before this time."
    )


exports = Listing(
    Export,
    ExportFilter,
    ExportSort,
    AccessRule.AUTHENTICATED,
    "Your exports, newest first; with the permission `VIEW_AUDIT` all exports of those whose audit log you see.",
)
export = Lookup(Export, "id", "export", AccessRule.AUTHENTICATED, "An export by its id: yours, or one that you audit.")


@derives(Export, "url")
def _url(context: Context, id: int, state: str, format: str, expires_on: dt.datetime | None) -> str | None:
    if state != ExportState.COMPLETED or expires_on is None or expires_on <= context.services.clock.now():
        return None
    user_id = context.required_caller.user_id
    return None if user_id is None else signed_document_url(context.services, FOLDER, [id, user_id], format)


@operation(AccessRule.AUTHENTICATED)
async def create_export(call: Call, input: CreateExport) -> Export:
    """Export a list to a file. A worker writes it; `export` tells how far it is, and then the address of the file, which is
    deleted after seven days. The worker reads the list with the rights that you have by then. You may have five exports
    that are not finished; more are refused with `TOO_MANY_EXPORTS`.
    """
    check_list(call, input.list)
    problems = ProblemCollector()
    with problems.collect():
        order_by = order_of(call, input.list, input.order_by)
    with problems.collect():
        columns = columns_of(call, input)
    with problems.collect():
        await check_filter(call, input.list, input.filter or {})
    problems.raise_problems()
    await check_readable(call, input.list, input.filter or {}, order_by, [column.path for column, _ in columns])
    user_id = call.caller.user_id
    assert user_id is not None  # whoever has a token is a user
    await lock_user(call.db, user_id)
    if (number := await count_unfinished(call.db, user_id)) >= MOST_UNFINISHED:
        raise TooManyExports(number=number)
    row = _row(call, input, user_id, order_by, columns)
    call.db.add(row)
    await call.db.flush()
    await enqueue_job(call.db, JobKind.WRITE_EXPORT, {"id": row.id}, unique_key=str(row.id))
    return row


def _row(
    call: Call, input: CreateExport, user_id: int, order_by: str, columns: Sequence[tuple[ListColumn, str]]
) -> ExportRow:
    caller, now = call.caller, call.services.clock.now()
    return ExportRow(
        user_id=user_id,
        role=caller.role.value,
        partner_id=caller.partner_id,
        marketplace_id=caller.marketplace_id,
        list=input.list,
        format=input.format,
        state=ExportState.QUEUED,
        filter=input.filter or {},
        order_by=order_by,
        columns=[{"path": column.path, "title": title} for column, title in columns],
        language=input.language or "",
        include_codes=input.include_codes,
        created_on=now,
        check_on=now,
    )


@operation(AccessRule.AUTHENTICATED)
async def cancel_export(call: Call, input: CancelExport) -> Export:
    """Cancel an export of yours that waits or is being written. One that has ended is refused with `INVALID_TRANSITION`."""
    own = {"id": input.id, "user_id": call.caller.user_id}
    row = await find_visible(call.db, call.caller, ExportRow, "export", lock=True, **own)
    if row.state not in UNFINISHED:
        raise InvalidTransition(thing="The export", old=row.state, new=ExportState.CANCELLED)
    row.end(ExportState.CANCELLED, call.services.clock.now())
    return row
