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
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

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
    values: int = 30_000
    """Values in the variables of a request; 500 vouchers to import have some 12,000, and 25,000 with all that can be said."""

    @property
    def characters(self) -> int:
        """How long a document may be: what its tokens could need, with room for names and comments."""
        return self.tokens * CHARACTERS_PER_TOKEN


class BeyondLimitsError(GraphQLError):
    """A document that asks for too much."""

    def __init__(self, message: str, code: str, **told: int) -> None:
        super().__init__(message, extensions={"code": code, **told})


def check_variables(variables: Mapping[str, Any], limits: Limits) -> None:
    """Refuse variables that hold more values than are read; each object, list and item is one."""
    waiting, found = [iter(variables.values())], 0
    while waiting:
        for value in waiting[-1]:
            found += 1
            if found > limits.values:
                told = f"These variables hold more than {limits.values} values: send less at once."
                raise BeyondLimitsError(told, "VARIABLES_LIMIT_EXCEEDED", limit=limits.values)
            if isinstance(value, Mapping | list):
                waiting.append(iter(value.values() if isinstance(value, Mapping) else value))
                break
        else:
            waiting.pop()


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
        for node in flattened(selected):
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


def flattened(selected: SelectionSetNode) -> Iterator[FieldNode | FragmentSpreadNode]:
    """The fields and spreads of a selection, those of inline fragments included."""
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
