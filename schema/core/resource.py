"""How a resource is published: the base of types and inputs, embedded values, relations, columns."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_origin

import pydantic
import strawberry
from pydantic import AfterValidator, BaseModel, ValidationError
from sqlalchemy import DateTime, Dialect, Enum, Numeric
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel
from strawberry.pydantic.error import InputValidationError
from strawberry.types import get_object_definition
from strawberry.types.enum import StrawberryEnumDefinition

from schema.core import lazy
from schema.core.errors import Problem
from schema.core.field_permission import Guard
from schema.core.field_source import Computed, Inline, Relation
from schema.core.input_errors import Usable, usable
from schema.core.messages import problems
from schema.validation.characters import in_lines
from schema.validation.languages import LANGUAGES

M = TypeVar("M", bound=BaseModel)
C = TypeVar("C", bound="ClosedSet")

SQLModel.metadata.naming_convention = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class Fields(SQLModel):
    """The base of every resource and input; it accepts the options Strawberry validates inputs with."""

    about: ClassVar[type[BaseModel] | None] = None
    """Of an input: the resource whose fields it has."""

    @classmethod
    def model_validate(cls, obj: Any, *, by_alias: Any = None, by_name: Any = None, **options: Any) -> Any:  # noqa: ARG003
        """Validate; `by_alias` and `by_name`, which SQLModel refuses, change nothing here."""
        return super().model_validate(obj, **options)


# ---- how a published field is read ------------------------------------------------------------------------------------


def computed(kind: Any, description: str, *, guard: Guard | None = None) -> Any:
    """A value that is worked out: `@computes` in `resolvers/` declares by what. Null where it is not worked out.

    `kind` is a published type or a list of one. With a `guard` it is null, and not worked out, for rows of other tenants,
    and refused to callers without the permission.
    """
    value = Computed(get_origin(kind) is list, guard)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        if guard is not None and not info.context.shows(guard, guard.owner_of(self)):
            return None
        return await info.context.load.one(value).load(self.id)

    return strawberry.pydantic.field(
        resolve, graphql_type=kind | None, metadata={"compiled": value}, description=description
    )


def relation(
    to: Any,
    by: str,
    description: str | None = None,
    *,
    nullable: bool = False,
    guard: Guard | None = None,
    within: str | None = None,
    field: Callable[..., Any] = strawberry.pydantic.field,
) -> Any:
    """One related resource, found by our column `by`; one statement for a whole level of a query.

    With a `guard` it is refused to callers without the permission, and null for rows of other tenants: make it nullable.
    `within` names a column that both have, such as `partner_id`: only a row with our value there is related.
    `field` is `strawberry.field` in a type that is no model.
    """
    link = Relation(to, by, guard=guard, within=within)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        if guard is not None and not info.context.shows(guard, guard.owner_of(self)):
            return None
        return await info.context.load.one(link).load(link.key_of(self))

    kind = lazy.published(to, nullable=nullable)
    return field(resolve, graphql_type=kind, metadata={"compiled": link}, description=description)


def relations(to: Any, by: str, description: str | None = None, *, order: str = "id") -> Any:
    """The related resources whose column `by` holds our id, ordered by a column of theirs; one statement a level."""
    link = Relation(to, by, many=True, order=order)

    async def resolve(self: Any, info: strawberry.Info) -> Any:
        return await info.context.load.one(link).load(link.key_of(self))

    return strawberry.pydantic.field(
        resolve, graphql_type=lazy.published(to, many=True), metadata={"compiled": link}, description=description
    )


# ---- embedded values --------------------------------------------------------------------------------------------------


def inline(
    kind: type[BaseModel],
    columns: Mapping[str, str | Inline] | None = None,
    *,
    prefix: str = "",
    unless_null: str | None = None,
) -> Inline:
    """A value to embed: each field of `kind` is the column of its own name behind `prefix`, unless `columns` says another."""
    named = {name: f"{prefix}{name}" for name in kind.model_fields}
    if unknown := set(columns or ()) - set(named):
        raise TypeError(f"{kind.__name__} has no {', '.join(sorted(unknown))}.")
    return Inline(kind, {**named, **(columns or {})}, unless_null)


def embedded(value: Inline, description: str, *, nullable: bool = False) -> Any:
    """Publish several columns as one value; `nullable` where it may be null."""
    kind = value.kind | None if nullable else value.kind

    def resolve(self: Any) -> Any:
        return value.of(self)

    return strawberry.pydantic.field(resolve, graphql_type=kind, metadata={"compiled": value}, description=description)


def guarded(value: Inline, guard: Guard, description: str) -> Any:
    """Publish several columns as one value that is null for rows of other tenants, and refused without the permission.

    Relations run no operation and so no permission check: what not everybody may see who reaches a row is guarded.
    """
    kept = replace(value, guard=guard)

    def resolve(self: Any, info: strawberry.Info) -> Any:
        return kept.of(self) if info.context.shows(guard, guard.owner_of(self)) else None

    return strawberry.pydantic.field(
        resolve, graphql_type=value.kind | None, metadata={"compiled": kept}, description=description
    )


@strawberry.pydantic.type(description="An exact amount in one currency.")
class Money(BaseModel):
    """An exact amount in one currency."""

    amount: Decimal = Field(description="In whole units of the currency, with two decimals: `12.50`.")
    currency: str = Field(description="ISO 4217 code.")


def in_money(amount: str, currency: str = "currency") -> Inline:
    """Two columns as one `Money`, null where the amount is."""
    return inline(Money, {"amount": amount, "currency": currency}, unless_null=amount)


def money(amount: str, currency: str = "currency", description: str = "", *, nullable: bool = False) -> Any:
    """Publish two columns as one `Money`; with `nullable`, null where the amount is."""
    return embedded(in_money(amount, currency), description, nullable=nullable)


@strawberry.pydantic.type(description="One text in each language we publish.")
class Text(BaseModel):
    """One text in each language we publish."""

    en: str | None = pydantic.Field(default=None, description="In English.")
    fr: str | None = pydantic.Field(default=None, description="In French.")
    es: str | None = pydantic.Field(default=None, description="In Spanish.")
    it: str | None = pydantic.Field(default=None, description="In Italian.")
    de: str | None = pydantic.Field(default=None, description="In German.")
    nl: str | None = pydantic.Field(default=None, description="In Dutch.")
    ca: str | None = pydantic.Field(default=None, description="In Catalan.")
    pt: str | None = pydantic.Field(default=None, description="In Portuguese.")

    def in_language(self, language: str) -> str:
        """The text in this language, else in English, else in whichever there is, else empty."""
        return getattr(self, language) or self.en or next((t for t in self.model_dump().values() if t), "")

    def merged(self, changes: "TextInput") -> "Text":
        """This text with the languages that were sent put in; null and blank clear one."""
        sent = {k: v.value for k in LANGUAGES if (v := getattr(changes, k)) is not None}
        return self.model_copy(update={k: v if v and v.strip() else None for k, v in sent.items()})


Written = Annotated[str, AfterValidator(in_lines)]
"""A text in lines, with what may stand in it."""


@strawberry.pydantic.input(
    description="One text, in as many languages as you have. A language left out stays as it is; null clears it."
)
class TextInput(BaseModel):
    """Not `TextInput(Text)`: its `= null` defaults are filled in by graphql-core, so that all languages look sent."""

    en: strawberry.Maybe[Written | None] = pydantic.Field(description="In English.")
    fr: strawberry.Maybe[Written | None] = pydantic.Field(description="In French.")
    es: strawberry.Maybe[Written | None] = pydantic.Field(description="In Spanish.")
    it: strawberry.Maybe[Written | None] = pydantic.Field(description="In Italian.")
    de: strawberry.Maybe[Written | None] = pydantic.Field(description="In German.")
    nl: strawberry.Maybe[Written | None] = pydantic.Field(description="In Dutch.")
    ca: strawberry.Maybe[Written | None] = pydantic.Field(description="In Catalan.")
    pt: strawberry.Maybe[Written | None] = pydantic.Field(description="In Portuguese.")


class TextColumn(TypeDecorator[Text]):
    """A `Text` as one JSONB column."""

    impl = JSONB
    cache_ok = True

    def process_bind_param(self, value: Text | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """To the database: only the languages there are."""
        return None if value is None else value.model_dump(exclude_none=True)

    def process_result_value(self, value: Any, dialect: Dialect) -> Text | None:  # noqa: ARG002
        """From the database."""
        return None if value is None else Text(**value)


# ---- columns ----------------------------------------------------------------------------------------------------------


def text(description: str, **options: Any) -> Any:
    """A translated text: one column, one GraphQL type with a field a language."""
    return Field(sa_type=TextColumn, description=description, **options)


class ClosedSet(enum.StrEnum):
    """The base of published closed sets. A member is what is stored, and what it means: `PAID = "paid", "It can be spent."`"""

    description: str

    def __new__(cls, value: str, description: str = "") -> Self:
        """A member."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member


