"""Wanted fields, as data -> one generated function from rows or objects to JSON-ready data, run breadth first over a list.

The same generated code serves two sources. *Objects* are read by attribute. *Rows* are tuples `(order key, id, *columns)`
of plain data, as `Rows.page` and `Loaders.level` give them: closed sets as the value stored, JSON columns as dictionaries.
"""

import enum
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from strawberry.types.field import StrawberryField

from schema.core.derived import Derived
from schema.core.field_permission import Guard
from schema.core.field_source import Computed, Inline, Itself, Relation
from store.database.projection_fields import (
    AS_WRITTEN,
    ASKING,
    CannotCompile,
    Cursor,
    Each,
    Leaf,
    Level,
    Link,
    Load,
    Made,
    MissingValue,
    Part,
    Same,
    Steps,
    Veil,
    Wanted,
    Write,
)


def _missing(key: str) -> Any:
    raise MissingValue(key)


class Writer:
    """The generated function `many(source, cursor, asking)`, with the columns it reads and the relations it leaves open."""

    def __init__(self, wanted: Sequence[Wanted], bare: bool, from_rows: bool) -> None:
        self.from_rows = from_rows
        self.columns: list[str] = []
        self.links: list[Link] = []
        self.veils: list[Veil] = []
        self.levels: list[Level] = []
        self.asks = False
        self._names: dict[str, Any] = {"missing": _missing}
        self._number = itertools.count()
        made = self._entry(wanted[0], "o", (), ()) if bare else self._body(wanted, "o", (), ())
        target = f"({''.join(f'{c}, ' for c in ('by', 'id', *map(_local, self.columns)))})" if from_rows else "o"
        code = f"def many(source, cursor=None, asking=None): return [{made} for {target} in source]"
        exec(code, self._names)  # noqa: S102 - made of names in our own schema and of quoted keys
        self.many: Callable[..., list[Any]] = self._names["many"]
        self.reads = _reads(self.links)

    def _variable(self) -> str:
        return f"v{next(self._number)}"

    def _known(self, value: Any) -> str:
        name = f"w{next(self._number)}"
        self._names[name] = value
        return name

    def _column(self, name: str) -> str:
        if name not in self.columns:
            self.columns.append(name)
        return _local(name)

    def _read(self, var: str, path: str) -> str:
        """The value behind a path; nothing on the way is nothing at its end."""
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

    def _body(self, wanted: Sequence[Wanted], var: str, at: Steps, owner: Steps | None) -> str:
        return "{" + ", ".join(f"{w.key!r}: {self._entry(w, var, at, owner)}" for w in wanted) + "}"

    def _entry(self, w: Wanted, var: str, at: Steps, owner: Steps | None) -> str:
        if self.from_rows and isinstance(w, Leaf | Made | Part | Each) and not w.in_rows:
            raise CannotCompile(f"{w.key}: is no column")
        match w:
            case Same():
                return repr(w.value)
            case Cursor():
                return "cursor(by, id)" if self.from_rows else "cursor(o)"
            case Leaf():
                return self._leaf(w, var)
            case Made():
                return self._made(w, var)
            case Part():
                return self._part(w, var, at, owner)
            case Each():
                return self._level(w, at, owner) if _opens(w.wanted) else self._each(w, var)
            case Link():
                return self._link(w, at, owner)

    def _leaf(self, w: Leaf, var: str) -> str:
        write = w.stored if self.from_rows and w.stored is not AS_WRITTEN else w.write
        return self._written(w, self._read(var, w.path), write)

    def _made(self, w: Made, var: str) -> str:
        self.asks = self.asks or w.asks
        values = [*(["asking"] if w.asks else []), *(self._read(var, path) for path in w.paths)]
        return self._written(w, f"{self._known(w.make)}({', '.join(values)})", w.write)

    def _written(self, w: Leaf | Made, source: str, write: Write) -> str:
        if write is None and not w.required:
            return source
        v = self._variable()
        written = v
        if write is not None:
            name = self._known(write)
            written = f"{name}[{v}]" if isinstance(write, Mapping) else f"{name}({v})"
        return self._unless_missing(w, v, source, written)

    def _part(self, w: Part, var: str, at: Steps, owner: Steps | None) -> str:
        at = (*at, w.key)
        if w.path is not None:
            v = self._variable()
            inner = None if owner is None or self.from_rows else (*owner, *w.path.split("."))
            return self._unless_missing(w, v, self._read(var, w.path), self._body(w.wanted, v, at, inner))
        body = self._body(w.wanted, var, at, owner)
        if w.guard is not None:
            self.veils.append(Veil(w.key, w.guard, at[:-1], self._owner(w.key, w.guard, owner)))
        if w.presence is None:
            return body
        return self._unless_missing(w, self._variable(), self._read(var, w.presence), body)

    def _each(self, w: Each, var: str) -> str:
        v, item = self._variable(), self._variable()
        absent = f"missing({w.key!r})" if w.item_required else "None"
        made = f"[{absent} if {item} is None else {self._body(w.wanted, item, (), None)} for {item} in {v}]"
        return self._unless_missing(w, v, self._read(var, w.path), made)

    def _level(self, w: Each, at: Steps, owner: Steps | None) -> str:
        if self.from_rows or owner is None or "()" in w.path:
            raise CannotCompile(f"{w.key}: lists what is related to objects that are none of its own")
        inner = Projection(w.wanted)
        if inner.objects is None:
            raise CannotCompile(inner.reasons[0])
        self.levels.append(Level(w, inner, at, (*owner, *w.path.split("."))))
        return "None"

    def _link(self, w: Link, at: Steps, owner: Steps | None) -> str:
        if owner is None or any(step.endswith("()") for step in owner):
            raise CannotCompile(f"{w.key}: is a relation of an embedded value")
        self.links.append(replace(w, at=at, owner=owner))
        if w.relation.guard is not None:
            self._owner(w.key, w.relation.guard, owner)
        if self.from_rows:
            for name in _held(w.relation):
                self._column(name)
        return "None"

    def _owner(self, key: str, guard: Guard, owner: Steps | None) -> Steps:
        """See to it that whose a row is can be read."""
        if owner is None or any(step.endswith("()") for step in owner):
            raise CannotCompile(f"{key}: is guarded within an embedded value")
        if self.from_rows:
            for name in guard.owner:
                self._column(name)
        return owner

    def _unless_missing(self, w: Leaf | Made | Part | Each, v: str, source: str, written: str) -> str:
        absent = f"missing({w.key!r})" if w.required else "None"
        return f"({absent} if ({v} := {source}) is None else {written})"

    async def keys(self, read: "Read", source: Sequence[Any], load: Load) -> list[Any]:
        """What each row or object holds to find its related ones by; None where they are not the caller's to see."""
        held = [self._values(name, source, read.owner) for name in _held(read.relation)]
        keys = held[0] if len(held) == 1 else [None if None in pair else pair for pair in zip(*held, strict=True)]
        if read.relation.guard is None:
            return keys
        shown = await self.shown(read.relation.guard, source, read.owner, load)
        return [key if seen else None for key, seen in zip(keys, shown, strict=True)]

    async def shown(self, guard: Guard, source: Sequence[Any], owner: Steps, load: Load) -> list[bool]:
        """Of each row or object, whether it is the caller's to see."""
        named = [self._values(name, source, owner) for name in guard.owner]
        owners = list(zip(*named, strict=True)) if named else [()] * len(source)
        found = await load(guard, owners, None)
        return [one in found for one in owners]

    def _values(self, name: str, source: Sequence[Any], owner: Steps) -> list[Any]:
        if self.from_rows:
            at = self.columns.index(name) + 2
            return [row[at] for row in source]
        for step in owner:
            source = [None if o is None else getattr(o, step) for o in source]
        return [None if o is None else getattr(o, name) for o in source]

    @property
    def open(self) -> bool:
        """Whether writing it asks for more than its own rows or objects."""
        return bool(self.links or self.veils or self.levels or self.asks)


