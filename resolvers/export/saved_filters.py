"""Filters of lists that users have given names."""

from typing import Annotated

import strawberry
from sqlmodel import col, select

from resolvers.core.operation import Call, operation
from resolvers.export.checks import check_saved_filter
from schema.core.errors import InvalidInput, NotFound
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule
from schema.saved_filter import DeleteSavedFilterInput, SavedFilter, SaveFilterInput
from store.account.second_factor import lock_user
from store.export.saved_filters import SavedFilterRow, saved_filters_of

ListArgument = Annotated[str | None, strawberry.argument(description="Only filters of this list, such as `orders`.")]
SavedFilters = list[SavedFilter]
MOST_SAVED = 50
"""Filters of a user for a list."""
FULL = "You have {most} filters of this list already. Delete one first."


@operation(AccessRule.AUTHENTICATED)
async def saved_filters(call: Call, list: ListArgument = None) -> SavedFilters:
    """Your saved filters by list and name; with `list` only those of that list."""
    assert call.caller.user_id is not None  # whoever has a token is a user
    return [*await saved_filters_of(call.db, call.caller.user_id, list)]


@operation(AccessRule.AUTHENTICATED)
async def save_filter(call: Call, input: SaveFilterInput) -> SavedFilter:
    """Save a filter of a list under a name, for you alone. It replaces yours of the same name. You can have 50 for a list."""
    await check_saved_filter(call, input.list, input.filter or {}, input.order_by)
    user_id = call.caller.user_id
    assert user_id is not None  # whoever has a token is a user
    call.add_audit_subject(await lock_user(call.db, user_id))
    rows = await saved_filters_of(call.db, user_id, input.list)
    row = next((each for each in rows if each.name == input.name), None)
    if row is None:
        if len(rows) >= MOST_SAVED:
            raise InvalidInput.at("name", TemplatedMessage(FULL, most=MOST_SAVED))
        row = SavedFilterRow(user_id=user_id, list=input.list, name=input.name, created_on=call.services.clock.now())
        call.db.add(row)
    row.filter, row.order_by = input.filter or {}, input.order_by or ""
    await call.db.flush()
    return row


@operation(AccessRule.AUTHENTICATED)
async def delete_saved_filter(call: Call, input: DeleteSavedFilterInput) -> SavedFilter:
    """Delete one of your saved filters."""
    own = col(SavedFilterRow.id) == input.id, col(SavedFilterRow.user_id) == call.caller.user_id
    row = (await call.db.exec(select(SavedFilterRow).where(*own))).one_or_none()
    if row is None:
        raise NotFound(lookup={"id": input.id}, thing="saved filter")
    await call.db.delete(row)
    return row
