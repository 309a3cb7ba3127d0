"""How many values an answer about the schema itself has, worked out from the schema and the document alone."""

from collections.abc import Mapping

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    SelectionSetNode,
    is_abstract_type,
)

from schema.graph.bounds import flattened

WRAPPED = 3
"""How many types are around a named one at most, as in `[Name!]!`: no `ofType` answers anything beyond."""
ONE = "one"
"""A single object, of which nothing is known: each of its lists is taken for the longest there is."""


class Introspection:
    """Values of `__schema` and `__type`.

    What is asked of all types at once (`__schema { types { fields { args … } } }`) is counted exactly; a type that is reached
    on another way is taken for the largest. Each fragment is looked at once for each way that leads to it.
    """

    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._spreads: dict[tuple[str, str, int], int] = {}
        self._size, self._next, self._longest = _counted(schema)

    def values(self, node: FieldNode) -> int:
        """How many values `__schema` or `__type` answers."""
        assert node.selection_set is not None
        start = "schema" if node.name.value == "__schema" else ONE
        return 1 + self._selected(node.selection_set, start, 0)

    def _selected(self, selected: SelectionSetNode, of: str, wrapped: int) -> int:
        """The values of all objects of a kind together; `wrapped` is how many times `ofType` was followed."""
        total = 0
        for node in flattened(selected):
            if isinstance(node, FragmentSpreadNode):
                total += self._spread(node.name.value, of, wrapped)
            elif node.selection_set is None:
                total += self._size[of]
            else:
                total += self._object(node.name.value, node.selection_set, of, wrapped)
        return total

    def _spread(self, name: str, of: str, wrapped: int) -> int:
        key = (name, of, wrapped)
        if key not in self._spreads:
            self._spreads[key] = self._selected(self._fragments[name].selection_set, of, wrapped)
        return self._spreads[key]

    def _object(self, name: str, selected: SelectionSetNode, of: str, wrapped: int) -> int:
        if (reached := self._next.get((of, name))) is not None:
            return self._size[of] + self._size[reached] + self._selected(selected, reached, 0)
        within = wrapped + 1 if name == "ofType" else 0
        if within > WRAPPED:
            return self._size[of]
        inner = 1 + self._selected(selected, ONE, within)
        return self._size[of] * (1 + self._longest.get(name, 1) * inner)


def _counted(schema: GraphQLSchema) -> tuple[dict[str, int], dict[tuple[str, str], str], dict[str, int]]:
    """How many objects there are of each kind, which list leads from one kind to the next, and how long each list is at most."""
    lists = _lists(schema)
    size = {ONE: 1, "schema": 1} | {f"{of}.{name}": sum(lengths) for (of, name), lengths in lists.items()}
    leads = {(of, name): f"{of}.{name}" for of, name in lists}
    longest: dict[str, int] = {}
    for (_, name), lengths in lists.items():
        longest[name] = max([longest.get(name, 0), *lengths])
    return size, leads, longest


def _lists(schema: GraphQLSchema) -> dict[tuple[str, str], list[int]]:
    kinds, directives = list(schema.type_map.values()), list(schema.directives)
    types, fields = "schema.types", "schema.types.fields"
    with_fields = [kind for kind in kinds if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)]
    return {
        ("schema", "types"): [len(kinds)],
        ("schema", "directives"): [len(directives)],
        ("schema.directives", "args"): [len(directive.args) for directive in directives],
        ("schema.directives", "locations"): [len(directive.locations) for directive in directives],
        (types, "fields"): [len(kind.fields) for kind in with_fields],
        (fields, "args"): [len(field.args) for kind in with_fields for field in kind.fields.values()],
        (types, "interfaces"): [len(kind.interfaces) for kind in with_fields],
        (types, "possibleTypes"): [len(schema.get_possible_types(kind)) for kind in kinds if is_abstract_type(kind)],
        (types, "inputFields"): [len(kind.fields) for kind in kinds if isinstance(kind, GraphQLInputObjectType)],
        (types, "enumValues"): [len(kind.values) for kind in kinds if isinstance(kind, GraphQLEnumType)],
    }
