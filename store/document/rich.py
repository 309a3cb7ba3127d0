"""Converts a partner's HTML to blocks of text: what a printed sheet can show of it, without active content."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

import nh3

from store.document.printable import printable

INLINE = {"a", "b", "em", "i", "strong"}
BLOCKS = {"blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ol", "p", "tr", "ul"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
SCHEMES = {"http", "https", "mailto", "tel"}
TAG = re.compile(rf"</?(?:{'|'.join(sorted(INLINE | BLOCKS))})(?:\s[^<>]*)?/?>", re.IGNORECASE)
BULLET = "\N{BULLET}"


@dataclass(frozen=True, slots=True)
class TextRun:
    """Text of one style. `link` is its target; empty for none."""

    text: str
    strong: bool = False
    emphasis: bool = False
    link: str = ""


@dataclass(slots=True)
class TextBlock:
    """A paragraph, or a list entry with its mark in front."""

    runs: list[TextRun] = field(default_factory=list)
    mark: str = ""


def blocks_of_html(html: str) -> list[TextBlock]:
    reader = _BlockParser()
    reader.feed(nh3.clean(html, tags=INLINE | BLOCKS, attributes={"a": {"href"}}, url_schemes=SCHEMES, link_rel=None))
    reader.close()
    return reader.finish()


def blocks_of_text(text: str) -> list[TextBlock]:
    """The paragraphs of a text, which may be HTML or plain: other systems send both in one field."""
    if TAG.search(text):
        return blocks_of_html(text)
    return [TextBlock([TextRun(line)]) for line in map(printable, text.splitlines()) if line]


def plain_text_of(text: str) -> str:
    """The plain text of such a text, in one line."""
    return " ".join("".join(run.text for run in block.runs).strip() for block in blocks_of_text(text))


class _BlockParser(HTMLParser):
    """Collects blocks from sanitized HTML."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[TextBlock] = []
        self._open = TextBlock()
        self._lists: list[int | None] = []
        self._strong = self._emphasis = 0
        self._link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self._finish()
        self._strong += tag in {"b", "strong"} or tag in HEADINGS
        self._emphasis += tag in {"i", "em"}
        if tag == "a":
            self._link = next((value or "" for name, value in attrs if name == "href"), "")
        elif tag in {"ol", "ul"}:
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._open.mark = self._mark()

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self._finish()
        self._strong -= tag in {"b", "strong"} or tag in HEADINGS
        self._emphasis -= tag in {"i", "em"}
        if tag == "a":
            self._link = ""
        elif tag in {"ol", "ul"} and self._lists:
            self._lists.pop()

    def handle_data(self, data: str) -> None:
        """Add text, with runs of spaces reduced to one."""
        words = printable(data)
        if not words:
            words = " " if data and self._open.runs else ""
        else:
            words = f"{' ' if data[0].isspace() and self._open.runs else ''}{words}{' ' if data[-1].isspace() else ''}"
        if words:
            link = self._link if _is_absolute(self._link) else ""
            self._open.runs.append(TextRun(words, self._strong > 0, self._emphasis > 0, link))

    def finish(self) -> list[TextBlock]:
        """All blocks."""
        self._finish()
        return self._blocks

    def _mark(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return BULLET
        self._lists[-1] += 1
        return f"{self._lists[-1]}."

    def _finish(self) -> None:
        if any(run.text.strip() for run in self._open.runs):
            self._blocks.append(self._open)
            self._open = TextBlock()
        elif not self._open.mark:
            self._open = TextBlock()


def _is_absolute(address: str) -> bool:
    """True if an address can be linked in a document: relative ones have no target on paper."""
    try:
        return urlsplit(address).scheme in SCHEMES and address.isascii() and len(address) <= 2000
    except ValueError:
        return False
