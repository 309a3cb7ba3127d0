"""Fields of the schema, made of operations, look-ups and lists. Payloads with `userErrors` are made here and nowhere else."""

import enum
import inspect
import types
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import strawberry
from strawberry.types import get_object_definition
from strawberry.utils.str_converters import capitalize_first, to_camel_case, to_snake_case

from resolvers.core.context import Context
from resolvers.core.listing import DEFAULT_PAGE, LARGEST_PAGE, Connection, Listing, Lookup, Window
from resolvers.core.operation import Operation
from schema.core import errors
from schema.core.errors import AppError, InvalidInput, NotFound, Path
from schema.core.resource import Invalid
from schema.graph.errors import field_of, spoken

Info: TypeAlias = strawberry.Info[Context, None]
Run: TypeAlias = Callable[..., Awaitable[Any]]
Source: TypeAlias = Operation[Any, Any] | Listing[Any] | Lookup[Any]
SOURCES = "sources"
"""In the metadata of a field: the operations, look-ups or lists that it is made of."""
RUN = "run"
"""In the metadata of a field: what answers it, given the context and its arguments."""
KEYWORD = inspect.Parameter.KEYWORD_ONLY
NOT_FOUND = 404

# ---- what a user can get wrong

FIELD_CODES = {
    "CODE_NOT_USABLE": "The code that was given cannot be used here.",
    "INVALID": "The value cannot be used; the message says why.",
    "OUT_OF_RANGE": "The number is too large or too small.",
    "REQUIRED": "A value is needed.",
    "TOO_LONG": "The text is too long.",
    "TOO_MANY": "The list is too long.",
}
"""What can be wrong with a single field, beside the errors of the catalogue."""


def _catalogue() -> list[type[AppError]]:
    """The errors of `schema.core.errors`; another module's are not told by GraphQL, whatever was imported before."""
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AppError)]


def _error_code() -> Any:
    told = {
        kind.code(): kind.meaning or _sentence(kind.__doc__)
        for kind in _catalogue()
        if kind.told_as_data and kind is not AppError
    }
    codes = sorted((FIELD_CODES | told).items())
    members = {code: strawberry.enum_value(code, description=text) for code, text in codes}
    made: Any = enum.Enum("ErrorCode", members)  # type: ignore[misc]  # its members are the catalogue's
    return strawberry.enum(made, description="What is wrong with an input, or with the state of things.")


def _sentence(text: str | None) -> str:
    return " ".join((text or "").split())


ErrorCode = _error_code()
CODES = frozenset(ErrorCode.__members__)


@strawberry.type(description="Something that the user can put right.")
class UserError:
    """Something that the user can put right."""

    field: list[str] = strawberry.field(
        description="Where in the input: names of fields and positions in lists. Empty when it is about no one field."
    )
    code: str = strawberry.field(graphql_type=ErrorCode, description="What is wrong, for programs.")
    message: str = strawberry.field(description="What is wrong, for people, and the way out.")


def user_errors(error: AppError, given: Mapping[str, Any] = types.MappingProxyType({})) -> list[UserError]:
    """An error of the catalogue as data; `given` are the arguments of the field, which say where in them it is."""
    if isinstance(error, NotFound) and not error.path:
        error.path = _place(error.by, given.get("input"))
    return [
        UserError(field=field_of(p.path), code=p.code if p.code in CODES else "INVALID", message=spoken(p.message))
        for p in error.problems
    ]


def _place(by: Mapping[str, object], sent: Any) -> Path:
    """Where an input names what was looked for: the field of that value whose name is, or ends with, the column's."""
    given = sent.given if isinstance(sent, Invalid) else sent
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


def answered_by(source: Source, *others: Lookup[Any]) -> Any:
    """A field of `Query`; it is null where it fails, so that its neighbours are answered all the same.

    An operation that looks one thing up by its arguments answers null when there is no such thing for the caller; so does
    a look-up. A list answers a connection. Several look-ups of one thing make one field, which takes one of their keys.
    """
    if isinstance(source, Listing):
        return _listed(source)
    if isinstance(source, Lookup):
        return _looked_up(source, *others)
    parameters, returns = _published(source)
    if parameters and get_object_definition(returns) is not None:
        return _field(_or_null(source), parameters, returns | None, source.name, source)
    return _field(source, parameters, _nullable(returns), source.name, source)


def changed_by(source: Operation[Any, Any], result: str | None = None) -> Any:
    """A field of `Mutation`: its answer is `<Name>Payload`, with what was made or changed and the `userErrors`.

    The result is named after its type; `result` names one that has no type of its own, such as a text.
    """
    parameters, returns = _published(source)
    name = None if returns is None else result or _result_name(source, returns)
    payload = _payload(source, name, returns)

    async def run(context: Context, **given: Any) -> Any:
        try:
            answer = await source(context, **given)
        except AppError as error:
            if not error.told_as_data:
                raise
            return payload(**({} if name is None else {name: None}), user_errors=user_errors(error, given))
        return payload(**({} if name is None else {name: answer}), user_errors=[])

    return _field(run, parameters, payload, source.name, source)


