"""Endpoints of operations, and of look-ups of one row."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_type_hints

import orjson
from pydantic import BaseModel, create_model
from starlette.requests import Request

from resolvers.core.context import Context
from resolvers.core.http_endpoint import ContextOf
from resolvers.core.idempotency import IdempotentRequest, StoredResponse, fingerprint
from resolvers.core.lists.listing import Lookup
from resolvers.core.operation import Operation
from resolvers.document import UnfinishedFile
from rest_compat.http.body import RestBody, read_body
from rest_compat.http.endpoint import WRITES, Endpoint, idempotency_key, query_of, stored_response
from rest_compat.http.errors import error_response, snake_case_path
from rest_compat.http.inputs import InputReader
from rest_compat.http.links import RowLinks
from rest_compat.http.page import PARAMETERS, Page, read_requested_page
from rest_compat.http.paths import PathValues
from rest_compat.http.responses import JSON, RestResponse, json_response
from rest_compat.http.route import ConditionalStatus, ResponseEnvelope, RestRoute
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.core.errors import AppError, InvalidInput, NotFound, ProblemPath
from schema.core.inputs import RejectedInput


class OperationEndpoint(Endpoint):
    """Runs an operation.

    The body (of a GET: the query) and the path parameters become its `input` or its single arguments.
    """

    def __init__(self, route: RestRoute, context_of: ContextOf, names: Sequence[str]) -> None:
        operation = route.operation
        assert isinstance(operation, Operation)
        kinds = arguments_of(operation)
        self.operation = operation
        self.takes_input = "input" in kinds
        model = (route.body or kinds["input"]) if self.takes_input else _model_of(operation, kinds, names)
        self.reader = InputReader(model, route.renamed, route.required, route.graphql_only)
        self.links = RowLinks(route.shape, route.links)
        self.path_only = not self.takes_input and not model.model_fields
        in_path = {name: _kind_in_path(route, name, kinds, model, takes_input=self.takes_input) for name in names}
        super().__init__(route, context_of, PathValues(names, in_path))

    async def respond(self, request: Request, context: Context) -> RestResponse:
        if self.path_only and request.method not in WRITES:
            return await self.build_response(
                await self.operation(context, **self.path_values(request, context)), context
            )
        if request.method not in WRITES:
            query, wrong = query_of(request, self.reader.keys)
            if request.method == "HEAD" and self.takes_input:
                return await self.preview(request, context, query, wrong)
            return await self.run(request, context, query, wrong, whole=False)
        body = await read_body(request, self.route.accepts)
        try:
            key, wrong = idempotency_key(request) if self.operation.supports_idempotency else (None, ())
            once = None if key is None else await self.idempotent_request(key, request, context, body)
            wrong = (*body.problems, *wrong)
            return await self.run(request, context, body.data, wrong, whole=request.method != "PATCH", once=once)
        finally:
            await body.close()

    def path_fields(self, path: Mapping[str, Any]) -> dict[str, Any]:
        """The path parameters by input field."""
        return {self.route.renamed.get(name, name): path[name] for name in path}

    async def idempotent_request(
        self, key: str, request: Request, context: Context, body: RestBody
    ) -> IdempotentRequest:
        """The request under its `Idempotency-Key`."""
        said = await fingerprint(request.method, request.scope["path"].rstrip("/"), body.data)
        return IdempotentRequest(context, key, said, partial(self.render_outcome, context))

    async def render_outcome(self, context: Context, outcome: Any) -> StoredResponse:
        """The response to store for a result or an `AppError` of the operation."""
        refused = isinstance(outcome, AppError)
        answer = error_response(outcome, self.key_path_of) if refused else await self.build_response(outcome, context)
        headers = tuple((name.decode(), value.decode()) for name, value in answer.headers)
        return StoredResponse(answer.body, answer.status, headers)

    async def run(
        self,
        request: Request,
        context: Context,
        body: Any,
        wrong: Any,
        *,
        whole: bool,
        once: IdempotentRequest | None = None,
    ) -> RestResponse:
        """Validate what was sent and run the operation."""
        arguments = self.arguments(body, wrong, self.path_values(request, context), whole=whole)
        if once is not None:
            return stored_response(await self.operation.respond(context, once, **arguments))
        return await self.build_response(await self.operation(context, **arguments), context)

    def arguments(self, body: Any, wrong: Any, path: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
        """The arguments of the operation."""
        if self.takes_input:
            return {"input": self.reader.read(body, self.path_fields(path), wrong, whole=whole)}
        model = self.reader.read(body, {}, wrong)
        if isinstance(model, RejectedInput):
            return {"input": RejectedInput(model.problems, {**path, **(model.raw or {})})}
        return {**path, **{name: getattr(model, name) for name in type(model).model_fields}}

    async def preview(self, request: Request, context: Context, query: Any, wrong: Any) -> RestResponse:
        """The response that a GET would have, without its effects."""
        model = self.reader.read(query, self.path_fields(self.path_values(request, context)), wrong)
        result = await self.operation.preview(context, model)
        return (
            RestResponse(b"", has_content_length=False)
            if result is None
            else await self.build_response(result, context)
        )

    async def build_response(self, result: Any, context: Context) -> RestResponse:
        """The result in the documented shape and envelope."""
        route = self.route
        if route.file is not None:
            found = await route.file.read(context.services, result)
            if isinstance(found, UnfinishedFile):
                wait = (b"retry-after", str(found.retry_after).encode())
                return json_response({"detail": found.detail}, 202, wait)
            named = (b"content-disposition", found.disposition.encode())
            return RestResponse(found.content, 200, [(b"content-type", route.file.media_type.encode()), named])
        several = route.envelope is ResponseEnvelope.ARRAY
        rows = await self.links.shape.render(result if several else [result], context.loaders.load)
        links = [link for row in rows for link in self.links.take_from(row, context)]
        data = rows if several or route.envelope is ResponseEnvelope.ARRAY_OF_ONE else rows[0]
        status = route.status.choose(result) if isinstance(route.status, ConditionalStatus) else route.status
        return RestResponse(orjson.dumps(data), status, [JSON, *links])

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Convert the field paths of the operation to REST keys."""
        return self.reader.key_path_of(snake_case_path(path))


