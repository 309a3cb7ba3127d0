"""Counts the values of an introspection result, from the schema and the document alone."""

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

from schema.graph.bounds import flatten_selection

MAX_WRAPPERS = 3
"""Maximum number of wrapping types around a named type, as in `[Name!]!`. Any further `ofType` is null."""
SINGLE_OBJECT = "one"
"""A single unknown object: each of its lists counts with the longest length in the schema."""


class IntrospectionSize:
    """Counts the values of `__schema` and `__type`.

    Selections on all types (`__schema { types { fields { args … } } }`) are counted exactly. A type that is reached in
    another way counts as the largest. Each fragment is evaluated once for each way that leads to it.
    """

    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._spreads: dict[tuple[str, str, int], int] = {}
        self._size, self._next_list, self._longest = _count_objects(schema)

    def count_values(self, node: FieldNode) -> int:
        """The number of values in the result of a `__schema` or `__type` field."""
        assert node.selection_set is not None
        start = "schema" if node.name.value == "__schema" else SINGLE_OBJECT
        return 1 + self._count_selection(node.selection_set, start, 0)

    def _count_selection(self, selected: SelectionSetNode, of: str, wrapped: int) -> int:
        """The number of values of all objects of a kind; `wrapped` is how many times `ofType` was followed."""
        total = 0
        for node in flatten_selection(selected):
            if isinstance(node, FragmentSpreadNode):
                total += self._count_fragment(node.name.value, of, wrapped)
            elif node.selection_set is None:
                total += self._size[of]
            else:
                total += self._count_object(node.name.value, node.selection_set, of, wrapped)
        return total

    def _count_fragment(self, name: str, of: str, wrapped: int) -> int:
        key = (name, of, wrapped)
        if key not in self._spreads:
            self._spreads[key] = self._count_selection(self._fragments[name].selection_set, of, wrapped)
        return self._spreads[key]

    def _count_object(self, name: str, selected: SelectionSetNode, of: str, wrapped: int) -> int:
        if (reached := self._next_list.get((of, name))) is not None:
            return self._size[of] + self._size[reached] + self._count_selection(selected, reached, 0)
        within = wrapped + 1 if name == "ofType" else 0
        if within > MAX_WRAPPERS:
            return self._size[of]
        inner = 1 + self._count_selection(selected, SINGLE_OBJECT, within)
        return self._size[of] * (1 + self._longest.get(name, 1) * inner)


def _count_objects(schema: GraphQLSchema) -> tuple[dict[str, int], dict[tuple[str, str], str], dict[str, int]]:
    """The number of objects of each kind, the kind that each list leads to, and the maximum length of each list."""
    lists = _list_lengths(schema)
    size = {SINGLE_OBJECT: 1, "schema": 1} | {f"{of}.{name}": sum(lengths) for (of, name), lengths in lists.items()}
    leads = {(of, name): f"{of}.{name}" for of, name in lists}
    longest: dict[str, int] = {}
    for (_, name), lengths in lists.items():
        longest[name] = max([longest.get(name, 0), *lengths])
    return size, leads, longest


def _list_lengths(schema: GraphQLSchema) -> dict[tuple[str, str], list[int]]:
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
