"""Builds the OpenAPI description of the REST interface from its routes, shapes and inputs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from resolvers.core.lists.listing import Listing
from resolvers.core.operation import Operation
from rest_compat.http.endpoint import Endpoint
from rest_compat.http.operations import OperationEndpoint
from rest_compat.http.page import LARGEST_PAGE_SIZE, PAGE_SIZE
from rest_compat.http.route import ConditionalStatus, ResponseEnvelope, RestRoute
from rest_compat.openapi.errors import COMMON_HEADERS, ERRORS, HEADERS, error_response, error_schemas, header_refs
from rest_compat.openapi.reference import Reference, ReferenceOf
from rest_compat.openapi.schemas import Components, Json
from schema.core.permission import AccessRule, Permission, RequiredAccess

VERSION = "1.0.0"
INTRODUCTION = """\
The REST interface of Coffret, for shops that were built against it. New integrations should use GraphQL at \
`/graphql/`, which offers more.

Send `Authorization: Token <token>` with every request; `Bearer <token>` also works. `POST /api-token-auth/` returns a \
token. Paths work with and without the trailing slash. `HEAD` works wherever `GET` does. Unknown keys and parameters are \
ignored. Times are in UTC. Amounts are exact.

Every `POST`, `PUT` and `PATCH` except the log-in accepts an `Idempotency-Key`: the same request with the same key gets \
the first response again. Every response has an `X-Request-Id`; quote it when you report a problem."""


REQUEST_ID: Json = {
    "name": "X-Request-Id",
    "in": "header",
    "description": "Your own id for the request. The service generates one if it is missing or has other characters "
    "than letters, digits and `._:+/=-`.",
    "schema": {"type": "string", "maxLength": 128},
}

_PARAMETER = re.compile(r"{(\w+)}")


def openapi_document(groups: Mapping[str, Sequence[tuple[RestRoute, Endpoint]]], reference_of: ReferenceOf) -> Json:
    """The OpenAPI document: routes by group, each with its endpoint and its reference text."""
    components = Components()
    paths: Json = {}
    for group, routes in groups.items():
        for route, target in routes:
            for verb in route.verbs:
                described = _Operation(route, target, verb, components, reference_of(route)).describe(group)
                paths.setdefault(route.path, {})[verb.lower()] = described
    document = {
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
    return _without_unused(document)


def permission_text(permission: RequiredAccess) -> str:
    """The required access as a sentence."""
    if permission is AccessRule.PUBLIC:
        return "Needs no token."
    if permission is AccessRule.PARTNER:
        return "Needs a token that belongs to a partner."
    return (
        f"Needs the permission `permissions.{permission}`." if isinstance(permission, Permission) else "Needs a token."
    )


class _Operation:
    """One method of one route."""

    def __init__(
        self, route: RestRoute, target: Endpoint, verb: str, components: Components, reference: Reference
    ) -> None:
        self.route, self.target, self.verb, self.components = route, target, verb, components
        self.reference = reference
        self.operation = route.operation
        self.in_path = _PARAMETER.findall(route.path)
        self.reader = target.reader if isinstance(target, OperationEndpoint) else None

    def describe(self, group: str) -> Json:
        """The operation object of OpenAPI."""
        reference, permission = self.reference, self.operation.permission
        operation: Json = {
            "tags": [group],
            "operationId": reference.id_of(self.route, self.verb),
            "summary": reference.title,
            "description": f"{reference.text}\n\n{permission_text(permission)}",
            "parameters": [*self._path_parameters(), *self._query_parameters(), *self._header_parameters()],
            "responses": {**self._successes(), **self._errors()},
        }
        if self.verb != "GET" and self.reader is not None and self._has_body():
            operation["requestBody"] = self._body()
        if permission is AccessRule.PUBLIC:
            operation["security"] = []
        if self.route.deprecated is not None:
            operation["deprecated"] = True
        return operation

    def _has_body(self) -> bool:
        assert self.reader is not None
        return bool(self.reader.keys - set(self.in_path))

    # ---- request

    def _path_parameters(self) -> list[Json]:
        return [
            {"name": name, "in": "path", "required": True, "schema": adapter.json_schema()}
            for name, adapter in zip(self.in_path, self.target.values.adapters, strict=True)
        ]

    def _query_parameters(self) -> list[Json]:
        if isinstance(self.operation, Listing):
            return [*self._list_parameters(self.operation), *self._page_parameters()]
        if self.route.through and self.route.envelope is not ResponseEnvelope.OBJECT:
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
        parameters = []
        for parameter in self.route.query:
            schema = parameter.schema or _plain(fields, parameter.fields[0])
            parameters.append(
                {"name": parameter.name, "in": "query", "description": parameter.description, "schema": schema}
            )
        if self.route.ordering is not None:
            schema = self.route.ordering.schema({str(order): order for order in listing.order})
            parameters.append({"name": "ordering", "in": "query", "schema": schema})
        return parameters

    def _page_parameters(self) -> list[Json]:
        page = {"type": "integer", "minimum": 1, "default": 1}
        size: Json = {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE_SIZE}
        if self.route.envelope is ResponseEnvelope.PAGE:
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
                "description": "Repeating the request with this key within 24 hours returns the first response again.",
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

    # ---- response

    def _successes(self) -> Json:
        status = self.route.status
        documented = status.documented if isinstance(status, ConditionalStatus) else ((status, "Success."),)
        schema, example = self._answer()
        headers = header_refs(*COMMON_HEADERS, *self._own_headers())
        content: Json = {"application/json": {"schema": schema, "example": example}}
        if self.route.file is not None:
            content = {self.route.file.media_type: {"schema": schema}}
        answers = {
            str(number): {"description": text, "headers": headers, "content": content} for number, text in documented
        }
        return answers if self.route.file is None else {**answers, "202": UNFINISHED_FILE}

    def _own_headers(self) -> Iterator[str]:
        if self.verb != "GET" and self.route.repeatable:
            yield "Idempotent-Replayed"
        if (
            self.route.envelope in {ResponseEnvelope.PAGE, ResponseEnvelope.ARRAY}
            or self.route.deprecated is not None
            or self.route.links
        ):
            yield "Link"
        if self.route.deprecated is not None:
            yield "Deprecation"
        if self.route.file is not None:
            yield "Content-Disposition"

    def _answer(self) -> tuple[Json, Any]:
        shape = self.route.shape
        one, example = self.components.shape(shape), self.components.example(shape)
        match self.route.envelope:
            case ResponseEnvelope.OBJECT:
                return one, example
            case ResponseEnvelope.ARRAY_OF_ONE:
                return {"type": "array", "items": one, "minItems": 1, "maxItems": 1}, [example]
            case ResponseEnvelope.ARRAY:
                return {"type": "array", "items": one}, [example]
            case ResponseEnvelope.FILE:
                return {"type": "string", "format": "binary"}, None
            case ResponseEnvelope.PAGE:
                return self.components.page(shape.name, _page(one)), _PAGE_EXAMPLE | {"results": [example]}

    def _names_row(self) -> bool:
        """Whether the query or the body identifies a row."""
        operation = self.operation
        if not isinstance(operation, Operation):
            return False
        return operation.exists is not None or (self.verb == "GET" and self._has_body())

    def _errors(self) -> Json:
        writes, named = self.verb != "GET", self.operation.permission
        raised = {error.status for error in self.operation.raises} if isinstance(self.operation, Operation) else set()
        statuses = {
            400: writes or self._has_query(),
            401: named is not AccessRule.PUBLIC,
            403: named not in {AccessRule.PUBLIC, AccessRule.AUTHENTICATED},
            404: bool(self.in_path) or isinstance(self.operation, Listing) or self._names_row(),
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


UNFINISHED_FILE: Json = {
    "description": "The file is large, and is being made. `Retry-After` gives the seconds to wait before it is asked for again.",
    "headers": header_refs(*COMMON_HEADERS, "Retry-After"),
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/Detail"},
            "example": {"detail": "The document is being made: 21000 of 50000 lines. Try again in 10 seconds."},
        }
    },
}
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
    """The schema of a filter field without null, which means no filter."""
    schema = schemas["properties"][field]
    one = next((s for s in schema.get("anyOf", ()) if s.get("type") != "null"), schema)
    name = str(one.get("$ref", "")).rpartition("/")[2]
    resolved: Json = schemas["$defs"][name] if name else one
    return {key: value for key, value in resolved.items() if key not in {"title", "default", "description"}}


def _without_unused(document: Json) -> Json:
    """The document without the schemas and responses that nothing refers to."""
    named = document["components"]
    while True:
        referred = set(re.findall(r"#/components/(\w+)/(\w+)", orjson.dumps(document).decode()))
        components = {
            kind: {n: s for n, s in named[kind].items() if (kind, n) in referred} for kind in ("schemas", "responses")
        }
        if all(components[kind] == named[kind] for kind in components):
            return document
        named.update(components)
