"""What the address of a page names: a resource, an object, an action."""

import re
from typing import Any

from admin.core.request import AdminRequest
from admin.graph.schema_types import queries
from admin.resources.registry import resources
from admin.resources.resource import Resource
from schema.core.errors import NotFound

INT = re.compile(r"[0-9]{1,10}")


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
