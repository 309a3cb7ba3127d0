"""Routes that run an operation, or look one row up."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_type_hints

import orjson
from pydantic import BaseModel, create_model
from starlette.requests import Request

from resolvers.core.context import Context
from resolvers.core.idempotency import Once, Rendered, fingerprint
from resolvers.core.listing import Lookup
from resolvers.core.operation import Operation
from rest_compat.http.body import Sent, sent_body
from rest_compat.http.endpoint import WRITES, ContextOf, Endpoint, idempotency_key, query_of
from rest_compat.http.errors import refusal, snake_case
from rest_compat.http.inputs import InputReader
from rest_compat.http.page import PARAMETERS, Page, wanted
from rest_compat.http.path_values import PathValues
from rest_compat.http.responses import JSON, Answer
from rest_compat.http.route import Envelope, Route, Status
from rest_compat.shapes.keys import Nested
from rest_compat.shapes.shape import Shape
from schema.core.errors import AppError, InvalidInput, NotFound, Path, Problem
from schema.core.resource import Invalid


class OperationEndpoint(Endpoint):
    """Runs an operation.

    The body (of a GET: the query) and the path together make its `input`, or else its single arguments.
    """

    def __init__(self, route: Route, context_of: ContextOf, names: Sequence[str]) -> None:
        operation = route.operation
        assert isinstance(operation, Operation)
        kinds = arguments_of(operation)
        self.operation = operation
        self.takes_input = "input" in kinds
        model = (route.body or kinds["input"]) if self.takes_input else _model_of(operation, kinds, names)
        self.reader = InputReader(model, route.renamed, route.required, route.keyless)
        self.path_only = not self.takes_input and not model.model_fields
        in_path = {name: _kind_in_path(route, name, kinds, model, takes_input=self.takes_input) for name in names}
        super().__init__(route, context_of, PathValues(names, in_path))

    async def answer(self, request: Request, context: Context, given: Sequence[str]) -> Answer:
        """Read, run, write."""
        if self.path_only and request.method not in WRITES:
            return await self.written(await self.operation(context, **self.path_values(context, given)), context)
        if request.method not in WRITES:
            query, wrong = query_of(request, self.reader.keys)
            if request.method == "HEAD" and self.takes_input:
                return await self.foreseen(context, query, wrong, given)
            return await self.run(context, query, wrong, given, whole=False)
        sent = await sent_body(request, self.route.accepts)
        try:
            wrong = sent.problems
            if self.operation.repeatable:
                wrong += await self.once(request, context, sent)
            return await self.run(context, sent.data, wrong, given, whole=request.method != "PATCH")
        finally:
            await sent.close()

    def named(self, path: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters of the path as fields of the input."""
        return {self.route.renamed.get(name, name): path[name] for name in path}

    async def once(self, request: Request, context: Context, sent: Sent) -> tuple[Problem, ...]:
        """See to it that a request with an `Idempotency-Key` is done once; what is wrong with the key, if anything."""
        key, wrong = idempotency_key(request)
        if key is not None:
            said = await fingerprint(request.method, request.scope["path"].rstrip("/"), sent.data)
            context.once = Once(context, key, said, partial(self.rendered, context))
        return wrong

    async def rendered(self, context: Context, outcome: Any) -> Rendered:
        """The answer that a result or an error of the operation becomes, to be kept."""
        refused = isinstance(outcome, AppError)
        answer = refusal(outcome, self.names) if refused else await self.written(outcome, context)
        headers = tuple((name.decode(), value.decode()) for name, value in answer.headers)
        return Rendered(answer.body, answer.status, headers)

    async def run(self, context: Context, sent: Any, wrong: Any, given: Sequence[str], *, whole: bool) -> Answer:
        """Run the operation on what was sent."""
        path = self.path_values(context, given)
        if self.takes_input:
            made = self.reader.read(sent, self.named(path), wrong, whole=whole)
            return await self.written(await self.operation(context, input=made), context)
        made = self.reader.read(sent, {}, wrong)
        if isinstance(made, Invalid):
            invalid = Invalid(made.problems, {**path, **(made.given or {})})
            return await self.written(await self.operation(context, invalid), context)
        arguments = {name: getattr(made, name) for name in type(made).model_fields}
        return await self.written(await self.operation(context, **path, **arguments), context)

    async def foreseen(self, context: Context, query: Any, wrong: Any, given: Sequence[str]) -> Answer:
        """What a GET would answer; nothing is done."""
        made = self.reader.read(query, self.named(self.path_values(context, given)), wrong)
        found = await self.operation.foresee(context, made)
        return Answer(b"", sized=False) if found is None else await self.written(found, context)

    async def written(self, result: Any, context: Context) -> Answer:
        """The answer, in the documented shape and envelope."""
        route = self.route
        several = route.envelope is Envelope.ARRAY
        rows = await route.shape.render(result if several else [result], context.load.level)
        data = rows if several or route.envelope is Envelope.ARRAY_OF_ONE else rows[0]
        status = route.status.choose(result) if isinstance(route.status, Status) else route.status
        return Answer(orjson.dumps(data), status, [JSON])

    def names(self, path: Path) -> Path:
        """Operations tell of the fields of their input; the keys of REST have other names."""
        return self.reader.names(snake_case(path))


