"""Inputs: classes published by Strawberry and validated by pydantic."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypeVar

import strawberry
from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.fields import FieldInfo
from strawberry.pydantic.error import InputValidationError
from strawberry.types import get_object_definition
from strawberry.types.base import StrawberryOptional

from schema.core.columns import _docstring_of
from schema.core.errors import Problem
from schema.core.field_source import EmbeddedValue
from schema.core.input_errors import PartialInput, partial_inputs
from schema.core.messages import problems_of
from schema.core.resource import EmbeddedColumns, SchemaModel, without_null

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class RejectedInput:
    """An input that failed validation. It is reported after the permission and the row are checked."""

    problems: tuple[Problem, ...]
    raw: Any = None
    partial_inputs: tuple[PartialInput, ...] = ()
    """Its valid parts, so that checks can find further problems."""

    @classmethod
    def of(cls, model: type[BaseModel], error: ValidationError, values: Any, **options: Any) -> Self:
        """The problems that pydantic found, with the paths of the fields."""
        found = problems_of(error)
        return cls(found, values, partial_inputs(model, values, [problem.path for problem in found], **options))


def graphql_input(cls: type[M]) -> type[M]:
    """Publish an input. The operation reports its problems, after checking the permission; GraphQL does not report
    them before.
    """
    return _publish_input(cls, None)


def graphql_input_for(resource: type[BaseModel]) -> Callable[[type[M]], type[M]]:
    """Publish an input with the fields of a resource. Fields without a description take the resource's."""
    published = resource.embedded_value.kind if issubclass(resource, EmbeddedColumns) else resource
    return lambda cls: _publish_input(cls, published)


def update_input_of(create: type[SchemaModel], *, without: Collection[str] = ()) -> Callable[[type[M]], type[M]]:
    """Publish an input that updates what `create` creates, with the same fields, those in `without` excepted. Each may
    be omitted, and is null only where the resource's field may be.

    The class itself declares what the update has besides, and what its operation reads by name.
    """

    def publish(cls: type[M]) -> type[M]:
        assert create.resource is not None
        fields: dict[str, Any] = {
            name: (strawberry.Maybe[_kind_in_update(create.resource, name, info)], Field(description=info.description))  # type: ignore[misc]  # a type that is made at runtime
            for name, info in create.model_fields.items()
            if name not in cls.model_fields and name not in without
        }
        derived = create_model(cls.__name__, __base__=cls, __module__=cls.__module__, __doc__=cls.__doc__, **fields)
        for name in filter(
            derived.model_fields.__contains__, create.model_fields
        ):  # also those that the class declares
            derived.model_fields[name] = derived.model_fields.pop(name)
        return _publish_input(derived, create.resource)

    return publish


def _kind_in_update(resource: type[BaseModel], name: str, info: FieldInfo) -> Any:
    """The type of a field of a create input, in which null may only mean that it is omitted, as one of an update."""
    field = get_object_definition(resource, strict=True).get_field(name)
    kind: Any = info.annotation
    if field is not None and not isinstance(field.type, StrawberryOptional):
        kind = without_null(kind)
    return Annotated[kind, *info.metadata] if info.metadata else kind


def _publish_input(cls: type[M], resource: type[BaseModel] | None) -> type[M]:
    name = cls.__name__ if cls.__name__.endswith(("Input", "Filter")) else f"{cls.__name__}Input"
    strawberry.pydantic.input(cls, name=name, description=_docstring_of(cls))
    definition = get_object_definition(cls, strict=True)
    if resource is not None:
        cls.resource = resource  # type: ignore[attr-defined]  # of Fields, which all inputs about a resource are
        meanings = field_descriptions_of(resource)
        for field in definition.fields:
            field.description = field.description or meanings.get(field.python_name)
    build: Callable[..., Any] | None = definition.from_input
    assert build is not None

    def from_input(model: type[M], value: Any, context: Any) -> Any:
        heard = _RecordingModel(model)
        try:
            return build(heard, value, context)
        except InputValidationError as error:
            places = [tuple(found.location) for found in error.errors]
            assert heard.rejected is not None
            told = [replace(problem, path=at) for problem, at in zip(heard.rejected.problems, places, strict=True)]
            return replace(heard.rejected, problems=tuple(told), raw=value)

    definition.from_input = from_input
    return cls


class _RecordingModel:
    """A model that records pydantic's errors. Strawberry passes on only their paths, with its own messages."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self.rejected: RejectedInput | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def model_validate(self, data: Any, **options: Any) -> BaseModel:
        try:
            return self._model.model_validate(data, **options)
        except ValidationError as error:
            self.rejected = RejectedInput.of(self._model, error, data, **options)
            raise


def field_descriptions_of(resource: type[BaseModel]) -> Mapping[str, str]:
    """Field name -> description of a published resource."""
    return {f.python_name: f.description for f in get_object_definition(resource, strict=True).fields if f.description}


def column_of(resource: type[BaseModel] | None, name: str) -> str | EmbeddedValue:
    """The column of a field: the column of its name, unless the resource embeds a value there."""
    definition = None if resource is None else get_object_definition(resource)
    field = None if definition is None else definition.get_field(name)
    place = None if field is None else field.metadata.get("compiled")
    return place if isinstance(place, EmbeddedValue) else name
