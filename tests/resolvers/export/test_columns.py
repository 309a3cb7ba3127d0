"""Exports of as many columns as may be asked for."""

import itertools
from collections.abc import Iterator

import pytest
from graphql import GraphQLObjectType, get_named_type

from resolvers.core.list_reader import ListPageRequest
from resolvers.core.lists.listing import LARGEST_PAGE
from schema.graph.bounds import QueryLimits
from schema.graph.lists import LONGEST_PATH, SchemaLists
from schema.graph.paths import is_many, needs_arguments, values_selection
from tests.fixtures.tenants import Tenants
from tests.resolvers.export.exported import Exports

MOST_COLUMNS = 200


def deepest(reader: SchemaLists, name: str) -> list[str]:
    """As many of the longest paths of a list as an export may have columns, from as many objects as there are."""
    branches: dict[str, list[str]] = {}
    for path in itertools.islice(_paths(reader._row_of(name)), 20_000):
        branches.setdefault(path.rpartition(".")[0], []).append(path)
    turns = itertools.zip_longest(*sorted(branches.values(), key=lambda each: -each[0].count(".")))
    found = (path for turn in turns for path in turn if path and reader.column(name, path) is not None)
    return [*itertools.islice(found, MOST_COLUMNS)]


def _paths(kind: GraphQLObjectType, before: tuple[str, ...] = ()) -> Iterator[str]:
    for name, field in kind.fields.items():
        of, path = get_named_type(field.type), (*before, name)
        if needs_arguments(field) or is_many(field.type):
            continue
        if not isinstance(of, GraphQLObjectType):
            yield ".".join(path)
        elif len(path) < LONGEST_PATH:
            yield from _paths(of, path)


async def test_every_list_is_read_with_200_of_its_deepest_columns(tenants: Tenants, exporting: Exports) -> None:
    reader = tenants.services.lists
    assert isinstance(reader, SchemaLists)
    context = await tenants.context("master")
    for name in reader._lists:
        paths = deepest(reader, name)
        request = ListPageRequest(name, paths, {}, reader.orders(name)[0], LARGEST_PAGE)
        page = await reader.read(tenants.services, context.required_caller, request)
        assert all(len(row) == len(paths) for row in page.rows)
    assert len(paths) == MOST_COLUMNS


async def test_a_document_that_is_rejected_is_a_problem_of_the_columns(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = tenants.services.lists
    assert isinstance(reader, SchemaLists)
    monkeypatch.setattr(reader._server, "limits", QueryLimits(cost=1))
    asked = [{"field": "id"}, {"field": "partner.id"}]
    assert await exporting.problems("a1", "orders", columns=asked) == [("columns", "INVALID")]


async def test_a_value_is_selected_whole_beside_a_part_of_it(tenants: Tenants, exporting: Exports) -> None:
    reader = tenants.services.lists
    assert isinstance(reader, SchemaLists)
    row = reader._row_of("orders")
    assert values_selection(row, ("total", "id", "total.amount")) == "total { amount currency } id"
    rows = await exporting.rows("a1", "orders", columns=[{"field": "total.amount"}, {"field": "total"}])
    assert rows[1][0]
    assert rows[1][0] in rows[1][1]
