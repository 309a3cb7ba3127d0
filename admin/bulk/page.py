"""Bulk actions: the form of what is common to the chosen objects of a list, a preview of what will change, the result."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import QueryParams
from starlette.responses import Response

from admin.bulk.basis import FIELD as BASIS
from admin.bulk.basis import basis_of, read_basis
from admin.bulk.objects import BulkObjects, ObjectOutcome, read_objects
from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.forms.choices import choices_of
from admin.forms.form_fields import FormBuilder
from admin.forms.form_keys import new_form_key, required_form_key_of
from admin.forms.typed import YES, Typed
from admin.pages.bulk_actions import MOST, SHEETS, BulkAction, bulk_actions
from admin.pages.lists import keys_of_list
from admin.pages.resolving import resource_of
from admin.sales import packing_slips
from funnel.core.messages import N_
from schema.core.errors import NotFound

MOST_LISTED = 100
"""Objects that a page lists one by one. What is left out or refused comes first, and is all listed."""
KEYS, STEP, CONSENT = "_keys", "_step", "_consent"
"""Fields of the form itself: the chosen objects, what the button does, the explicit confirmation."""
ALL, WHOLE_LIST, LIST_QUERY = "all", "list", "_list"
"""What a list sends to choose all rows of its page or all with its filter, and that filter."""
CONFIRM = "confirm"
KEY = re.compile(r"[\w-]{1,40}", re.ASCII)
NOTHING_CHOSEN = N_("Choose at least one row of the list.")
NO_ACTION = N_("Choose what to do with them.")
TOO_MANY = N_("At most 500 can be changed at once. Filter the list, and do it in parts.")
NOTHING_SET = N_("Fill this in.")


async def choose(request: AdminRequest) -> Response:
    """Show the form for the objects that were chosen in a list; without fields the preview at once."""
    resource, action = resource_of(request), request.form.get("action")
    request.context.require(resource.access)
    if not action:
        return _problem(request, NO_ACTION)
    prints = bool(resource.sheets) and action == SHEETS
    bulk = None if prints else _find(request, action)
    keys = await _chosen(request)
    if (problem := _wrong_number(request, keys)) is not None:
        return problem
    if bulk is None and len(keys) > packing_slips.MOST:
        return _problem(request, packing_slips.TOO_MANY)
    if bulk is None:
        return await packing_slips.show(request, keys, _list_url(request))
    objects = await read_objects(request, bulk, keys)
    if not bulk.shown:
        return _preview(request, objects, await objects.preview({}), {})
    return await _form(request, objects, {}, {}, has_defaults=True)


async def submit(request: AdminRequest) -> Response:
    """Show what will change, or change it. A form that is refused for all objects is shown again."""
    bulk, form = _find(request, request.http_request.path_params["action"]), request.form
    keys = list(dict.fromkeys(form.get(KEYS, "").split()))
    if (problem := _wrong_number(request, keys)) is not None:
        return problem
    objects = await read_objects(request, bulk, keys)
    values = {name: value for name, value in form.items() if name.partition(".")[0] in bulk.shown}
    typed = Typed(values, request.reader.time_zone)
    variables = typed.read(bulk.input, dict.fromkeys(bulk.hidden))
    variables = {name: value for name, value in variables.items() if name not in bulk.hidden}
    problems = dict(reversed(typed.problems))
    if bulk.action.is_update and not variables and not problems:
        problems = {bulk.shown[0]: NOTHING_SET}
    if problems:
        return await _form(request, objects, values, problems)
    if form.get(STEP) != CONFIRM:
        outcomes = await objects.preview(variables)
        if all(set(bulk.shown) & each.by_field.keys() for each in outcomes):
            return await _form(request, objects, values, outcomes[0].by_field)
        return _preview(request, objects, outcomes, values)
    if bulk.needs_consent and form.get(CONSENT) != YES:
        return _preview(request, objects, await objects.preview(variables), values, needs_tick=True)
    form_key, basis = required_form_key_of(form), read_basis(form)
    return _result(request, objects, await objects.change(variables, form_key, basis), values)


async def lead_back(request: AdminRequest) -> Response:
    """Lead to the list: the pages of a bulk action are answers to forms."""
    return request.redirect(f"{ROOT}{resource_of(request).slug}/")


def _find(request: AdminRequest, slug: str) -> BulkAction:
    """The bulk action that an address names. Raises NotFound, and Forbidden without the permission."""
    resource = resource_of(request)
    found = next((it for it in bulk_actions(resource) if it.action.slug == slug), None)
    if found is None:
        raise NotFound(thing="page")
    request.context.require(resource.access)
    request.context.require(found.action.access)
    return found


async def _chosen(request: AdminRequest) -> Sequence[str]:
    """The keys of the chosen rows: those that are ticked, all of the page, or all with the filter of the list."""
    form, every = request.form, request.form.get(ALL)  # the last of two ticks, which says more
    if every == WHOLE_LIST:
        return await keys_of_list(request, resource_of(request), QueryParams(form.get(LIST_QUERY, "")))
    page = form.get("page", "").split() if every == YES else []
    ticked = [] if request.uploads is None else [key for key in request.uploads.getlist("id") if isinstance(key, str)]
    return list(dict.fromkeys((*ticked, *page)))


def _list_query(request: AdminRequest) -> str:
    """The filter of the list that the objects were chosen in."""
    return urlencode(parse_qsl(request.form.get(LIST_QUERY, "")))


def _list_url(request: AdminRequest) -> str:
    """The address of that list."""
    query = _list_query(request)
    return f"{ROOT}{resource_of(request).slug}/" + (f"?{query}" if query else "")


def _wrong_number(request: AdminRequest, keys: Sequence[str]) -> Response | None:
    """The page that says that too few or too many objects were chosen; None if neither. Raises NotFound for no key."""
    if not keys:
        return _problem(request, NOTHING_CHOSEN)
    if len(keys) > MOST:
        return _problem(request, TOO_MANY)
    if not all(KEY.fullmatch(key) for key in keys):
        raise NotFound(thing="page")
    return None


def _problem(request: AdminRequest, problem: str) -> Response:
    resource = resource_of(request)
    return request.render(
        "bulk.html",
        400,
        here=resource.slug,
        resource=resource,
        label=resource.label,
        back=_list_url(request),
        mode="problem",
        problems=[problem],
    )


async def _form(
    request: AdminRequest,
    objects: BulkObjects,
    values: Mapping[str, str],
    problems: Mapping[str, str],
    *,
    has_defaults: bool = False,
) -> Response:
    bulk = objects.bulk
    choices = await choices_of(request, bulk.input, bulk.hidden)
    fields = FormBuilder(values, problems, choices, has_defaults).build(bulk.input, bulk.hidden)
    if bulk.action.is_update:  # what they say of an empty field is not so here
        fields = [replace(each, help="") for each in fields]
    names = {each.name for each in fields}
    return _render(
        request,
        objects,
        "form",
        400 if problems else 200,
        fields=fields,
        **_outcome_lists(objects.names()),
        problems=[text for name, text in problems.items() if name.partition(".")[0] not in names],
    )


def _preview(
    request: AdminRequest,
    objects: BulkObjects,
    outcomes: Sequence[ObjectOutcome],
    values: Mapping[str, str],
    *,
    needs_tick: bool = False,
) -> Response:
    possible = [each for each in outcomes if not each.problem]
    return _render(
        request,
        objects,
        "preview",
        400 if needs_tick else 200,
        **_outcome_lists(outcomes),
        possible=possible,
        sums=objects.sums(possible),
        basis=basis_of(possible),
        values=values,
        key=new_form_key(),
        problems=[N_("Confirm it with the box above the button.")] if needs_tick else [],
    )


def _result(
    request: AdminRequest, objects: BulkObjects, outcomes: Sequence[ObjectOutcome], values: Mapping[str, str]
) -> Response:
    done = [each for each in outcomes if not each.problem]
    return _render(
        request,
        objects,
        "result",
        200,
        **_outcome_lists(outcomes),
        possible=done,
        sums=objects.sums(done),
        rest=list(objects.by_key)[len(outcomes) :],
        basis=request.form.get(BASIS, ""),
        values=values,
        key=required_form_key_of(request.form),
    )


def _outcome_lists(outcomes: Sequence[ObjectOutcome]) -> Mapping[str, object]:
    """The objects that a page lists, and how many it does not."""
    problems = [each for each in outcomes if each.problem]
    others = [each for each in outcomes if not each.problem]
    listed = outcomes if len(outcomes) <= MOST_LISTED else [*problems, *others[: max(MOST_LISTED - len(problems), 0)]]
    return {"outcomes": outcomes, "listed": listed}


def _render(request: AdminRequest, objects: BulkObjects, mode: str, status: int, **values: object) -> Response:
    bulk = objects.bulk
    return request.render(
        "bulk.html",
        status,
        **{
            "here": bulk.resource.slug,
            "resource": bulk.resource,
            "bulk": bulk,
            "label": bulk.label,
            "back": _list_url(request),
            "list_query": _list_query(request),
            "url": f"{ROOT}{bulk.resource.slug}/bulk/{bulk.action.slug}/",
            "keys": " ".join(objects.by_key),
            "mode": mode,
            "problems": [],
            "sums": (),
        }
        | values,
    )
