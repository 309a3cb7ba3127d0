"""The search of all lists: numbers, names, mail addresses, codes. Without words it shows what is newest."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from graphql import get_named_type
from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import list_title, title_of, url_of
from admin.core.values import Cell, value_at
from admin.forms.kinds import Kind, fields_of
from admin.graph.schema_types import field_at, list_filter_of, list_order_of
from admin.graph.selections import value_selection
from admin.resources.registry import resources
from admin.resources.resource import Resource

MOST = 5
"""Results of a list."""
SHORTEST, LONGEST = 2, 100
LARGEST = 2**31
MOST_FACTS = 5
"""Values below a name."""
RECENT = "orders", "vouchers", "gift-cards", "payments", "partners"
"""The lists whose newest objects are shown without words."""
NEWEST, CODE = "NEWEST", "code"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """An object: its name, its address, and what tells it from others of that name."""

    title: str
    url: str
    facts: Sequence[Cell]


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """What was found in a list, and the address of the list with all of it; empty if that would have a code in it."""

    resource: Resource
    results: Sequence[SearchResult]
    all_url: str


@dataclass(frozen=True, slots=True)
class SearchTry:
    """A list with the field of its filter that may have the words; without a field all of the list."""

    resource: Resource
    name: str = ""
    value: Any = None

    @property
    def filter(self) -> Mapping[str, Any]:
        """The filter of the list."""
        return {self.name: self.value} if self.name else {}

    @property
    def url(self) -> str:
        """The list with this filter."""
        query = f"?{urlencode(self.filter)}" if self.name else ""
        return f"{ROOT}{self.resource.slug}/{query}"

    def selection(self, number: int) -> str:
        """The field of the document that reads it."""
        resource = self.resource
        paths = dict.fromkeys((resource.key, *resource.title, *resource.columns))
        selected = " ".join(value_selection(resource.type, path) for path in paths)
        order = f", orderBy: {NEWEST}" if NEWEST in list_order_of(resource.query).values else ""
        return f"r{number}: {resource.query}(first: {MOST}, filter: $f{number}{order}) {{ nodes {{ {selected} }} }}"


async def show(request: AdminRequest) -> Response:
    """Show what all lists have about some words."""
    words = " ".join(request.http_request.query_params.get("q", "").split())[:LONGEST]
    is_long_enough = len(words) >= SHORTEST or words.isdigit()
    tries = [
        each
        for resource in resources().values()
        if request.may(resource.access)
        for each in (_tries(resource, words) if is_long_enough else _newest(request, resource, words))
    ]
    groups = await _search(request, tries) if tries else []
    return request.render("search.html", query=words, groups=groups, shortest=SHORTEST, is_recent=not words)


async def _search(request: AdminRequest, tries: Sequence[SearchTry]) -> Sequence[SearchGroup]:
    declared = ", ".join(f"$f{n}: {list_filter_of(each.resource.query).name}" for n, each in enumerate(tries))
    parts = " ".join(each.selection(n) for n, each in enumerate(tries))
    answer = await request.run(
        f"query({declared}) {{ {parts} }}", {f"f{n}": each.filter for n, each in enumerate(tries)}
    )
    answer.check()
    results: dict[str, dict[str, SearchResult]] = {}
    links: dict[str, str] = {}
    for n, each in enumerate(tries):
        rows = (answer.data.get(f"r{n}") or {}).get("nodes") or ()
        if rows and each.name != CODE:
            links.setdefault(each.resource.slug, each.url)
        group = results.setdefault(each.resource.slug, {})
        group |= {url_of(each.resource, row): _result(request, each.resource, row) for row in rows}
    return [
        SearchGroup(resources()[slug], list(group.values()), links.get(slug, ""))
        for slug, group in results.items()
        if group
    ]


def _result(request: AdminRequest, resource: Resource, row: Mapping[str, Any]) -> SearchResult:
    named = list_title(resource, request.reader)
    facts = []
    for path in resource.columns:
        if path in named or (request.is_partner and path.startswith("partner.")):
            continue
        of = field_at(resource.type, path)
        cell = request.reader.cell(path.rsplit(".", 1)[-1], of, value_at(row, path))
        if cell.kind in ("chip", "number", "time", "text") and get_named_type(of.type).name != "Int":
            facts.append(cell)
    return SearchResult(title_of(resource, row, request.reader, named), url_of(resource, row), facts[:MOST_FACTS])


def _newest(request: AdminRequest, resource: Resource, words: str) -> Iterator[SearchTry]:
    """The list itself, if it is one of those that are shown without words."""
    if not words and resource.slug in RECENT and not (request.is_partner and resource.type.name == "Partner"):
        yield SearchTry(resource)


def _tries(resource: Resource, words: str) -> Iterator[SearchTry]:
    """The fields of the filter that can have these words."""
    kinds: Mapping[str, Kind] = {each.name: each.kind for each in fields_of(list_filter_of(resource.query))}
    for name in resource.search:
        if kinds[name] is not Kind.INTEGER:
            yield SearchTry(resource, name, words)
        elif words.isascii() and words.isdigit() and int(words) < LARGEST:
            yield SearchTry(resource, name, int(words))
