"""Holds the answers of the REST interface to its description: status, headers, media type and body, with formats checked."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import jsonschema_rs

from rest_compat.http.paths import PathTable
from rest_compat.http.route import DEFAULT_SERVICE, RestRoute
from rest_compat.openapi.document import openapi_document
from rest_compat.openapi.reference import ReferenceOf, reference_of
from rest_compat.router import endpoint
from rest_compat.routes import ROUTES, groups_of_service

GROUPS = groups_of_service(DEFAULT_SERVICE)
PLAIN = frozenset({"content-type", "content-length", "vary"})
"""Headers that say nothing of ours."""


async def no_context(_: Any) -> Any:
    """Nothing is asked."""
    raise AssertionError


def described(groups: Mapping[str, Sequence[RestRoute]], words: ReferenceOf = reference_of) -> Any:
    """The document of some routes."""
    return openapi_document(
        {group: [(r, endpoint(r, no_context)) for r in routes] for group, routes in groups.items()}, words
    )


@functools.cache
def description() -> Any:
    """The description of the REST interface."""
    return described(GROUPS)


@functools.cache
def table() -> PathTable[RestRoute]:
    """The routes by path."""
    return PathTable((route.verbs, route.path, route) for route in ROUTES)


def resolved(part: Any) -> Any:
    """A part of the description, found where it is a reference."""
    if "$ref" not in part:
        return part
    return functools.reduce(lambda found, step: found[step], part["$ref"].split("/")[1:], description())


@functools.cache
def checker(path: str, verb: str, status: str, kind: str) -> jsonschema_rs.Draft202012Validator:
    """What checks the bodies of one answer."""
    told = resolved(description()["paths"][path][verb]["responses"][status])
    schema = {**told["content"][kind]["schema"], "components": description()["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


async def as_described(response: httpx.Response) -> None:
    """Refuse an answer of the REST interface that is not as its description says: for `event_hooks` of a client."""
    method, found = response.request.method, table().find(response.request.url.path)
    if found is None or method not in found[0]:
        return  # no operation
    path, verb = found[0][method].path, "get" if method == "HEAD" else method.lower()
    named = f"{method} {path} answered {response.status_code}"
    told = description()["paths"][path][verb]["responses"].get(str(response.status_code))
    assert told is not None, f"{named}, of which its description says nothing: {await response.aread()!r}"
    told = resolved(told)
    headers = {name.lower(): resolved(header) for name, header in told["headers"].items()}
    unknown = set(response.headers) - set(headers) - PLAIN
    assert not unknown, f"{named} with headers of which its description says nothing: {', '.join(sorted(unknown))}"
    for name, header in headers.items():
        value = response.headers.get(name)
        assert value is not None or not header.get("required"), f"{named} without the header {name}"
        if value is not None:
            schema = header["schema"]
            sent = int(value) if schema["type"] == "integer" else value
            assert jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid(sent), (
                named,
                name,
                value,
            )
    kind = response.headers["content-type"]
    assert kind in told["content"], f"{named} as {kind}"
    if method != "HEAD" and kind.endswith("json"):
        await response.aread()
        errors = checker(path, verb, str(response.status_code), kind).iter_errors(response.json())
        wrong = [
            f"at {'.'.join(map(str, error.instance_path)) or 'the top'}: {error.message[:300]}" for error in errors
        ]
        assert not wrong, f"{named}, not as described: {'; '.join(wrong)}"


HELD = {"response": [as_described]}
"""The `event_hooks` of a client whose answers are held to the description."""
