"""HTML that partners wrote, on our pages: as it looks, or as nothing but its words."""

import html

import nh3
from markupsafe import Markup, escape

from schema.validation.html import clean


def plain(text: str) -> str:
    """Nothing but the words of a text that may have tags."""
    return html.unescape(nh3.clean(text, tags=set())).strip() if "<" in text or "&" in text else text.strip()


def rich(text: str) -> Markup:
    """A text as it looks; where it has no tags, its lines. It was cleaned when it came in, and is once more."""
    if "<" in text:
        return Markup(clean(text))  # noqa: S704 - cleaned
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    lines = (
        Markup("<br>").join(escape(line) for line in paragraph.split("\n")) for paragraph in paragraphs if paragraph
    )
    return Markup().join(Markup("<p>{}</p>").format(line) for line in lines)
