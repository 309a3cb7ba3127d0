"""The page of one object: its values, what it leads to, and its actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.graph.labels import split
from admin.graph.selections import value_selection, whole_selection
from admin.pages.facts import Part, facts_of, is_technical, parts_of
from admin.pages.next_steps import partner_state
from admin.pages.previews.page import document_url, preview_links
from admin.pages.resolving import OWNER, is_possible, read_object, resource_of
from admin.resources.resource import Action, Child, Report, Resource
from schema.core.errors import NotFound

SHOWN_BUTTONS = 6
"""Actions that are in sight; the others are a click away."""
DONE = "done"
"""The parameter of an address with the action that has led there."""


REFRESH = 3
"""Seconds after which browsers load the page of an object that changes by itself again."""


@dataclass(frozen=True, slots=True)
class ActionButton:
    """A link to an action."""

    label: str
    url: str
    is_dangerous: bool


async def show(request: AdminRequest) -> Response:
    """Show an object; after an action that has left none, such as that of a job which has ended, its list."""
    resource = resource_of(request)
    request.context.require(resource.access)
    owner = value_selection(resource.type, OWNER) if resource.is_read_by_others else ""
    whole = whole_selection(resource.type, titles_of, resource.left_out)
    try:
        values = await read_object(request, resource, f"{whole} {owner}")
    except NotFound:
        if (done := _action_before(request, resource)) is None:
            raise
        return request.redirect(f"{ROOT}{resource.slug}/?{DONE}={done.slug}")
    return await _page(request, resource, values)


async def _page(request: AdminRequest, resource: Resource, values: Mapping[str, Any]) -> Response:
    facts = list(facts_of(resource.type, values, request.reader))
    state = next((fact for fact in facts if fact.cell.kind == "chip" and fact.name in ("state", "status")), None)
    url = url_of(resource, values)
    parts = list(parts_of(resource.type, values, request.reader, url))
    changes = resource.changes_by_itself(values)
    response = request.render(
        "detail.html",
        here=resource.slug,
        resource=resource,
        title=title_of(resource, values, request.reader),
        state=state,
        facts=[
            fact for fact in facts if fact is not state and not is_technical(fact.name) and fact.name != resource.file
        ],
        technical=[fact for fact in facts if is_technical(fact.name)],
        parts=parts,
        row_actions=_row_actions(request, resource, url, parts),
        shown_buttons=SHOWN_BUTTONS,
        buttons=action_buttons(request, resource, resource.actions, url, values),
        reports=[
            *_preview_links(resource, values),
            *report_links(request, resource.reports, url),
            *_related_links(request, resource, values),
        ],
        progress=[values[name] or 0 for name in resource.progress] if changes else [],
        document_url=document_url(resource, values),
        file_url=f"{url}file/" if resource.file and values[resource.file] else "",
        notice=notice_of(request, resource),
        partner_state=await partner_state(request, resource, values),
    )
    if changes:
        response.headers["Refresh"] = str(REFRESH)
    return response


def _preview_links(resource: Resource, values: Mapping[str, Any]) -> list[ActionButton]:
    """The link to the object as customers see it, if they have a page of it."""
    return [ActionButton(named, url, is_dangerous=False) for named, url in preview_links(resource, values)]


def _related_links(request: AdminRequest, resource: Resource, values: Mapping[str, Any]) -> list[ActionButton]:
    """The links to those related lists that the user may see."""
    return [
        ActionButton(each.named, f"{ROOT}{address}", is_dangerous=False)
        for each in resource.related
        if request.may(each.access) and (address := each.url(values))
    ]


def action_buttons(
    request: AdminRequest, resource: Resource, actions: Sequence[Action], url: str, values: Mapping[str, Any]
) -> list[ActionButton]:
    """The links to those actions that are possible, and that the user may do."""
    return [
        ActionButton(resource.action_name(action), f"{url}{action.slug}/", action.is_dangerous)
        for action in actions
        if request.may_change(action.access) and is_possible(request, resource, action, values)
    ]


def report_links(request: AdminRequest, reports: Sequence[Report], url: str) -> list[ActionButton]:
    """The links to those reports that the user may see."""
    return [
        ActionButton(report.named, f"{url}reports/{report.slug}/", is_dangerous=False)
        for report in reports
        if request.may(report.access)
    ]


def _row_actions(
    request: AdminRequest, resource: Resource, url: str, parts: Sequence[Part]
) -> Mapping[str, Sequence[Sequence[ActionButton]]]:
    """The links to the actions of children, row by row, by the field with them; none of children without any."""
    found = dict[str, Sequence[Sequence[ActionButton]]]()
    for part in parts:
        child = next((each for each in resource.children if each.field == part.name), None)
        if child is not None and part.table is not None:
            rows = [
                action_buttons(request, resource, child.actions, child_url(url, child, values), values)
                for _, values in part.table.rows
            ]
            found |= {part.name: rows} if any(rows) else {}
    return found


def child_url(url: str, child: Child, values: Mapping[str, Any]) -> str:
    """The address below which a child has its actions."""
    return f"{url}{'-'.join(split(child.field))}/{values['id']}/"


def notice_of(request: AdminRequest, resource: Resource) -> str:
    """What has just been done, if an action has led here."""
    done = _action_before(request, resource)
    return resource.action_name(done) if done is not None else ""


def _action_before(request: AdminRequest, resource: Resource) -> Action | None:
    return resource.find_any_action(request.http_request.query_params.get(DONE, ""))
