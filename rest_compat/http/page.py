"""Numbered pages: the seven documented keys, and the URLs of other pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import URL

from rest_compat.http.responses import Header
from schema.core.errors import Problem

PAGE_SIZE = 20
LARGEST_PAGE_SIZE = 100
PARAMETERS = ("page", "page_size")
"""The query parameters of pages."""
PAGE_RANGE_LENGTH = 100
LARGEST_PAGE_NUMBER = 20_000_000
"""Cap of the page number. No list has more pages, and a much larger offset would overflow PostgreSQL's integers."""


@dataclass(frozen=True)
class RequestedPage:
    number: int
    size: int

    @property
    def offset(self) -> int:
        """Number of rows before the page."""
        return (self.number - 1) * self.size


def read_requested_page(query: Mapping[str, str]) -> tuple[RequestedPage, tuple[Problem, ...]]:
    """The requested page, and the problems of `page` and `page_size`."""
    number, size = _parse_number(query.get("page", ""), 1), _parse_number(query.get("page_size", ""), PAGE_SIZE)
    problems = []
    if number is None or number < 1:
        problems.append(Problem(("page",), "INVALID", "Send a whole number from 1."))
    if size is None or not 1 <= size <= LARGEST_PAGE_SIZE:
        problems.append(Problem(("page_size",), "INVALID", f"Send a whole number from 1 to {LARGEST_PAGE_SIZE}."))
    return RequestedPage(number or 1, size or PAGE_SIZE), tuple(problems)


def _parse_number(text: str, default: int) -> int | None:
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text) if len(text) < len(str(LARGEST_PAGE_NUMBER)) else LARGEST_PAGE_NUMBER


@dataclass(frozen=True)
class Page:
    """One page of a list; `count` is the number of rows in the whole list."""

    url: URL
    number: int
    size: int
    count: int

    @property
    def last(self) -> int:
        """Number of the last page. An empty list has one empty page."""
        return max(1, -(-self.count // self.size))

    def page_range(self) -> list[int]:
        """The numbers of all pages, if there are at most 100. Otherwise 100 of them: 50 before this page and 49 after,
        shifted at the ends.
        """
        start = max(1, min(self.number - PAGE_RANGE_LENGTH // 2, self.last - PAGE_RANGE_LENGTH + 1))
        return list(range(start, min(self.last, start + PAGE_RANGE_LENGTH - 1) + 1))

    def at(self, number: int) -> str:
        """The absolute URL of another page."""
        return str(self.url.include_query_params(page=number))

    def envelope(self, results: list[Any]) -> dict[str, Any]:
        """The seven documented keys."""
        return {
            "count": self.count,
            "previous": self.at(self.number - 1) if self.number > 1 else None,
            "has_previous": self.number > 1,
            "has_next": self.number < self.last,
            "current_page": self.number,
            "page_range": self.page_range(),
            "results": results,
        }

    def link(self) -> Header:
        """The `Link` header: always `first` and `last`; `prev` and `next` if they exist."""
        targets = {"first": 1, "last": self.last}
        if self.number > 1:
            targets["prev"] = self.number - 1
        if self.number < self.last:
            targets["next"] = self.number + 1
        return (b"link", ", ".join(f'<{self.at(n)}>; rel="{rel}"' for rel, n in targets.items()).encode("latin-1"))
