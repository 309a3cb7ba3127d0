"""Routes that answer a list: numbered pages, or whole arrays written while they are read."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError
from starlette.requests import Request

from resolvers.core.context import Context
from resolvers.core.listing import Connection, Filter, Listing, Rows, Window
from resolvers.core.time_zone import UTC, time_zone
from rest_compat.http.endpoint import ContextOf, Endpoint, query_of
from rest_compat.http.page import LARGEST_PAGE, PARAMETERS, Page, Wanted, wanted
from rest_compat.http.parameters import Parameters
from rest_compat.http.path_values import PathValues
from rest_compat.http.responses import JSON, Answer, Streamed
from rest_compat.http.route import Envelope, Route
from rest_compat.shapes.shape import Shape
from schema.core.errors import NotFound, Path, Problem
from schema.core.messages import problems as told
from schema.core.resource import Invalid


@dataclass(frozen=True)
class Asked:
    """What a request asks of a list."""

    filter: Filter | Invalid
    order: str | None
    page: Wanted


class ListEndpoint(Endpoint):
    """Answers a listing: filtered, ordered, and cut where it is cut."""

    def __init__(self, route: Route, context_of: ContextOf, names: Sequence[str]) -> None:
        assert isinstance(route.operation, Listing)
        self.listing: Listing[Any] = route.operation
        self.parameters = Parameters(*route.query)
        self.orders = {str(order): order for order in self.listing.order}
        self.known = (*PARAMETERS, "ordering", *self.parameters.all)
        self.cut = route.envelope is Envelope.PAGE
        _check(route, self.listing, names)
        super().__init__(route, context_of, PathValues((), {}))

    async def answer(self, request: Request, context: Context, given: Sequence[str]) -> Answer | Streamed:  # noqa: ARG002
        """A page, or the whole array."""
        query, wrong = query_of(request, self.known)
        asked = await self.asked(query, wrong, context)
        if self.cut or "page_size" in query:
            return await self.page(request, context, asked)
        return await self.array(context, asked)

    async def asked(self, query: Mapping[str, str], wrong: tuple[Problem, ...], context: Context) -> Asked:
        """Read the query. What is wrong with it is told by the list, after the permission."""
        context.require(self.listing.permission)  # reading a date may take a look at the marketplace
        page, of_page = wanted(query)
        zone = await time_zone(context) if self.parameters.zoned(query) else UTC
        given = self.parameters.read(query, zone)
        problems = [*wrong, *of_page, *given.problems]
        order = None
        if self.route.ordering is not None:
            try:
                order = self.route.ordering.read(query.get("ordering", ""), self.orders)
            except ValueError as error:
                problems.append(Problem(("ordering",), "INVALID", str(error)))
        filter: Filter | Invalid
        try:
            filter = self.listing.filter.model_validate(given.fields)
        except ValidationError as error:
            problems += [Problem(self.parameters.names(p.path), p.code, p.message) for p in told(error)]
        if problems:
            filter = Invalid(tuple(problems), query)
        return Asked(filter, order, page)

    async def page(self, request: Request, context: Context, asked: Asked) -> Answer:
        """One numbered page."""
        number, size = asked.page.number, asked.page.size
        found = await self.listing(context, Window(first=size, page=number), asked.filter, asked.order)
        rows = await _fetched(found, self.route.shape, context)
        if number > 1 and not rows.results:
            raise NotFound(thing="page")
        seen = asked.page.offset + len(rows.results)
        count = await found.rows.count() if rows.more else seen  # the last page tells it
        page = Page(request.url, number, size, count)
        data = page.envelope(rows.results) if self.cut else rows.results
        return Answer(orjson.dumps(data), 200, [JSON, page.link()])

    async def array(self, context: Context, asked: Asked) -> Answer | Streamed:
        """Everything: at once where it is little, else written while it is read."""
        first = await self._from(context, asked, None)
        if not first.more:
            return Answer(orjson.dumps(first.results))
        return Streamed(self._chunks(context, asked, first))

    async def _from(self, context: Context, asked: Asked, after: str | None) -> "Results":
        window = Window(first=LARGEST_PAGE, after=after)
        found = await self.listing(context, window, asked.filter, asked.order)
        return await _fetched(found, self.route.shape, context)

    async def _chunks(self, context: Context, asked: Asked, part: "Results") -> AsyncIterator[bytes]:
        yield orjson.dumps(part.results)[:-1]
        while part.more:
            part = await self._from(context, asked, part.cursor)
            if part.results:
                yield b"," + orjson.dumps(part.results)[1:-1]
        yield b"]"

    def names(self, path: Path) -> Path:
        """What the list itself tells of is named as here."""
        return path


@dataclass(frozen=True)
class Results:
    """Some rows of a list, ready for JSON, with the place to go on after them."""

    results: list[dict[str, Any]]
    more: bool
    cursor: str | None


async def _fetched(found: Connection[Any], shape: Shape, context: Context) -> Results:
    rows: Rows[Any] = found.rows
    assert shape.columns is not None  # checked at start
    cut = await rows.cut(shape.columns)
    results = await shape.render(cut.rows, context.load.level, columns=True)
    cursor = rows.order.cursor(cut.rows[-1][0], cut.rows[-1][1]) if cut.more else None
    return Results(results, cut.more, cursor)


def _check(route: Route, listing: Listing[Any], names: Sequence[str]) -> None:
    """Refuse, at start, a route whose names the list does not have."""
    if names:
        raise TypeError(f"{route.path} is a list, which takes no parameters of the path.")
    if route.shape.columns is None:
        raise TypeError(f"{route.path}: {route.shape.name} reads what is not stored, so no list can be written in it.")
    for parameter in route.query:
        for field in parameter.fields:
            if field not in listing.filter.model_fields:
                raise LookupError(
                    f"{route.path}: {parameter.name!r} fills {field!r}, which {listing.filter.__name__} lacks."
                )
    allowed = set(listing.order)
    for name, column in route.ordering.columns.items() if route.ordering is not None else ():
        if not {column, f"-{column}"} & allowed:
            raise LookupError(f"{route.path}: {name!r} orders by {column!r}, which {listing.order.__name__} lacks.")
