"""The OpenAPI description of the REST interface, made of the routes, shapes and inputs themselves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from resolvers.core.listing import Listing
from resolvers.core.operation import Operation
from rest_compat.http.endpoint import Endpoint
from rest_compat.http.operations import OperationEndpoint
from rest_compat.http.page import LARGEST_PAGE, PAGE_SIZE
from rest_compat.http.route import Envelope, Route, Status
from rest_compat.openapi.errors import ERRORS, HEADERS, TOLD, error_response, error_schemas, headers
from rest_compat.openapi.reference import Reference, ReferenceOf
from rest_compat.openapi.schemas import Components, Json
from schema.core.permission import Permission, Required, Rule

VERSION = "1.0.0"
INTRODUCTION = """\
The REST interface of Coffret, for shops that were built against it. New integrations should use GraphQL at `/graphql/`, \
which offers more.

Send `Authorization: Token <token>` with every request (`Bearer <token>` works too); `POST /api-token-auth/` answers a token. \
A path works with and without its trailing slash, and `HEAD` wherever `GET` does. Unknown keys and parameters are ignored. Times \
are UTC, amounts are exact.

Every `POST`, `PUT` and `PATCH` except the log-in accepts an `Idempotency-Key`: the same request with the same key gets the \
first answer again. Every answer has an `X-Request-Id`; name it when you report a problem."""


REQUEST_ID: Json = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "Your own name for the request; without it, or with one of other characters, it gets one of ours.",
    "schema": {"type": "string", "maxLength": 128},
}

_PARAMETER = re.compile(r"{(\w+)}")


def document(groups: Mapping[str, Sequence[tuple[Route, Endpoint]]], reference_of: ReferenceOf) -> Json:
    """The whole description: routes by group, each with what answers it and the words for it."""
    components = Components()
    paths: Json = {}
    for group, routes in groups.items():
        for route, target in routes:
            for verb in route.verbs:
                described = _Operation(route, target, verb, components, reference_of(route)).described(group)
                paths.setdefault(route.path, {})[verb.lower()] = described
    made = {
        "openapi": "3.1.0",
        "info": {"title": "Coffret REST", "version": VERSION, "description": INTRODUCTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"bearer": []}],
        "tags": [{"name": group} for group in groups],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token <token>`"},
                "bearer": {"type": "http", "scheme": "bearer", "description": "`Bearer <token>`, the same token."},
            },
            "schemas": {**error_schemas(), **components.schemas},
            "responses": {error.name: error_response(status) for status, error in ERRORS.items()},
            "headers": {**HEADERS},
        },
    }
    return _without_unused(made)


def needs(permission: Required) -> str:
    """What a caller must be or have, in a sentence."""
    if permission is Rule.PUBLIC:
        return "Needs no token."
    if permission is Rule.PARTNER:
        return "Needs a token that belongs to a partner."
    return (
        f"Needs the permission `permissions.{permission}`." if isinstance(permission, Permission) else "Needs a token."
    )


class _Operation:
    """One method of one route."""

    def __init__(self, route: Route, target: Endpoint, verb: str, components: Components, reference: Reference) -> None:
        self.route, self.target, self.verb, self.components = route, target, verb, components
        self.reference = reference
        self.operation = route.operation
        self.in_path = _PARAMETER.findall(route.path)
        self.reader = target.reader if isinstance(target, OperationEndpoint) else None

    def described(self, group: str) -> Json:
        """As OpenAPI has it."""
        reference, permission = self.reference, self.operation.permission
        made: Json = {
            "tags": [group],
            "operationId": reference.id_of(self.route, self.verb),
            "summary": reference.title,
            "description": f"{reference.text}\n\n{needs(permission)}",
            "parameters": [*self._path_parameters(), *self._query_parameters(), *self._header_parameters()],
            "responses": {**self._successes(), **self._errors()},
        }
        if self.verb != "GET" and self.reader is not None and self._has_body():
            made["requestBody"] = self._body()
        if permission is Rule.PUBLIC:
            made["security"] = []
        if self.route.deprecated is not None:
            made["deprecated"] = True
        return made

    def _has_body(self) -> bool:
        assert self.reader is not None
        return bool(self.reader.keys - set(self.in_path))

    # ---- what is sent

    def _path_parameters(self) -> list[Json]:
        return [
            {"name": name, "in": "path", "required": True, "schema": self._kind(at)}
            for at, name in enumerate(self.in_path)
        ]

    def _kind(self, at: int) -> Json:
        adapter = self.target.values.adapters[at]
        return {"type": "string"} if adapter is None else adapter.json_schema()

    def _query_parameters(self) -> list[Json]:
        if isinstance(self.operation, Listing):
            return [*self._list_parameters(self.operation), *self._page_parameters()]
        if self.route.through:
            return self._page_parameters()
        if self.verb != "GET" or self.reader is None:
            return []
        schema = self.components.input(self.reader, frozenset(self.in_path))
        return [
            {"name": key, "in": "query", "required": key in schema["required"], "schema": inner}
            for key, inner in schema["properties"].items()
        ]

    def _list_parameters(self, listing: Listing[Any]) -> list[Json]:
        fields = listing.filter.model_json_schema()
        made = []
        for parameter in self.route.query:
            schema = parameter.schema or _plain(fields, parameter.fields[0])
            made.append({"name": parameter.name, "in": "query", "description": parameter.description, "schema": schema})
        if self.route.ordering is not None:
            choices = self.route.ordering.choices({str(order): order for order in listing.order})
            made.append({"name": "ordering", "in": "query", "schema": {"type": "string", "enum": choices}})
        return made

    def _page_parameters(self) -> list[Json]:
        page = {"type": "integer", "minimum": 1, "default": 1}
        size: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE}
        if self.route.envelope is Envelope.PAGE:
            size["default"] = PAGE_SIZE
        return [
            {"name": "page", "in": "query", "schema": page},
            {"name": "page_size", "in": "query", "schema": size},
        ]

    def _header_parameters(self) -> list[Json]:
        if self.verb == "GET" or not self.route.repeatable:
            return [REQUEST_ID]
        return [
            REQUEST_ID,
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "Repeating the request with the same key, within 24 hours, answers the first answer again.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            },
        ]

    def _body(self) -> Json:
        assert self.reader is not None
        schema = self.components.input(self.reader, frozenset(self.in_path), whole=self.verb != "PATCH")
        example = self.route.example or self.components.sample(schema)
        content = {"schema": schema, "example": example}
        return {
            "required": bool(schema["required"]),
            "content": dict.fromkeys(self.route.accepts.media_types, content),
        }

    # ---- what is answered

    def _successes(self) -> Json:
        status = self.route.status
        documented = status.documented if isinstance(status, Status) else ((status, "Done."),)
        schema, example = self._answer()
        told = headers(*TOLD, *self._own_headers())
        content = {"application/json": {"schema": schema, "example": example}}
        return {str(number): {"description": text, "headers": told, "content": content} for number, text in documented}

    def _own_headers(self) -> Iterator[str]:
        if self.verb != "GET" and self.route.repeatable:
            yield "Idempotent-Replayed"
        if self.route.envelope in {Envelope.PAGE, Envelope.ARRAY} or self.route.deprecated is not None:
            yield "Link"
        if self.route.deprecated is not None:
            yield "Deprecation"

    def _answer(self) -> tuple[Json, Any]:
        shape = self.route.shape
        one, example = self.components.shape(shape), self.components.example(shape)
        match self.route.envelope:
            case Envelope.OBJECT:
                return one, example
            case Envelope.ARRAY_OF_ONE:
                return {"type": "array", "items": one, "minItems": 1, "maxItems": 1}, [example]
            case Envelope.ARRAY:
                return {"type": "array", "items": one}, [example]
            case Envelope.PAGE:
                return self.components.page(shape.name, _page(one)), _PAGE_EXAMPLE | {"results": [example]}

    def _finds(self) -> bool:
        """Whether it is about a row that the query or the body names."""
        operation = self.operation
        if not isinstance(operation, Operation):
            return False
        return operation.exists is not None or (self.verb == "GET" and self._has_body())

    def _errors(self) -> Json:
        writes, named = self.verb != "GET", self.operation.permission
        raised = {error.status for error in self.operation.raises} if isinstance(self.operation, Operation) else set()
        statuses = {
            400: writes or self._has_query(),
            401: named is not Rule.PUBLIC,
            403: named not in {Rule.PUBLIC, Rule.AUTHENTICATED},
            404: bool(self.in_path) or isinstance(self.operation, Listing) or self._finds(),
            409: writes and self.route.repeatable,
            413: writes,
            415: writes,
            429: True,
            500: True,
            503: True,
        }
        return {
            str(status): {"$ref": f"#/components/responses/{ERRORS[status].name}"}
            for status in ERRORS
            if status in raised or statuses.get(status)
        }

    def _has_query(self) -> bool:
        return bool(self._query_parameters())


_PAGE_EXAMPLE: Json = {
    "count": 1,
    "previous": None,
    "has_previous": False,
    "has_next": False,
    "current_page": 1,
    "page_range": [1],
}


def _page(results: Json) -> Json:
    whole, flag = {"type": "integer"}, {"type": "boolean"}
    properties = {
        "count": whole,
        "previous": {"type": ["string", "null"], "format": "uri"},
        "has_previous": flag,
        "has_next": flag,
        "current_page": whole,
        "page_range": {"type": "array", "items": whole, "maxItems": 100},
        "results": {"type": "array", "items": results},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _plain(schemas: Mapping[str, Any], field: str) -> Json:
    """A field of a filter, without the null that stands for not asking."""
    schema = schemas["properties"][field]
    one = next((s for s in schema.get("anyOf", ()) if s.get("type") != "null"), schema)
    name = str(one.get("$ref", "")).rpartition("/")[2]
    found: Json = schemas["$defs"][name] if name else one
    return {key: value for key, value in found.items() if key not in {"title", "default", "description"}}


def _without_unused(made: Json) -> Json:
    """The document without schemas and responses that nothing refers to."""
    named = made["components"]
    while True:
        referred = set(re.findall(r"#/components/(\w+)/(\w+)", orjson.dumps(made).decode()))
        kept = {
            kind: {n: s for n, s in named[kind].items() if (kind, n) in referred} for kind in ("schemas", "responses")
        }
        if all(kept[kind] == named[kind] for kind in kept):
            return made
        named.update(kept)