def closed_set(cls: type[C]) -> type[C]:
    """Publish a closed set, described by its docstring and by its members."""
    strawberry.enum(cls, description=_sentences(cls))
    definition: StrawberryEnumDefinition = cls.__dict__["__strawberry_definition__"]
    for member in definition.values:
        member.description = cls[member.name].description
    return cls


def choice(kind: type[enum.Enum], description: str, *, length: int = 20, **options: Any) -> Any:
    """A closed set, stored as its values (`a`), not as its names; SQLModel's own choice is a native enum of names."""
    stored = Enum(kind, native_enum=False, length=length, values_callable=lambda e: [m.value for m in e])
    return Field(sa_type=stored, description=description, **options)


def amount(description: str = "", **options: Any) -> Any:
    """An exact amount of money or another number with two decimals."""
    return Field(sa_type=Numeric(12, 2), max_digits=12, decimal_places=2, description=description, **options)


def moment(description: str, **options: Any) -> Any:
    """A point in time, UTC."""
    return Field(sa_type=DateTime(timezone=True), description=description, **options)


def json_column(description: str, **options: Any) -> Any:
    """Structured data that only we see, as JSONB."""
    return Field(sa_type=JSONB, description=description, **options)


# ---- inputs -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Invalid:
    """An input that did not validate, kept until the caller's permission and the row are known."""

    problems: tuple[Problem, ...]
    given: Any = None
    usable: tuple[Usable, ...] = ()
    """What could be used of it, for checks to tell at once what else is wrong."""

    @classmethod
    def of(cls, model: type[BaseModel], error: ValidationError, sent: Any, **options: Any) -> Self:
        """What pydantic found wrong with what was sent by the names of the fields."""
        found = problems(error)
        return cls(found, sent, usable(model, sent, [problem.path for problem in found], **options))


