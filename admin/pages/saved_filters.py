"""Saved filters above a list: as links, and the forms that save and delete them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.forms.kinds import InputField, Kind, fields_of
from admin.graph.execution import GraphAnswer, raise_for
from admin.graph.schema_types import list_filter_of, list_order_of
from admin.pages.details import DONE
from admin.pages.filters import OF_PAGE, day_of, read_filter
from admin.pages.resolving import INT, resource_of
from admin.resources.resource import Resource
from funnel.core.messages import N_
from schema.core.errors import NotFound

FILTER_IS_WRONG = N_("Correct the filter before you save it.")
OF_LIST = "query($list: String!) { savedFilters(list: $list) { id name filter orderBy } }"
SAVE = "mutation($input: SaveFilterInput!) { saveFilter(input: $input) { userErrors { field code message } } }"
DELETE = "mutation($input: DeleteSavedFilterInput!) { deleteSavedFilter(input: $input) { userErrors { field code message } } }"


@dataclass(frozen=True, slots=True)
class FilterLink:
    """A saved filter as a link; without an address if it no longer fits its list."""

    id: int
    name: str
    url: str
    is_current: bool


async def links_of(request: AdminRequest, resource: Resource) -> Sequence[FilterLink]:
    """The user's saved filters of a list."""
    answer = await request.run(OF_LIST, {"list": resource.query})
    present = _significant(request.http_request.query_params.multi_items())
    links = []
    for each in answer.only("savedFilters"):
        query = query_of(resource, each["filter"], each["orderBy"], request.reader.time_zone)
        url = "" if query is None else f"{ROOT}{resource.slug}/?{urlencode(query)}"
        links.append(FilterLink(each["id"], each["name"], url, query is not None and _significant(query) == present))
    return links


def _significant(query: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(name, value) for name, value in query if value and name not in OF_PAGE}


async def save(request: AdminRequest) -> Response:
    """Save the filter of the address under a name. The list says what is wrong with it."""
    resource = resource_of(request)
    asked = request.http_request.query_params
    filter = read_filter(resource, asked, request)
    if filter.problems:
        return _problem_page(request, resource, [request.translate(FILTER_IS_WRONG)])
    order = asked.get("order", "")
    input = {
        "list": resource.query,
        "name": request.form.get("name", ""),
        "filter": filter.variables,
        "orderBy": order if order in list_order_of(resource.query).values else None,
    }
    answer = await request.run(SAVE, {"input": input})
    if problems := _problems(answer, "saveFilter"):
        return _problem_page(request, resource, problems)
    return request.redirect(_list_url(request, resource))


async def delete(request: AdminRequest) -> Response:
    """Delete a saved filter."""
    resource = resource_of(request)
    id = request.form.get("id", "")
    if not INT.fullmatch(id) or int(id) >= 2**31:
        raise NotFound(thing="page")
    answer = await request.run(DELETE, {"input": {"id": int(id)}})
    _problems(answer, "deleteSavedFilter")  # one that is not there any more is what was wanted
    return request.redirect(_list_url(request, resource))


def _problem_page(request: AdminRequest, resource: Resource, problems: Sequence[str]) -> Response:
    back = _list_url(request, resource)
    return request.render("save_filter.html", 400, here=resource.slug, resource=resource, problems=problems, back=back)


def _list_url(request: AdminRequest, resource: Resource) -> str:
    """The list with the filter of this address."""
    asked = request.http_request.query_params.multi_items()
    query = urlencode([(name, value) for name, value in asked if name != DONE])
    return f"{ROOT}{resource.slug}/" + (f"?{query}" if query else "")


def _problems(answer: GraphAnswer, mutation: str) -> Sequence[str]:
    """What the API says is wrong. Raises the error of a change that is not allowed, or that failed."""
    payload = answer.data.get(mutation)
    if payload is not None:
        return [str(each["message"]) for each in payload["userErrors"]]
    for error in answer.errors:
        if error.code != "BAD_USER_INPUT":
            raise_for(error)
    return [error.message for error in answer.errors]


def query_of(
    resource: Resource, filter: Mapping[str, Any], order: str, time_zone: str
) -> Sequence[tuple[str, str]] | None:
    """The query of the address of a list with a filter; None if the list no longer has a field or a value of it."""
    fields = {each.name: each for each in fields_of(list_filter_of(resource.query))}
    query: list[tuple[str, str]] = []
    for name, value in filter.items():
        if value is None:
            continue
        if name not in fields or (texts := _texts(fields[name], value, ZoneInfo(time_zone))) is None:
            return None
        query += [(name, text) for text in texts]
    if order and order not in list_order_of(resource.query).values:
        return None
    return [*query, ("order", order)] if order else query


def _texts(of: InputField, value: Any, zone: ZoneInfo) -> Sequence[str] | None:
    """What is typed for the value of a field; None if the field has no such value."""
    values = value if isinstance(value, list) else [value]
    match of.kind:
        case Kind.TRISTATE | Kind.BOOLEAN:
            return [{True: "1", False: "0"}[value]] if isinstance(value, bool) else None
        case Kind.SELECT | Kind.CHECKBOXES:
            return values if set(values) <= set(of.members) else None
        case Kind.DATETIME:
            day = day_of(of.name, str(value), zone)
            return None if day is None else [day]
    return [str(each) for each in values]
