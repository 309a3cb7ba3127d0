"""Limits of a document, checked before it runs, in time linear in the document."""

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
class QueryLimits:
    """The limits of a request. Cost counts rows: a page of 50 products, each with an assumed 5 variants, costs 301."""

    depth: int = 15
    aliases: int = 100
    repeated_fields: int = 100
    """Fields selected again under the same name. Validation compares them with each other, which is slow."""
    tokens: int = 2_000
    cost: int = 10_000
    variable_values: int = 30_000
    """Values in the variables of a request. An import of 500 vouchers has about 12,000, with all optional fields
    25,000.
    """

    @property
    def characters(self) -> int:
        """Maximum length of a document in characters, with room for names and comments."""
        return self.tokens * CHARACTERS_PER_TOKEN


class LimitExceededError(GraphQLError):
    """A document or its variables exceed a limit."""

    def __init__(self, message: str, code: str, **extensions: int) -> None:
        super().__init__(message, extensions={"code": code, **extensions})


def check_variables(variables: Mapping[str, Any], limits: QueryLimits) -> None:
    """Raise LimitExceededError if the variables hold too many values. Each object, list and item counts as one."""
    waiting, found = [iter(variables.values())], 0
    while waiting:
        for value in waiting[-1]:
            found += 1
            if found > limits.variable_values:
                told = f"These variables hold more than {limits.variable_values} values: send fewer at once."
                raise LimitExceededError(told, "VARIABLES_LIMIT_EXCEEDED", limit=limits.variable_values)
            if isinstance(value, Mapping | list):
                waiting.append(iter(value.values() if isinstance(value, Mapping) else value))
                break
        else:
            waiting.pop()


class DocumentShape:
    """Depth, aliases, repeated fields and introspection of a document, counted before validation.

    Each fragment is visited once, however often it is spread.
    """

    def __init__(self, document: DocumentNode) -> None:
        definitions = document.definitions
        self._fragments = {d.name.value: d for d in definitions if isinstance(d, FragmentDefinitionNode)}
        self._depths: dict[str, int] = {}
        self.aliases = self.repeated_fields = 0
        self.introspects = False
        operations = [d for d in definitions if isinstance(d, OperationDefinitionNode)]
        self.depth = max((self._depth(operation.selection_set) for operation in operations), default=0)
        for fragment in self._fragments.values():
            self._depth(fragment.selection_set)  # counts its aliases and repeated fields

    def _depth(self, selected: SelectionSetNode) -> int:
        """The number of levels of fields. Also counts aliases and repeated fields."""
        names: Counter[str] = Counter()
        deepest = 0
        for node in flatten_selection(selected):
            if isinstance(node, FragmentSpreadNode):
                deepest = max(deepest, self._spread(node.name.value))
                continue
            name = node.name.value
            names[node.alias.value if node.alias else name] += 1
            self.aliases += node.alias is not None
            if name in {"__schema", "__type"}:  # graphql-core has its own rule for the depth of introspection
                self.introspects = True
                deepest = max(deepest, 1)
            else:
                deepest = max(deepest, 1 + (self._depth(node.selection_set) if node.selection_set else 0))
        self.repeated_fields += names.total() - len(names)
        return deepest

    def _spread(self, name: str) -> int:
        if name not in self._depths and name in self._fragments:
            self._depths[name] = 0  # ends the recursion of a cyclic fragment, which validation refuses later
            aliases, repeats = self.aliases, self.repeated_fields
            self._depths[name] = self._depth(self._fragments[name].selection_set)
            self.aliases, self.repeated_fields = aliases, repeats  # counted where the fragment is defined
        return self._depths.get(name, 0)

    def check(self, limits: QueryLimits) -> None:
        """Raise LimitExceededError if a limit is exceeded."""
        for code, words, found, most in (
            ("DEPTH", "is {} levels deep", self.depth, limits.depth),
            ("ALIASES", "has {} aliases", self.aliases, limits.aliases),
            ("REPEATED_FIELDS", "selects {} fields again", self.repeated_fields, limits.repeated_fields),
        ):
            if found > most:
                told = f"This document {words.format(found)}; the limit is {most}."
                raise LimitExceededError(told, f"{code}_LIMIT_EXCEEDED", requested=found, limit=most)


def flatten_selection(selected: SelectionSetNode) -> Iterator[FieldNode | FragmentSpreadNode]:
    """The fields and fragment spreads of a selection, including those of inline fragments."""
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
