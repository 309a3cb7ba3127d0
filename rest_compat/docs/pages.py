"""The pages: an overview with a search, and one page per group of operations."""

import pathlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import jinja2
from markupsafe import Markup, escape

from rest_compat.docs.entries import OperationEntry, entry_of
from rest_compat.docs.graph import sections
from rest_compat.docs.guide import guide
from rest_compat.docs.paths import group_path
from rest_compat.docs.samples import highlight_code
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import ReferenceOf
from rest_compat.openapi.schemas import Json
from store.core.compiled_templates import compiled_templates

TEMPLATES = pathlib.Path(__file__).parents[1] / "templates"

_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class DocsGroup:
    """A page with a group of operations."""

    name: str
    entries: Sequence[OperationEntry]

    @property
    def path(self) -> str:
        """The URL path of the page."""
        return group_path(self.name)


class DocsPages:
    """Renders the pages of an OpenAPI document."""

    def __init__(
        self,
        document: Json,
        groups: Mapping[str, Sequence[RestRoute]],
        reference_of: ReferenceOf,
        files: Mapping[str, str],
        schema: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.info, self.files = document["info"], files
        self.at = {"ide": "", "page": "", "file": ""} | dict(schema)
        self.groups = [
            DocsGroup(name, [entry_of(document, route, reference_of(route)) for route in routes])
            for name, routes in groups.items()
        ]
        self.environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            bytecode_cache=compiled_templates,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.filters.update(prose=prose, inline=inline, coloured=highlight_code, breakable=breakable)

    def overview(self, base: str, asked: str = "") -> str:
        """The first page: the introduction, and all operations or those that match a search."""
        groups = [(group, [entry for entry in group.entries if entry.matches(asked)]) for group in self.groups]
        return self._render("overview.html", base, asked=asked, found=[pair for pair in groups if pair[1]])

    def group(self, base: str, path: str) -> str:
        return self._render("group.html", base, group=next(group for group in self.groups if group.path == path))

    def guide(self, base: str) -> str:
        """The guide from a token to a paid order."""
        return self._render("guide.html", base, text=guide(base), is_guide=True)

    def schema(self, base: str, sdl: str) -> str:
        """The page of the GraphQL schema."""
        return self._render("schema.html", base, sections=sections(sdl), is_schema=True)

    def _render(self, template: str, base: str, **values: Any) -> str:
        shared = {"info": self.info, "groups": self.groups, "base": base, "files": self.files, "schema": self.at}
        return self.environment.get_template(template).render(shared, **values)


def prose(text: str) -> Markup:
    """Paragraphs with `code` in them, as HTML."""
    return Markup("").join(Markup("<p>{}</p>").format(inline(part)) for part in text.split("\n\n"))


def inline(text: str) -> Markup:
    """A text with `code` in it, as HTML."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def breakable(name: str) -> Markup:
    """A path or a key that may wrap after `/`, `_` and `.`."""
    return Markup(re.sub(r"([/_.])", r"\1<wbr>", str(escape(name))))  # noqa: S704 - escaped
