"""The request for a hosted page, and its possible responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coffret.sandbox.pages.texts import LANGUAGES, PageTexts, pick


@dataclass(frozen=True, slots=True)
class HostedPageRequest:
    """A request for a hosted page with its query and form values. `base` is the path that the sandbox is mounted at."""

    base: str
    token: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    accepted: Sequence[str] = ()
    typed: Mapping[str, str] = field(default_factory=dict)

    @property
    def requested_language(self) -> str | None:
        """The language in the query; None if it is missing or unsupported."""
        return self.query.get("lang") if self.query.get("lang") in LANGUAGES else None

    @property
    def language_parameter(self) -> str:
        """The requested language as a parameter to append to a query."""
        return f"&lang={self.requested_language}" if self.requested_language else ""

    def texts(self, culture: str = "") -> PageTexts:
        """The texts of the response. `culture` is the pay-in's language."""
        return pick(self.requested_language, culture, self.accepted)


@dataclass(frozen=True, slots=True)
class NoticeLink:
    """A link on a notice page: its URL and the name of its text."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class RenderedPage:
    template: str
    texts: PageTexts
    status: int = 200
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageRedirect:
    url: str


PageResponse = RenderedPage | PageRedirect


def notice(
    texts: PageTexts, name: str, mood: str, links: Sequence[NoticeLink] = (), *, status: int = 200, **gaps: object
) -> RenderedPage:
    """A page with one message and links.

    `mood` is `good`, `bad` or `wait`; `gaps` fill the placeholders of the text.
    """
    values = {"title": texts(f"{name}_title"), "text": texts(f"{name}_text", **gaps), "mood": mood, "links": links}
    return RenderedPage("notice.html", texts, status, values)
