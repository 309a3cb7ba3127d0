"""What a form does before it is sent: another row, a search among the choices, a new picture, other languages in sight."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from graphql import GraphQLInputObjectType
from starlette.datastructures import UploadFile
from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.forms.form_fields import SEARCH, SEARCHED, UPLOAD
from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.language_switch import BESIDE, BESIDE_COOKIE, BESIDE_SECONDS, chosen_language
from admin.forms.typed import COUNT, YES, count_of
from admin.graph.execution import run
from admin.graph.schema_types import access_of, input_of, mutations
from admin.pages.changes import Change

ADD, FIND, DO = "_add", "_find", "_do"
"""Fields of the form itself: the list that gets another row, the reference that is searched, the button that sends it."""
CREATE = "createMedia"
LONGEST_NAME = 200
OWN_PARTNER = ""
"""Stands for the partner of the user."""


def is_only_a_step(form: dict[str, str]) -> bool:
    """Whether the form is only shown again. It gets another row if that is asked for.

    The Enter key in a search sends the form without a button: it searches.
    """
    if (name := form.get(ADD)) is not None:
        form[f"{name}.{COUNT}"] = str(count_of(form, name) + 1)
        return True
    searched = {key.removeprefix(SEARCHED): text for key, text in form.items() if key.startswith(SEARCHED)}
    has_typed_search = any(form.get(SEARCH + name, "") != text for name, text in searched.items())
    return FIND in form or (DO not in form and has_typed_search)


def searches_in(form: Mapping[str, str]) -> Mapping[str, str]:
    """What is searched, by the name of the reference without the names around it."""
    return {
        key.rpartition(".")[2]: text.strip() for key, text in form.items() if key.startswith(SEARCH) and text.strip()
    }


def upload_partner(request: AdminRequest, change: Change, form: Mapping[str, str]) -> str | None:
    """The partner of a new picture: of the object, or as it is typed; None if it is unknown or may have no pictures."""
    if not request.may(access_of(mutations()[CREATE])):
        return None
    if request.is_partner:
        return OWN_PARTNER
    return change.partner_uuid or form.get("partnerUuid") or None


async def upload_pictures(
    request: AdminRequest, change: Change, form: dict[str, str], key: str | None
) -> dict[str, str]:
    """Make pictures of the files beside references, and choose them. Returns what is wrong, by the names of the fields.

    With the key of the form a picture is made once, however often the form is sent.
    """
    problems: dict[str, str] = {}
    partner = upload_partner(request, change, form)
    for name in [name.removeprefix(UPLOAD) for name in request.files if name.startswith(UPLOAD)]:
        of = _field_at(input_of(change.action.mutation), name)
        if of is None or partner is None:
            continue
        made = await _create(request, partner, request.files[UPLOAD + name], of.key, key and f"{key}{name}")
        if isinstance(made, str):
            problems[name] = made
        elif of.kind is Kind.REFERENCES:
            form[f"{name}.{made[of.key]}"] = YES
        else:
            form[name] = urlsplit(str(made[of.key])).path
    return problems


async def _create(
    request: AdminRequest, partner: str, file: UploadFile, selected: str, key: str | None
) -> Mapping[str, Any] | str:
    """The new picture; the message of what is wrong with it."""
    name = PurePath(file.filename or "").stem[:LONGEST_NAME] or CREATE
    media: dict[str, Any] = {"file": file, "name": name} | ({"partnerUuid": partner} if partner else {})
    document = (
        f"mutation($input: {input_of(CREATE).name}!) "
        f"{{ {CREATE}(input: $input) {{ media {{ {selected} }} userErrors {{ field code message }} }} }}"
    )
    digest = hashlib.sha256(key.encode()).hexdigest() if key else None
    own = replace(request.context)  # a context keeps the response of its key, which is none of the form's
    answer = await run(own, document, {"input": media}, key=digest)
    problems = [problem for error in answer.errors for problem in error.problems]
    payload = answer.data.get(CREATE) or ({} if problems else answer.only(CREATE))
    messages = [str(each["message"]) for each in (*payload.get("userErrors", ()), *problems)]
    if messages:
        return messages[0]
    picture: Mapping[str, Any] = payload["media"]
    return picture


def _field_at(kind: GraphQLInputObjectType, name: str) -> InputField | None:
    """The reference to pictures at a path such as `rows.0.imageIds`; None if there is none."""
    first, _, rest = name.partition(".")
    of = next((each for each in fields_of(kind) if each.name == first), None)
    if of is None or (rest and of.kind not in (Kind.GROUP, Kind.ROWS)):
        return None
    if rest:
        return _field_at(of.input, rest.partition(".")[2] if of.kind is Kind.ROWS else rest)
    is_picture = of.target is not None and of.target.type.name == "Media"
    return of if is_picture and of.kind in (Kind.REFERENCE, Kind.REFERENCES) else None


def chosen_beside(request: AdminRequest, form: Mapping[str, str]) -> str:
    """The language beside the main one: as it was sent, else as it was last."""
    of_cookie = request.cookies.read(request.http_request, BESIDE_COOKIE)
    return chosen_language(form.get(BESIDE, "")) or chosen_language(of_cookie)


def remember_language(request: AdminRequest, form: Mapping[str, str], response: Response) -> Response:
    """Store the language that was sent for the next form."""
    if chosen := chosen_language(form.get(BESIDE, "")):
        request.cookies.set(response, BESIDE_COOKIE, chosen, BESIDE_SECONDS)
    return response
