"""Reads GraphQL requests over HTTP, and chooses the media type of the response."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from schema.core.errors import UnsupportedMediaType
from schema.graph.errors import BadRequest, NotAcceptable
from schema.graph.server import GraphQLRequest
from schema.graph.trusted import SHA256
from schema.validation.storable import drop_unstorable, may_hold_unstorable
from store.core.request_body import (
    APPLICATION_JSON,
    BODY_LIMIT,
    MULTIPART,
    UPLOAD_LIMIT,
    RequestBody,
    UnreadableBody,
    parse_json,
)

GRAPHQL_RESPONSE = "application/graphql-response+json"
MOST_FILES = 10
READ_METHODS = frozenset({"GET", "HEAD"})
"""Methods without a body that change nothing."""
_NUL = re.compile(r"\\u(?:0000|\{0+\})|\x00")
"""NUL, or its escape in a document. The database cannot store it."""


@dataclass(frozen=True)
class ReceivedRequest:
    """The parsed request, and the form with its uploaded files."""

    graphql: GraphQLRequest
    form: FormData | None = None

    async def close(self) -> None:
        """Close uploaded files."""
        if self.form is not None:
            await self.form.close()


@lru_cache(maxsize=256)
def media_type(accept: str | None) -> str:
    """The media type of the response. Raises NotAcceptable if the client accepts neither."""
    if not accept:
        return APPLICATION_JSON
    ranges = list(_ranges(accept))
    refused = {kind for kind, quality in ranges if quality == 0}
    for kind, _ in sorted(ranges, key=lambda found: -found[1]):
        if kind in {APPLICATION_JSON, GRAPHQL_RESPONSE} and kind not in refused:
            return kind
        if kind in {"*/*", "application/*"} and kind not in refused:
            return APPLICATION_JSON if APPLICATION_JSON not in refused else GRAPHQL_RESPONSE
    raise NotAcceptable


def wants_html(request: Request) -> bool:
    """Whether the request is from a browser that should get GraphiQL."""
    if {"query", "documentId", "extensions"} & request.query_params.keys():
        return False
    best = max(_ranges(request.headers.get("accept", "")), key=lambda found: found[1], default=("", 0.0))
    return best[0] in {"text/html", "application/xhtml+xml"}


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        kind, *options = (piece.strip().lower() for piece in part.split(";"))
        quality = next((option[2:] for option in options if option.startswith("q=")), "1")
        yield kind, float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 1.0


async def read_request(request: Request) -> ReceivedRequest:
    """Parse a request. Raises BadRequest, TooLarge or UnsupportedMediaType with what is wrong with it."""
    if request.method in READ_METHODS:
        return ReceivedRequest(_from_query(request))
    body = RequestBody(request)
    is_form = body.media_type == MULTIPART
    raw = await body.read(UPLOAD_LIMIT if is_form else BODY_LIMIT)
    body.check_encoding()
    if is_form:
        return await _from_form(body, raw)
    if body.media_type != APPLICATION_JSON or not body.is_utf8:
        raise UnsupportedMediaType(wanted=f"{APPLICATION_JSON} in UTF-8, or {MULTIPART}")
    return ReceivedRequest(_parse_request(_json(raw, "The body"), holds_nul=may_hold_unstorable(raw)))


def _json(raw: bytes | str, what: str) -> Any:
    try:
        return parse_json(raw)
    except UnreadableBody as error:
        raise BadRequest(reason=f"{what} is no JSON: {error}.") from None


def _parse_request(data: Any, *, holds_nul: bool) -> GraphQLRequest:
    if isinstance(data, list):
        raise BadRequest(reason="Send one request at a time: batches are not answered.")
    if not isinstance(data, dict):
        raise BadRequest(reason="Send a JSON object with a `query`.")
    query, name = data.get("query"), data.get("operationName")
    variables, extensions = data.get("variables"), data.get("extensions")
    if not isinstance(extensions, dict | None):
        raise BadRequest(reason="`extensions` is an object or null.")
    document_id = _document_id(data.get("documentId"), extensions or {})
    if query is None and document_id is not None:
        query = ""
    elif not isinstance(query, str) or not query:
        raise BadRequest(reason="`query` is missing: send the GraphQL document there, as a string.")
    if not isinstance(name, str | None):
        raise BadRequest(reason="`operationName` is a string or null.")
    if not isinstance(variables, dict | None):
        raise BadRequest(reason="`variables` is an object or null.")
    if _NUL.search(query) or (holds_nul and drop_unstorable(variables)[1]):
        raise BadRequest(reason="A text holds the character NUL, which cannot be stored.")
    return GraphQLRequest(query, variables or {}, name or None, document_id)


def _document_id(body: Any, extensions: Mapping[str, Any]) -> str | None:
    """The id of a trusted document: `documentId`, or `sha256Hash` of the extension `persistedQuery`."""
    if body is None:
        persisted = extensions.get("persistedQuery")
        body = persisted.get("sha256Hash") if isinstance(persisted, dict) else None
    if not isinstance(body, str | None):
        raise BadRequest(reason="The id of a document is a string.")
    return body.removeprefix(SHA256) if body else None


def _from_query(request: Request) -> GraphQLRequest:
    given: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if name in given:
            given[name] = _json(given[name], f"`{name}`") if given[name] else None
    return _parse_request(given, holds_nul=True)


# ---- uploads, by the GraphQL multipart request specification


async def _from_form(body: RequestBody, raw: bytes) -> ReceivedRequest:
    try:
        form = await body.parse_form(raw, max_files=MOST_FILES, max_fields=2)
    except UnreadableBody as error:
        raise BadRequest(reason=f"The form cannot be read: {error}.") from None
    try:
        operations, places = (_json(_text(form, name), f"`{name}`") for name in ("operations", "map"))
        _put_files(operations, places, form)
        return ReceivedRequest(_parse_request(operations, holds_nul=True), form)
    except BadRequest:
        await form.close()
        raise


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    if not isinstance(value, str):
        raise BadRequest(reason=f"`{name}` is missing: an upload has the parts `operations`, `map` and its files.")
    return value


def _put_files(operations: Any, places: Any, form: FormData) -> None:
    if not isinstance(places, dict):
        raise BadRequest(reason="`map` is an object: the name of a file's part, and the paths of its variables.")
    for name, paths in places.items():
        file = form.get(name)
        if not isinstance(file, UploadFile):
            raise BadRequest(reason=f"`map` names the file {name!r}, which was not sent.")
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise BadRequest(reason="`map` gives a list of paths for each file.")
        for path in paths:
            _put(operations, path, file)


def _put(operations: Any, path: str, file: UploadFile) -> None:
    *steps, last = path.split(".")
    at = operations
    try:
        for step in steps:
            at = at[int(step)] if isinstance(at, list) else at[step]
        key: Any = int(last) if isinstance(at, list) else last
        if steps[:1] == ["variables"] and at[key] is None:
            at[key] = file
            return
    except (KeyError, IndexError, ValueError, TypeError):
        pass
    raise BadRequest(reason=f"`map` leads to {path!r}, where `operations` has no null in its variables.")
