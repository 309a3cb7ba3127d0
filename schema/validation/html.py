"""Sanitizes HTML from partners on input, so that stored HTML is safe to display."""

import html
from collections.abc import Mapping

import nh3

ALLOWED_TAGS = frozenset(
    {
        "a",
        "b",
        "blockquote",
        "br",
        "em",
        "h2",
        "h3",
        "h4",
        "hr",
        "i",
        "li",
        "ol",
        "p",
        "s",
        "strong",
        "sub",
        "sup",
        "u",
        "ul",
    }
)
"""Text, lists, links, and headings below the page's own. Other tags are removed, their text stays."""
DROPPED_TAGS = frozenset({"script", "style", "iframe", "object", "embed", "noscript", "template", "title", "textarea"})
"""Tags that are removed with their content."""
ALLOWED_ATTRIBUTES: Mapping[str, set[str]] = {"*": set(), "a": {"href", "title"}}
ALLOWED_SCHEMES = frozenset({"http", "https", "mailto", "tel"})
LINK_REL = "nofollow noopener noreferrer"
MAX_PASSES = 5
"""The maximum number of cleaning passes; the worst known input needs two."""

_CLEANER = nh3.Cleaner(
    tags=set(ALLOWED_TAGS),
    clean_content_tags=set(DROPPED_TAGS),
    attributes=dict(ALLOWED_ATTRIBUTES),
    url_schemes=set(ALLOWED_SCHEMES),
    url_relative="deny",
    link_rel=LINK_REL,
    strip_comments=True,
)


def plain_text(text: str) -> str:
    """The text without tags."""
    return html.unescape(nh3.clean(text, tags=set())).strip() if "<" in text or "&" in text else text.strip()


def clean_html(markup: str) -> str:
    """Sanitized HTML: without scripts, styles, pictures and forms; links get a `rel` attribute.

    Cleaning is idempotent.
    """
    cleaned = _CLEANER.clean(markup)
    for _ in range(MAX_PASSES):  # removing a tag between nested headings can produce HTML that parses differently
        before, cleaned = cleaned, _CLEANER.clean(cleaned)
        if cleaned == before:
            break
    return cleaned
