"""The GraphQL schema as a page: its definitions in SDL, with links between the names."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from graphql import (
    DirectiveDefinitionNode,
    EnumTypeDefinitionNode,
    InputObjectTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    TokenKind,
    TypeDefinitionNode,
    parse,
)
from graphql.language import Token
from markupsafe import Markup

NamedNode: TypeAlias = TypeDefinitionNode | DirectiveDefinitionNode
"""Definitions whose names others refer to."""
ROOTS: Mapping[str, str] = {"Query": "Queries", "Mutation": "Mutations"}
KINDS: Mapping[type[TypeDefinitionNode], str] = {
    ObjectTypeDefinitionNode: "Types",
    InputObjectTypeDefinitionNode: "Inputs",
    EnumTypeDefinitionNode: "Enums",
    ScalarTypeDefinitionNode: "Scalars",
}
OTHERS = "Others"
STRINGS = {TokenKind.STRING, TokenKind.BLOCK_STRING}

_NAME = Markup('<a href="#{0}">{0}</a>')
_TEXT = Markup('<span class="c">{}</span>')


@dataclass(frozen=True)
class Definition:
    """A definition of the schema as HTML."""

    name: str
    section: str
    code: Markup


@dataclass(frozen=True)
class Section:
    """Definitions of one kind."""

    title: str
    definitions: Sequence[Definition]


def sections(sdl: str) -> Sequence[Section]:
    """The definitions of a schema by kind; queries and mutations come first."""
    defined = [node for node in parse(sdl).definitions if isinstance(node, NamedNode)]
    names = frozenset(node.name.value for node in defined)
    definitions = [Definition(node.name.value, _section(node), _code(sdl, node, names)) for node in defined]
    all_sections = [Section(title, [each for each in definitions if each.section == title]) for title in _titles()]
    return [section for section in all_sections if section.definitions]


def _titles() -> Sequence[str]:
    return [*ROOTS.values(), *KINDS.values(), OTHERS]


def _section(node: NamedNode) -> str:
    return ROOTS.get(node.name.value) or next(
        (title for kind, title in KINDS.items() if isinstance(node, kind)), OTHERS
    )


def _code(sdl: str, node: NamedNode, names: frozenset[str]) -> Markup:
    """A definition with its descriptions marked. The members of an enum are not linked."""
    own = frozenset([node.name.value]) if not isinstance(node, EnumTypeDefinitionNode) else names
    return Markup("").join(_mark_up(sdl, node, names - own))


def _mark_up(sdl: str, node: NamedNode, names: frozenset[str]) -> Iterator[str]:
    assert node.loc is not None
    at, end = node.loc.start, node.loc.end
    token: Token | None = node.loc.start_token
    while token is not None and token.start < end:
        yield sdl[at : token.start]
        yield _token(sdl[token.start : token.end], token, names)
        at, token = token.end, token.next


def _token(written: str, token: Token, names: frozenset[str]) -> str:
    if token.kind in STRINGS:
        return _TEXT.format(written)
    return _NAME.format(written) if token.kind is TokenKind.NAME and written in names else written
