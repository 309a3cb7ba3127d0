"""A visit of a hosted page, and what it can be answered with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coffret.sandbox.pages.texts import LANGUAGES, Texts, pick


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a hosted page: what was asked and typed. `base` is the path that the sandbox is mounted at."""

    base: str
    token: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    accepted: Sequence[str] = ()
    typed: Mapping[str, str] = field(default_factory=dict)

    @property
    def wished(self) -> str | None:
        """The language that was asked for, if there is such a one."""
        return self.query.get("lang") if self.query.get("lang") in LANGUAGES else None

    @property
    def language(self) -> str:
        """What keeps a chosen language in an address that has a query already."""
        return f"&lang={self.wished}" if self.wished else ""

    def texts(self, culture: str = "") -> Texts:
        """The language to answer in; `culture` is what the page's object prefers."""
        return pick(self.wished, culture, self.accepted)


@dataclass(frozen=True, slots=True)
class Link:
    """A way on: an address and the name of its text."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A page to render."""

    template: str
    texts: Texts
    status: int = 200
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sent:
    """Another address to go to."""

    url: str


Answer = Shown | Sent


def notice(
    texts: Texts, name: str, mood: str, links: Sequence[Link] = (), *, status: int = 200, **gaps: object
) -> Shown:
    """A page that tells one thing and shows the way on. `mood` is `good`, `bad` or `wait`; `gaps` fill its text."""
    values = {"title": texts(f"{name}_title"), "text": texts(f"{name}_text", **gaps), "mood": mood, "links": links}
    return Shown("notice.html", texts, status, values)
