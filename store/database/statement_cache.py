"""Prepared statements: compiled once, cached with their bind parameters, and run by the driver itself."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, BindParameter, Column, ColumnElement, Dialect, FromClause, Select, bindparam
from sqlalchemy.sql.selectable import CompoundSelect
from sqlalchemy.types import JSON, Enum, Float, Numeric, TypeDecorator, TypeEngine

Statement = Select[Any] | CompoundSelect[Any]
BuiltCondition = tuple[ColumnElement[bool], Sequence[BindParameter[Any]]]
ArgumentSource = Callable[[Mapping[str, Any], Sequence[Any]], Any]
"""Where an argument comes from: the named values, or the values of the conditions, in order."""

CACHE_SIZE = 2048


def stored_type_of(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    """The database's type below a type of ours."""
    return kind.impl_instance if isinstance(kind, TypeDecorator) else kind


def result_converter_of(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """Converts the driver's value of a column to plain data; None if it is plain data already.

    Enums stay stored values and JSON stays JSON; neither becomes a Python object. The driver itself converts decimals.
    """
    stored = stored_type_of(kind)
    decimals = isinstance(stored, ARRAY) and isinstance(stored.item_type, Numeric)
    if decimals or isinstance(stored, Enum | JSON | Numeric | Float):
        return None
    return kind.dialect_impl(dialect).result_processor(dialect, None)


class Condition:
    """A condition on rows: part of the cache key of its statement, and the values of a request.

    A condition of `on_column` tests a single column and can be applied to other rows: see `for_rows`. A condition that
    uses its own index, which pays only if few rows match, has a `fallback`: the same condition without that index.
    """

    __slots__ = ("_make", "_of", "fallback", "key", "values")

    def __init__(
        self,
        key: Hashable,
        values: Sequence[Any],
        make: Callable[[], BuiltCondition],
        of: "Callable[[FromClause], Condition] | None" = None,
        fallback: "Condition | None" = None,
    ) -> None:
        self.key = key
        self.values = values
        self.fallback = fallback
        self._make = make
        self._of = of

    @classmethod
    def from_expression(cls, condition: ColumnElement[bool]) -> "Condition":
        """Any condition. SQLAlchemy computes its cache key, which costs more than naming one with `parametrized`."""
        cache_key = condition._generate_cache_key()  # noqa: SLF001 - there is no public name for it
        if cache_key is None:
            raise TypeError(f"This condition cannot be cached: {condition}")
        binds = cache_key.bindparams
        return cls(cache_key.key, [bind.effective_value for bind in binds], lambda: (condition, binds))

    @classmethod
    def parametrized(
        cls, key: Hashable, values: Sequence[Any], kinds: Sequence[Any], build: Callable[..., ColumnElement[bool]]
    ) -> "Condition":
        """A condition that `build` creates from parameters of these types. `key` must identify it completely."""

        def make() -> BuiltCondition:
            binds = [bindparam(None, value, type_=kind) for value, kind in zip(values, kinds, strict=True)]
            return build(*binds), binds

        return cls(key, values, make)

    @classmethod
    def equal(cls, column: Column[Any], value: Any) -> "Condition":
        """`column = value`."""
        return cls.on_column(column, "=", (value,), (column.type,), lambda tested, bind: tested == bind)

    @classmethod
    def on_column(
        cls,
        column: Column[Any],
        test: str,
        values: Sequence[Any],
        kinds: Sequence[Any],
        build: Callable[..., ColumnElement[bool]],
        fallback: "Condition | None" = None,
    ) -> "Condition":
        """A condition on one column: `build` gets the column and parameters of these types."""

        def of_rows(rows: FromClause) -> Condition:
            tested = rows.c[column.name]
            return cls.parametrized((test, column, rows), values, kinds, lambda *binds: build(tested, *binds))

        condition = cls.parametrized((test, column), values, kinds, lambda *binds: build(column, *binds))
        return cls(condition.key, values, condition.build, of_rows if fallback is None else fallback.for_rows, fallback)

    @property
    def is_rebindable(self) -> bool:
        """True if it can be applied to other rows."""
        return self._of is not None

    def for_rows(self, rows: FromClause) -> "Condition":
        """The same condition on rows with columns of the same names. TypeError if it is bound to its own table."""
        if self._of is None:
            raise TypeError("This condition is bound to its own table.")
        return self._of(rows)

    def build(self) -> BuiltCondition:
        """The SQLAlchemy expression, and its parameters in the order of the values."""
        return self._make()


@dataclass(frozen=True)
class PreparedStatement:
    """A compiled statement: its text, the sources of its arguments, and the converters of its columns."""

    sql: str
    sources: tuple[ArgumentSource, ...]
    converters: tuple[tuple[int, Callable[[Any], Any]], ...]

    @classmethod
    def compile(
        cls, statement: Statement, values: Mapping[str, Any], tested: Sequence[BindParameter[Any]], dialect: Dialect
    ) -> "PreparedStatement":
        """Compile a statement. TypeError if a value is neither named nor part of a condition: the cache
        would reuse it.
        """
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
            sources.append(_argument_source(name if name in values else places[id(bind)], write))
        columns = enumerate(column.type for column in statement.selected_columns)
        readers = tuple((at, read) for at, kind in columns if (read := result_converter_of(kind, dialect)))
        return cls(str(compiled), tuple(sources), readers)

    def convert(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The rows with each value as plain data."""
        for at, read in self.converters:
            rows = [(*row[:at], None if row[at] is None else read(row[at]), *row[at + 1 :]) for row in rows]
        return rows


def _argument_source(place: str | int, write: Callable[[Any], Any] | None) -> ArgumentSource:
    if isinstance(place, str):
        return (lambda named, _: named[place]) if write is None else (lambda named, _: write(named[place]))
    return (lambda _, tested: tested[place]) if write is None else (lambda _, tested: write(tested[place]))


class StatementCache:
    """The statements of the lists and relations of one database. The least recently used ones are evicted."""

    def __init__(self, dialect: Dialect, fetch: Callable[..., Awaitable[Sequence[Any]]]) -> None:
        self.dialect = dialect
        self.fetch = fetch
        self.cache: OrderedDict[Hashable, PreparedStatement] = OrderedDict()

    def with_fetch(self, fetch: Callable[..., Awaitable[Sequence[Any]]]) -> "StatementCache":
        """The same cache, with another function that runs the statements."""
        statement_cache = StatementCache(self.dialect, fetch)
        statement_cache.cache = self.cache
        return statement_cache

    async def rows(
        self,
        key: Hashable,
        build: Callable[..., Statement],
        values: Mapping[str, Any],
        tests: Sequence[Condition] = (),
    ) -> Sequence[Any]:
        """The rows, as tuples of plain data, of the statement that `build` makes from the conditions of `tests`.

        `key` identifies everything else that the statement depends on; `values` are its named parameters.
        """
        shape = (key, *[test.key for test in tests])
        prepared = self.cache.get(shape)
        if prepared is None:
            conditions = [test.build() for test in tests]
            statement = build(*(condition for condition, _ in conditions))
            tested = [bind for _, binds in conditions for bind in binds]
            prepared = self.cache[shape] = PreparedStatement.compile(statement, values, tested, self.dialect)
            if len(self.cache) > CACHE_SIZE:
                self.cache.popitem(last=False)
        else:
            self.cache.move_to_end(shape)
        parameters = [value for test in tests for value in test.values]
        return prepared.convert(
            await self.fetch(prepared.sql, *[source(values, parameters) for source in prepared.sources])
        )
