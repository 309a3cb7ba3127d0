"""The documented keys of a resource, in order, each with the path it is read from; checked when the program starts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rest_compat.shapes import writers
from rest_compat.shapes.fields import Source, field_names, is_enum, is_json, source
from rest_compat.shapes.keys import Key, Nested, Plucked, ShapeError, Spec, Worked, path_of, with_path
from rest_compat.shapes.writers import Schema, Writer
from schema.core.derived import Derived
from schema.core.field_source import Inline, Relation
from store.database.projection import Projection
from store.database.projection_fields import Each, Leaf, Link, Load, Made, Part, Same, Wanted


@dataclass(frozen=True)
class Inner:
    """What a key holds that has a shape of its own: an object, or `many`."""

    shape: "Shape"
    many: bool = False
    nullable: bool = False


class Shape:
    """The documented keys of a resource, in order. Keys read through one relation share one load.

    Raises `ShapeError` when a key cannot be read from the type as it is, or not written the way it is documented.
    """

    def __init__(
        self, name: str, kind: Any, keys: Mapping[str, Spec], *, example: Mapping[str, Any] | None = None
    ) -> None:
        self.name, self.kind, self.keys = name, kind, keys
        self.example = example or {}
        """For the documentation: values of keys that say more than one made up from their types."""
        self.properties: dict[str, Schema | Inner] = {}
        """How OpenAPI shows each key."""
        self.texts: list[str] = []
        self.inner: list[tuple[str, Shape]] = []
        self.guarded: list[str] = []
        """Keys of what is not shown to everybody: for answers of operations that are about the row itself."""
        self.wanted = tuple(self._read())
        self.projection = Projection(self.wanted)
        unknown = set(self.example) - set(keys)
        if unknown:
            raise ShapeError(f"The example of {name} has keys that it does not: {_list(sorted(unknown))}.")

    @property
    def columns(self) -> list[str] | None:
        """The columns to select for `render`; None: it wants whole objects."""
        return None if self.projection.rows is None else self.projection.rows.columns

    async def render(self, rows: Sequence[Any], load: Load, *, columns: bool = False) -> list[dict[str, Any]]:
        """Objects, or (`columns`) tuples of the wanted columns, as data ready for JSON."""
        return self.finished(await self.projection.render(rows, load, columns))

    # ---- writing what is not there --------------------------------------------------------------------------------------

    def finished(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows with "" where a string is documented and there is nothing."""
        for key in self.texts:
            for row in rows:
                if row[key] is None:
                    row[key] = ""
        for key, shape in self.inner:
            if shape.texts or shape.inner:
                for row in rows:
                    inner = row[key]
                    shape.finished(inner if isinstance(inner, list) else [inner] if inner is not None else [])
        return rows

    # ---- reading the types, at start ------------------------------------------------------------------------------------

    def _read(self) -> Iterator[Wanted]:
        through: dict[str, dict[str, Spec]] = {}
        """Relation -> the keys read through it, with what is left of their paths."""
        for key, spec in self.keys.items():
            step, _, rest = path_of(spec).partition(".")
            if rest and isinstance(where := self._source(key, step).where, Relation) and not _apart(spec, where, rest):
                through.setdefault(step, {})[key] = with_path(spec, rest)
        for key, spec in self.keys.items():
            step, _, rest = path_of(spec).partition(".")
            if key not in through.get(step, ()):
                yield self._one(key, spec, step, rest)
            elif key == next(iter(through[step])):
                yield self._link(key, step, through[step])
            else:
                yield Same(key, None)  # written with the first key through this relation

    def _link(self, key: str, step: str, keys: Mapping[str, Spec]) -> Link:
        found = self._source(key, step)
        relation = found.where
        assert isinstance(relation, Relation)
        if relation.many:
            raise ShapeError(f"{self._named(key)} reads one value of many: {step!r} is a list. Nest a shape there.")
        related = Shape(self.name, relation.to, keys)
        self._check_reached(related)
        self.inner.extend(related.inner)
        self.texts.extend(texts := [k for k, spec in keys.items() if related.is_text(k, spec)])
        for name, schema in related.properties.items():
            self.properties[name] = _perhaps(schema, text=name in texts) if found.holds.nullable else schema
        return Link(key, relation, related.projection, spread=True)

    def is_text(self, key: str, spec: Spec) -> bool:
        """Whether a key is documented as a string that is never null."""
        schema = self.properties[key]
        nullable = isinstance(spec, Key) and spec.nullable
        return isinstance(schema, Mapping) and _is_string(schema) and not nullable

    def _one(self, key: str, spec: Spec, step: str, rest: str) -> Wanted:
        if isinstance(spec, Worked):
            return self._worked(key, spec)
        if isinstance(spec, Nested) and not spec.path:
            self.inner.append((key, spec.shape))
            self.properties[key] = Inner(spec.shape)
            return Part(key, None, spec.shape.wanted)
        found = self._source(key, step)
        if isinstance(spec, Nested):
            return self._nested(key, spec, found, rest)
        if isinstance(spec, Plucked):
            return self._plucked(key, spec, found, rest)
        return self._single(key, Key(spec) if isinstance(spec, str) else spec, found, rest)

    def _single(self, key: str, spec: Key, found: Source, rest: str) -> Leaf | Made:
        step = spec.path.partition(".")[0]
        if isinstance(found.where, Inline):
            column = self._kept(key, spec.path)
            inner = self._inside(key, found, rest)
            return self._leaf(key, spec, inner, column, nullable=inner.holds.nullable)
        if isinstance(found.where, Derived):
            leaf = self._leaf(key, spec, found, step, nullable=found.holds.nullable)
            return Made(key, found.where.columns, found.where.made_by, leaf.write, asks=True)
        if isinstance(found.where, Relation) and rest == "id" and not found.where.many:
            return self._leaf(key, spec, self._inside(key, found, rest), found.where.by, nullable=found.holds.nullable)
        if not isinstance(found.where, str):
            raise ShapeError(f"{self._named(key)} reads {step!r}, which is a resource of its own. Nest a shape there.")
        if not rest:
            return self._leaf(key, spec, found, found.where, nullable=found.holds.nullable)
        inner = self._inside(key, found, rest)
        return self._leaf(key, spec, inner, f"{found.where}.{rest}", nullable=inner.holds.nullable)

    def _leaf(self, key: str, spec: Key, found: Source, path: str, *, nullable: bool) -> Leaf:
        writer = self._writer(key, spec, found)
        schema = writer.schema
        each = found.holds.many and not writer.many
        if each:
            schema = {"type": "array", "items": schema}
        elif nullable and (spec.nullable or not writer.text):
            schema = _or_null(schema)
        elif nullable:
            self.texts.append(key)
            schema = _or_empty(schema)
        description = spec.description or found.description
        self.properties[key] = {**schema, "description": description} if description else schema
        write = writer.write
        if each and write is not None:
            write = _each(write)
        return Leaf(key, path, write)

    def _worked(self, key: str, spec: Worked) -> Made:
        self.properties[key] = {**spec.schema, "description": spec.description}
        return Made(key, tuple(self._kept(key, path) for path in spec.paths), spec.make)

    def _kept(self, key: str, path: str) -> str:
        """Where a field is kept, which must be in the resource itself."""
        step, _, rest = path.partition(".")
        found = self._source(key, step)
        if isinstance(found.where, Inline):
            if found.where.guard is not None:
                self.guarded.append(key)
            return self._column(key, step, found.where, rest)
        if not isinstance(found.where, str):
            raise ShapeError(
                f"{self._named(key)} is worked out of {path!r}, which is not kept in {self.kind.__name__}."
            )
        if rest:
            self._inside(key, found, rest)
        return path

    def _nested(self, key: str, spec: Nested, found: Source, rest: str) -> Wanted:
        if rest:
            raise ShapeError(f"{self._named(key)} nests a shape under {spec.path!r}: nest it where the resource is.")
        if isinstance(found.where, Relation):
            self._check_reached(spec.shape)
            self.inner.append((key, spec.shape))
            many = found.where.many
            self.properties[key] = Inner(spec.shape, many, found.holds.nullable and not many)
            return Link(key, found.where, spec.shape.projection)
        if not isinstance(found.where, str) or not field_names(found.holds.type):
            raise ShapeError(f"{self._named(key)} nests a shape in {spec.path!r}, which is not an object.")
        self.inner.append((key, spec.shape))
        if found.holds.many:
            self.properties[key] = Inner(spec.shape, many=True)
            return Each(key, found.where, spec.shape.wanted, in_rows=is_json(self.kind, found.where))
        self.properties[key] = Inner(spec.shape, nullable=found.holds.nullable)
        return Part(key, found.where, spec.shape.wanted)

    def _plucked(self, key: str, spec: Plucked, found: Source, rest: str) -> Link:
        relation = found.where
        if not isinstance(relation, Relation) or not relation.many:
            raise ShapeError(f"{self._named(key)} plucks {spec.path!r}, which is no list of resources.")
        related = Shape(self.name, relation.to, {key: rest})
        self._check_reached(related)
        (wanted,) = related.wanted
        if not isinstance(wanted, Leaf) or related.texts:
            raise ShapeError(f"{self._named(key)} plucks {spec.path!r}, which is not one value that is always there.")
        written = related.properties[key]
        assert isinstance(written, Mapping)  # of a leaf
        items = {name: value for name, value in written.items() if name != "description"}
        self.properties[key] = {"type": "array", "items": items, "description": spec.description or found.description}
        return Link(key, relation, Projection([wanted], bare=True))

    def _check_reached(self, related: "Shape") -> None:
        """Refuse to show through a relation, which asks for no permission, what is not shown to everybody."""
        if related.guarded:
            raise ShapeError(f"{self.name} reads {_list(related.guarded)} through a relation, and they are guarded.")

    def _source(self, key: str, step: str) -> Source:
        found = source(self.kind, step)
        if found is None:
            raise ShapeError(
                f"{self._named(key)} reads {step!r}, which {self.kind.__name__} does not publish; "
                f"it publishes {_list(field_names(self.kind))}."
            )
        return found

    def _column(self, key: str, name: str, value: Inline, path: str) -> str:
        """The column, or the path within one, that a part of an embedded value is kept in."""
        step, _, rest = path.partition(".")
        at = value.columns.get(step)
        if at is None:
            raise ShapeError(f"{self._named(key)} reads {step!r} of {name}, which has {_list(value.columns)}.")
        return self._column(key, step, at, rest) if isinstance(at, Inline) else ".".join(filter(None, (at, rest)))

    def _inside(self, key: str, found: Source, rest: str) -> Source:
        """What a dotted path ends at, inside a value; perhaps null where anything on the way is."""
        nullable = found.holds.nullable
        for step in rest.split("."):
            inner = source(found.holds.type, step)
            if inner is None:
                offers = _list(field_names(found.holds.type))
                raise ShapeError(
                    f"{self._named(key)} reads {step!r} of {found.holds.type.__name__}, which has {offers}."
                )
            found, nullable = inner, nullable or inner.holds.nullable
        return replace(found, holds=replace(found.holds, nullable=nullable))

    def _writer(self, key: str, spec: Key, found: Source) -> Writer:
        kind = found.holds.type
        if spec.writer is not None:
            if kind not in spec.writer.reads:
                raise ShapeError(
                    f"{self._named(key)} writes {spec.path} as {spec.writer.name}, but {self.kind.__name__}.{spec.path} "
                    f"is {getattr(kind, '__name__', kind)}."
                )
            return spec.writer
        if is_enum(kind):
            return writers.of_enum(kind)
        if kind is dict and found.holds.key is int:
            return writers.BY_ID
        try:
            return writers.BY_TYPE[kind]
        except (KeyError, TypeError):
            name = getattr(kind, "__name__", kind)
            raise ShapeError(f"{self._named(key)} reads a {name} and does not say how it is written.") from None

    def _named(self, key: str) -> str:
        return f"The documented key {key!r} of {self.name}"


