"""Exports: the form above each list, and the file of one that is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.forms.form_keys import form_key_of, new_form_key
from admin.graph.execution import GraphAnswer
from admin.graph.labels import label_of, translated_label
from admin.graph.schema_types import MONEY, field_at, is_many, list_order_of
from admin.pages.filters import read_filter
from admin.pages.resolving import INT, resource_of
from admin.resources.administration import EXPORTS
from admin.resources.resource import Resource
from funnel.core.messages import N_
from resolvers.core.list_reader import ListColumn
from schema.core.errors import NotFound
from schema.core.permission import Permission

FORMATS = ("CSV", "XLSX")
COLUMN = "column."
"""Begins the names of the boxes of columns."""
WHOLE = {"maskedCode": "code"}
"""What lists show the end of: exports shorten it themselves, unless the whole is asked for."""
FILTER_IS_WRONG = N_("The filter of the list is not valid. Correct it there first.")
CREATE = """
    mutation($input: CreateExportInput!) { createExport(input: $input) { export { id } userErrors { field code message } } }
"""


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """A column that can be exported."""

    path: str
    label: str
    is_checked: bool


async def show(request: AdminRequest) -> Response:
    """Show the form of an export of a list, with the filter and the order of the address."""
    resource = resource_of(request)
    request.context.require(resource.access)
    return _form(request, resource)


async def submit(request: AdminRequest) -> Response:
    """Ask for an export: lead to its page."""
    resource = resource_of(request)
    request.context.require(resource.access)
    filter = read_filter(resource, request.http_request.query_params, request)
    if filter.problems:
        return _form(request, resource, 400, [request.translate(FILTER_IS_WRONG)])
    form = request.form
    answer = await request.run(CREATE, {"input": _input(request, resource, filter.variables)}, key=form_key_of(form))
    payload = answer.data.get("createExport") or {}
    if problems := _problems(answer, payload):
        return _form(request, resource, 400, problems)
    return request.redirect(f"{ROOT}{EXPORTS.slug}/{payload['export']['id']}/")


async def download(request: AdminRequest) -> Response:
    """Lead to the file of an export."""
    key = request.http_request.path_params["key"]
    if not INT.fullmatch(key) or int(key) >= 2**31:
        raise NotFound(thing="page")
    export = (await request.run("query($id: Int!) { export(id: $id) { url } }", {"id": int(key)})).only("export")
    if export is None or export["url"] is None:
        raise NotFound(thing="page")
    return request.redirect(export["url"])


def _input(request: AdminRequest, resource: Resource, filter: Mapping[str, Any]) -> Mapping[str, Any]:
    form, orders = request.form, list_order_of(resource.query).values
    columns = [each for each in _choices(request, resource) if form.get(f"{COLUMN}{each.path}")]
    order = request.http_request.query_params.get("order", "")
    return {
        "list": resource.query,
        "filter": dict(filter),
        "orderBy": order if order in orders else None,
        "format": form.get("format", ""),
        "columns": [{"field": each.path, "header": _title(request, each.label)} for each in columns],
        "language": request.language,
        "includeCodes": form.get("includeCodes") == "1",
    }


def _title(request: AdminRequest, label: str) -> str:
    """A label in the language of the page."""
    return translated_label(request.translate, label, request.reader.formats.colon)


def _problems(answer: GraphAnswer, payload: Mapping[str, Any]) -> Sequence[str]:
    """What the API says is wrong. Raises the error of an export that is not allowed, or that failed."""
    errors = [str(each["message"]) for each in payload.get("userErrors", ())]
    if errors:
        return errors
    invalid = [error.message for error in answer.errors if error.code == "BAD_USER_INPUT"]
    if not invalid:
        answer.only("createExport")
    return invalid


def _form(request: AdminRequest, resource: Resource, status: int = 200, problems: Sequence[str] = ()) -> Response:
    asked = request.http_request.query_params
    list_query = [(name, value) for name, value in asked.multi_items() if name not in ("after", "before")]
    return request.render(
        "export.html",
        status,
        here=resource.slug,
        resource=resource,
        is_filtered=read_filter(resource, asked, request).is_set,
        list_query=list_query,
        formats=FORMATS,
        chosen_format=request.form.get("format", FORMATS[0]),
        columns=_choices(request, resource),
        has_codes=_code_permission(request, resource) is not None,
        key=new_form_key(),
        problems=problems,
    )


def _choices(request: AdminRequest, resource: Resource) -> Sequence[ColumnChoice]:
    """The columns of the list and its names, which are checked, then all others that its rows have themselves."""
    listed = dict.fromkeys(WHOLE.get(path, path) for path in (*resource.title, *resource.columns))
    visible = [path for path in listed if not (request.is_partner and path.startswith("partner."))]
    paths = dict.fromkeys(part for path in visible for part in _parts(resource, path))
    own = [
        each.path
        for each in request.services.lists.columns(resource.query)
        if _is_offered(request, each) and each.path not in WHOLE
    ]
    form = request.form
    is_new = not any(name.startswith(COLUMN) for name in form)
    return [
        ColumnChoice(path, _label(path), path in paths if is_new else f"{COLUMN}{path}" in form)
        for path in dict.fromkeys((*paths, *own))
    ]


def _parts(resource: Resource, path: str) -> Sequence[str]:
    """An amount is two columns, so that spreadsheets can add it up."""
    field = field_at(resource.type, path)
    is_amount = str(field.type).strip("!") == MONEY and not is_many(field.type)
    return [f"{path}.amount", f"{path}.currency"] if is_amount else [path]


def _is_offered(request: AdminRequest, column: ListColumn) -> bool:
    """Addresses of codes are of no use without the permission to have codes."""
    return not column.is_code_address or (column.code_permission is not None and request.may(column.code_permission))


def _code_permission(request: AdminRequest, resource: Resource) -> Permission | None:
    """The permission with which the user may have the codes of a list; None if there are none, or the user lacks it."""
    columns = request.services.lists.columns(resource.query)
    needed = (each.code_permission for each in columns if each.code_permission is not None)
    return next((permission for permission in needed if request.may(permission)), None)


def _label(path: str) -> str:
    return ": ".join(label_of(name) for name in path.split("."))
