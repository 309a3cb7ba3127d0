"""Requests made to do harm are answered or refused within an amount of work, which is counted and not timed."""

import itertools
import json
from typing import Any

import pytest
from graphql import get_introspection_query, get_named_type

from schema.graph.bounds import QueryLimits, check_variables
from schema.root import schema
from schema.voucher.issue_input import MOST_IMPORTED
from store.database.db import Database
from tests.schema.graph import hostile
from tests.schema.graph.clients import JSON, Client, application
from tests.schema.graph.hostile import Hostile
from tests.schema.graph.work import TooMuchWork, work

MOST = 3_000_000
"""Lines of Python for one request, of which a quiet machine runs ten million in a second."""
MUCH = 10_000_000
"""The same where much may be asked for: the whole schema, as GraphiQL wants it, and inputs with many values."""
ANYWHERE = hostile.FRAGMENTS | hostile.SHAPES | hostile.LITERALS | hostile.VARIABLES
OURS = hostile.ABOUT | hostile.COUNTS


def test_work_is_counted_and_ended() -> None:
    with work(1_000) as done:
        sum(n for n in range(100))
    assert 100 < done.lines < 200
    with pytest.raises(TooMuchWork), work(1_000):
        sum(n for n in itertools.count())


async def code_of(client: Client, request: Hostile, headers: dict[str, str], most: int = MOST) -> str | None:
    body = f'{{"query": {json.dumps(request.query)}, "variables": {request.variables}}}'
    with work(most):
        response = await client.post("/graphql/", content=body, headers={"content-type": JSON, **headers})
    answer = response.json()
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else None


@pytest.mark.parametrize("introspection", [True, False])
@pytest.mark.parametrize("name", ANYWHERE)
async def test_the_work_for_a_request_is_bounded(name: str, introspection: bool, db: Database) -> None:
    headers = hostile.KEY if name in hostile.FRAGMENTS else {}
    async with Client(application(db, introspection=introspection)) as client:
        most = MUCH if name in hostile.VARIABLES else MOST
        assert await code_of(client, ANYWHERE[name], headers, most) == ANYWHERE[name].code


def test_the_largest_import_is_within_the_limit_of_values() -> None:
    """Each of as many vouchers as one mutation takes, with everything that can be said of it."""

    def fullest(kind: Any) -> Any:
        kind = get_named_type(kind)
        return {name: fullest(field.type) for name, field in getattr(kind, "fields", {}).items()} or "a value"

    voucher = fullest(schema._schema.type_map["ImportedVoucherInput"])
    assert "en" in voucher["prototypeName"]
    check_variables({"input": {"partnerUuid": "a uuid", "vouchers": [voucher] * MOST_IMPORTED}}, QueryLimits())


@pytest.mark.parametrize("name", OURS)
async def test_the_work_for_a_request_about_the_real_schema_is_bounded(name: str) -> None:
    async with Client(application(None, answering=schema)) as client:
        assert await code_of(client, OURS[name], {}, MUCH) == OURS[name].code


EVERYTHING = dict.fromkeys(
    ("specified_by_url", "directive_is_repeatable", "schema_description", "input_value_deprecation"), True
)


@pytest.mark.parametrize(
    ("query", "times"),
    [
        (get_introspection_query(**EVERYTHING), 2),  # the second time out of the kept documents
        (get_introspection_query(descriptions=False, **EVERYTHING), 1),
        (get_introspection_query(), 1),
    ],
    ids=["everything", "no descriptions", "as tools begin"],
)
async def test_tools_may_ask_for_the_whole_schema(query: str, times: int) -> None:
    async with Client(application(None, answering=schema)) as client:
        for _ in range(times):
            assert await code_of(client, Hostile(None, query), {}, MUCH) is None
