"""The documentation as a page: the OpenAPI description, rendered here, without scripts and without anybody else's servers."""

import asyncio
import functools
import pathlib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
import orjson
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rest_compat.schemas import Json

HERE = pathlib.Path(__file__).parent
POLICY = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Row:
    """A key or a parameter, in a table."""

    name: str
    kind: str
    required: bool
    description: str


@dataclass(frozen=True)
class Shown:
    """A success or an error, with an example."""

    status: str
    meaning: str
    example: str


@dataclass(frozen=True)
class Entry:
    """One operation as the page shows it."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    deprecated: bool
    parameters: list[Row]
    request: list[Row]
    media_types: list[str]
    curl: str
    answer: list[Row]
    successes: list[Shown]
    errors: list[Shown]


def documentation(document: Callable[[], Json]) -> list[BaseRoute]:
    """`/openapi.json`, and `/docs/` that shows it. The document is made when somebody first asks, beside other requests: most
    processes are never asked.
    """
    described = functools.cache(document)
    as_json = functools.cache(lambda: orjson.dumps(described()))
    page = functools.cache(lambda: rendered(described()))
    style = (HERE / "static" / "docs.css").read_bytes()

    async def openapi(_request: Request) -> Response:
        body = await asyncio.to_thread(as_json)
        return Response(body, media_type="application/json", headers={"Cache-Control": "no-cache"})

    async def docs(_request: Request) -> Response:
        return Response(await asyncio.to_thread(page), media_type="text/html", headers=HEADERS)

    async def css(_request: Request) -> Response:
        return Response(style, media_type="text/css", headers=HEADERS)

    paths = {"/openapi.json": openapi, "/docs": docs, "/docs/": docs, "/docs/docs.css": css}
    return [Route(path, answer) for path, answer in paths.items()]


def rendered(document: Json) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["prose"] = prose
    groups: dict[str, list[Entry]] = {tag["name"]: [] for tag in document["tags"]}
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            groups[operation["tags"][0]].append(_entry(document, path, verb.upper(), operation))
    return environment.get_template("docs.html").render(info=document["info"], groups=groups)


def prose(text: str) -> Markup:
    """Paragraphs with `code` in them, as HTML."""
    paragraphs = [_CODE.sub(r"<code>\1</code>", str(escape(part))) for part in text.split("\n\n")]
    return Markup("".join(f"<p>{part}</p>" for part in paragraphs))  # noqa: S704 - escaped above


def _entry(document: Json, path: str, method: str, operation: Json) -> Entry:
    body = operation.get("requestBody", {}).get("content", {})
    sent: Json = next(iter(body.values()), {})
    responses = {status: _resolved(document, response) for status, response in operation["responses"].items()}
    good = {status: response for status, response in responses.items() if status < "300"}
    answer = next(iter(good.values()))["content"]["application/json"]["schema"]
    return Entry(
        id=operation["operationId"],
        method=method,
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        deprecated=operation.get("deprecated", False),
        parameters=[_row(document, p["name"], p["schema"], p) for p in operation["parameters"]],
        request=list(_rows(document, sent.get("schema", {}))),
        media_types=list(body),
        curl=_curl(method, path, sent.get("example"), public=operation.get("security") == []),
        answer=list(_rows(document, answer)),
        successes=[_shown(status, response) for status, response in good.items()],
        errors=[_shown(status, response) for status, response in responses.items() if status >= "300"],
    )


def _shown(status: str, response: Json) -> Shown:
    return Shown(status, response["description"], _pretty(response["content"]["application/json"]["example"]))


def _pretty(data: Any) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()


def _curl(method: str, path: str, example: Any, *, public: bool) -> str:
    """The request as a command to paste."""
    parts = ["curl -sS" if method in {"GET", "POST"} else f"curl -sS -X {method}"]
    parts[0] += f" http://127.0.0.1:8000{path.replace('{', '<').replace('}', '>')}"
    if not public:
        parts.append("-H 'Authorization: Token <token>'")
    if example is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(_pretty(example))}"]
    return " \\\n  ".join(parts)


# ---- schemas as tables


def _resolved(document: Json, thing: Mapping[str, Any]) -> Json:
    """What a reference refers to, or the thing itself."""
    found: Any = thing
    while "$ref" in found:
        kind, name = found["$ref"].split("/")[-2:]
        found = document["components"][kind][name]
    return dict(found)


def _rows(document: Json, schema: Mapping[str, Any], before: str = "") -> Iterator[Row]:
    """The keys of an object, those of the objects in it included: `items[].product_id`."""
    schema = _resolved(document, schema)
    if schema.get("type") == "array":
        yield from _rows(document, schema["items"], f"{before}[]")
        return
    for key, inner in schema.get("properties", {}).items():
        name = f"{before}.{key}" if before else key
        yield _row(document, name, inner, {"required": key in schema.get("required", ())})
        yield from _rows(document, _object_in(document, inner), name)


def _object_in(document: Json, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _resolved(document, schema)
    alternatives = [_resolved(document, s) for s in found.get("anyOf", ())]
    return next((a for a in alternatives if "properties" in a), found)


def _row(document: Json, name: str, schema: Mapping[str, Any], about: Mapping[str, Any]) -> Row:
    found = _resolved(document, schema)
    description = about.get("description") or schema.get("description") or found.get("description", "")
    return Row(name, _kind(document, schema), about.get("required", False), description)


def _kind(document: Json, schema: Mapping[str, Any]) -> str:
    """The type of a value, in words."""
    found = _resolved(document, schema)
    if "anyOf" in found:
        return " or ".join(dict.fromkeys(_kind(document, inner) for inner in found["anyOf"]))
    if "enum" in found:
        return " | ".join("null" if value is None else str(value) for value in found["enum"])
    kinds = found.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["array"]:
        return f"array of {_kind(document, found.get('items', {}))}"
    known = found.get("format") or found.get("pattern")
    return " or ".join(f"string ({known})" if kind == "string" and known else kind for kind in kinds)