class Projection:
    """Wanted fields, compiled for rows and for objects where they can be.

    `bare` writes the one wanted value itself instead of an object that holds it. `rows.columns` says what to select.
    """

    def __init__(self, wanted: Sequence[Wanted], bare: bool = False) -> None:
        self.reasons: list[str] = []
        self.objects = self._made(wanted, bare, from_rows=False)
        self.rows = self._made(wanted, bare, from_rows=True)
        if self.objects is None and self.rows is None:
            raise CannotCompile(self.reasons[0])

    def _made(self, wanted: Sequence[Wanted], bare: bool, *, from_rows: bool) -> Writer | None:
        try:
            return Writer(wanted, bare, from_rows)
        except CannotCompile as way_out:
            self.reasons.append(str(way_out))
            return None

    async def render(
        self, source: Sequence[Any], load: Load, columns: bool = False, cursor: Callable[..., str] | None = None
    ) -> list[Any]:
        """Write rows (`columns`) or objects; each relation is one load for the whole level."""
        writer = self.rows if columns else self.objects
        if writer is None:
            raise CannotCompile(self.reasons[0])
        asking = (await load(ASKING, (True,), None))[True] if writer.asks else None
        out = writer.many(source, cursor, asking)
        for veil in writer.veils:
            shown = await writer.shown(veil.guard, source, veil.owner, load)
            for target, seen in zip(_at(out, veil.at), shown, strict=True):
                if target is not None and not seen:
                    target[veil.key] = None
        for read in writer.reads:
            await read.follow(await writer.keys(read, source, load), out, load)
        for level in writer.levels:
            await _descend(level, source, out, load)
        return out