class LookupEndpoint(Endpoint):
    """Looks one row up, by the one parameter of its path; selects only the columns that the shape wants.

    Answers it, or what is found through a relation of it: all of that, unless the caller asks for a page.
    """

    def __init__(self, route: Route, context_of: ContextOf, names: Sequence[str]) -> None:
        assert isinstance(route.operation, Lookup)
        self.lookup = route.operation
        if len(names) != 1:
            raise TypeError(f"{route.path} looks one row up, so it has one parameter.")
        if bool(route.through) is not (route.envelope is Envelope.ARRAY):
            raise TypeError(f"{route.path}: one row is an object, and what is found through a relation an array.")
        self.shape = route.shape
        if route.through:
            nested = {route.through: Nested(route.through, route.shape)}
            self.shape = Shape(f"{route.shape.name} of {self.lookup.thing}", self.lookup.resource, nested)
        kind = self.lookup.table.model_fields[self.lookup.by].annotation
        super().__init__(route, context_of, PathValues(names, {names[0]: kind}))

    async def answer(self, request: Request, context: Context, given: Sequence[str]) -> Answer:
        """Find and write."""
        (value,) = self.path_values(context, given).values()
        found, columns = await self.lookup(context, value), self.shape.columns
        row = await (found.object() if columns is None else found.page(columns))
        (written,) = await self.shape.render([row], context.load.level, columns=columns is not None)
        return (
            self.several(request, written[self.route.through]) if self.route.through else Answer(orjson.dumps(written))
        )

    def several(self, request: Request, everything: Sequence[Any]) -> Answer:
        """The whole array, or the page of it that is asked for."""
        query, wrong = query_of(request, PARAMETERS)
        asked, of_page = wanted(query)
        if wrong or of_page:
            raise InvalidInput(*wrong, *of_page)
        if "page_size" not in query:
            return Answer(orjson.dumps(everything))
        rows = everything[asked.offset : asked.offset + asked.size]
        if asked.number > 1 and not rows:
            raise NotFound(thing="page")
        page = Page(request.url, asked.number, asked.size, len(everything))
        return Answer(orjson.dumps(rows), 200, [JSON, page.link()])


def arguments_of(operation: Operation[Any, Any]) -> dict[str, Any]:
    """What an operation takes besides the call: name -> type."""
    function: Callable[..., Any] = operation.function
    hints = get_type_hints(function, include_extras=True)
    return {name: hints[name] for name in list(inspect.signature(function).parameters)[1:]}


def _model_of(operation: Operation[Any, Any], kinds: Mapping[str, Any], in_path: Sequence[str]) -> type[BaseModel]:
    """The arguments that come from the query or the body, as one model."""
    parameters = inspect.signature(operation.function).parameters
    fields: dict[str, Any] = {
        name: (kind, ... if parameters[name].default is inspect.Parameter.empty else parameters[name].default)
        for name, kind in kinds.items()
        if name not in in_path
    }
    made: type[BaseModel] = create_model(f"{operation.name}_arguments", **fields)
    return made


def _kind_in_path(
    route: Route, name: str, kinds: Mapping[str, Any], model: type[BaseModel], *, takes_input: bool
) -> Any:
    field = route.renamed.get(name, name)
    if takes_input and field in model.model_fields:
        return model.model_fields[field].annotation
    if not takes_input and name in kinds:
        return kinds[name]
    raise TypeError(f"{route.path}: its operation takes no {field!r}.")
