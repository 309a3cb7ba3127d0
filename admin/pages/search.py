"""The search of all lists: numbers, names, mail addresses, codes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.forms.kinds import Kind, fields_of
from admin.graph.schema_types import list_filter_of
from admin.graph.selections import value_selection
from admin.resources.registry import resources
from admin.resources.resource import Resource

MOST = 5
"""Results of a list."""
SHORTEST, LONGEST = 2, 100
LARGEST = 2**31


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a list: names with addresses, and whether there is more."""

    resource: Resource
    objects: Sequence[tuple[str, str]]
    more_url: str


async def show(request: AdminRequest) -> Response:
    """Show what all lists have about some words."""
    words = " ".join(request.http_request.query_params.get("q", "").split())[:LONGEST]
    found = await _search(request, words) if len(words) >= SHORTEST or words.isdigit() else []
    return request.render("search.html", query=words, found=found, shortest=SHORTEST)


async def _search(request: AdminRequest, words: str) -> list[Found]:
    tries = [
        (resource, name, value)
        for resource in resources().values()
        if request.may(resource.access)
        for name, value in _tries(resource, words)
    ]
    declared = ", ".join(f"$f{n}: {list_filter_of(resource.query).name}" for n, (resource, _, _) in enumerate(tries))
    parts = " ".join(_part(n, resource) for n, (resource, _, _) in enumerate(tries))
    answer = await request.run(
        f"query({declared}) {{ {parts} }}", {f"f{n}": {name: value} for n, (_, name, value) in enumerate(tries)}
    )
    answer.check()
    pages: dict[str, dict[str, tuple[str, str]]] = {}
    more: dict[str, str] = {}
    for n, (resource, name, value) in enumerate(tries):
        page = answer.data.get(f"r{n}")
        rows = page["nodes"] if page else ()
        objects = pages.setdefault(resource.slug, {})
        objects |= {
            url_of(resource, row): (title_of(resource, row, request.reader), url_of(resource, row)) for row in rows
        }
        if page and page["pageInfo"]["hasNextPage"]:
            more[resource.slug] = f"{ROOT}{resource.slug}/?{_query(name, value)}"
    return [
        Found(resources()[slug], list(objects.values()), more.get(slug, ""))
        for slug, objects in pages.items()
        if objects
    ]


def _part(number: int, resource: Resource) -> str:
    paths = dict.fromkeys(titles_of(resource.type.name))
    selected = " ".join(value_selection(resource.type, path) for path in paths)
    return (
        f"r{number}: {resource.query}(first: {MOST}, filter: $f{number}) "
        f"{{ nodes {{ {selected} }} pageInfo {{ hasNextPage }} }}"
    )


def _tries(resource: Resource, words: str) -> Iterator[tuple[str, Any]]:
    """The fields of the filter that can have these words."""
    kinds: Mapping[str, Kind] = {each.name: each.kind for each in fields_of(list_filter_of(resource.query))}
    for name in resource.search:
        if kinds[name] is not Kind.INTEGER:
            yield name, words
        elif words.isascii() and words.isdigit() and int(words) < LARGEST:
            yield name, int(words)


def _query(name: str, value: Any) -> str:
    return urlencode({name: value})
