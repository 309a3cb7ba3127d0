"""What an operation costs, worked out before it runs, in time that does not grow faster than the document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
)

from resolvers.core.listing import DEFAULT_PAGE, LARGEST_PAGE
from resolvers.core.page_query import Edge
from schema.graph.bounds import flattened
from schema.graph.introspection import Introspection
from schema.graph.selection import Source, is_computed, is_connection, is_made_of, strip

RELATED = 5
"""How many rows a list without a page size is taken for."""
MUTATION = 10
COUNT = 500
"""A `totalCount` reads whatever it counts."""
VALUES = 50
"""Values that come with a row, or for 1 without one."""
INTROSPECTED = 12
"""Values about the schema for 1: they are written one by one, which takes longer than rows do."""
BEYOND_ALL = 2**31 - 1


@dataclass
class Weight:
    """What a selection of one object costs, and how many values of the object itself it answers."""

    cost: int = 0
    values: int = 0
    each: int = 0
    """Of a connection: what each row of its page costs."""

    def add(self, other: "Weight", times: int = 1) -> None:
        """Add another one, so many times."""
        self.cost += other.cost * times
        self.values += other.values * times
        self.each += other.each * times

    @property
    def whole(self) -> int:
        """The cost, with that of values beyond those that come with the object."""
        return self.cost + self.values // VALUES


class Cost:
    """What an operation of a valid document costs: each row 1, times the page sizes above it; a mutation 10 more.

    Values come with their row, fifty of them; so do those embedded in it. Each fragment is weighed once.
    """

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables
        self._spreads: dict[str, Weight] = {}
        self._roots = (schema.query_type, schema.mutation_type)
        self._introspection: Introspection | None = None
        self.sized_by: set[str] = set()
        """The variables that it depends on."""

    def of(self, operation: OperationDefinitionNode) -> int:
        """The cost of one operation."""
        root = self._schema.get_root_type(operation.operation)
        assert root is not None
        return min(max(1, self._selected(root, operation.selection_set).whole), BEYOND_ALL)

    def _selected(self, kind: GraphQLObjectType, selected: SelectionSetNode) -> Weight:
        total = Weight()
        for node in flattened(selected):
            if isinstance(node, FragmentSpreadNode):
                total.add(self._spread(kind, node.name.value))
            elif node.name.value in {"__schema", "__type"}:
                total.cost += self._introspected(node)
            elif node.selection_set is not None:
                total.add(self._object(kind, node, node.selection_set))
            elif node.name.value == "totalCount" and is_connection(kind):
                total.cost += COUNT
            elif kind in self._roots and node.name.value != "__typename":
                total.cost += 1
            else:
                total.values += 1
        return total

    def _spread(self, kind: GraphQLObjectType, name: str) -> Weight:
        if name not in self._spreads:
            self._spreads[name] = self._selected(kind, self._fragments[name].selection_set)
        return self._spreads[name]

    def _introspected(self, node: FieldNode) -> int:
        if self._introspection is None:
            self._introspection = Introspection(self._schema, self._fragments)
        return -(-self._introspection.values(node) // INTROSPECTED)

    def _object(self, kind: GraphQLObjectType, node: FieldNode, selected: SelectionSetNode) -> Weight:
        field = kind.fields[node.name.value]
        changes = MUTATION if kind is self._schema.mutation_type else 0
        named: Any = get_named_type(field.type)
        if not isinstance(named, GraphQLObjectType):
            return Weight(1)
        inner = self._selected(named, selected)
        if is_connection(named):
            return Weight(1 + inner.whole + self._page_size(node) * inner.each)
        if isinstance(strip(field.type)[0], GraphQLList):
            return Weight(each=1 + inner.whole) if is_connection(kind) else Weight(RELATED * (1 + inner.whole))
        if is_computed(field) or (Source.of(named).in_rows and not is_made_of(kind, Edge)):
            return Weight(changes + 1 + inner.whole)
        return Weight(changes + inner.cost, 1 + inner.values)

    def _page_size(self, node: FieldNode) -> int:
        sizes = [self._size(a.value) for a in node.arguments or () if a.name.value in {"first", "last"}]
        return max((size for size in sizes if size is not None), default=DEFAULT_PAGE)

    def _size(self, value: Any) -> int | None:
        if isinstance(value, VariableNode):
            self.sized_by.add(value.name.value)
            given = self._variables.get(value.name.value)
            return min(max(given, 1), LARGEST_PAGE) if isinstance(given, int) else None
        return min(max(int(value.value), 1), LARGEST_PAGE) if isinstance(value, IntValueNode) else None
