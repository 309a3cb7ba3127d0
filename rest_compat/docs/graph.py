"""The schema of the graph as a page: its definitions as they are written, with a link from each name to what it names."""

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

Named: TypeAlias = TypeDefinitionNode | DirectiveDefinitionNode
"""What has a name that others refer to."""
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
    """A type, as the schema writes it."""

    name: str
    section: str
    code: Markup


@dataclass(frozen=True)
class Section:
    """Definitions of one kind."""

    title: str
    definitions: Sequence[Definition]


def sections(sdl: str) -> Sequence[Section]:
    """What a schema defines, by kind: what can be asked and changed first."""
    defined = [node for node in parse(sdl).definitions if isinstance(node, Named)]
    names = frozenset(node.name.value for node in defined)
    made = [Definition(node.name.value, _section(node), _code(sdl, node, names)) for node in defined]
    found = [Section(title, [each for each in made if each.section == title]) for title in _titles()]
    return [section for section in found if section.definitions]


def _titles() -> Sequence[str]:
    return [*ROOTS.values(), *KINDS.values(), OTHERS]


def _section(node: Named) -> str:
    return ROOTS.get(node.name.value) or next(
        (title for kind, title in KINDS.items() if isinstance(node, kind)), OTHERS
    )


def _code(sdl: str, node: Named, names: frozenset[str]) -> Markup:
    """A definition with its descriptions marked; in an enum no word names anything else."""
    own = frozenset([node.name.value]) if not isinstance(node, EnumTypeDefinitionNode) else names
    return Markup("").join(_marked(sdl, node, names - own))


def _marked(sdl: str, node: Named, names: frozenset[str]) -> Iterator[str]:
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
