"""Numbered pages: the seven documented keys, and the addresses of the pages around."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import URL

from rest_compat.http.responses import Header
from schema.core.errors import Problem

PAGE_SIZE = 20
LARGEST_PAGE = 100
PARAMETERS = ("page", "page_size")
"""Of the query."""
WINDOW = 100
LAST_CONCEIVABLE = 20_000_000
"""No list has more pages; the offset of many more would not fit PostgreSQL's integers."""


@dataclass(frozen=True)
class Wanted:
    """The page that is asked for."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        """How many rows come before it."""
        return (self.number - 1) * self.size


def wanted(query: Mapping[str, str]) -> tuple[Wanted, tuple[Problem, ...]]:
    """The page asked for, and what is wrong with how it was."""
    number, size = _whole(query.get("page", ""), 1), _whole(query.get("page_size", ""), PAGE_SIZE)
    problems = []
    if number is None or number < 1:
        problems.append(Problem(("page",), "INVALID", "Send a whole number from 1."))
    if size is None or not 1 <= size <= LARGEST_PAGE:
        problems.append(Problem(("page_size",), "INVALID", f"Send a whole number from 1 to {LARGEST_PAGE}."))
    return Wanted(number or 1, size or PAGE_SIZE), tuple(problems)


def _whole(text: str, default: int) -> int | None:
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text) if len(text) < len(str(LAST_CONCEIVABLE)) else LAST_CONCEIVABLE


@dataclass(frozen=True)
class Page:
    """One page among all those of a list."""

    url: URL
    number: int
    size: int
    count: int

    @property
    def last(self) -> int:
        """The number of the last page; an empty list has one, empty, page."""
        return max(1, -(-self.count // self.size))

    def window(self) -> list[int]:
        """All pages up to 100 of them; beyond that 100 around this one: 50 before it, 49 after, shifted at the ends."""
        start = max(1, min(self.number - WINDOW // 2, self.last - WINDOW + 1))
        return list(range(start, min(self.last, start + WINDOW - 1) + 1))

    def at(self, number: int) -> str:
        """The absolute address of another page of the list."""
        return str(self.url.include_query_params(page=number))

    def envelope(self, results: list[Any]) -> dict[str, Any]:
        """The seven keys."""
        return {
            "count": self.count,
            "previous": self.at(self.number - 1) if self.number > 1 else None,
            "has_previous": self.number > 1,
            "has_next": self.number < self.last,
            "current_page": self.number,
            "page_range": self.window(),
            "results": results,
        }

    def link(self) -> Header:
        """The `Link` header: `first` and `last` always, `prev` and `next` where they are."""
        targets = {"first": 1, "last": self.last}
        if self.number > 1:
            targets["prev"] = self.number - 1
        if self.number < self.last:
            targets["next"] = self.number + 1
        return (b"link", ", ".join(f'<{self.at(n)}>; rel="{rel}"' for rel, n in targets.items()).encode("latin-1"))
