"""What the description lists as values that may be sent is taken, and what it shows is what there is."""

import json

import pytest

from rest_compat.http.body import Accepts
from rest_compat.http.route import RestRoute
from tests.described import description
from tests.rest_compat.rows import READS, WRITES, Rows, body_keys, holding

ENUMS = [
    (route, verb, where, value)
    for route, verb in WRITES
    for where, schema in body_keys(route, verb)
    for value in schema.get("enum", ())
]
QUERIES = [
    (route, parameter["name"], value)
    for route, verb in READS
    for parameter in description()["paths"][route.path][verb.lower()]["parameters"]
    if parameter["in"] == "query"
    for value in parameter["schema"].get("enum", ())
]


def test_there_are_lists_to_look_at() -> None:
    assert {where for _, _, where, _ in ENUMS} >= {("status",), ("company_type",), ("type",), ("state",)}
    assert len(QUERIES) >= 8


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("route", "verb", "where", "value"), ENUMS, ids=[f"{v} {r.path} {w[-1]}={x}" for r, v, w, x in ENUMS]
)
async def test_no_listed_value_is_refused(
    rows: Rows, route: RestRoute, verb: str, where: tuple[str | int, ...], value: str
) -> None:
    await rows.tenants.execute("UPDATE partner SET status = 'n'")  # only who is new may stay so
    if route.accepts is Accepts.UPLOAD:
        answer = await rows.send(route, verb, files={str(where[0]): (None, value)})
    else:
        answer = await rows.send(route, verb, content=json.dumps(holding(value, where)))
    if answer.status_code == 400:
        assert where[0] not in answer.json()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("route", "name", "value"), QUERIES, ids=[f"{r.path} {n}={v}" for r, n, v in QUERIES])
async def test_no_listed_parameter_is_refused(rows: Rows, route: RestRoute, name: str, value: str) -> None:
    assert (await rows.send(route, "GET", params={name: value})).status_code == 200
