"""Compiles selected fields to one generated function from rows or objects to JSON-ready data.

The function runs breadth first over a list. The same generator serves two sources. *Objects* are read by attribute.
*Rows* are tuples `(order key, id, *columns)` of plain data, as list pages and `Loaders.load` return them: enums as
stored values, JSON columns as dictionaries.
"""

import enum
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from strawberry.types.field import StrawberryField

from schema.core.derived import Derived
from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, EmbeddedValue, Relation, RowItself
from store.database.projection_fields import (
    CONTEXT,
    SAME_SERIALIZER,
    CannotCompile,
    ComputedField,
    ConstantField,
    CursorField,
    FieldPath,
    ListField,
    LoadFunction,
    MaskedField,
    MissingValue,
    NestedList,
    ObjectField,
    RelatedRows,
    RelationField,
    ScalarField,
    SelectedField,
    ValueSerializer,
    raise_missing,
)
from store.database.relation_batches import RelationBatch, relation_batches, targets_at

MAX_JOINED_COLUMNS = 8
"""Most columns of a related row that a page reads with each of its rows. Wider ones are read once each."""


class CompiledSerializer:
    """The generated function `many(source, cursor, asking)`, the columns it reads, and the relations to
    load after it.
    """

    def __init__(self, fields: Sequence[SelectedField], bare: bool, from_rows: bool) -> None:
        self.from_rows = from_rows
        self.columns: list[str] = []
        self.relations: list[RelationField] = []
        self.masked_fields: list[MaskedField] = []
        self.nested_lists: list[NestedList] = []
        self.needs_context = False
        self._names: dict[str, Any] = {"missing": raise_missing}
        self._number = itertools.count()
        made = self._field_code(fields[0], "o", (), ()) if bare else self._object_code(fields, "o", (), ())
        target = (
            f"({''.join(f'{c}, ' for c in ('by', 'id', *map(_column_variable, self.columns)))})" if from_rows else "o"
        )
        code = f"def many(source, cursor=None, asking=None): return [{made} for {target} in source]"
        exec(code, self._names)  # noqa: S102 - made of names in our own schema and of quoted keys
        self.serialize_many: Callable[..., list[Any]] = self._names["many"]
        self.batches = relation_batches(self.relations)

    def _variable(self) -> str:
        return f"v{next(self._number)}"

    def _constant(self, value: Any) -> str:
        name = f"w{next(self._number)}"
        self._names[name] = value
        return name

    def _column(self, name: str) -> str:
        if name not in self.columns:
            self.columns.append(name)
        return _column_variable(name)

    def _read(self, var: str, path: str) -> str:
        """The code for the value at a path; None anywhere on the path makes the value None."""
        first, *rest = path.split(".")
        if self.from_rows and first.endswith("()"):
            raise CannotCompile(path)
        source = self._column(first) if self.from_rows and var == "o" else self._step(var, first)
        for step in rest:
            v = self._variable()
            source = f"(None if ({v} := {source}) is None else {self._step(v, step)})"
        return source

    def _step(self, var: str, name: str) -> str:
        return f"{var}.get({name!r})" if self.from_rows else f"{var}.{name}"

    def _object_code(self, fields: Sequence[SelectedField], var: str, at: FieldPath, owner: FieldPath | None) -> str:
        return "{" + ", ".join(f"{w.key!r}: {self._field_code(w, var, at, owner)}" for w in fields) + "}"

    def _field_code(self, w: SelectedField, var: str, at: FieldPath, owner: FieldPath | None) -> str:
        if self.from_rows and isinstance(w, ScalarField | ComputedField | ObjectField | ListField) and not w.in_rows:
            raise CannotCompile(f"{w.key}: is no column")
        match w:
            case ConstantField():
                return repr(w.value)
            case CursorField():
                return "cursor(by, id)" if self.from_rows else "cursor(o)"
            case ScalarField():
                return self._scalar_code(w, var)
            case ComputedField():
                return self._computed_code(w, var)
            case ObjectField():
                return self._object_field_code(w, var, at, owner)
            case ListField():
                return self._nested_list_code(w, at, owner) if _needs_loading(w.fields) else self._list_code(w, var)
            case RelationField():
                return self._relation_code(w, at, owner)

    def _scalar_code(self, w: ScalarField, var: str) -> str:
        write = w.serialize_stored if self.from_rows and w.serialize_stored is not SAME_SERIALIZER else w.serialize
        return self._serialized_code(w, self._read(var, w.path), write)

    def _computed_code(self, w: ComputedField, var: str) -> str:
        self.needs_context = self.needs_context or w.needs_context
        values = [*(["asking"] if w.needs_context else []), *(self._read(var, path) for path in w.paths)]
        return self._serialized_code(w, f"{self._constant(w.compute)}({', '.join(values)})", w.serialize)

    def _serialized_code(self, w: ScalarField | ComputedField, source: str, write: ValueSerializer) -> str:
        if write is None and not w.required:
            return source
        v = self._variable()
        written = v
        if write is not None:
            name = self._constant(write)
            written = f"{name}[{v}]" if isinstance(write, Mapping) else f"{name}({v})"
        return self._null_check_code(w, v, source, written)

    def _object_field_code(self, w: ObjectField, var: str, at: FieldPath, owner: FieldPath | None) -> str:
        at = (*at, w.key)
        if w.path is not None:
            v = self._variable()
            inner = None if owner is None or self.from_rows else (*owner, *w.path.split("."))
            return self._null_check_code(w, v, self._read(var, w.path), self._object_code(w.fields, v, at, inner))
        body = self._object_code(w.fields, var, at, owner)
        if w.field_permission is not None:
            self.masked_fields.append(
                MaskedField(w.key, w.field_permission, at[:-1], self._require_owner(w.key, w.field_permission, owner))
            )
        if w.presence is None:
            return body
        return self._null_check_code(w, self._variable(), self._read(var, w.presence), body)

    def _list_code(self, w: ListField, var: str) -> str:
        v, item = self._variable(), self._variable()
        absent = f"missing({w.key!r})" if w.item_required else "None"
        code = f"[{absent} if {item} is None else {self._object_code(w.fields, item, (), None)} for {item} in {v}]"
        return self._null_check_code(w, v, self._read(var, w.path), code)

    def _nested_list_code(self, w: ListField, at: FieldPath, owner: FieldPath | None) -> str:
        if self.from_rows or owner is None or "()" in w.path:
            raise CannotCompile(f"{w.key}: lists what is related to objects that are none of its own")
        inner = Projection(w.fields)
        if inner.objects is None:
            raise CannotCompile(inner.reasons[0])
        self.nested_lists.append(NestedList(w, inner, at, (*owner, *w.path.split("."))))
        return "None"

    def _relation_code(self, w: RelationField, at: FieldPath, owner: FieldPath | None) -> str:
        if owner is None or any(step.endswith("()") for step in owner):
            raise CannotCompile(f"{w.key}: is a relation of an embedded value")
        self.relations.append(replace(w, at=at, owner=owner))
        if w.relation.field_permission is not None:
            self._require_owner(w.key, w.relation.field_permission, owner)
        if self.from_rows:
            for name in _key_columns(w.relation):
                self._column(name)
        return "None"

    def _require_owner(self, key: str, field_permission: FieldPermission, owner: FieldPath | None) -> FieldPath:
        """Ensure that the owner of a row can be read."""
        if owner is None or any(step.endswith("()") for step in owner):
            raise CannotCompile(f"{key}: is guarded within an embedded value")
        if self.from_rows:
            for name in field_permission.columns:
                self._column(name)
        return owner

    def _null_check_code(
        self, w: ScalarField | ComputedField | ObjectField | ListField, v: str, source: str, written: str
    ) -> str:
        absent = f"missing({w.key!r})" if w.required else "None"
        return f"({absent} if ({v} := {source}) is None else {written})"

    async def relation_keys(self, read: RelationBatch, source: Sequence[Any], load: LoadFunction) -> list[Any]:
        """The key of each row or object for its related ones; None if the caller may not see them."""
        held = [self._values(name, source, read.owner) for name in _key_columns(read.relation)]
        keys = held[0] if len(held) == 1 else [None if None in pair else pair for pair in zip(*held, strict=True)]
        if read.relation.field_permission is None:
            return keys
        shown = await self.visibility(read.relation.field_permission, source, read.owner, load)
        return [key if seen else None for key, seen in zip(keys, shown, strict=True)]

    async def visibility(
        self, field_permission: FieldPermission, source: Sequence[Any], owner: FieldPath, load: LoadFunction
    ) -> list[bool]:
        """Whether the caller may see each row or object."""
        named = [self._values(name, source, owner) for name in field_permission.columns]
        owners = [*map(field_permission.owner, zip(*named, strict=True))] if named else [()] * len(source)
        permitted = await load(field_permission, owners, None)
        return [one in permitted for one in owners]

    def _values(self, name: str, source: Sequence[Any], owner: FieldPath) -> list[Any]:
        if self.from_rows:
            at = self._places[name]
            return [row[at] for row in source]
        for step in owner:
            source = [None if o is None else getattr(o, step) for o in source]
        return [None if o is None else getattr(o, name) for o in source]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """Where each column is in a row."""
        return {name: at for at, name in enumerate(self.columns, start=2)}

    @cached_property
    def related(self) -> tuple[RelatedRows, ...]:
        """The related rows that the statement of a single row can read with it."""
        return tuple(rows for batch in self.batches if (rows := batch.related_rows) is not None)

    @cached_property
    def joined(self) -> tuple[RelatedRows, ...]:
        """The single related rows that the statement of a page can read with its rows: narrow ones, as it repeats
        them.
        """
        single = (each for each in self.related if not each.relation.many)
        return tuple(replace(each, related=()) for each in single if len(each.columns) <= MAX_JOINED_COLUMNS)

    @property
    def needs_loading(self) -> bool:
        """True if serializing needs more than its own rows or objects."""
        return bool(self.relations or self.masked_fields or self.nested_lists or self.needs_context)


