"""Lists: paging, sorting, date filters and other filters, and the paging headers."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode, urlsplit, urlunsplit

from coffret.sandbox.database import SandboxSession, Value
from coffret.sandbox.wire.endpoints import HttpCall, Json, WirePage
from coffret.sandbox.wire.errors import ParamError

LARGEST_PAGE = 100


def whole(call: HttpCall, name: str, default: int, low: int, high: int) -> int:
    """A query parameter that is a whole number within bounds. Raises ParamError."""
    text = call.one(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ParamError({name: f"The field {name} must be a whole number from {low} to {high}."})
    return int(text)


def several(call: HttpCall, name: str, allowed: Sequence[str] = ()) -> list[str]:
    """The values of a filter: repeated parameters and comma-separated values.

    Raises ParamError for a value that is not allowed.
    """
    values = [value for text in call.values(name) for value in text.split(",") if value]
    if allowed and (unknown := [value for value in values if value not in allowed]):
        raise ParamError({name: f"The field {name} must be one of {', '.join(allowed)}, not {', '.join(unknown)}."})
    return values


def asked_page(call: HttpCall) -> tuple[int, int]:
    """The number and the size of the requested page. Raises ParamError."""
    return max(1, whole(call, "page", 1, 0, 2**31)), whole(call, "per_page", 10, 1, LARGEST_PAGE)


def cut(call: HttpCall, items: Sequence[Json]) -> WirePage:
    """The requested page of items that are in no table."""
    number, size = asked_page(call)
    return WirePage(list(items[(number - 1) * size : number * size]), len(items), number, size)


class ListBuilder:
    """Builds a list query from a table, conditions and the caller's paging and date parameters."""

    def __init__(
        self, call: HttpCall, table: str, date: str, sort: str = "CreationDate", *, direction: str = "ASC"
    ) -> None:
        self._call, self._table, self._date = call, table, date
        self._where: list[str] = []
        self._values: list[Value] = []
        self._order = self._direction(sort, direction)
        for name, test in (("AfterDate", ">="), ("BeforeDate", "<=")):
            if call.one(name) is not None:
                self.where(f"{date} {test} ?", whole(call, name, 0, 0, 2**40))

    def where(self, condition: str, *values: Value) -> None:
        self._where.append(f"({condition})")
        self._values.extend(values)

    def among(self, column: str, values: Sequence[str]) -> None:
        """Require the column to be one of the values. No values mean no condition."""
        if values:
            self.where(f"{column} IN ({', '.join('?' * len(values))})", *values)

    def page(self, session: SandboxSession, present: Callable[[sqlite3.Row], Json]) -> WirePage:
        """The requested page."""
        number, size = asked_page(self._call)
        source = f"FROM {self._table} WHERE {' AND '.join(self._where) or '1'}"  # written here, not by the caller
        total = session.integer(f"SELECT count(*) {source}", *self._values)
        rows = session.rows(
            f"SELECT * {source} ORDER BY {self._date} {self._order}, seq {self._order} LIMIT ? OFFSET ?",
            *self._values,
            size,
            (number - 1) * size,
        )
        return WirePage([present(row) for row in rows], total, number, size)

    def _direction(self, sort: str, usual: str) -> str:
        text = self._call.one("Sort") or f"{sort}:{usual}"
        name, _, direction = text.partition(":")
        if name != sort or direction.upper() not in {"ASC", "DESC"}:
            raise ParamError({"Sort": f"The field Sort must be {sort}:ASC or {sort}:DESC."})
        return direction.upper()


def page_headers(page: WirePage, url: str, query: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The headers `X-Number-Of-Pages`, `X-Number-Of-Items` and `Link`."""
    last = max(1, -(-page.total // page.size))
    parts = urlsplit(url)

    def link(number: int, rel: str) -> str:
        values = {name: values for name, values in query.items() if name not in {"page", "per_page"}}
        text = urlencode({**values, "page": number, "per_page": page.size}, doseq=True)
        return f'<{urlunsplit((parts.scheme, parts.netloc, parts.path, text, ""))}>; rel="{rel}"'

    links = [link(1, "first")]
    if page.number > 1:
        links.append(link(page.number - 1, "prev"))
    if page.number < last:
        links.append(link(page.number + 1, "next"))
    links.append(link(last, "last"))
    return {"X-Number-Of-Pages": str(last), "X-Number-Of-Items": str(page.total), "Link": ", ".join(links)}