async def _descend(level: Level, source: Sequence[Any], out: list[Any], load: Load) -> None:
    """Write the lists of embedded objects, all in one go, into the objects that hold them."""
    for step in level.path:
        source = [None if o is None else getattr(o, step) for o in source]
    items = list(itertools.chain.from_iterable(held for held in source if held is not None))
    if any(item is None for item in items):
        raise MissingValue(level.each.key)  # graphql-core tells where
    done = iter(await level.inner.render(items, load))
    for target, held in zip(_at(out, level.at), source, strict=True):
        written = None if held is None else list(itertools.islice(done, len(held)))
        if target is None:
            continue
        if written is None and level.each.required:
            _missing(level.each.key)
        target[level.each.key] = written


def _at(out: list[Any], steps: Steps) -> list[Any]:
    """What stands at a place of each written object."""
    for key in steps:
        out = [None if o is None else o[key] for o in out]
    return out


class Read:
    """A relation that is read once for a level, whatever is wanted through it under however many keys."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links
        self.relation, self.owner = links[0].relation, links[0].owner
        wanted = [link.inner.rows.columns for link in links if link.inner.rows is not None and _of_rows(link)]
        self.columns = list(dict.fromkeys(itertools.chain(*wanted))) if wanted else None
        """What to select; None for whole objects, and for values that are worked out."""

    async def follow(self, keys: list[Any], out: list[Any], load: Load) -> None:
        """Load what belongs to the keys, and write it into the objects that hold them."""
        found = await load(self.relation, keys, self.columns)
        for link in self.links:
            written = await self._written(link, found, load)
            _put(link, keys, written, _at(out, link.at))

    async def _written(self, link: Link, found: Mapping[Any, Any], load: Load) -> Mapping[Any, Any]:
        """What a link wants of what was found, by key."""
        rows = itertools.chain.from_iterable(found.values()) if self.relation.many else found.values()
        done = iter(await link.inner.render(self._part(link, list(rows)), load, self.columns is not None))
        if self.relation.many:
            return {key: list(itertools.islice(done, len(related))) for key, related in found.items()}
        return dict(zip(found, done, strict=True))

    def _part(self, link: Link, rows: list[Any]) -> list[Any]:
        """The rows with the columns of one link only."""
        if self.columns is None or link.inner.rows is None or link.inner.rows.columns == self.columns:
            return rows
        places = (self.columns.index(name) + 2 for name in link.inner.rows.columns)
        return list(map(operator.itemgetter(0, 1, *places), rows))


def _put(link: Link, keys: list[Any], written: Mapping[Any, Any], targets: list[Any]) -> None:
    absent: Any = [] if link.relation.many and isinstance(link.relation, Relation) else None
    for target, key in zip(targets, keys, strict=True):
        if target is None:
            continue
        value = written.get(key, absent)
        if link.spread:
            target.update(value or {})
        elif value is None and link.required:
            _missing(link.key)
        else:
            target[link.key] = value


def _reads(links: Sequence[Link]) -> list[Read]:
    """One for all links that follow one relation from one place, and want rows alike or objects alike."""
    together: dict[Any, list[Link]] = {}
    for link in links:
        together.setdefault((link.relation, link.owner, _of_rows(link)), []).append(link)
    return [Read(same) for same in together.values()]


def _of_rows(link: Link) -> bool:
    """Whether what it wants is written from rows: not what only objects have, nor values that are worked out."""
    return isinstance(link.relation, Relation) and link.inner.rows is not None


def _held(relation: Relation | Computed) -> Steps:
    """What an object has of what its related ones are found by: the id, perhaps behind whose it is."""
    if isinstance(relation, Computed):
        return ("id",)
    own = "id" if relation.many else relation.by
    return (own,) if relation.within is None else (relation.within, own)


def _opens(wanted: Sequence[Wanted]) -> bool:
    """Whether something is wanted that is not in the objects themselves."""
    return any(
        isinstance(w, Link)
        or (isinstance(w, Part | Each) and (_opens(w.wanted) or getattr(w, "guard", None) is not None))
        for w in wanted
    )


def _local(column: str) -> str:
    return f"c_{column}"


def access(field: StrawberryField) -> str | Inline | Relation | Itself | Computed | Derived:
    """Where a published field is read from, if that can be said without running its resolver."""
    if field.permission_classes or field.extensions:
        raise CannotCompile(f"{field.python_name}: extensions")
    compiled = field.metadata.get("compiled")
    if isinstance(compiled, (str, Inline, Relation, Itself, Computed, Derived)):
        return compiled
    resolver = field.base_resolver
    if resolver is None:
        return field.python_name
    if resolver.is_async or resolver.arguments or resolver.info_parameter:
        raise CannotCompile(f"{field.python_name}: its resolver takes arguments or waits")
    return f"{field.python_name}()"


def names_of(kind: type[enum.Enum]) -> Mapping[Any, str]:
    """The published name of each member of a closed set, by member and by the value stored."""
    return {key: member.name for member in kind for key in (member.value, member)}