class Projection:
    """Selected fields, compiled for rows and for objects where possible.

    `bare` renders the value of the single field instead of an object that holds it. `rows.columns` lists the columns to
    select.
    """

    def __init__(self, fields: Sequence[SelectedField], bare: bool = False) -> None:
        self.reasons: list[str] = []
        self.objects = self._compile(fields, bare, from_rows=False)
        self.rows = self._compile(fields, bare, from_rows=True)
        if self.objects is None and self.rows is None:
            raise CannotCompile(self.reasons[0])

    def _compile(self, fields: Sequence[SelectedField], bare: bool, *, from_rows: bool) -> CompiledSerializer | None:
        try:
            return CompiledSerializer(fields, bare, from_rows)
        except CannotCompile as way_out:
            self.reasons.append(str(way_out))
            return None

    async def render(
        self, source: Sequence[Any], load: LoadFunction, columns: bool = False, cursor: Callable[..., str] | None = None
    ) -> list[Any]:
        """Serialize rows (with `columns`) or objects. Each relation is loaded once for the whole level."""
        writer = self.rows if columns else self.objects
        if writer is None:
            raise CannotCompile(self.reasons[0])
        if not source:
            return []
        context = (await load(CONTEXT, (True,), None))[True] if writer.needs_context else None
        out = writer.serialize_many(source, cursor, context)
        for masked_field in writer.masked_fields:
            shown = await writer.visibility(masked_field.field_permission, source, masked_field.owner, load)
            for target, seen in zip(targets_at(out, masked_field.at), shown, strict=True):
                if target is not None and not seen:
                    target[masked_field.key] = None
        for read in writer.batches:
            await read.load_into(await writer.relation_keys(read, source, load), out, load)
        for nested_list in writer.nested_lists:
            await _write_nested_list(nested_list, source, out, load)
        return out


