"""Endpoints of lists: numbered pages, or whole arrays that are streamed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import ValidationError
from starlette.requests import Request

from resolvers.core.context import Context
from resolvers.core.http_endpoint import ContextOf
from resolvers.core.lists.connection import Connection
from resolvers.core.lists.filters import Filter
from resolvers.core.lists.listing import Listing, PageArguments
from resolvers.core.lists.page_query import PageQuery
from resolvers.core.time_zone import UTC, time_zone
from rest_compat.http.endpoint import Endpoint, query_of
from rest_compat.http.page import LARGEST_PAGE_SIZE, PARAMETERS, Page, RequestedPage, read_requested_page
from rest_compat.http.parameters import Parameters
from rest_compat.http.paths import PathValues
from rest_compat.http.responses import JSON, RestResponse, StreamingRestResponse
from rest_compat.http.route import ResponseEnvelope, RestRoute
from rest_compat.shapes.shape import ResourceShape
from schema.core.errors import NotFound, Problem, ProblemPath
from schema.core.inputs import RejectedInput
from schema.core.messages import problems_of as told


@dataclass(frozen=True)
class ListQuery:
    """The parsed query of a list request."""

    filter: Filter | RejectedInput
    order: str | None
    page: RequestedPage
    guarded: str | None = None
    """The guarded argument of the listing, which the path tells."""


class ListEndpoint(Endpoint):
    """Serves a listing: filter, order, and a page or the whole array."""

    def __init__(self, route: RestRoute, context_of: ContextOf, names: Sequence[str]) -> None:
        assert isinstance(route.operation, Listing)
        self.listing: Listing[Any] = route.operation
        self.parameters = Parameters(*route.query)
        self.orders = {str(order): order for order in self.listing.order}
        self.known_parameters = (*PARAMETERS, "ordering", *self.parameters.all)
        self.is_paged = route.envelope is ResponseEnvelope.PAGE
        _check(route, self.listing, names)
        super().__init__(route, context_of, PathValues(names, {name: _kind_in_path(route) for name in names}))

    async def respond(self, request: Request, context: Context) -> RestResponse | StreamingRestResponse:
        """A page if the route is paged or `page_size` is sent; otherwise the whole array."""
        query, wrong = query_of(request, self.known_parameters)
        asked = await self.read_query(query, wrong, context, await self.owner_fields(request, context))
        if self.listing.guarded is not None:
            (guarded,) = self.path_values(request, context).values()
            asked = replace(asked, guarded=guarded)
        if self.is_paged or "page_size" in query:
            return await self.page(request, context, asked)
        return await self.array(context, asked)

    async def owner_fields(self, request: Request, context: Context) -> Mapping[str, Any]:
        """The filter field of the row that the list belongs to. Raises NotFound if the caller may see no such row."""
        if self.route.rows_of is None:
            return {}
        (value,) = self.path_values(request, context).values()
        await (await self.route.rows_of.lookup(context, value)).require()
        return {self.route.rows_of.field: value}

    async def read_query(
        self, query: Mapping[str, str], wrong: tuple[Problem, ...], context: Context, fields: Mapping[str, Any]
    ) -> ListQuery:
        """Parse the query. Its problems become a `RejectedInput`, which the listing raises. `fields` are filter fields
        that the path tells.
        """
        context.require(self.listing.permission)  # parsing a date may read the marketplace's time zone
        page, of_page = read_requested_page(query)
        zone = await time_zone(context) if self.parameters.needs_time_zone(query) else UTC
        parsed = self.parameters.read(query, zone)
        problems = [*wrong, *of_page, *parsed.problems]
        order = None
        if self.route.ordering is not None:
            try:
                order = self.route.ordering.read(query.get("ordering", ""), self.orders)
            except ValueError as error:
                problems.append(Problem(("ordering",), "INVALID", str(error)))
        filter: Filter | RejectedInput
        try:
            filter = self.listing.filter.model_validate({**parsed.fields, **fields})
        except ValidationError as error:
            problems += [Problem(self.parameters.key_path_of(p.path), p.code, p.message) for p in told(error)]
        if problems:
            filter = RejectedInput(tuple(problems), query)
        return ListQuery(filter, order, page)

    async def page(self, request: Request, context: Context, asked: ListQuery) -> RestResponse:
        """One numbered page. Raises NotFound beyond the last page."""
        number, size = asked.page.number, asked.page.size
        rows_of_page = PageArguments(first=size, page=number)
        connection = await self.listing(context, rows_of_page, asked.filter, asked.order, guarded=asked.guarded)
        rows = await _fetch(connection, self.route.shape, context)
        if number > 1 and not rows.results:
            raise NotFound(thing="page")
        seen = asked.page.offset + len(rows.results)
        count = await connection.rows.count() if rows.more else seen  # the last page gives the count without a query
        page = Page(request.url, number, size, count)
        data = page.envelope(rows.results) if self.is_paged else rows.results
        return RestResponse(orjson.dumps(data), 200, [JSON, page.link()])

    async def array(self, context: Context, asked: ListQuery) -> RestResponse | StreamingRestResponse:
        """The whole list. More than 100 rows are streamed."""
        first = await self._fetch_after(context, asked, None)
        if not first.more:
            return RestResponse(orjson.dumps(first.results))
        return StreamingRestResponse(self._chunks(context, asked, first))

    async def _fetch_after(self, context: Context, asked: ListQuery, after: str | None) -> "Results":
        page = PageArguments(first=LARGEST_PAGE_SIZE, after=after)
        connection = await self.listing(context, page, asked.filter, asked.order, guarded=asked.guarded)
        return await _fetch(connection, self.route.shape, context)

    async def _chunks(self, context: Context, asked: ListQuery, part: "Results") -> AsyncIterator[bytes]:
        yield orjson.dumps(part.results)[:-1]
        while part.more:
            part = await self._fetch_after(context, asked, part.cursor)
            if part.results:
                yield b"," + orjson.dumps(part.results)[1:-1]
        yield b"]"

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Unchanged: a listing reports problems in the names of REST."""
        return path


@dataclass(frozen=True)
class Results:
    """Rows of a list as JSON data, and the cursor after them."""

    results: list[dict[str, Any]]
    more: bool
    cursor: str | None


async def _fetch(connection: Connection[Any], shape: ResourceShape, context: Context) -> Results:
    rows: PageQuery[Any] = connection.rows
    assert shape.rows is not None  # `_check` ensures it at start
    cut = await rows.fetch_slice(shape.rows.columns, shape.rows.joined)
    results = await shape.render(cut.rows, cut.load_missing(context.loaders.load), columns=True)
    cursor = rows.order.cursor(cut.rows[-1][0], cut.rows[-1][1]) if cut.has_more else None
    return Results(results, cut.has_more, cursor)


def _kind_in_path(route: RestRoute) -> Any:
    if route.rows_of is None:
        return str  # the guarded argument
    lookup = route.rows_of.lookup
    return lookup.table.model_fields[lookup.by].annotation


def _check(route: RestRoute, listing: Listing[Any], names: Sequence[str]) -> None:
    """Check a route at start. Raises TypeError or LookupError if it does not fit its listing."""
    if len(names) != (0 if route.rows_of is None and listing.guarded is None else 1):
        raise TypeError(f"{route.path} is a list: its path has a parameter if it names the row that the list is of.")
    if route.rows_of is not None and route.rows_of.field not in listing.filter.model_fields:
        raise LookupError(f"{route.path}: {listing.filter.__name__} lacks {route.rows_of.field!r}.")
    if route.shape.rows is None:
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
