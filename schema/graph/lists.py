"""Reads the lists of the schema by their names, for exports: columns by their paths, and pages by documents."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import strawberry
from graphql import GraphQLEnumType, GraphQLField, GraphQLObjectType, get_named_type

from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.core.list_reader import CellKind, ListColumn, ListPage, ListPageRequest
from resolvers.core.lists.listing import Listing
from resolvers.core.services import Services
from schema.core.errors import InvalidInput, Problem
from schema.core.field_source import EmbeddedValue
from schema.core.permission import RequiredAccess
from schema.export import SPENDABLE_CODES
from schema.graph.errors import BAD_USER_INPUT
from schema.graph.fields import ORIGINS
from schema.graph.in_process import LIMITS, GraphAnswer, run_document
from schema.graph.paths import MONEY, MONEY_PARTS, TEXT, at, is_many, leaf_selection, needs_arguments, values_selection
from schema.graph.server import GraphQLServer

DECLARATION, COMPILED = "strawberry-definition", "compiled"
"""Where a field of graphql-core has the field that it was made from, and that what it is compiled to."""
KINDS: Mapping[str, CellKind] = {
    "Boolean": CellKind.BOOLEAN,
    "Date": CellKind.DAY,
    "DateTime": CellKind.MOMENT,
    "Decimal": CellKind.DECIMAL,
    "Float": CellKind.NUMBER,
    "Int": CellKind.NUMBER,
    "JSON": CellKind.JSON,
    MONEY: CellKind.MONEY,
    TEXT: CellKind.TRANSLATED,
}
"""By the name of a type; all others are texts."""
REJECTED, EXCEEDED, TOO_MANY_VALUES = ("GRAPHQL_VALIDATION_FAILED",), "_LIMIT_EXCEEDED", "VARIABLES_LIMIT_EXCEEDED"
"""The codes of documents that are not run."""
LONGEST_PATH = 6
"""Fields along a path."""


class SchemaLists:
    """The lists of a schema. `load` gives the schema when it is first needed: it takes a second to build."""

    def __init__(self, load: Callable[[], strawberry.Schema]) -> None:
        self._load = load

    @functools.cached_property
    def _server(self) -> GraphQLServer:
        return GraphQLServer(self._load(), limits=LIMITS, introspection=False)

    @functools.cached_property
    def _lists(self) -> Mapping[str, GraphQLField]:
        query = self._server.schema.query_type
        assert query is not None
        return {name: field for name, field in query.fields.items() if isinstance(_origin_of(field), Listing)}

    def access(self, list: str) -> RequiredAccess | None:
        """What a list requires of its caller; None if there is no such list."""
        field = self._lists.get(list)
        return None if field is None else _origin_of(field).permission

    def orders(self, list: str) -> Sequence[str]:
        """The orders of a list, its default first."""
        named = get_named_type(self._lists[list].args["orderBy"].type)
        assert isinstance(named, GraphQLEnumType)
        return tuple(named.values)

    def column(self, list: str, path: str) -> ListColumn | None:
        """The column of a path; None if the rows of a list have no single value there."""
        row = self._row_of(list)
        try:
            steps = [*at(row, path)] if path.count(".") < LONGEST_PATH else []
        except LookupError:
            return None
        if not steps or any(needs_arguments(field) for _, field in steps) or leaf_selection(steps[-1][1]) is None:
            return None
        if any(is_many(field.type) for _, field in steps[:-1]):
            return None
        name, field = steps[-1]
        owner: Any = row if len(steps) == 1 else get_named_type(steps[-2][1].type)
        code = SPENDABLE_CODES.get(owner.name)
        permission = code.permission if code is not None and name in code.fields else None
        kind = KINDS.get(get_named_type(field.type).name, CellKind.TEXT)
        is_of_part = any(leaf_selection(each) is None for _, each in steps[:-1])
        return ListColumn(path, kind, is_many(field.type), permission, name.endswith("Url"), is_of_part)

    def columns(self, list: str) -> Sequence[ListColumn]:
        """All columns that the rows of a list have themselves, also in their parts, in the order of the schema."""
        found = (self.column(list, path) for path in _flat_paths(self._row_of(list)))
        return tuple(column for column in found if column is not None)

    async def read(self, services: Services, caller: Caller, page: ListPageRequest) -> ListPage:
        """A page of a list. Raises InvalidInput for the filter, at paths below `filter`, and what the list raises."""
        variables = {"filter": page.filter, "first": page.first, "after": page.after, "orderBy": page.order_by}
        context = Context(services, caller)
        answer = await run_document(self._server, context, self._document(page.list, tuple(page.columns)), variables)
        _raise_problems(answer)
        rows = answer.data[page.list]
        info = rows["pageInfo"]
        values = [[_value_at(row, path) for path in page.columns] for row in rows["nodes"]]
        return ListPage(values, info["endCursor"] if info["hasNextPage"] else None)

    async def count(self, services: Services, caller: Caller, list: str, filter: Mapping[str, Any]) -> int:
        """Number of rows of a list. Raises as `read` does."""
        kind = get_named_type(self._lists[list].args["filter"].type).name
        document = f"query($filter: {kind}) {{ {list}(filter: $filter) {{ totalCount }} }}"
        answer = await run_document(self._server, Context(services, caller), document, {"filter": filter})
        _raise_problems(answer)
        number: int = answer.data[list]["totalCount"]
        return number

    def _row_of(self, list: str) -> GraphQLObjectType:
        connection = get_named_type(self._lists[list].type)
        assert isinstance(connection, GraphQLObjectType)
        row = get_named_type(connection.fields["nodes"].type)
        assert isinstance(row, GraphQLObjectType)
        return row

    @functools.lru_cache(maxsize=256)  # noqa: B019 - one reader lives as long as the program
    def _document(self, list: str, columns: tuple[str, ...]) -> str:
        row, arguments = self._row_of(list), self._lists[list].args
        selected = values_selection(row, dict.fromkeys(columns))
        filter, order = get_named_type(arguments["filter"].type).name, get_named_type(arguments["orderBy"].type).name
        return (
            f"query($filter: {filter}, $orderBy: {order}!, $first: Int, $after: String) {{ "
            f"{list}(filter: $filter, orderBy: $orderBy, first: $first, after: $after) "
            f"{{ nodes {{ {selected} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        )


def _origin_of(field: GraphQLField) -> Any:
    return field.extensions[DECLARATION].metadata[ORIGINS][0]


def _flat_paths(row: GraphQLObjectType, around: EmbeddedValue | None = None) -> Iterator[str]:
    """The paths of all single values that an object has itself, also in its parts; amounts are two."""
    for name, field in row.fields.items():
        kind = get_named_type(field.type)
        if needs_arguments(field):
            continue
        if leaf_selection(field) is None:
            if isinstance(kind, GraphQLObjectType) and (part := _part_of(field, around)) is not None:
                yield from (f"{name}.{path}" for path in _flat_paths(kind, part))
        elif kind.name == MONEY and not is_many(field.type):
            yield from (f"{name}.{part}" for part in MONEY_PARTS)
        else:
            yield name


def _part_of(field: GraphQLField, around: EmbeddedValue | None) -> EmbeddedValue | None:
    """The part of the object itself, or of the part around it, that a field is; None for what leads to another object, and
    for what not everybody may see who sees the object.
    """
    declared = field.extensions[DECLARATION]
    value = declared.metadata.get(COMPILED) if around is None else around.columns.get(declared.python_name)
    return value if isinstance(value, EmbeddedValue) and value.field_permission is None else None


def _raise_problems(answer: GraphAnswer) -> None:
    """Raise what a list has refused: its filter or a document that is too large as InvalidInput, else its first error."""
    for error in answer.errors:
        if error.code in REJECTED or error.code.endswith(EXCEEDED):
            raise InvalidInput.at("filter" if error.code == TOO_MANY_VALUES else "columns", error.message)
    wrong = [error for error in answer.errors if error.code == BAD_USER_INPUT]
    if not wrong:
        return answer.check()
    problems = [
        Problem(_below_filter(each["field"]), each["code"], each["message"])
        for error in wrong
        for each in error.problems
    ]
    raise InvalidInput(*(problems or [Problem(("filter",), "INVALID", error.message) for error in wrong]))


def _below_filter(field: Sequence[str]) -> tuple[str, ...]:
    return tuple(field) if field[:1] == ["filter"] else ("filter", *field)


def _value_at(row: Mapping[str, Any], path: str) -> Any:
    """The value along a path; None where something along it is null."""
    found: Any = row
    for name in path.split("."):
        if found is None:
            return None
        found = found[name]
    return found