def writable(cls: type[M]) -> type[M]:
    """Publish an input whose mistakes are told by the operation, after its permission, not by GraphQL before it."""
    return _input(cls, None)


def writable_as(resource: type[BaseModel]) -> Callable[[type[M]], type[M]]:
    """The same for an input whose fields mean what those of a resource mean: they are described as there, unless here."""
    return lambda cls: _input(cls, resource)


def _input(cls: type[M], resource: type[BaseModel] | None) -> type[M]:
    name = cls.__name__ if cls.__name__.endswith(("Input", "Filter")) else f"{cls.__name__}Input"
    strawberry.pydantic.input(cls, name=name, description=_sentences(cls))
    definition = get_object_definition(cls, strict=True)
    if resource is not None:
        cls.about = resource  # type: ignore[attr-defined]  # of Fields, which all inputs about a resource are
        meanings = meanings_of(resource)
        for field in definition.fields:
            field.description = field.description or meanings.get(field.python_name)
    build: Callable[..., Any] | None = definition.from_input
    assert build is not None

    def from_input(model: type[M], value: Any, context: Any) -> Any:
        heard = _Heard(model)
        try:
            return build(heard, value, context)
        except InputValidationError as error:
            places = [tuple(found.location) for found in error.errors]
            assert heard.invalid is not None
            told = [replace(problem, path=at) for problem, at in zip(heard.invalid.problems, places, strict=True)]
            return replace(heard.invalid, problems=tuple(told), given=value)

    definition.from_input = from_input
    return cls


class _Heard:
    """A model that keeps what pydantic found wrong: Strawberry passes on only where, and in words that are not ours."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self.invalid: Invalid | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def model_validate(self, data: Any, **options: Any) -> BaseModel:
        try:
            return self._model.model_validate(data, **options)
        except ValidationError as error:
            self.invalid = Invalid.of(self._model, error, data, **options)
            raise


def meanings_of(resource: type[BaseModel]) -> Mapping[str, str]:
    """What the fields of a published resource mean, by name."""
    return {f.python_name: f.description for f in get_object_definition(resource, strict=True).fields if f.description}


def place_of(resource: type[BaseModel] | None, name: str) -> str | Inline:
    """Where a field is kept: in the column of its name, unless the resource embeds columns there."""
    definition = None if resource is None else get_object_definition(resource)
    field = None if definition is None else definition.get_field(name)
    place = None if field is None else field.metadata.get("compiled")
    return place if isinstance(place, Inline) else name


def _sentences(documented: Any) -> str:
    return " ".join((documented.__doc__ or "").split())
