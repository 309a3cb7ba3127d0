"""HTML as partners write it, cleaned when it comes in: what is kept can be shown as it is."""

from collections.abc import Mapping

import nh3

TAGS = frozenset(
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
"""Text, lists, headings below that of the page, links. Of other tags the text within stays."""
WITH_CONTENT = frozenset({"script", "style", "iframe", "object", "embed", "noscript", "template", "title", "textarea"})
"""Tags that go with all that is within them."""
ATTRIBUTES: Mapping[str, set[str]] = {"*": set(), "a": {"href", "title"}}
SCHEMES = frozenset({"http", "https", "mailto", "tel"})
REL = "nofollow noopener noreferrer"
PASSES = 5
"""How often it is read again at most; twice is what the worst that is known takes."""

_CLEANER = nh3.Cleaner(
    tags=set(TAGS),
    clean_content_tags=set(WITH_CONTENT),
    attributes=dict(ATTRIBUTES),
    url_schemes=set(SCHEMES),
    url_relative="deny",
    link_rel=REL,
    strip_comments=True,
)


def clean(html: str) -> str:
    """Only what is allowed of some HTML: no script, no style, no picture, no form, links to other sites marked as such.

    Cleaning what is clean changes nothing.
    """
    cleaned = _CLEANER.clean(html)
    for _ in range(PASSES):  # a heading in a heading that a dropped tag had kept apart is read as two
        before, cleaned = cleaned, _CLEANER.clean(cleaned)
        if cleaned == before:
            break
    return cleaned
