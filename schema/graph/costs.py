"""Computes the cost of an operation before it runs, in time linear in the document."""

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

from resolvers.core.lists.connection import Edge
from resolvers.core.lists.listing import DEFAULT_PAGE, LARGEST_PAGE
from schema.graph.bounds import flatten_selection
from schema.graph.introspection import IntrospectionSize
from schema.graph.selection import SelectionSource, is_computed, is_connection, is_published_by, unwrap_non_null

ASSUMED_LIST_SIZE = 5
"""Assumed number of rows of a list without a page size."""
MUTATION_COST = 10
COUNT_COST = 500
"""Cost of a `totalCount`, which reads all rows that it counts."""
VALUES_PER_ROW = 50
"""Number of values that cost 1. Fewer values are included in the cost of their row."""
INTROSPECTION_VALUES_PER_POINT = 16
"""Number of introspection values that cost 1. They are resolved one by one, which is slower than rows."""
MAX_COST = 2**31 - 1


@dataclass
class SelectionCost:
    """The cost of a selection on one object, and the number of values of the object itself."""

    cost: int = 0
    values: int = 0
    per_row: int = 0
    """For a connection: the cost of each row of its page."""

    def add(self, other: "SelectionCost", times: int = 1) -> None:
        """Add `other`, multiplied by `times`."""
        self.cost += other.cost * times
        self.values += other.values * times
        self.per_row += other.per_row * times

    @property
    def total(self) -> int:
        """The cost, including the values beyond those of the row."""
        return self.cost + self.values // VALUES_PER_ROW


class CostEstimator:
    """Computes the cost of an operation of a valid document.

    Each row costs 1, multiplied by the page sizes above it; a mutation costs 10 more. A row includes fifty values,
    together with those of the objects embedded in it. Each fragment is evaluated once.
    """

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables
        self._spreads: dict[str, SelectionCost] = {}
        self._roots = (schema.query_type, schema.mutation_type)
        self._introspection: IntrospectionSize | None = None
        self.page_size_variables: set[str] = set()
        """The variables that the cost depends on."""

    def estimate(self, operation: OperationDefinitionNode) -> int:
        """The cost of one operation: 1 to `MAX_COST`."""
        root = self._schema.get_root_type(operation.operation)
        assert root is not None
        return min(max(1, self._cost_of_selection(root, operation.selection_set).total), MAX_COST)

    def _cost_of_selection(self, kind: GraphQLObjectType, selected: SelectionSetNode) -> SelectionCost:
        total = SelectionCost()
        for node in flatten_selection(selected):
            if isinstance(node, FragmentSpreadNode):
                total.add(self._cost_of_fragment(kind, node.name.value))
            elif node.name.value in {"__schema", "__type"}:
                total.cost += self._cost_of_introspection(node)
            elif node.selection_set is not None:
                total.add(self._cost_of_object(kind, node, node.selection_set))
            elif node.name.value == "totalCount" and is_connection(kind):
                total.cost += COUNT_COST
            elif kind in self._roots and node.name.value != "__typename":
                total.cost += 1
            else:
                total.values += 1
        return total

    def _cost_of_fragment(self, kind: GraphQLObjectType, name: str) -> SelectionCost:
        if name not in self._spreads:
            self._spreads[name] = self._cost_of_selection(kind, self._fragments[name].selection_set)
        return self._spreads[name]

    def _cost_of_introspection(self, node: FieldNode) -> int:
        if self._introspection is None:
            self._introspection = IntrospectionSize(self._schema, self._fragments)
        return -(-self._introspection.count_values(node) // INTROSPECTION_VALUES_PER_POINT)

    def _cost_of_object(self, kind: GraphQLObjectType, node: FieldNode, selected: SelectionSetNode) -> SelectionCost:
        field = kind.fields[node.name.value]
        changes = MUTATION_COST if kind is self._schema.mutation_type else 0
        named: Any = get_named_type(field.type)
        if not isinstance(named, GraphQLObjectType):
            return SelectionCost(1)
        inner = self._cost_of_selection(named, selected)
        if is_connection(named):
            return SelectionCost(1 + inner.total + self._page_size(node) * inner.per_row)
        if isinstance(unwrap_non_null(field.type)[0], GraphQLList):
            return (
                SelectionCost(per_row=1 + inner.total)
                if is_connection(kind)
                else SelectionCost(ASSUMED_LIST_SIZE * (1 + inner.total))
            )
        if is_computed(field) or (SelectionSource.of(named).in_rows and not is_published_by(kind, Edge)):
            return SelectionCost(changes + 1 + inner.total)
        return SelectionCost(changes + inner.cost, 1 + inner.values)

    def _page_size(self, node: FieldNode) -> int:
        sizes = [self._size(a.value) for a in node.arguments or () if a.name.value in {"first", "last"}]
        return max((size for size in sizes if size is not None), default=DEFAULT_PAGE)

    def _size(self, value: Any) -> int | None:
        if isinstance(value, VariableNode):
            self.page_size_variables.add(value.name.value)
            given = self._variables.get(value.name.value)
            return min(max(given, 1), LARGEST_PAGE) if isinstance(given, int) else None
        return min(max(int(value.value), 1), LARGEST_PAGE) if isinstance(value, IntValueNode) else None