class LookupEndpoint(Endpoint):
    """Looks up one row by the single parameter of its path, and selects only the columns of the shape.

    Answers the row, or the resources of its relation `through`: the last one, or as an array all of them, unless the
    request asks for a page.
    """

    def __init__(self, route: RestRoute, context_of: ContextOf, names: Sequence[str]) -> None:
        assert isinstance(route.operation, Lookup)
        self.lookup = route.operation
        if len(names) != 1:
            raise TypeError(f"{route.path} looks one row up, so it has one parameter.")
        if route.envelope is ResponseEnvelope.ARRAY and not route.through:
            raise TypeError(f"{route.path}: one row is an object, and not an array.")
        self.links = RowLinks(route.shape, route.links)
        self.shape = self.links.shape
        if route.through:
            nested = {route.through: Nested(route.through, route.shape)}
            self.shape = ResourceShape(f"{route.shape.name} of {self.lookup.thing}", self.lookup.resource, nested)
        kind = self.lookup.table.model_fields[self.lookup.by].annotation
        super().__init__(route, context_of, PathValues(names, {names[0]: kind}))

    async def respond(self, request: Request, context: Context) -> RestResponse:
        (value,) = self.path_values(request, context).values()
        lazy_row, loaders = await self.lookup(context, value), context.loaders
        if self.shape.rows is None:
            (written,) = await self.shape.render([await lazy_row.object()], loaders.load)
        else:
            row, load = await lazy_row.fetch(self.shape.rows, loaders.load)
            (written,) = await self.shape.render([row], load, columns=True)
        if self.route.through:
            everything = written[self.route.through]
            if self.route.envelope is ResponseEnvelope.OBJECT:
                return self.last_response(everything)
            return self.list_response(request, everything[::-1] if self.route.newest_first else everything)
        links = self.links.take_from(written, context)
        return RestResponse(orjson.dumps(written), 200, [JSON, *links])

    def last_response(self, everything: Sequence[Any]) -> RestResponse:
        """The last resource. Raises NotFound if there is none."""
        if not everything:
            raise NotFound(thing=self.route.through.removesuffix("s"))
        return RestResponse(orjson.dumps(everything[-1]))

    def list_response(self, request: Request, everything: Sequence[Any]) -> RestResponse:
        """The whole array, or the requested page of it."""
        query, wrong = query_of(request, PARAMETERS)
        asked, of_page = read_requested_page(query)
        if wrong or of_page:
            raise InvalidInput(*wrong, *of_page)
        if "page_size" not in query:
            return RestResponse(orjson.dumps(everything))
        rows = everything[asked.offset : asked.offset + asked.size]
        if asked.number > 1 and not rows:
            raise NotFound(thing="page")
        page = Page(request.url, asked.number, asked.size, len(everything))
        return RestResponse(orjson.dumps(rows), 200, [JSON, page.link()])


def arguments_of(operation: Operation[Any, Any]) -> dict[str, Any]:
    """The arguments of an operation after the call: name -> type."""
    function: Callable[..., Any] = operation.function
    hints = get_type_hints(function, include_extras=True)
    return {name: hints[name] for name in list(inspect.signature(function).parameters)[1:]}


def _model_of(operation: Operation[Any, Any], kinds: Mapping[str, Any], in_path: Sequence[str]) -> type[BaseModel]:
    """A model of the arguments that come from the query or the body."""
    parameters = inspect.signature(operation.function).parameters
    fields: dict[str, Any] = {
        name: (kind, ... if parameters[name].default is inspect.Parameter.empty else parameters[name].default)
        for name, kind in kinds.items()
        if name not in in_path
    }
    model: type[BaseModel] = create_model(f"{operation.name}_arguments", **fields)
    return model


def _kind_in_path(
    route: RestRoute, name: str, kinds: Mapping[str, Any], model: type[BaseModel], *, takes_input: bool
) -> Any:
    field = route.renamed.get(name, name)
    if takes_input and field in model.model_fields:
        return model.model_fields[field].annotation
    if not takes_input and name in kinds:
        return kinds[name]
    raise TypeError(f"{route.path}: its operation takes no {field!r}.")
