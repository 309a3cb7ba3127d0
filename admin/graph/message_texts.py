"""The texts of all messages of the API, read from its program code: the catalogue of errors, and what is said at
fields.
"""

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from admin.graph.execution import REFUSALS, server
from admin.graph.messages import for_people
from schema.core.errors import AppError
from schema.core.message_names import OR, TRANSLATED_DETAILS
from schema.core.messages import MESSAGES

SOURCES = "schema", "resolvers", "store"
ROOT = Path(__file__).parents[2]
MESSAGE_AT: Mapping[str, int] = {
    "InvalidInput.at": 1,
    "Problem": 2,
    "TemplatedMessage": 0,
    "PydanticCustomError": 1,
    "templated_error": 1,
    "missing.append": 0,
    "InvalidPicture": 0,
    "InvalidUrl": 0,
    "ForbiddenAddress": 0,
    "AllowedStatuses": 1,
}
"""Where calls have their message."""
NOUN_AT: Mapping[str, int] = {"find_visible": 3, "throttled_lookup": 1, "StateMachine": 0}
"""Where calls have the noun of "No such …"."""
GRAPHQL_ERRORS = "schema.graph.errors"
PLACEHOLDER, WORD = re.compile(r"\{\w+\}"), re.compile(r"[^\W\d_]")
CONTEXT_OF_VALIDATION = "{words}"


@dataclass(frozen=True, slots=True)
class MessageCall:
    """A call with a message: where it is, how the message is written there, and the texts that it can be."""

    place: str
    source: str
    texts: Sequence[str]


def api_texts() -> set[str]:
    """The texts of all messages of the API in words for people, and of the nouns in them."""
    messages = {text for call in message_calls() for text in call.texts} | set(MESSAGES.values()) | set(error_texts())
    return {for_people(text) for text in messages | nouns() if WORD.search(PLACEHOLDER.sub("", text))} | {OR}


def error_texts() -> Iterator[str]:
    """The messages of the errors of the catalogue, but for those that are pages of their own, and those of GraphQL."""
    assert server()  # the operations, beside which errors are declared, are imported
    for kind in _subclasses(AppError):
        is_shown = kind.code() not in REFUSALS and kind.__module__ != GRAPHQL_ERRORS
        if is_shown and kind.__module__.partition(".")[0] in SOURCES and kind.__doc__ is not None:
            yield " ".join(kind.__doc__.split())


def _subclasses(kind: type[AppError]) -> Iterator[type[AppError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _subclasses(each)


@functools.cache
def message_calls() -> Sequence[MessageCall]:
    """All calls that have a message for users."""
    return [call for module in _modules() for call in module.message_calls()]


@functools.cache
def nouns() -> frozenset[str]:
    """What "No such …" and "This … is taken." are about."""
    return frozenset(noun for module in _modules() for noun in module.nouns())


@functools.cache
def _modules() -> Sequence["_Module"]:
    paths = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py"))]
    modules = [_Module(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())) for path in paths]
    constants: dict[str, list[str]] = {}
    for module in modules:
        for name, value in module.constants(module.tree.body, deep=False):
            constants.setdefault(name, []).extend(value)
    for module in modules:
        module.shared = constants
    return modules


class _Module:
    """The program code of one module."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.shared: Mapping[str, Sequence[str]] = {}

    def message_calls(self) -> Iterator[MessageCall]:
        for scope, call in _calls(self.tree, self.tree):
            position = MESSAGE_AT.get(_name(call))
            if position is None or (message := _argument(call, position, "message")) is None:
                continue
            if isinstance(message, ast.Constant) and message.value == CONTEXT_OF_VALIDATION:
                continue
            yield MessageCall(self.path, ast.unparse(message), list(self._texts(message, scope)))

    def nouns(self) -> Iterator[str]:
        for _, call in _calls(self.tree, self.tree):
            nodes = [each.value for each in call.keywords if each.arg in TRANSLATED_DETAILS]
            position = NOUN_AT.get(_name(call))
            if position is not None and len(call.args) > position:
                nodes.append(call.args[position])
            for each in nodes:
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value

    def constants(self, statements: Sequence[ast.stmt], *, deep: bool = True) -> Iterator[tuple[str, list[str]]]:
        """Names that are assigned texts, also within functions and branches if `deep`."""
        for statement in statements:
            for each in ast.walk(statement) if deep else (statement,):
                if isinstance(each, ast.Assign):
                    yield from _assigned(each.targets[0], each.value)

    def _texts(self, message: ast.expr, scope: ast.AST) -> Iterator[str]:
        if isinstance(message, ast.Constant) and isinstance(message.value, str):
            yield message.value
        elif isinstance(message, ast.IfExp):
            yield from self._texts(message.body, scope)
            yield from self._texts(message.orelse, scope)
        elif isinstance(message, ast.Call) and _name(message) == "TemplatedMessage":
            yield from self._texts(message.args[0], scope)
        elif isinstance(message, ast.Name):
            body = getattr(scope, "body", [])
            own = [text for name, texts in self.constants(body) if name == message.id for text in texts]
            yield from own or self.shared.get(message.id, ())


def _calls(node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    """The calls below a node, each with the function around it."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.Call):
            yield scope, each
        inner = each if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) else scope
        yield from _calls(each, inner)


def _name(call: ast.Call) -> str:
    name = ast.unparse(call.func)
    return name if name in MESSAGE_AT else name.rpartition(".")[2]


def _argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    if len(call.args) > position:
        return call.args[position]
    return next((each.value for each in call.keywords if each.arg == name), None)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, list[str]]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for each, of in zip(target.elts, value.elts, strict=True):
            yield from _assigned(each, of)
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.IfExp):
        yield from _assigned(target, value.body)
        yield from _assigned(target, value.orelse)
    elif isinstance(target, ast.Name):
        branches = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
        texts = [_text(each) for each in branches if _text(each)]
        if texts:
            yield target.id, texts


def _text(value: ast.expr) -> str:
    """A constant text, or the template of one with values in it; empty for anything else."""
    if isinstance(value, ast.Call) and _name(value) == "TemplatedMessage":
        value = value.args[0]
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
