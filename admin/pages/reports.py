"""Reports: what a query answers about an object or a period, for the arguments that are typed in the address."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from graphql import GraphQLObjectType, get_named_type
from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.core.values import value_at
from admin.forms.form_fields import FormBuilder
from admin.forms.kinds import argument_fields
from admin.forms.typed import INVALID, OMITTED, Typed
from admin.graph.execution import GraphAnswer, raise_for
from admin.graph.schema_types import is_many, queries
from admin.graph.selections import value_selection, whole_selection
from admin.pages.facts import Part, facts_of, is_technical, parts_of, table_of_objects
from admin.pages.resolving import read_object, resource_of
from admin.resources.resource import Report, Resource
from schema.core.errors import NotFound

TENANTS = frozenset({"partnerUuid", "partnerId", "marketplaceId"})
TECHNICAL = frozenset({"productCount"})
"""Arguments that only programs choose."""


async def show(request: AdminRequest) -> Response:
    """Show a report, or the form for its arguments as long as one is missing."""
    resource = resource_of(request)
    report = _find(request, resource)
    request.context.require(report.access)
    values = await _object(request, resource, report)
    fixed = {name: value_at(values, path) for name, path in report.bound.items()}
    asked = request.http_request.query_params
    form = dict(asked) or _this_month(request, report)
    typed = Typed(form, request.reader.time_zone)
    fields = [
        each
        for each in argument_fields(report.query)
        if each.name not in {*fixed, *_tenant_arguments(request, fixed), *TECHNICAL}
    ]
    variables = fixed | {each.name: value for each in fields if (value := typed.read_one(each)) is not OMITTED}
    is_complete = not typed.problems
    answer = await _run(request, report, variables) if is_complete else GraphAnswer({})
    problems = {} if is_complete and not answer.errors else _problems(typed, answer, is_sent=bool(asked))
    builder = FormBuilder(form, problems, has_defaults=not asked)
    return request.render(
        "report.html",
        400 if problems else 200,
        here=resource.slug,
        label=report.named,
        fields=[builder.field(each, each.name) for each in fields],
        back=url_of(resource, values) if values else f"{ROOT}{resource.slug}/",
        title=title_of(resource, values, request.reader) if values else request.translate(resource.label),
        problems=[text for name, text in problems.items() if name not in {each.name for each in fields}],
        **_result(request, report, answer),
    )


def _this_month(request: AdminRequest, report: Report) -> dict[str, str]:
    """The period that a report begins with, if it has one: the present month until today."""
    if not {"from", "to"} <= queries()[report.query].args.keys():
        return {}
    today = request.services.clock.now().astimezone(ZoneInfo(request.reader.time_zone)).date()
    return {"from": today.replace(day=1).isoformat(), "to": today.isoformat()}


def _find(request: AdminRequest, resource: Resource) -> Report:
    path = request.http_request.path_params
    reports = resource.reports if "key" in path else resource.list_reports
    found = next((it for it in reports if it.slug == path["report"]), None)
    if found is None:
        raise NotFound(thing="page")
    return found


async def _object(request: AdminRequest, resource: Resource, report: Report) -> Mapping[str, Any]:
    """The object that the report is about; nothing above a list."""
    if "key" not in request.http_request.path_params:
        return {}
    paths = dict.fromkeys((resource.key, *resource.title, *report.bound.values()))
    return await read_object(request, resource, " ".join(value_selection(resource.type, path) for path in paths))


def _tenant_arguments(request: AdminRequest, fixed: Mapping[str, Any]) -> frozenset[str]:
    """The arguments that have only one possible value."""
    return TENANTS if request.is_partner or TENANTS & fixed.keys() else frozenset()


async def _run(request: AdminRequest, report: Report, variables: Mapping[str, Any]) -> GraphAnswer:
    field = queries()[report.query]
    declared = ", ".join(f"${name}: {field.args[name].type}" for name in variables)
    given = ", ".join(f"{name}: ${name}" for name in variables)
    kind = get_named_type(field.type)
    selected = f" {{ {whole_selection(kind, titles_of, level=-1)} }}" if isinstance(kind, GraphQLObjectType) else ""
    head, arguments = (f"query({declared})", f"({given})") if variables else ("query", "")
    return await request.run(f"{head} {{ {report.query}{arguments}{selected} }}", variables)


def _problems(typed: Typed, answer: GraphAnswer, *, is_sent: bool) -> dict[str, str]:
    """What is wrong with the arguments; nothing as long as the form was not sent."""
    found = dict(reversed(typed.problems))
    for error in answer.errors:
        if not error.problems and error.code != "BAD_USER_INPUT":
            raise_for(error)
        for problem in error.problems:
            found[".".join(problem["field"])] = problem["message"]
        if not error.problems:
            found[""] = INVALID
    return found if is_sent else {}


def _result(request: AdminRequest, report: Report, answer: GraphAnswer) -> dict[str, Any]:
    field, value = queries()[report.query], answer.data.get(report.query)
    kind = get_named_type(field.type)
    result: dict[str, Any] = {"facts": (), "parts": (), "is_empty": bool(answer.data) and not value}
    if not isinstance(kind, GraphQLObjectType) or not value:
        return result
    if is_many(field.type):
        table = table_of_objects(kind, value, request.reader)
        return result | {"parts": [Part("", report.named, table=table)]}
    facts, parts = facts_of(kind, value, request.reader), parts_of(kind, value, request.reader, is_report=True)
    return result | {"facts": [fact for fact in facts if not is_technical(fact.name)], "parts": list(parts)}
