"""(type, wanted fields) -> one generated function from rows to JSON-ready data, run breadth-first over a list."""

import dataclasses
import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from strawberry.types.field import StrawberryField

from schema.values import Inline, Itself, Relation

Load: TypeAlias = Callable[[Relation, Sequence[Any], Sequence[str] | None], Awaitable[Mapping[Any, Any]]]


@dataclass(frozen=True)
class Same:
    key: str
    value: str | None


@dataclass(frozen=True)
class Leaf:
    key: str
    path: str
    write: Callable[..., Any] | Mapping[Any, Any] | None = None
    required: bool = False


@dataclass(frozen=True)
class Part:
    key: str
    path: str | None  # None: made of the same object's columns
    wanted: "tuple[Wanted, ...]"
    required: bool = False


@dataclass(frozen=True)
class Link:
    key: str
    relation: Relation
    inner: "Projection"
    required: bool = False
    at: tuple[str, ...] = ()
    spread: bool = False  # the related value's keys are written into ours


Wanted: TypeAlias = Same | Leaf | Part | Link


class CannotCompile(Exception):
    """This selection is for graphql-core."""


def missing() -> Any:
    raise ValueError("null where the type has none")


class Writer:
    """The generated function. From objects it reads attributes; from rows of wanted columns it unpacks tuples (5 times faster)."""

    def __init__(self, wanted: Sequence[Wanted], bare: bool, from_rows: bool) -> None:
        self.from_rows = from_rows
        self.columns: list[str] = []
        self.links: list[Link] = []
        self.names: dict[str, Any] = {"missing": missing}
        made = self.entry(wanted[0], "o", (), "") if bare else self.body(wanted, "o", (), "")
        target = f"({''.join(f'c_{c}, ' for c in ('_by', '_id', *self.columns))})" if from_rows else "o"
        exec(f"def many(rows, by=''): return [{made} for {target} in rows]", self.names)
        self.many: Callable[..., list[Any]] = self.names["many"]

    def read(self, var: str, path: str) -> str:
        if not self.from_rows or var != "o":
            return f"{var}.{path}"
        column = path.partition(".")[0]
        if column.endswith("()"):
            raise CannotCompile(path)
        if column not in self.columns:
            self.columns.append(column)
        return f"c_{path}"

    def body(self, wanted: Sequence[Wanted], var: str, at: tuple[str, ...], owner: str) -> str:
        return "{" + ", ".join(f"{w.key!r}: {self.entry(w, var, at, owner)}" for w in wanted) + "}"

    def entry(self, w: Wanted, var: str, at: tuple[str, ...], owner: str) -> str:
        v = f"v{len(self.names)}"
        self.names[v] = None
        if isinstance(w, Same):
            return repr(w.value)
        if isinstance(w, Link):
            if owner:
                raise CannotCompile(w.key)
            self.links.append(dataclasses.replace(w, at=at))
            self.read(var, "id" if w.relation.many else w.relation.by)
            return "None"
        if isinstance(w, Leaf) and w.path == "<cursor>":
            if not self.from_rows:
                raise CannotCompile(w.key)
            self.names["cursor"] = w.write
            return "cursor(by, c__by, c__id)"
        absent = "missing()" if w.required else "None"
        if isinstance(w, Part):
            if w.path is None:
                return self.body(w.wanted, var, (*at, w.key), owner)
            inner = self.body(w.wanted, v, (*at, w.key), w.path)
            return f"({absent} if ({v} := {self.read(var, w.path)}) is None else {inner})"
        source = self.read(var, w.path)
        if w.write is None:
            return f"({v} if ({v} := {source}) is not None else missing())" if w.required else source
        name = "str" if w.write is str else f"w{len(self.names)}"
        self.names.setdefault(name, w.write)
        written = f"{name}[{v}]" if isinstance(w.write, Mapping) else f"{name}({v})"
        return f"({absent} if ({v} := {source}) is None else {written})"


class Projection:
    """`bare`: the one wanted value itself instead of an object holding it."""

    def __init__(self, wanted: Sequence[Wanted], bare: bool = False) -> None:
        self.objects = self.made(wanted, bare, False)
        self.rows = self.made(wanted, bare, True)
        if self.objects is None and self.rows is None:
            raise CannotCompile("neither")

    def made(self, wanted: Sequence[Wanted], bare: bool, from_rows: bool) -> Writer | None:
        try:
            return Writer(wanted, bare, from_rows)
        except CannotCompile:
            return None

    async def render(self, rows: Sequence[Any], load: Load, columns: bool = False, by: str = "") -> list[Any]:
        writer = self.rows if columns else self.objects
        assert writer is not None
        out = writer.many(rows, by)
        for link in writer.links:
            targets = out
            for key in link.at:
                targets = [t[key] for t in targets]
            name = "id" if link.relation.many else link.relation.by
            at = writer.columns.index(name) + 2 if columns else 0
            keys = [r[at] for r in rows] if columns else [getattr(r, name) for r in rows]
            inner = link.inner.rows
            found = await load(link.relation, keys, inner.columns if inner else None)  # one statement for the level
            if link.relation.many:
                flat = [x for k in found for x in found[k]]
                done = iter(await link.inner.render(flat, load, inner is not None))
                written: dict[Any, Any] = {k: [next(done) for _ in found[k]] for k in found}
                for t, k in zip(targets, keys):
                    t[link.key] = written.get(k, [])
            else:
                values = await link.inner.render(list(found.values()), load, inner is not None)
                written = dict(zip(found, values))
                for t, k in zip(targets, keys):
                    if link.spread:
                        t.update(written.get(k) or {})
                        continue
                    t[link.key] = written.get(k)
                    if link.required and t[link.key] is None:
                        missing()
        return out


def access(field: StrawberryField) -> str | Inline | Relation | Itself:
    """Where a published field is read from, if that can be said without running its resolver."""
    if field.permission_classes or field.extensions:
        raise CannotCompile(field.python_name)
    compiled = field.metadata.get("compiled")
    if isinstance(compiled, (str, Inline, Relation, Itself)):
        return compiled
    resolver = field.base_resolver
    if resolver is None:
        return field.python_name
    if resolver.is_async or resolver.arguments or resolver.info_parameter:
        raise CannotCompile(field.python_name)
    return f"{field.python_name}()"


def names_of(kind: type[enum.Enum]) -> Mapping[Any, str]:
    return {member: member.name for member in kind}
