"""The form of a change, and sending it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from graphql import GraphQLObjectType, get_named_type
from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.forms.choices import Lists, pickers_of
from admin.forms.form_fields import FormBuilder, wrong_fields
from admin.forms.form_keys import KEY, form_key_of, new_form_key
from admin.forms.language_switch import BESIDE, language_switch
from admin.forms.layout import sections_of
from admin.forms.typed import INVALID, Typed, without_removed_rows
from admin.graph.execution import REFUSALS, GraphAnswer, raise_for
from admin.graph.schema_types import input_of, is_many, result_of
from admin.graph.selections import whole_selection
from admin.pages.changes import TENANTS, Change, find_change
from admin.pages.confirmations import facts_of_change
from admin.pages.details import DONE
from admin.pages.facts import facts_of, parts_of
from admin.pages.form_steps import (
    chosen_beside,
    is_only_a_step,
    remember_language,
    searches_in,
    upload_partner,
    upload_pictures,
)
from admin.pages.previews.page import FRAME_SLUG
from admin.pages.previews.page import LANGUAGE as PREVIEW_LANGUAGE
from admin.pages.previews.requests import WITH_FRAMES
from admin.pages.printed import WITH_PICTURE, picture_of
from admin.resources.registry import resources_by_type
from schema.core.errors import MalformedBody
from schema.graph.errors import BAD_USER_INPUT

BEFORE = "_before"
"""The field of the form with the values that it began with."""
LOOK_PART = "look"
"""The form beside which the shop is shown with what is typed."""
SHOWN_ONCE = "secret"
"""The field of a result that is null when a form is sent again: it was shown after the first time."""
OPEN = frozenset({"OUTCOME_UNKNOWN", "IDEMPOTENCY_IN_PROGRESS"})
"""Errors after which a change may have been made, or is being made."""


@dataclass(frozen=True, slots=True)
class FormRefusal:
    """What is wrong with a form: by field, and as a whole."""

    by_field: Mapping[str, str]
    others: Sequence[str] = ()
    is_open: bool = False
    """Whether the change may have been made: the form keeps its key, so that it is never made twice."""


async def show(request: AdminRequest) -> Response:
    """Show the form of a change with the present values."""
    change = await find_change(request)
    return await _form(request, change, _first_values(request, change), has_defaults=True)


def _first_values(request: AdminRequest, change: Change) -> dict[str, str]:
    """What the form begins with: the present values, or for something new what links of the back office name of it. Anybody
    can make another address.
    """
    if change.object is not None:
        return change.present_values(request)
    names = input_of(change.action.mutation).fields.keys() & {*TENANTS, *change.action.link_fields}
    return {name: value for name, value in request.http_request.query_params.items() if name in names}


async def submit(request: AdminRequest) -> Response:
    """Make a change: lead to what has changed, or show what came of it. A refused form is shown again."""
    change = await find_change(request)
    form = without_removed_rows(request.form)
    problems = await upload_pictures(request, change, form, form_key_of(form))
    if problems or is_only_a_step(form):
        refusal = FormRefusal(problems)
        return await _form(request, change, form, refusal, status=400 if problems else 200, before=_before(form))
    before = _before(form) if change.action.is_update else None
    typed = Typed(form, request.reader.time_zone, before, request.files)
    as_read = {name: form[name] for name in change.action.as_read if form.get(name)}
    variables = typed.read(input_of(change.action.mutation), {**change.fixed, **as_read})
    if typed.problems:
        refusal = FormRefusal(dict(reversed(typed.problems)))
        return await _form(request, change, form, refusal, status=400, before=_before(form))
    answer = await request.run(_document(change), {"input": variables}, key=form_key_of(form))
    payload = answer.data.get(change.action.mutation) or {}
    if (refused := refusal_of(answer, payload)) is not None:
        return await _form(request, change, form, refused, status=400, before=_before(form))
    return remember_language(request, form, await _outcome(request, change, payload))


def _before(form: Mapping[str, str]) -> dict[str, str]:
    try:
        values = orjson.loads(form.get(BEFORE) or b"{}")
    except orjson.JSONDecodeError as error:
        raise MalformedBody(reason="it was changed on its way") from error
    if not isinstance(values, dict):
        raise MalformedBody(reason="it was changed on its way")
    return {str(name): str(value) for name, value in values.items()}


async def _form(
    request: AdminRequest,
    change: Change,
    form: Mapping[str, str],
    refusal: FormRefusal = FormRefusal({}),
    *,
    status: int = 200,
    before: Mapping[str, str] | None = None,
    has_defaults: bool = False,
) -> Response:
    kind, hidden = input_of(change.action.mutation), change.hidden_fields(request)
    lists = Lists(form, searches_in(form), change.partner_uuid, upload_partner(request, change, form) is not None)
    pickers = await pickers_of(request, kind, hidden, lists)
    main, countries = change.language or request.language, request.reader.formats.countries()
    fields = FormBuilder(form, refusal.by_field, {}, has_defaults, pickers, main, countries).build(kind, hidden)
    names = set(_names(fields))
    title = title_of(change.resource, change.object, request.reader) if change.object is not None else ""
    preview_url = f"{change.back_url}{FRAME_SLUG}/" if change.action.part == LOOK_PART else ""
    response = request.render(
        "form.html",
        status,
        here=change.resource.slug,
        resource=change.resource,
        change=change,
        label=change.resource.action_name(change.action),
        title=title,
        facts=await facts_of_change(request, change),
        sections=sections_of(kind.name, fields),
        wrong=list(wrong_fields(fields)),
        switch=language_switch(fields, main, chosen_beside(request, form)),
        beside=BESIDE,
        preview_url=preview_url,
        preview_language=form.get(PREVIEW_LANGUAGE) or main,
        before=orjson.dumps(dict(before if before is not None else form)).decode(),
        key=form.get(KEY) if refusal.is_open else new_form_key(),
        problems=[*refusal.others, *(text for name, text in refusal.by_field.items() if name not in names)],
    )
    if preview_url:
        response.headers["Content-Security-Policy"] = WITH_FRAMES
    return remember_language(request, form, response)


def _names(fields: Sequence[Any]) -> Sequence[str]:
    found: list[str] = []
    for each in fields:
        found += [each.name, *_names(each.children), *(name for row in each.rows for name in _names(row))]
    return found


def _document(change: Change) -> str:
    mutation = change.action.mutation
    result = result_of(mutation)
    selected = ""
    if result is not None:
        name, kind = result
        selected = name
        if isinstance(kind, GraphQLObjectType):
            resource = resources_by_type().get(kind.name)
            selected += f" {{ {resource.key if resource else whole_selection(kind, titles_of)} }}"
    return (
        f"mutation($input: {input_of(mutation).name}!) "
        f"{{ {mutation}(input: $input) {{ {selected} userErrors {{ field code message }} }} }}"
    )


def refusal_of(answer: GraphAnswer, payload: Mapping[str, Any]) -> FormRefusal | None:
    """What the API says is wrong; None if nothing. Raises the error of a change that is not allowed, or that failed."""
    told = [*payload.get("userErrors", ()), *(problem for error in answer.errors for problem in error.problems)]
    if told:
        by_field = {".".join(each["field"]): each["message"] for each in reversed(told) if each["field"]}
        return FormRefusal(by_field, [each["message"] for each in told if not each["field"]])
    if answer.errors and not payload:
        error = answer.errors[0]
        if error.code == "INTERNAL_ERROR" or error.code in REFUSALS:
            raise_for(error)
        told = [each.message if each.code != BAD_USER_INPUT else INVALID for each in answer.errors]
        return FormRefusal({}, told, is_open=error.code in OPEN)
    return None


async def _outcome(request: AdminRequest, change: Change, payload: Mapping[str, Any]) -> Response:
    """Lead to what has changed. What exists only in the answer, such as a new secret, is shown at once."""
    if change.action.leads_home:
        return request.redirect(ROOT)
    done = f"?{DONE}={change.action.slug}"
    result = result_of(change.action.mutation)
    if result is None:
        return request.redirect(f"{ROOT}{change.resource.slug}/{done}")
    name, kind = result
    value = payload.get(name)
    resource = resources_by_type().get(kind.name)
    may_see = resource is not None and request.may(resource.access)
    if resource is not None and may_see and isinstance(value, dict):
        return request.redirect(url_of(resource, value) + done)
    if resource is not None and may_see:
        return request.redirect(f"{ROOT}{resource.slug}/{done}")
    if kind in _embedded_types(change.resource.type):
        return request.redirect(change.back_url + done)
    facts, parts = [], []
    if isinstance(kind, GraphQLObjectType) and isinstance(value, dict):
        facts = list(facts_of(kind, value, request.reader))
        parts = list(parts_of(kind, value, request.reader))
    picture = await picture_of(request, value)
    response = request.render(
        "result.html",
        here=change.resource.slug,
        change=change,
        label=change.resource.action_name(change.action),
        facts=facts,
        parts=parts,
        picture=picture,
        value=value if not facts and not parts else None,
        is_secret_over=isinstance(value, dict) and value.get(SHOWN_ONCE, "") is None,
    )
    if picture:
        response.headers["Content-Security-Policy"] = WITH_PICTURE
    return response


def _embedded_types(kind: GraphQLObjectType) -> set[Any]:
    """The types of the lists on the page of an object."""
    return {get_named_type(field.type) for field in kind.fields.values() if is_many(field.type)}
