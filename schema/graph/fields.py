"""Builds the fields of the schema from operations, look-ups and lists, and the payloads with `userErrors`."""

import enum
import inspect
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import strawberry
from strawberry.types import get_object_definition
from strawberry.utils.str_converters import capitalize_first, to_camel_case, to_snake_case

from resolvers.core.context import Context, RequestFailure
from resolvers.core.lists.connection import Connection
from resolvers.core.lists.listing import DEFAULT_PAGE, LARGEST_PAGE, Listing, Lookup, PageArguments
from resolvers.core.operation import Operation
from schema.core import errors
from schema.core.errors import AppError, InvalidInput, NotFound, ProblemPath
from schema.core.inputs import RejectedInput
from schema.core.message_names import MessageWording, TemplatedMessage
from schema.graph.errors import ENGLISH, field_of
from schema.invoice import errors as invoice_errors
from schema.network import box_errors
from schema.network import errors as network_errors
from schema.order import errors as order_errors
from schema.payment import errors as payment_errors
from schema.personal_data import errors as personal_data_errors

Info: TypeAlias = strawberry.Info[Context, None]
FieldResolver: TypeAlias = Callable[..., Awaitable[Any]]
FieldOrigin: TypeAlias = Operation[Any, Any] | Listing[Any] | Lookup[Any]
ORIGINS = "sources"
"""Key in the metadata of a field: the operations, look-ups or lists that it is built from."""
RUN = "run"
"""Key in the metadata of a field: the function that resolves it from the context and its arguments."""
KEYWORD = inspect.Parameter.KEYWORD_ONLY
NOT_FOUND = 404

# ---- user errors

FIELD_CODES = {
    "CODE_NOT_USABLE": "The code cannot be used here.",
    "INVALID": "The value is invalid; the message says why.",
    "OUT_OF_RANGE": "The number is too large or too small.",
    "REQUIRED": "A value is required.",
    "TOO_LONG": "The text is too long.",
    "TOO_MANY": "The list is too long.",
}
"""Codes of problems of a single field, in addition to the errors of the catalogue."""
ERROR_MODULES = (
    errors,
    box_errors,
    invoice_errors,
    network_errors,
    order_errors,
    payment_errors,
    personal_data_errors,
)


def _error_classes() -> list[type[AppError]]:
    """The errors of the catalogue's modules. Those of others are not published, whatever was imported before."""
    kinds = (kind for module in ERROR_MODULES for kind in vars(module).values())
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, AppError)]


def _error_code() -> Any:
    told = {
        kind.code(): kind.meaning or _one_line_text(kind.__doc__)
        for kind in _error_classes()
        if kind.is_user_error and kind is not AppError
    }
    codes = sorted((FIELD_CODES | told).items())
    members = {code: strawberry.enum_value(code, description=text) for code, text in codes}
    made: Any = enum.Enum("ErrorCode", members)  # type: ignore[misc]  # its members are the catalogue's
    return strawberry.enum(
        made, description="The code of an error that the user can correct: in the input, or in the current state."
    )


def _one_line_text(text: str | None) -> str:
    return " ".join((text or "").split())


ErrorCode = _error_code()
ERROR_CODES = frozenset(ErrorCode.__members__)


@strawberry.type(description="An error that the user can correct.")
class UserError:
    field: list[str] = strawberry.field(
        description="Path in the input: field names and list positions. Empty if the error concerns no single field."
    )
    code: str = strawberry.field(graphql_type=ErrorCode, description="Error code, for programs.")
    message: str = strawberry.field(description="Message for people: what is wrong and how to correct it.")


def user_errors(
    error: AppError,
    arguments: Mapping[str, Any] = types.MappingProxyType({}),
    wording: MessageWording = ENGLISH,
) -> list[UserError]:
    """An `AppError` as data. The arguments of the field show which input field names a missing row."""
    if isinstance(error, NotFound) and not error.path:
        error.path = _input_path_of(error.lookup, arguments.get("input"))
    return [
        UserError(
            field=field_of(p.path),
            code=p.code if p.code in ERROR_CODES else "INVALID",
            message=wording.word(p.message),
        )
        for p in error.problems
    ]


