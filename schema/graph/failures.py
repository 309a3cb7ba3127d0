"""The errors of a response of GraphQL for the API log, without the values that graphql-core quotes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import FieldNode, OperationDefinitionNode
from strawberry.utils.str_converters import to_snake_case

from resolvers.core.context import RequestFailure
from schema.graph.bounds import flatten_selection

LONGEST_TEXT = 2_000
"""Characters of a message that are looked at: it may quote a whole body."""
_VARIABLE = re.compile(r"Variable '\$(\w{1,80})' has invalid (?:default )?value(?: at \.?([\w.\[\]]+))?: ")
_VALUE = re.compile(
    r"[.,;]? [Ff]ound: |, but encountered error |: (?=[\"'])|(?<=value): "
    r"|(?<=Value) '|(?<=unknown field) '(?![A-Za-z_]\w{0,79}')|(?<=operation named) (?!'[A-Za-z_]\w{0,79}')"
)
"""Where a message begins to quote a value, or a name that is none."""
_ENUM_VALUE = re.compile(r"(?s)Value '.*' (does not exist in '\w+' enum)")
_SYNTAX_ERROR = "Syntax Error:"
_SYNTAX = re.compile(r",? found |(?<=Unexpected) |(?<=[a-z]): ")
"""Where a message of the parser begins to quote the document: a literal may have any text."""


def failures_of(
    errors: Sequence[Mapping[str, Any]], operation: OperationDefinitionNode | None
) -> Iterator[RequestFailure]:
    """The errors of a response with their fields of the operation; an error without a path concerns all of them."""
    nodes = [] if operation is None else flatten_selection(operation.selection_set)
    fields = {(node.alias or node.name).value: node.name.value for node in nodes if isinstance(node, FieldNode)}
    for error in errors:
        code, path = error["extensions"]["code"], error.get("path")
        field, message = _split(error["message"])
        for name in (fields.values() or [""]) if path is None else [fields.get(path[0], path[0])]:
            yield RequestFailure(code, message, to_snake_case(name), field)


def _split(message: str) -> tuple[Sequence[str], str]:
    """The path of a wrong variable, and what is wrong about it; no path for other errors."""
    message = message[:LONGEST_TEXT]
    place = _VARIABLE.match(message)
    if place is None:
        return (), _without_value(message)
    return (place[1], *re.findall(r"\w+", place[2] or "")), _without_value(message[place.end() :])


def _without_value(message: str) -> str:
    """A message up to the value that it quotes."""
    pattern = _SYNTAX if message.startswith(_SYNTAX_ERROR) else _VALUE
    enum = _ENUM_VALUE.match(message)
    if enum is not None:
        return f"This value {enum[1]}."
    quoted = pattern.search(message, len(_SYNTAX_ERROR) if pattern is _SYNTAX else 0)
    if quoted is None:
        return message
    left = message[: quoted.start()]
    return left if left.endswith("?") else f"{left}."
