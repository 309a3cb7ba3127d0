"""What the address of a page names: a resource, an object, an action."""

import re
from collections.abc import Mapping
from typing import Any

from admin.core.request import AdminRequest
from admin.core.values import value_at
from admin.graph.schema_types import queries
from admin.resources.registry import resources
from admin.resources.resource import Action, Resource
from schema.core.errors import NotFound

INT = re.compile(r"[0-9]{1,10}")
OWNER = "partner.id"
"""Where objects have their partner."""


def resource_of(request: AdminRequest) -> Resource:
    """The resource that the address names. Raises NotFound."""
    found = resources().get(request.http_request.path_params["resource"])
    if found is None:
        raise NotFound(thing="page")
    return found


async def read_object(request: AdminRequest, resource: Resource, selection: str) -> dict[str, Any]:
    """The object that the address names, by a selection. Raises NotFound, also for a key that no object can have."""
    kind = key_type(resource)
    value = key_value(resource, request.http_request.path_params["key"])
    document = f"query($key: {kind}) {{ {resource.finds}({resource.key}: $key) {{ {selection} }} }}"
    answer = await request.run(document, {"key": value})
    if not answer.data and any(error.code == "BAD_USER_INPUT" for error in answer.errors):
        raise NotFound(thing="page")
    found = answer.only(resource.finds)
    if found is None:
        raise NotFound(thing="page")
    object_: dict[str, Any] = found
    return object_


def key_type(resource: Resource) -> str:
    """The type of the key of an object in documents."""
    return str(queries()[resource.finds].args[resource.key].type)


def key_value(resource: Resource, key: str) -> Any:
    """The key of an object as a variable. Raises NotFound for a text that cannot be one."""
    if key_type(resource).strip("!") != "Int":
        return key
    if not INT.fullmatch(key) or int(key) >= 2**31:
        raise NotFound(thing="page")
    return int(key)


def deciding_paths(resource: Resource, action: Action) -> tuple[str, ...]:
    """The values of an object that tell whether an action is possible."""
    owner = (OWNER,) if resource.is_read_by_others else ()
    return (*action.when, *owner, *([resource.asked_by] if resource.asked_by else []))


def is_possible(request: AdminRequest, resource: Resource, action: Action, values: Mapping[str, Any]) -> bool:
    """Whether an object allows an action to the user: by its state, its partner, and who has asked for it."""
    caller = request.required_caller
    if resource.is_read_by_others and request.is_partner and value_at(values, OWNER) != caller.partner_id:
        return False
    if resource.asked_by and values.get(resource.asked_by) == caller.user_id:
        return False
    return action.is_possible(values)