def _apart(spec: Spec, relation: Relation, rest: str) -> bool:
    """Whether a key is not read with the others behind a relation: single values of many, or the id, which we hold ourselves."""
    return relation.many if isinstance(spec, Plucked) else rest == "id" and not relation.many


def _perhaps(schema: Schema | Inner, *, text: bool) -> Schema | Inner:
    """What is written of something that may not be there."""
    if isinstance(schema, Inner):
        return replace(schema, nullable=not schema.many)
    return _or_empty(schema) if text else _or_null(schema)


def _is_string(schema: Schema) -> bool:
    return schema.get("type") == "string" or any(_is_string(one) for one in schema.get("anyOf", ()))


def _or_empty(schema: Schema) -> Schema:
    """A string, or the empty one: that is no date, no UUID and no member of a closed set."""
    if "enum" in schema:
        return {**schema, "enum": list(dict.fromkeys([*schema["enum"], ""]))}
    if "format" in schema:
        alone = {name: value for name, value in schema.items() if name != "description"}
        told = {"description": schema["description"]} if "description" in schema else {}
        return {"anyOf": [alone, {"type": "string", "const": ""}], **told}
    pattern = schema.get("pattern", "^$")
    return schema if pattern.startswith("^$") else {**schema, "pattern": f"^$|{pattern}"}


def _or_null(schema: Schema) -> Schema:
    if "enum" in schema:
        schema = {**schema, "enum": list(dict.fromkeys([*schema["enum"], None]))}
    return {**schema, "type": [*_types(schema), "null"]}


def _types(schema: Schema) -> list[str]:
    given = schema["type"]
    return [given] if isinstance(given, str) else [t for t in given if t != "null"]


def _each(write: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda values: [write(value) for value in values]


def _list(names: Any) -> str:
    return ", ".join(names) or "nothing"
