"""Lists: columns, filters and pages, read by the list of the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import list_title, title_of, url_of
from admin.core.values import REFUNDED_ON, Cell, value_at
from admin.forms.choices import choices_of
from admin.forms.typed import INVALID
from admin.graph.execution import GraphAnswer, raise_for
from admin.graph.labels import label_of, value_label
from admin.graph.schema_types import field_at, list_filter_of, list_order_of
from admin.graph.selections import value_selection
from admin.imports.page import import_link
from admin.pages.bulk_actions import MOST, SHEETS, allowed_bulk_actions
from admin.pages.details import DONE, notice_of, report_links
from admin.pages.filters import OF_PAGE, ListFilter, read_filter
from admin.pages.resolving import resource_of
from admin.pages.saved_filters import links_of
from admin.resources.resource import Resource

SIZES, SIZE = ("25", "50", "100"), "size"
"""How many rows a page can have, and the parameter that says it."""
BATCH = 100
"""Rows that the API gives at once."""
NAMES = frozenset({"name", "commercialName", "lastName", "number", "state", "url"})
"""Fields that a column calls what they are of: "Partner", "Fulfilment"."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a list."""

    url: str
    title: str
    cells: Sequence[Cell]
    key: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its path, its label, and whether its values are numbers."""

    path: str
    label: str
    is_number: bool


async def show(request: AdminRequest) -> Response:
    """Show a page of a list."""
    resource = resource_of(request)
    asked = request.http_request.query_params
    filter = read_filter(resource, asked, request)
    order, size = _order(resource, asked), asked.get(SIZE, "")
    size = size if size in SIZES else SIZES[0]
    answer = await _read(request, resource, filter, order, int(size))
    page = answer.data.get(resource.query)
    if page is None and not _problems(answer):
        answer.only(resource.query)
    columns = _columns(request, resource)
    info = page["pageInfo"] if page else {}
    return request.render(
        "list.html",
        200 if page else 400,
        here=resource.slug,
        notice=notice_of(request, resource),
        resource=resource,
        columns=columns,
        name=label_of(resource.type.name),
        rows=[_row(request, resource, columns, row) for row in (page or {}).get("nodes", ())],
        filter=filter,
        filters=filter.fields(await choices_of(request, list_filter_of(resource.query), filter.hidden)),
        import_url=import_link(request, resource.slug),
        bulk=allowed_bulk_actions(request, resource),
        **_controls(resource, order, size),
        list_query=_list_query(request),
        reports=report_links(request, resource.list_reports, f"{ROOT}{resource.slug}/"),
        problems=[*_problems(answer), *filter.hidden_problems(request)],
        newer=_page_url(request, "before", info.get("startCursor")) if info.get("hasPreviousPage") else "",
        older=_page_url(request, "after", info.get("endCursor")) if info.get("hasNextPage") else "",
        saved=await links_of(request, resource),
        export_url=_export_url(request, resource) if request.view is None else "",
        new=[
            (resource.action_name(action), f"{ROOT}{resource.slug}/new/{action.slug}/", action.is_creation)
            for action in resource.new
            if request.may_change(action.access)
        ],
    )


def _controls(resource: Resource, order: str, size: str) -> Mapping[str, object]:
    """What can be chosen for a list: its order, the size of its pages, and what becomes of many of its rows."""
    return {
        "orders": [(name, value_label(name)) for name in list_order_of(resource.query).values],
        "order": order,
        "sizes": SIZES,
        "size": size,
        "most": MOST,
        "print": (SHEETS, resource.sheets) if resource.sheets else None,
    }


def _order(resource: Resource, asked: QueryParams) -> str:
    """The order that an address asks for, by default the first."""
    orders = list_order_of(resource.query).values
    return asked["order"] if asked.get("order") in orders else next(iter(orders))


async def keys_of_list(request: AdminRequest, resource: Resource, asked: QueryParams) -> Sequence[str]:
    """The keys of all rows of a list with a filter and an order; of more than can be changed at once one too many, and of a
    filter that is not valid none.
    """
    filter, found, after = read_filter(resource, asked, request), list[str](), None
    if filter.problems:
        return ()
    document = _document_of(resource, (resource.key,))
    while len(found) <= MOST:
        window = {"filter": filter.variables, "orderBy": _order(resource, asked), "first": BATCH, "after": after}
        page = (await request.run(document, window)).only(resource.query)
        found += [str(row[resource.key]) for row in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        after = page["pageInfo"]["endCursor"]
    return found[: MOST + 1]


async def _read(request: AdminRequest, resource: Resource, filter: ListFilter, order: str, size: int) -> GraphAnswer:
    if filter.problems:
        return GraphAnswer({resource.query: {"nodes": (), "pageInfo": {}}})
    query = request.http_request.query_params
    before = query.get("before")
    window = {"last": size, "before": before} if before else {"first": size, "after": query.get("after") or None}
    return await request.run(_document(resource), {"filter": filter.variables, "orderBy": order, **window})


def _document(resource: Resource) -> str:
    also = (REFUNDED_ON,) if REFUNDED_ON in resource.type.fields else ()
    return _document_of(resource, (resource.key, *resource.title, *resource.columns, *also))


def _document_of(resource: Resource, paths: Sequence[str]) -> str:
    filter, order = list_filter_of(resource.query).name, list_order_of(resource.query).name
    selected = " ".join(value_selection(resource.type, path) for path in dict.fromkeys(paths))
    return (
        f"query($filter: {filter}, $orderBy: {order}!, $first: Int, $after: String, $last: Int, $before: String) {{ "
        f"{resource.query}(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) "
        f"{{ nodes {{ {selected} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"
    )


def _columns(request: AdminRequest, resource: Resource) -> list[Column]:
    """The columns beside that with the names. Users of one partner need no column that names it."""
    named = list_title(resource, request.reader)
    paths = [
        path
        for path in resource.columns
        if path not in named and not (request.is_partner and path.startswith("partner."))
    ]
    return [Column(path, column_label(path), _is_number(resource, path)) for path in paths]


def column_label(path: str) -> str:
    *around, name = path.split(".")
    return label_of(around[-1] if around and name in NAMES else name)


def _is_number(resource: Resource, path: str) -> bool:
    field = field_at(resource.type, path)
    return str(field.type).strip("!") in ("Int", "Decimal", "Money")


def _row(request: AdminRequest, resource: Resource, columns: Sequence[Column], row: Mapping[str, Any]) -> Row:
    cells = [
        request.reader.cell(
            column.path.rsplit(".", 1)[-1], field_at(resource.type, column.path), value_at(row, column.path)
        )
        for column in columns
    ]
    title = title_of(resource, row, request.reader, list_title(resource, request.reader))
    return Row(url_of(resource, row), title, cells, str(row[resource.key]))


def _problems(answer: GraphAnswer) -> list[str]:
    """What is wrong with the filter, in the words of the API. Raises the error of a list that could not be read."""
    told = [str(problem["message"]) for error in answer.errors for problem in error.problems]
    for error in answer.errors:
        if not error.problems and error.code != "BAD_USER_INPUT":
            raise_for(error)
    return told or ([INVALID] if answer.errors else [])


def _export_url(request: AdminRequest, resource: Resource) -> str:
    """The form that exports this list with its filter and its order."""
    query = _list_query(request)
    return f"{ROOT}{resource.slug}/new/export/" + (f"?{query}" if query else "")


def _list_query(request: AdminRequest) -> str:
    """The filter and the order of the address, without the page."""
    asked = request.http_request.query_params.multi_items()
    return urlencode([(name, value) for name, value in asked if name not in OF_PAGE and value])


def _page_url(request: AdminRequest, name: str, cursor: str | None) -> str:
    """The address of the page before or after this one."""
    asked = request.http_request.query_params.multi_items()
    kept = [(key, value) for key, value in asked if key not in ("after", "before", DONE)]
    return f"{request.http_request.url.path}?{urlencode([*kept, (name, cursor or '')])}"
