"""Shapes: the documented keys of a resource, in order, each with the path it is read from. Checked at start."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from rest_compat.shapes import writers
from rest_compat.shapes.fields import FieldSource, field_names, field_source, is_enum, is_json
from rest_compat.shapes.keys import ComputedKey, ConstantKey, FieldKey, ScalarList, ShapeError
from rest_compat.shapes.schemas import is_string, or_empty, or_null
from rest_compat.shapes.writers import Schema, ValueWriter
from schema.core.derived import Derived, visible_value
from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, EmbeddedValue, Relation
from store.database.projection import Projection
from store.database.projection_fields import (
    ComputedField,
    ConstantField,
    ListField,
    LoadFunction,
    ObjectField,
    RelationField,
    RowColumns,
    ScalarField,
    SelectedField,
)


@dataclass(frozen=True)
class Nested:
    """A documented object, or array of objects, with its own shape. An empty path reads fields of the same resource."""

    path: str
    shape: "ResourceShape"


Spec: TypeAlias = str | FieldKey | Nested | ScalarList | ComputedKey | ConstantKey


def path_of(spec: Spec) -> str:
    return spec if isinstance(spec, str) else spec.path


def with_path(spec: Spec, path: str) -> Spec:
    """The same key with another path."""
    if isinstance(spec, ConstantKey):
        return spec
    if isinstance(spec, ComputedKey):
        begun = len(spec.path) - len(path)
        return dataclasses.replace(spec, paths=tuple(each[begun:] for each in spec.paths))
    return path if isinstance(spec, str) else dataclasses.replace(spec, path=path)


@dataclass(frozen=True)
class InnerShape:
    """The value of a key with its own shape: an object, or an array if `many`."""

    shape: "ResourceShape"
    many: bool = False
    nullable: bool = False


class ResourceShape:
    """The documented keys of a resource, in order. Keys read through one relation share one load.

    Raises `ShapeError` if a key cannot be read from the type, or not written as documented.
    """

    def __init__(
        self, name: str, kind: Any, keys: Mapping[str, Spec], *, example: Mapping[str, Any] | None = None
    ) -> None:
        self.name, self.kind, self.keys = name, kind, keys
        self.example = example or {}
        """Example values for the documentation. Other keys show a sample of their type."""
        self.properties: dict[str, Schema | InnerShape] = {}
        """The OpenAPI schema of each key."""
        self.texts: list[str] = []
        self.inner: list[tuple[str, ResourceShape]] = []
        self.guarded: list[str] = []
        """Keys with a field-level permission. Only operations about the row itself may answer them."""
        self.selection = tuple(self._read())
        self.properties = {key: self.properties[key] for key in keys}  # those of one relation were read together
        self.projection = Projection(self.selection)
        unknown = set(self.example) - set(keys)
        if unknown:
            raise ShapeError(f"The example of {name} has keys that it does not: {_list(sorted(unknown))}.")

    @property
    def rows(self) -> RowColumns | None:
        """What to read for `render`; None: it needs objects."""
        return self.projection.rows

    async def render(self, rows: Sequence[Any], load: LoadFunction, *, columns: bool = False) -> list[dict[str, Any]]:
        """Objects, or with `columns` tuples of the selected columns, as JSON data."""
        return self.fill_empty_texts(await self.projection.render(rows, load, columns))

    # ---- empty texts

    def fill_empty_texts(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Replace None by "" for keys documented as a string, in place."""
        for key in self.texts:
            for row in rows:
                if row[key] is None:
                    row[key] = ""
        for key, shape in self.inner:
            if shape.texts or shape.inner:
                for row in rows:
                    inner = row[key]
                    shape.fill_empty_texts(inner if isinstance(inner, list) else [inner] if inner is not None else [])
        return rows

    # ---- compilation, at start

    def _read(self) -> Iterator[SelectedField]:
        through: dict[str, dict[str, Spec]] = {}
        """Relation -> the keys read through it, with the rest of their paths."""
        for key, spec in self.keys.items():
            step, _, rest = path_of(spec).partition(".")
            if (
                rest
                and isinstance(where := self._source(key, step).location, Relation | Computed)
                and not _is_separate(spec, where, rest)
            ):
                through.setdefault(step, {})[key] = with_path(spec, rest)
        for key, spec in self.keys.items():
            step, _, rest = path_of(spec).partition(".")
            if key not in through.get(step, ()):
                yield self._read_key(key, spec, step, rest)
            elif key == next(iter(through[step])):
                yield self._link(key, step, through[step])
            else:
                yield ConstantField(key, None)  # written with the first key through this relation

    def _link(self, key: str, step: str, keys: Mapping[str, Spec]) -> RelationField:
        source = self._source(key, step)
        relation = source.location
        assert isinstance(relation, Relation | Computed)
        if relation.many:
            raise ShapeError(f"{self._key_label(key)} reads one value of many: {step!r} is a list. Nest a shape there.")
        if isinstance(relation, Computed) and relation.field_permission is not None:
            raise ShapeError(f"{self._key_label(key)} reads {step!r}, which needs a permission.")
        if all(isinstance(spec, FieldKey) and spec.is_public for spec in keys.values()):
            relation = replace(relation, field_permission=None)
        target = relation.target if isinstance(relation, Relation) else source.field_type.type
        related = ResourceShape(self.name, target, keys)
        self._refuse_guarded(related)
        self.inner.extend(related.inner)
        self.texts.extend(texts := [k for k, spec in keys.items() if related.is_text(k, spec)])
        for name, schema in related.properties.items():
            is_optional = source.field_type.nullable if isinstance(relation, Relation) else relation.is_partial
            self.properties[name] = _optional(schema, text=name in texts) if is_optional else schema
        return RelationField(key, relation, related.projection, merge_keys=True)

    def is_text(self, key: str, spec: Spec) -> bool:
        """Whether a key is documented as a string that is never null."""
        schema = self.properties[key]
        nullable = isinstance(spec, FieldKey) and spec.nullable
        return isinstance(schema, Mapping) and is_string(schema) and not nullable

    def _read_key(self, key: str, spec: Spec, step: str, rest: str) -> SelectedField:
        if isinstance(spec, ConstantKey):
            self.properties[key] = {**spec.schema, "description": spec.description}
            return ConstantField(key, spec.value)
        if isinstance(spec, ComputedKey):
            return self._computed_field(key, spec)
        if isinstance(spec, Nested) and not spec.path:
            self.inner.append((key, spec.shape))
            self.properties[key] = InnerShape(spec.shape)
            return ObjectField(key, None, spec.shape.selection)
        source = self._source(key, step)
        if isinstance(spec, Nested):
            return self._nested_field(key, spec, source, rest)
        if isinstance(spec, ScalarList):
            return self._scalar_list(key, spec, source, rest)
        return self._read_single(key, FieldKey(spec) if isinstance(spec, str) else spec, source, rest)

    def _read_single(self, key: str, spec: FieldKey, source: FieldSource, rest: str) -> ScalarField | ComputedField:
        step = spec.path.partition(".")[0]
        if isinstance(source.location, EmbeddedValue):
            column = self._stored_path(key, spec.path)
            inner = self._inside(key, source, rest)
            guard = source.location.field_permission
            hidden = guard if guard is not None and guard.permission is None else None
            leaf = self._leaf(key, spec, inner, column, nullable=inner.field_type.nullable or hidden is not None)
            return leaf if hidden is None else _hidden_field(leaf, hidden)
        if isinstance(source.location, Derived):
            leaf = self._leaf(key, spec, source, step, nullable=source.field_type.nullable)
            return ComputedField(
                key, source.location.columns, source.location.required_rule, leaf.serialize, needs_context=True
            )
        if isinstance(source.location, Relation) and rest == "id" and not source.location.many:
            return self._leaf(
                key, spec, self._inside(key, source, rest), source.location.by, nullable=source.field_type.nullable
            )
        if not isinstance(source.location, str):
            raise ShapeError(
                f"{self._key_label(key)} reads {step!r}, which is a resource of its own. Nest a shape there."
            )
        if not rest:
            return self._leaf(key, spec, source, source.location, nullable=source.field_type.nullable)
        inner = self._inside(key, source, rest)
        return self._leaf(key, spec, inner, f"{source.location}.{rest}", nullable=inner.field_type.nullable)

    def _leaf(self, key: str, spec: FieldKey, source: FieldSource, path: str, *, nullable: bool) -> ScalarField:
        writer = self._writer(key, spec, source)
        schema = writer.schema
        each = source.field_type.many and not writer.many
        if each:
            schema = {"type": "array", "items": schema}
        elif nullable and (spec.nullable or not writer.is_text):
            schema = or_null(schema)
        elif nullable:
            self.texts.append(key)
            schema = or_empty(schema)
        description = spec.description or source.description
        self.properties[key] = {**schema, "description": description} if description else schema
        write = writer.write
        if each and write is not None:
            write = _each_with(write)
        return ScalarField(key, path, write)

    def _computed_field(self, key: str, spec: ComputedKey) -> ComputedField:
        self.properties[key] = {**spec.schema, "description": spec.description}
        return ComputedField(key, tuple(self._stored_path(key, path) for path in spec.paths), spec.compute)

    def _stored_path(self, key: str, path: str) -> str:
        """The stored path of a field, which must be in the resource itself."""
        step, _, rest = path.partition(".")
        source = self._source(key, step)
        if isinstance(source.location, EmbeddedValue):
            guard = source.location.field_permission
            if guard is not None and guard.permission is not None:
                self.guarded.append(key)
            return self._column(key, step, source.location, rest)
        if not isinstance(source.location, str):
            raise ShapeError(
                f"{self._key_label(key)} is computed from {path!r}, which is not stored in {self.kind.__name__}."
            )
        if rest:
            self._inside(key, source, rest)
        return path

    def _nested_field(self, key: str, spec: Nested, source: FieldSource, rest: str) -> SelectedField:
        if rest:
            raise ShapeError(
                f"{self._key_label(key)} nests a shape under {spec.path!r}: nest it where the resource is."
            )
        if isinstance(source.location, Computed):
            return self._computed_objects(key, spec, source.location, source)
        if isinstance(source.location, Relation):
            self._refuse_guarded(spec.shape)
            self.inner.append((key, spec.shape))
            many = source.location.many
            self.properties[key] = InnerShape(spec.shape, many, source.field_type.nullable and not many)
            return RelationField(key, source.location, spec.shape.projection)
        if not isinstance(source.location, str) or not field_names(source.field_type.type):
            raise ShapeError(f"{self._key_label(key)} nests a shape in {spec.path!r}, which is not an object.")
        self.inner.append((key, spec.shape))
        if source.field_type.many:
            self.properties[key] = InnerShape(spec.shape, many=True)
            return ListField(key, source.location, spec.shape.selection, in_rows=is_json(self.kind, source.location))
        self.properties[key] = InnerShape(spec.shape, nullable=source.field_type.nullable)
        return ObjectField(key, source.location, spec.shape.selection)

    def _computed_objects(self, key: str, spec: Nested, value: Computed, source: FieldSource) -> RelationField:
        """An object, or an array of objects, that a function computes. For an array it must return a list for each id."""
        if value.field_permission is not None:
            raise ShapeError(f"{self._key_label(key)} nests {spec.path!r}, which needs a permission.")
        self._refuse_guarded(spec.shape)
        self.inner.append((key, spec.shape))
        self.properties[key] = InnerShape(spec.shape, value.many, source.field_type.nullable and not value.many)
        return RelationField(key, value, spec.shape.projection)

    def _scalar_list(self, key: str, spec: ScalarList, source: FieldSource, rest: str) -> RelationField:
        relation = source.location
        if not isinstance(relation, Relation) or not relation.many:
            raise ShapeError(f"{self._key_label(key)} lists values of {spec.path!r}, which is not a list of resources.")
        related = ResourceShape(self.name, relation.target, {key: rest})
        self._refuse_guarded(related)
        (field,) = related.selection
        if not isinstance(field, ScalarField) or related.texts:
            raise ShapeError(
                f"{self._key_label(key)} lists values of {spec.path!r}, which is not a single non-null value."
            )
        written = related.properties[key]
        assert isinstance(written, Mapping)  # of a leaf
        items = {name: value for name, value in written.items() if name != "description"}
        self.properties[key] = {"type": "array", "items": items, "description": spec.description or source.description}
        return RelationField(key, relation, Projection([field], bare=True))

    def _refuse_guarded(self, related: "ResourceShape") -> None:
        """Raise ShapeError for a relation to fields with a field-level permission: relations check no permission."""
        if related.guarded:
            raise ShapeError(
                f"{self.name} reads {_list(related.guarded)} through a relation, but they need a permission."
            )

    def _source(self, key: str, step: str) -> FieldSource:
        source = field_source(self.kind, step)
        if source is None:
            raise ShapeError(
                f"{self._key_label(key)} reads {step!r}, which {self.kind.__name__} does not publish; "
                f"it publishes {_list(field_names(self.kind))}."
            )
        return source

    def _column(self, key: str, name: str, value: EmbeddedValue, path: str) -> str:
        """The column, or the path within one, of a part of an embedded value."""
        step, _, rest = path.partition(".")
        at = value.columns.get(step)
        if at is None:
            raise ShapeError(f"{self._key_label(key)} reads {step!r} of {name}, which has {_list(value.columns)}.")
        return (
            self._column(key, step, at, rest) if isinstance(at, EmbeddedValue) else ".".join(filter(None, (at, rest)))
        )

    def _inside(self, key: str, source: FieldSource, rest: str) -> FieldSource:
        """The field at the end of a dotted path inside a value; nullable if any step of the path is."""
        nullable = source.field_type.nullable
        for step in rest.split("."):
            inner = field_source(source.field_type.type, step)
            if inner is None:
                offers = _list(field_names(source.field_type.type))
                raise ShapeError(
                    f"{self._key_label(key)} reads {step!r} of {source.field_type.type.__name__}, which has {offers}."
                )
            source, nullable = inner, nullable or inner.field_type.nullable
        return replace(source, field_type=replace(source.field_type, nullable=nullable))

    def _writer(self, key: str, spec: FieldKey, source: FieldSource) -> ValueWriter:
        kind = source.field_type.type
        if spec.writer is not None:
            if kind not in spec.writer.reads:
                raise ShapeError(
                    f"{self._key_label(key)} writes {spec.path} as {spec.writer.name}, but {self.kind.__name__}.{spec.path} "
                    f"is {getattr(kind, '__name__', kind)}."
                )
            return spec.writer
        if is_enum(kind):
            return writers.of_enum(kind)
        if kind is dict and source.field_type.key is int:
            return writers.BY_ID
        try:
            return writers.BY_TYPE[kind]
        except (KeyError, TypeError):
            name = getattr(kind, "__name__", kind)
            raise ShapeError(f"{self._key_label(key)} reads a {name} and does not say how it is written.") from None

    def _key_label(self, key: str) -> str:
        return f"The documented key {key!r} of {self.name}"


def _hidden_field(leaf: ScalarField, guard: FieldPermission) -> ComputedField:
    """A value that is null in rows of others."""
    paths = (*guard.columns, leaf.path)
    return ComputedField(leaf.key, paths, partial(visible_value, guard), leaf.serialize, needs_context=True)


def _is_separate(spec: Spec, relation: Relation | Computed, rest: str) -> bool:
    """True if a key is not loaded with others of its relation: a list of scalars, or the id, which the row itself
    stores.
    """
    if isinstance(spec, ScalarList):
        return relation.many
    return isinstance(relation, Relation) and rest == "id" and not relation.many


def _optional(schema: Schema | InnerShape, *, text: bool) -> Schema | InnerShape:
    """The schema of a value behind a nullable relation."""
    if isinstance(schema, InnerShape):
        return replace(schema, nullable=not schema.many)
    return or_empty(schema) if text else or_null(schema)


def _each_with(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [write(value) for value in values]


def _list(names: Any) -> str:
    return ", ".join(names) or "nothing"
