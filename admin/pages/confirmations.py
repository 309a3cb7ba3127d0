"""What the form of a change tells of its object: what the list shows of it, and what matters for this change."""

from collections.abc import Sequence

from admin.core.request import AdminRequest
from admin.core.values import Cell, value_at
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at
from admin.pages.changes import Change
from admin.pages.facts import Fact
from admin.pages.lists import column_label
from admin.resources.registry import resources

USER_ID = "ById"
"""Ends the names of fields with the id of a user."""


async def facts_of_change(request: AdminRequest, change: Change) -> Sequence[Fact]:
    """The values of the object above the buttons; none above a list, and of an update, whose form has them."""
    if change.object is None or change.action.is_update:
        return ()
    found = []
    for path in change.confirmed_paths:
        if request.is_partner and path.startswith("partner."):
            continue
        name, value = path.rpartition(".")[2], value_at(change.object, path)
        if name.endswith(USER_ID) and value is not None:
            found.append(Fact(name, label_of(name), Cell("text", await _name_of_user(request, value))))
            continue
        cell = request.reader.cell(name, field_at(change.resource.type, path), value)
        if cell.kind not in ("empty", "picture"):
            found.append(Fact(name, column_label(path), cell))
    return found


async def _name_of_user(request: AdminRequest, id: int) -> str:
    """The name of a user, or its number for who may not see users."""
    if request.may(resources()["users"].access):
        answer = await request.run("query($id: Int!) { user(id: $id) { username } }", {"id": id})
        if user := answer.data.get("user"):
            return str(user["username"])
    return str(id)
