"""Writes the selections of documents: a column of a list, a whole object, the names of what it leads to."""

from collections.abc import Callable, Mapping, Sequence

from graphql import GraphQLObjectType, get_named_type

from schema.export import SPENDABLE_CODES
from schema.graph import paths

MOST_NODES = 100
"""Rows of a connection on the page of an object."""
DEEPEST = 3
"""Levels of embedded objects on the page of an object."""
needs_arguments, leaf_selection = paths.needs_arguments, paths.leaf_selection
value_selection, values_selection = paths.value_selection, paths.values_selection
FOR_THE_POST = frozenset({"coverLetterUrl", "packingSlipUrl"})
"""Documents that staff print to send something."""
SECRETS: Mapping[str, frozenset[str]] = {
    name: fields for name, code in SPENDABLE_CODES.items() if (fields := code.fields - FOR_THE_POST)
}
"""Codes, and what they are printed on: no page selects them, as they are shown by `reveal…` only, which is audited."""
TitlesOf = Callable[[str], Sequence[str]]
"""The fields that name an object of a type; none if it has no page of its own."""


def node_of(kind: GraphQLObjectType) -> GraphQLObjectType | None:
    """The type of the rows of a connection; None for other types."""
    if not kind.name.endswith("Connection"):
        return None
    node = get_named_type(kind.fields["nodes"].type)
    assert isinstance(node, GraphQLObjectType)
    return node


def whole_selection(
    kind: GraphQLObjectType, titles_of: TitlesOf, skipped: frozenset[str] = frozenset(), level: int = 0
) -> str:
    """All that an object has: its values, its embedded objects, and the names of the objects that it leads to."""
    parts = []
    for name, field in kind.fields.items():
        if name in skipped or name in SECRETS.get(kind.name, ()) or needs_arguments(field):
            continue
        leaf = leaf_selection(field)
        if leaf is not None:
            parts.append(name + leaf)
            continue
        inner = get_named_type(field.type)
        assert isinstance(inner, GraphQLObjectType)
        titles = titles_of(inner.name)
        if (node := node_of(inner)) is not None:
            if "first" in field.args and level < DEEPEST:
                inside = whole_selection(node, titles_of, level=level + 1)
                parts.append(f"{name}(first: {MOST_NODES}) {{ nodes {{ {inside} }} }}")
        elif titles:
            parts.append(f"{name} {{ {' '.join(dict.fromkeys(value_selection(inner, each) for each in titles))} }}")
        elif level < DEEPEST:
            selected = whole_selection(inner, titles_of, level=level + 1)
            parts += [f"{name} {{ {selected} }}"] if selected else []
    return " ".join(parts)
