"""Statements compiled once, kept with their bind parameters, and run by the driver itself."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Dialect, Select
from sqlalchemy.sql.selectable import CompoundSelect
from sqlalchemy.types import JSON, Enum, Float, Numeric, TypeDecorator, TypeEngine

Statement = Select[Any] | CompoundSelect[Any]
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

    async def rows(
        self,
        key: Hashable,
        build: Callable[[], Statement],
        values: Mapping[str, Any],
        tests: Sequence[ColumnElement[bool]] = (),
    ) -> Sequence[Any]:
        """The rows, as tuples of plain data, of the statement that `build` makes out of these very `tests`.

        `key` says everything that the statement depends on besides the tests; `values` are its named parameters.
        """
        keys = [test._generate_cache_key() for test in tests]  # noqa: SLF001 - what SQLAlchemy keeps statements by
        if None in keys:
            raise TypeError("A test without a cache key cannot be kept.")
        tested = [bind for of in keys if of for bind in of.bindparams]
        shape = (key, *(of.key for of in keys if of))
        kept = self.kept.get(shape)
        if kept is None:
            kept = self.kept[shape] = Kept.of(build(), values, tested, self.dialect)
            if len(self.kept) > KEPT:
                self.kept.popitem(last=False)
        else:
            self.kept.move_to_end(shape)
        given = [bind.effective_value for bind in tested]
        return kept.plain(await self.fetch(kept.sql, *(source(values, given) for source in kept.sources)))
