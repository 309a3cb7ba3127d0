"""Statements compiled once, kept with their bind parameters, and run by the driver itself."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Column, ColumnElement, Dialect, FromClause, Select, bindparam
from sqlalchemy.sql.selectable import CompoundSelect
from sqlalchemy.types import JSON, Enum, Float, Numeric, TypeDecorator, TypeEngine

Statement = Select[Any] | CompoundSelect[Any]
Made = tuple[ColumnElement[bool], Sequence[BindParameter[Any]]]
Source = Callable[[Mapping[str, Any], Sequence[Any]], Any]
"""Where an argument comes from: the named values, or the values of the tests, in order."""

KEPT = 2048


def reader(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes plain data of what the driver gives for a column; None: it is plain data already.

    A closed set is read as the value stored, and JSON as JSON, without the objects that Python code would be given; numbers
    with decimals the driver knows itself.
    """
    stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    if isinstance(stored, Enum | JSON | Numeric | Float):
        return None
    return kind.dialect_impl(dialect).result_processor(dialect, None)


class Condition:
    """A condition on rows, with the key that its statement is kept by and the values that each request brings.

    One that was made by `on` tests a single column, and can test it in other rows as well: see `of_rows`. One that goes along
    an index of its own, which only pays where few rows pass, has itself without that index in `plain`.
    """

    __slots__ = ("_make", "_of", "key", "plain", "values")

    def __init__(
        self,
        key: Hashable,
        values: Sequence[Any],
        make: Callable[[], Made],
        of: "Callable[[FromClause], Condition] | None" = None,
        plain: "Condition | None" = None,
    ) -> None:
        self.key = key
        self.values = values
        self.plain = plain
        self._make = make
        self._of = of

    @classmethod
    def of(cls, condition: ColumnElement[bool]) -> "Condition":
        """Any condition; SQLAlchemy says what it is kept by, which costs more than to name it with `named`."""
        found = condition._generate_cache_key()  # noqa: SLF001 - there is no public name for it
        if found is None:
            raise TypeError(f"This condition cannot be kept: {condition}")
        binds = found.bindparams
        return cls(found.key, [bind.effective_value for bind in binds], lambda: (condition, binds))

    @classmethod
    def named(
        cls, key: Hashable, values: Sequence[Any], kinds: Sequence[Any], build: Callable[..., ColumnElement[bool]]
    ) -> "Condition":
        """A condition that `build` makes of parameters of these kinds, wholly told by `key`."""

        def make() -> Made:
            binds = [bindparam(None, value, type_=kind) for value, kind in zip(values, kinds, strict=True)]
            return build(*binds), binds

        return cls(key, values, make)

    @classmethod
    def equal(cls, column: Column[Any], value: Any) -> "Condition":
        """`column = value`."""
        return cls.on(column, "=", (value,), (column.type,), lambda tested, bind: tested == bind)

    @classmethod
    def on(
        cls,
        column: Column[Any],
        test: str,
        values: Sequence[Any],
        kinds: Sequence[Any],
        build: Callable[..., ColumnElement[bool]],
        plain: "Condition | None" = None,
    ) -> "Condition":
        """A test of one column: `build` is given it, and parameters of these kinds."""

        def of_rows(rows: FromClause) -> Condition:
            tested = rows.c[column.name]
            return cls.named((test, column, rows), values, kinds, lambda *binds: build(tested, *binds))

        made = cls.named((test, column), values, kinds, lambda *binds: build(column, *binds))
        return cls(made.key, values, made.made, of_rows if plain is None else plain.of_rows, plain)

    @property
    def is_movable(self) -> bool:
        """Whether it can test other rows."""
        return self._of is not None

    def of_rows(self, rows: FromClause) -> "Condition":
        """The same test of rows that have columns of the same names."""
        if self._of is None:
            raise TypeError("This condition is about its own table only.")
        return self._of(rows)

    def made(self) -> Made:
        """It as SQLAlchemy has it, and its parameters in the order of the values."""
        return self._make()


@dataclass(frozen=True)
class Kept:
    """A compiled statement: its text, where its arguments come from, and what its columns need to be plain data."""

    sql: str
    sources: tuple[Source, ...]
    readers: tuple[tuple[int, Callable[[Any], Any]], ...]

    @classmethod
    def of(
        cls, statement: Statement, values: Mapping[str, Any], tested: Sequence[BindParameter[Any]], dialect: Dialect
    ) -> "Kept":
        """Compile. Each value in it must be named or belong to a test, or one caller's would be kept for the next."""
        compiled: Any = statement.compile(dialect=dialect)
        if compiled.post_compile_params or compiled.literal_execute_params:
            raise TypeError(
                f"Write `column == any_(values)`, not `in_`: this statement changes with its values:\n{compiled}"
            )
        places = {id(bind): at for at, bind in enumerate(tested)}
        sources = []
        for name in compiled.positiontup or ():
            bind = compiled.binds[name]
            if name not in values and id(bind) not in places:
                raise TypeError(f"The value {name!r} is neither named nor part of a test:\n{compiled}")
            write = bind.type.dialect_impl(dialect).bind_processor(dialect)
            sources.append(_source(name if name in values else places[id(bind)], write))
        columns = enumerate(column.type for column in statement.selected_columns)
        readers = tuple((at, read) for at, kind in columns if (read := reader(kind, dialect)))
        return cls(str(compiled), tuple(sources), readers)

    def plain(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The rows with each value as plain data."""
        for at, read in self.readers:
            rows = [(*row[:at], None if row[at] is None else read(row[at]), *row[at + 1 :]) for row in rows]
        return rows


def _source(place: str | int, write: Callable[[Any], Any] | None) -> Source:
    if isinstance(place, str):
        return (lambda named, _: named[place]) if write is None else (lambda named, _: write(named[place]))
    return (lambda _, tested: tested[place]) if write is None else (lambda _, tested: write(tested[place]))


class Statements:
    """The statements that lists and relations of one database run, the most recently used kept."""

    def __init__(self, dialect: Dialect, fetch: Callable[..., Awaitable[Sequence[Any]]]) -> None:
        self.dialect = dialect
        self.fetch = fetch
        self.kept: OrderedDict[Hashable, Kept] = OrderedDict()

    def through(self, fetch: Callable[..., Awaitable[Sequence[Any]]]) -> "Statements":
        """The same statements, run by something else."""
        made = Statements(self.dialect, fetch)
        made.kept = self.kept
        return made

    async def rows(
        self,
        key: Hashable,
        build: Callable[..., Statement],
        values: Mapping[str, Any],
        tests: Sequence[Condition] = (),
    ) -> Sequence[Any]:
        """The rows, as tuples of plain data, of the statement that `build` makes of the conditions of `tests`.

        `key` says everything that the statement depends on besides the tests; `values` are its named parameters.
        """
        shape = (key, *[test.key for test in tests])
        kept = self.kept.get(shape)
        if kept is None:
            conditions = [test.made() for test in tests]
            statement = build(*(condition for condition, _ in conditions))
            tested = [bind for _, binds in conditions for bind in binds]
            kept = self.kept[shape] = Kept.of(statement, values, tested, self.dialect)
            if len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        else:
            self.kept.move_to_end(shape)
        given = [value for test in tests for value in test.values]
        return kept.plain(await self.fetch(kept.sql, *[source(values, given) for source in kept.sources]))
