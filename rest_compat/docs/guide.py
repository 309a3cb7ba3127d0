"""Renders the guide `docs/integrate.md` as a page of the documentation."""

import pathlib
import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from rest_compat.docs.samples import highlight_code

PACKAGE = pathlib.Path(__file__).parents[1]
INSTALLED, SOURCE = PACKAGE / "integrate.md", PACKAGE.parent / "docs" / "integrate.md"
"""Paths of the guide: beside this package in a wheel, in `docs/` in the repository."""
EXAMPLE_BASE_URL = "http://127.0.0.1:8000"
"""Base URL in the examples of the guide; pages show that of the service instead."""
LANGUAGES = {"sh": "Shell", "php": "PHP", "js": "JavaScript", "py": "Python", "text": "Example"}

_SAMPLE = Markup(
    '<figure class="sample in-{kind}"><figcaption>{name}</figcaption>'
    '<pre tabindex="0" role="group" aria-label="{name}, sample {number}"><code>{code}</code></pre></figure>\n'
)


def guide(base: str) -> Markup:
    """The guide as HTML, with this base URL in its examples."""
    path = INSTALLED if INSTALLED.exists() else SOURCE
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    reader.add_render_rule("fence", _fence)
    tokens = reader.parse(path.read_text())
    for at, token in enumerate(tokens):
        if token.type == "fence":
            token.content = token.content.replace(EXAMPLE_BASE_URL, base)
        if token.type == "heading_open":
            token.attrSet("id", _anchor(tokens[at + 1].content))
        if token.children:
            token.children = _without_file_links(token.children)
    return Markup(reader.renderer.render(tokens, reader.options, {}))  # noqa: S704 - written without HTML, and escaped


def _fence(_renderer: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType) -> str:
    """A code block, rendered like those of the reference."""
    kind = tokens[at].info.strip() or "text"
    code = highlight_code(tokens[at].content, kind)
    return str(_SAMPLE.format(kind=kind, name=LANGUAGES[kind], number=at, code=code))


def _anchor(heading: str) -> str:
    """The id of a heading, as code hosts generate it."""
    return re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")


def _without_file_links(children: list[Token]) -> list[Token]:
    """Replace links to other files of the repository, which are not served, by the names of the files."""
    output: list[Token] = []
    file = ""
    for token in children:
        href = str(token.attrGet("href") or "")
        if token.type == "link_open" and not href.startswith("#"):
            file = href.partition("#")[0]
        elif token.type == "link_close" and file:
            output.append(Token("text", "", 0, content=f" (docs/{file})"))
            file = ""
        else:
            output.append(token)
    return output