def _input_path_of(by: Mapping[str, object], input: Any) -> ProblemPath:
    """The path of the input field that names a missing row: its name is, or ends with, the name of the column."""
    given = input.raw if isinstance(input, RejectedInput) else input
    values = {to_snake_case(name): value for name, value in dict(given or ()).items()}
    for column, value in by.items():
        named = [name for name in values if name.endswith((f"_{column}", f"{column}s"))]
        for name in (column, *named):
            sent_there = values.get(name)
            if isinstance(sent_there, list) and value in sent_there:
                return (name, sent_there.index(value))
            if sent_there is not None and str(getattr(sent_there, "value", sent_there)) == str(value):
                return (name,)
    return next(((name,) for column in by for name in values if column == name or column.endswith(f"_{name}")), ())


# ---- fields


def query_field(source: FieldOrigin, *others: Lookup[Any]) -> Any:
    """A field of `Query`. It is nullable, so that its error does not discard the fields beside it.

    A list becomes a connection. A look-up, or an operation that finds one object by its arguments, answers null if the
    caller may see no such object. Several look-ups of one resource become one field, which takes one of their keys.
    """
    if isinstance(source, Listing):
        return _connection_field(source)
    if isinstance(source, Lookup):
        return _lookup_field(source, *others)
    parameters, returns = _signature_of(source)
    if parameters and get_object_definition(returns) is not None:
        return _field(_null_if_not_found(source), parameters, returns | None, source.name, source)
    return _field(source, parameters, _nullable(returns), source.name, source)


def mutation_field(source: Operation[Any, Any], result: str | None = None) -> Any:
    """A field of `Mutation`. It answers a `<Name>Payload` with the result and the `userErrors`.

    The result field is named after its type. `result` names a result without a published type, such as a text.
    """
    parameters, returns = _signature_of(source)
    name = None if returns is None else result or _result_name(source, returns)
    payload = _payload(source, name, returns)

    async def run(context: Context, **arguments: Any) -> Any:
        try:
            answer = await _run_mutation(source, context, arguments)
        except AppError as error:
            if not error.is_user_error:
                raise
            told = user_errors(error, arguments, context.wording or ENGLISH)
            context.add_failures(RequestFailure(each.code, each.message, source.name, each.field) for each in told)
            return payload(**({} if name is None else {name: None}), user_errors=told)
        return payload(**({} if name is None else {name: answer}), user_errors=[])

    return _field(run, parameters, payload, source.name, source)


async def _run_mutation(source: Operation[Any, Any], context: Context, arguments: Mapping[str, Any]) -> Any:
    """The result of an operation. For a request with a key it is None: the response, which is stored, is rendered by a
    second execution of the document, in which this returns the outcome of the first.
    """
    once = context.idempotency
    if once is None or not (source.supports_idempotency or once.is_dry):
        return await source(context, **arguments)
    if not once.is_rendering:
        await source.respond(context, once, **arguments)
        return None
    if isinstance(once.outcome, AppError):
        raise once.outcome
    return once.outcome


def _connection_field(source: Listing[Any]) -> Any:
    async def run(context: Context, order_by: Any, **arguments: Any) -> Any:
        page = {name: value for name, value in arguments.items() if value is not strawberry.UNSET}
        filter, guarded = page.pop("filter", None), page.pop(source.guarded.name, None) if source.guarded else None
        return await source(context, filter=filter, page=PageArguments(**page), order=order_by, guarded=guarded)

    described = {
        "first": (
            int,
            f"Number of rows from the start or after a cursor: 1 to {LARGEST_PAGE}, default {DEFAULT_PAGE}.",
        ),
        "after": (str, "Cursor of the row before the page."),
        "last": (int, "Number of rows from the end or before a cursor; replaces `first`."),
        "before": (str, "Cursor of the row after the page."),
        "filter": (source.filter, "Conditions on the rows; all of them must hold."),
    }
    if source.guarded is not None:
        described[source.guarded.name] = (str, source.guarded.description)
    parameters = [_parameter(name, kind | None, text, strawberry.UNSET) for name, (kind, text) in described.items()]
    parameters.append(_parameter("order_by", source.order, "Order of the rows.", source.default_order))
    resource: Any = source.resource
    return _field(run, parameters, _nullable(Connection[resource]), "listed", source)