def _listed(source: Listing[Any]) -> Any:
    async def run(context: Context, order_by: Any, **given: Any) -> Any:
        window = {name: value for name, value in given.items() if value is not strawberry.UNSET}
        return await source(context, filter=window.pop("filter", None), window=Window(**window), order=order_by)

    described = {
        "first": (
            int,
            f"How many rows, from the start or after a cursor: 1 to {LARGEST_PAGE}, {DEFAULT_PAGE} unless told.",
        ),
        "after": (str, "The cursor of the row that the page follows."),
        "last": (int, "How many rows, from the end or before a cursor, instead of `first`."),
        "before": (str, "The cursor of the row that the page precedes."),
        "filter": (source.filter, "Which rows; all that is given must hold."),
    }
    parameters = [_parameter(name, kind | None, text, strawberry.UNSET) for name, (kind, text) in described.items()]
    parameters.append(_parameter("order_by", source.order, "In which order.", source.default_order))
    resource: Any = source.resource
    return _field(run, parameters, _nullable(Connection[resource]), "listed", source)


def _looked_up(*sources: Lookup[Any]) -> Any:
    first, by = sources[0], {source.argument: source for source in sources}
    several = len(sources) > 1

    async def run(context: Context, **given: Any) -> Any:
        keys = [(name, value) for name, value in given.items() if value is not None]
        if len(keys) != 1:
            raise InvalidInput.at((), f"Send one of {', '.join(f'`{to_camel_case(name)}`' for name in by)}.")
        ((name, value),) = keys
        return await by[name](context, value)

    parameters = []
    for name, source in by.items():
        kind: Any = source.table.model_fields[source.by].annotation
        told = f"The {name.replace('_', ' ')} of the {source.thing}"
        if several:
            parameters.append(_parameter(name, kind | None, f"{told}; send one of the arguments.", None))
        else:
            parameters.append(_parameter(name, kind, f"{told}."))
    return _field(run, parameters, first.resource | None, first.name, *sources)


def _parameter(name: str, kind: Any, description: str, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    told = Annotated[kind, strawberry.argument(description=description)]
    return inspect.Parameter(name, KEYWORD, annotation=told, default=default)


def _published(source: Operation[Any, Any]) -> tuple[Sequence[inspect.Parameter], Any]:
    """The arguments of an operation as the schema has them, and what it answers."""
    if not source.description:
        raise TypeError(f"{source.name} needs a docstring: it is what users read about the operation.")
    hints = get_type_hints(source.function, include_extras=True)
    _, *parameters = inspect.signature(source.function).parameters.values()
    returns = hints["return"]
    published = [p.replace(annotation=_told(hints[p.name], p.name, returns), kind=KEYWORD) for p in parameters]
    return published, None if returns is type(None) else returns


def _told(kind: Any, name: str, returns: Any) -> Any:
    """An argument with its description: `input` is what its type says, others mean what the result's field means."""
    if get_origin(kind) is Annotated:
        return kind
    own, result = get_object_definition(kind), get_object_definition(returns)
    field = None if result is None else result.get_field(name)
    described = own.description if own is not None else field.description if field is not None else None
    return Annotated[kind, strawberry.argument(description=described)] if described else kind


def _or_null(source: Operation[Any, Any]) -> Run:
    async def run(context: Context, **given: Any) -> Any:
        try:
            return await source(context, **given)
        except AppError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    return run


def _field(run: Run, parameters: Sequence[inspect.Parameter], returns: Any, name: str, *sources: Source) -> Any:
    """A field with a resolver as Strawberry wants it: `info` first, then the published arguments."""

    async def resolve(info: Info, **given: Any) -> Any:
        return await run(info.context, **given)

    info = inspect.Parameter("info", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Info)
    resolve.__signature__ = inspect.Signature([info, *parameters], return_annotation=returns)  # type: ignore[attr-defined]
    resolve.__annotations__ = {p.name: p.annotation for p in (info, *parameters)} | {"return": returns}
    resolve.__name__ = name
    return strawberry.field(resolve, description=sources[0].description, metadata={SOURCES: sources, RUN: run})


# ---- payloads


def _payload(source: Operation[Any, Any], result: str | None, returns: Any) -> Any:
    name = capitalize_first(to_camel_case(source.name))
    told = strawberry.field(description="What the user can put right; empty when it was done.")
    hints: dict[str, Any] = {"user_errors": list[UserError]}
    fields: dict[str, Any] = {"user_errors": told}
    if result is not None:
        done = strawberry.field(description="What was made or changed; null when there are `userErrors`.")
        hints, fields = {result: _nullable(returns)} | hints, {result: done} | fields
    made = type(f"{name}Payload", (), {"__module__": __name__, "__annotations__": hints, **fields})
    payload: Any = strawberry.type(made, description=f"The answer of `{to_camel_case(source.name)}`.")
    return payload


def _nullable(returns: Any) -> Any:
    return returns if type(None) in get_args(returns) else returns | None


def _result_name(source: Operation[Any, Any], returns: Any) -> str:
    if get_origin(returns) in (Union, types.UnionType):
        (returns,) = (kind for kind in get_args(returns) if kind is not type(None))
    many = get_origin(returns) is list
    definition = get_object_definition(get_args(returns)[0] if many else returns)
    if definition is None:
        raise TypeError(f"{source.name} answers {returns}: name it with changed_by(…, result='…').")
    return to_snake_case(definition.name) + ("s" if many else "")
