"""What a document may ask for: bounded before it runs, in time that does not grow faster than the document."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
    get_named_type,
)

from resolvers.connection import Edge
from resolvers.listing import DEFAULT_PAGE, LARGEST_PAGE
from schema.graph.selection import Source, is_computed, is_connection, is_made_of, strip

RELATED = 5
"""How many rows a list without a page size is taken for."""
MUTATION = 10
BEYOND_ALL = 2**31 - 1
CHARACTERS_PER_TOKEN = 25


@dataclass(frozen=True)
class Limits:
    """The bounds of a request. Cost counts rows: a page of 50 products with their variants, taken for 5 each, is 301."""

    depth: int = 15
    aliases: int = 100
    repeats: int = 100
    """Fields selected again under the same name; comparing them is what makes validation slow."""
    tokens: int = 2_000
    cost: int = 10_000

    @property
    def characters(self) -> int:
        """How long a document may be: what its tokens could need, with room for names and comments."""
        return self.tokens * CHARACTERS_PER_TOKEN


class BeyondLimitsError(GraphQLError):
    """A document that asks for too much."""

    def __init__(self, message: str, code: str, **told: int) -> None:
        super().__init__(message, extensions={"code": code, **told})


class Shape:
    """What can be said of a document before it is validated: its depth, aliases, repeats, and whether it introspects.

    Each fragment is looked at once, however often it is spread.
    """

    def __init__(self, document: DocumentNode) -> None:
        definitions = document.definitions
        self._fragments = {d.name.value: d for d in definitions if isinstance(d, FragmentDefinitionNode)}
        self._depths: dict[str, int] = {}
        self.aliases = self.repeats = 0
        self.introspects = False
        operations = [d for d in definitions if isinstance(d, OperationDefinitionNode)]
        self.depth = max((self._depth(operation.selection_set) for operation in operations), default=0)
        for fragment in self._fragments.values():
            self._depth(fragment.selection_set)  # for its aliases and repeats

    def _depth(self, selected: SelectionSetNode) -> int:
        """How many levels of fields; on the way, aliases and repeats are counted."""
        names: Counter[str] = Counter()
        deepest = 0
        for node in _flattened(selected):
            if isinstance(node, FragmentSpreadNode):
                deepest = max(deepest, self._spread(node.name.value))
                continue
            name = node.name.value
            names[node.alias.value if node.alias else name] += 1
            self.aliases += node.alias is not None
            if name in {"__schema", "__type"}:  # bounded by a rule of its own
                self.introspects = True
                deepest = max(deepest, 1)
            else:
                deepest = max(deepest, 1 + (self._depth(node.selection_set) if node.selection_set else 0))
        self.repeats += names.total() - len(names)
        return deepest

    def _spread(self, name: str) -> int:
        if name not in self._depths and name in self._fragments:
            self._depths[name] = 0  # a fragment within itself, which validation refuses, ends here
            aliases, repeats = self.aliases, self.repeats
            self._depths[name] = self._depth(self._fragments[name].selection_set)
            self.aliases, self.repeats = aliases, repeats  # counted where the fragment is defined
        return self._depths.get(name, 0)

    def check(self, limits: Limits) -> None:
        """Refuse what is beyond the limits."""
        for code, words, found, most in (
            ("DEPTH", "is {} levels deep", self.depth, limits.depth),
            ("ALIASES", "has {} aliases", self.aliases, limits.aliases),
            ("REPEATED_FIELDS", "selects {} fields again", self.repeats, limits.repeats),
        ):
            if found > most:
                told = f"This document {words.format(found)}; the limit is {most}."
                raise BeyondLimitsError(told, f"{code}_LIMIT_EXCEEDED", requested=found, limit=most)


def _flattened(selected: SelectionSetNode) -> Iterator[FieldNode | FragmentSpreadNode]:
    waiting = [iter(selected.selections)]
    while waiting:
        for node in waiting[-1]:
            if isinstance(node, InlineFragmentNode):
                waiting.append(iter(node.selection_set.selections))
                break
            assert isinstance(node, FieldNode | FragmentSpreadNode)
            yield node
        else:
            waiting.pop()


class Cost:
    """What an operation of a valid document costs: each row 1, times the page sizes above it; a mutation 10 more.

    Values embedded in a row are free, as the row is read anyway.
    """

    def __init__(
        self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], variables: Mapping[str, Any]
    ) -> None:
        self._schema = schema
        self._fragments = fragments
        self._variables = variables
        self._spreads: dict[tuple[str, int], int] = {}
        self.sized_by: set[str] = set()
        """The variables that it depends on."""

    def of(self, operation: OperationDefinitionNode) -> int:
        """The cost of one operation."""
        root = self._schema.get_root_type(operation.operation)
        each = MUTATION if operation.operation is OperationType.MUTATION else 0
        return min(max(1, self._selected(root, operation.selection_set, 1, each)), BEYOND_ALL)

    def _selected(self, kind: Any, selected: SelectionSetNode, items: int, each: int = 0) -> int:
        """The cost for one object; `items` is how many rows a page of this type has."""
        total = 0
        for node in _flattened(selected):
            if isinstance(node, FragmentSpreadNode):
                total += self._spread(kind, node.name.value, items, each)
            elif node.selection_set is not None and not node.name.value.startswith("__"):
                total += each + self._field(kind, node, items)
        return total

    def _spread(self, kind: Any, name: str, items: int, each: int) -> int:
        key = (name, items)
        if key not in self._spreads:
            self._spreads[key] = self._selected(kind, self._fragments[name].selection_set, items, each)
        return self._spreads[key]

    def _field(self, kind: GraphQLObjectType, node: FieldNode, items: int) -> int:
        assert node.selection_set is not None
        field = kind.fields[node.name.value]
        returned = field.type
        named: Any = get_named_type(returned)
        if not isinstance(named, GraphQLObjectType):
            return 1
        if is_connection(named):
            return 1 + self._selected(named, node.selection_set, self._page_size(node))
        listed = isinstance(strip(returned)[0], GraphQLList)
        times = 1 if not listed else items if is_connection(kind) else RELATED
        own = 1 if listed or is_computed(field) or (Source.of(named).in_rows and not is_made_of(kind, Edge)) else 0
        return times * (own + self._selected(named, node.selection_set, 1))

    def _page_size(self, node: FieldNode) -> int:
        sizes = [self._size(a.value) for a in node.arguments or () if a.name.value in {"first", "last"}]
        return max((size for size in sizes if size is not None), default=DEFAULT_PAGE)

    def _size(self, value: Any) -> int | None:
        if isinstance(value, VariableNode):
            self.sized_by.add(value.name.value)
            given = self._variables.get(value.name.value)
            return min(max(given, 1), LARGEST_PAGE) if isinstance(given, int) else None
        return min(max(int(value.value), 1), LARGEST_PAGE) if isinstance(value, IntValueNode) else None