def _lookup_field(*sources: Lookup[Any]) -> Any:
    first, by = sources[0], {source.argument: source for source in sources}
    several = len(sources) > 1

    async def run(context: Context, **arguments: Any) -> Any:
        keys = [(name, value) for name, value in arguments.items() if value is not None]
        if len(keys) != 1:
            raise InvalidInput.at(
                (), TemplatedMessage("Send one of {names}.", names=", ".join(f"`{to_camel_case(name)}`" for name in by))
            )
        ((name, value),) = keys
        return await by[name](context, value)

    parameters = []
    for name, source in by.items():
        kind = source.argument_type
        told = f"The {name.replace('_', ' ')} of the {source.thing}"
        if several:
            parameters.append(_parameter(name, kind | None, f"{told}; send one of the arguments.", None))
        else:
            parameters.append(_parameter(name, kind, f"{told}."))
    return _field(run, parameters, first.resource | None, first.name, *sources)


def _parameter(name: str, kind: Any, description: str, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    told = Annotated[kind, strawberry.argument(description=description)]
    return inspect.Parameter(name, KEYWORD, annotation=told, default=default)


def _signature_of(source: Operation[Any, Any]) -> tuple[Sequence[inspect.Parameter], Any]:
    """The published arguments of an operation, and its return type. Raises TypeError if it has no docstring."""
    if not source.description:
        raise TypeError(f"{source.name} needs a docstring: it is what users read about the operation.")
    hints = get_type_hints(source.function, include_extras=True)
    _, *parameters = inspect.signature(source.function).parameters.values()
    returns = hints["return"]
    published = [
        p.replace(annotation=_described_argument(hints[p.name], p.name, returns), kind=KEYWORD) for p in parameters
    ]
    return published, None if returns is type(None) else returns


def _described_argument(kind: Any, name: str, returns: Any) -> Any:
    """An argument with a description: for an input that of its type, else that of the result's field of this name."""
    if get_origin(kind) is Annotated:
        return kind
    own, result = get_object_definition(kind), get_object_definition(returns)
    field = None if result is None else result.get_field(name)
    described = own.description if own is not None else field.description if field is not None else None
    return Annotated[kind, strawberry.argument(description=described)] if described else kind


def _null_if_not_found(source: Operation[Any, Any]) -> FieldResolver:
    async def run(context: Context, **arguments: Any) -> Any:
        try:
            return await source(context, **arguments)
        except AppError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    return run


def _field(
    run: FieldResolver, parameters: Sequence[inspect.Parameter], returns: Any, name: str, *sources: FieldOrigin
) -> Any:
    """A field with a resolver in Strawberry's form: `info`, then the published arguments."""

    async def resolve(info: Info, **arguments: Any) -> Any:
        return await run(info.context, **arguments)

    info = inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Info)
    resolve.__signature__ = inspect.Signature([info, *parameters], return_annotation=returns)  # type: ignore[attr-defined]
    resolve.__annotations__ = {p.name: p.annotation for p in (info, *parameters)} | {"return": returns}
    resolve.__name__ = name
    return strawberry.field(resolve, description=sources[0].description, metadata={ORIGINS: sources, RUN: run})


# ---- payloads


def _payload(source: Operation[Any, Any], result: str | None, returns: Any) -> Any:
    name = capitalize_first(to_camel_case(source.name))
    told = strawberry.field(description="Errors that the user can correct; empty on success.")
    hints: dict[str, Any] = {"user_errors": list[UserError]}
    fields: dict[str, Any] = {"user_errors": told}
    if result is not None:
        done = strawberry.field(description="The created or changed object; null if there are `userErrors`.")
        hints, fields = {result: _nullable(returns)} | hints, {result: done} | fields
    made = type(f"{name}Payload", (), {"__module__": __name__, "__annotations__": hints, **fields})
    payload: Any = strawberry.type(made, description=f"The payload of `{to_camel_case(source.name)}`.")
    return payload


def _nullable(returns: Any) -> Any:
    return returns if type(None) in get_args(returns) else returns | None


def _result_name(source: Operation[Any, Any], returns: Any) -> str:
    if get_origin(returns) in (Union, types.UnionType):
        (returns,) = (kind for kind in get_args(returns) if kind is not type(None))
    many = get_origin(returns) is list
    definition = get_object_definition(get_args(returns)[0] if many else returns)
    if definition is None:
        raise TypeError(f"{source.name} returns {returns}: name the result with mutation_field(…, result='…').")
    return to_snake_case(definition.name) + ("s" if many else "")