async def _write_nested_list(
    nested_list: NestedList, source: Sequence[Any], out: list[Any], load: LoadFunction
) -> None:
    """Render all lists of embedded objects together, and write them into the objects that hold them."""
    for step in nested_list.path:
        source = [None if o is None else getattr(o, step) for o in source]
    items = list(itertools.chain.from_iterable(held for held in source if held is not None))
    if any(item is None for item in items):
        raise MissingValue(nested_list.list_field.key)  # graphql-core reports where
    done = iter(await nested_list.projection.render(items, load))
    for target, held in zip(targets_at(out, nested_list.at), source, strict=True):
        written = None if held is None else list(itertools.islice(done, len(held)))
        if target is None:
            continue
        if written is None and nested_list.list_field.required:
            raise_missing(nested_list.list_field.key)
        target[nested_list.list_field.key] = written


def _key_columns(relation: Relation | Computed) -> FieldPath:
    """The columns that hold the key of the related rows: an id, after the owner's column if the relation is scoped."""
    if isinstance(relation, Computed):
        return ("id",)
    own = "id" if relation.many else relation.by
    return (own,) if relation.scope_column is None else (relation.scope_column, own)


def _needs_loading(fields: Sequence[SelectedField]) -> bool:
    """True if a field is not part of the objects themselves."""
    return any(
        isinstance(w, RelationField)
        or (
            isinstance(w, ObjectField | ListField)
            and (_needs_loading(w.fields) or getattr(w, "field_permission", None) is not None)
        )
        for w in fields
    )


def _column_variable(column: str) -> str:
    return f"c_{column}"


def field_access(field: StrawberryField) -> str | EmbeddedValue | Relation | RowItself | Computed | Derived:
    """Where a published field is read from. CannotCompile if only its resolver can tell."""
    if field.permission_classes or field.extensions:
        raise CannotCompile(f"{field.python_name}: extensions")
    compiled = field.metadata.get("compiled")
    if isinstance(compiled, (str, EmbeddedValue, Relation, RowItself, Computed, Derived)):
        return compiled
    resolver = field.base_resolver
    if resolver is None:
        return field.python_name
    if resolver.is_async or resolver.arguments or resolver.info_parameter:
        raise CannotCompile(f"{field.python_name}: its resolver takes arguments or waits")
    return f"{field.python_name}()"


def enum_names_of(kind: type[enum.Enum]) -> Mapping[Any, str]:
    """The published name of each enum member, by member and by stored value."""
    return {key: member.name for member in kind for key in (member.value, member)}
