"""What a user got wrong, what a program got wrong, and what nobody expected."""

import importlib
import pathlib
import uuid
from typing import Any

import pytest
import structlog
from sqlalchemy import text

from schema.core.errors import AlreadyTaken, AppError, InvalidInput, NotFound, Problem
from schema.core.inputs import RejectedInput
from schema.graph.fields import ERROR_CODES, FIELD_CODES, mutation_field, user_errors
from store.database.db import Database
from tests.schema.graph.clients import Client
from tests.schema.graph.example_schema import greeting

ROOT = pathlib.Path(__file__).parents[3]
ISSUE = """
mutation($input: IssueCardInput!) { issueCard(input: $input) { card { code } userErrors { field code message } } }
"""


async def cards_there(db: Database) -> int:
    async with db.engine.connect() as connection:
        return int((await connection.execute(text("SELECT count(*) FROM example_card"))).scalar_one())


async def test_what_a_user_can_put_right_is_data(cards_client: Client, db: Database) -> None:
    before = await cards_there(db)
    given = {
        "code": "x" * 33,
        "price": "-5.001",
        "lines": [{"label": "a", "quantity": 1}, {"label": "toolong", "quantity": 0}],
    }
    answer = (await cards_client.ask(ISSUE, input=given)).json()
    assert "errors" not in answer
    payload = answer["data"]["issueCard"]
    assert payload["card"] is None
    assert [error["field"] for error in payload["userErrors"]] == [
        ["code"],
        ["price"],
        ["lines", "1", "label"],
        ["lines", "1", "quantity"],
    ]
    assert [error["code"] for error in payload["userErrors"]] == [
        "TOO_LONG",
        "INVALID",
        "TOO_LONG",
        "OUT_OF_RANGE",
    ]
    assert await cards_there(db) == before


async def test_an_error_of_the_catalogue_is_data_too(cards_client: Client, db: Database) -> None:
    before = await cards_there(db)
    answer = (await cards_client.ask(ISSUE, input={"code": "TAKEN", "price": "5"})).json()
    assert answer["data"]["issueCard"]["userErrors"] == [
        {"field": ["code"], "code": "ALREADY_TAKEN", "message": "This code is taken."}
    ]
    assert await cards_there(db) == before


async def test_an_operation_without_a_result_tells_its_errors(cards_client: Client) -> None:
    query = "mutation($input: IssueCardInput!) { removeCard(input: $input) { userErrors { code field } } }"
    answer = (await cards_client.ask(query, input={"code": "x", "price": "5"})).json()
    assert answer["data"]["removeCard"]["userErrors"] == [{"code": "NOT_FOUND", "field": ["code"]}]


async def test_a_text_as_a_result(cards_client: Client) -> None:
    query = 'mutation { shout(input: { label: "hi", quantity: 1 }) { text userErrors { code } } }'
    assert (await cards_client.ask(query)).json()["data"] == {"shout": {"text": "HI", "userErrors": []}}


async def test_the_permission_is_told_before_the_fields(cards_client: Client, db: Database) -> None:
    before = await cards_there(db)
    answer = (
        await cards_client.ask(ISSUE, headers={"authorization": "Token reader"}, input={"code": "x", "price": "-1"})
    ).json()
    assert answer["data"] is None
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "FORBIDDEN"
    assert error["path"] == ["issueCard"]
    assert await cards_there(db) == before


UNREADABLE = [
    {"code": "x", "price": "a lot"},
    {"code": "x", "price": "NaN"},
    {"code": "x", "price": "1e999999999"},
    {"code": "x", "price": True},
    {"code": "x", "price": "1", "status": "a"},
    {"price": "1"},
    {"code": None, "price": "1"},
    {"code": "x", "price": "1", "unknown": 1},
]


async def test_what_cannot_be_read_is_the_clients_mistake(cards_client: Client, db: Database, logs: list[Any]) -> None:
    before = await cards_there(db)
    for given in UNREADABLE:
        response = await cards_client.ask(ISSUE, input=given)
        assert response.status_code == 400, given
        (error,) = response.json()["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
    assert logs == []
    assert await cards_there(db) == before


async def test_wrong_literals_are_told_by_validation(client: Client, logs: list[Any]) -> None:
    for query in ("{ cards(orderBy: NOWHERE) { totalCount } }", '{ card(id: "x") { id } }', "{ card { id } }"):
        response = await client.ask(query)
        assert response.status_code == 400
        assert response.json()["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert logs == []


async def test_a_scalar_that_cannot_be_read(cards_client: Client, logs: list[Any]) -> None:
    query = "query($at: DateTime) { cards(filter: { issuedAfter: $at }) { totalCount } }"
    no_zone_has = ("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")  # some zone cannot tell them
    for at in ("yesterday", "2026-01-01", "2026-01-01T00:00:00", 5, *no_zone_has):
        response = await cards_client.ask(query, at=at)
        assert response.status_code == 400, at
        assert "offset" in response.json()["errors"][0]["message"]
    assert (await cards_client.ask(query, at="2026-01-01T00:10:00Z")).json()["data"]["cards"]["totalCount"] == 30
    assert logs == []


async def test_a_wrong_argument_of_a_list_names_it(cards_client: Client) -> None:
    answer = (await cards_client.ask('{ cards(after: "zzz") { nodes { id } } }')).json()
    (error,) = answer["errors"]
    assert error["message"] == "This cursor belongs to another list."
    assert error["path"] == ["cards"]
    assert error["extensions"] == {
        "code": "BAD_USER_INPUT",
        "problems": [{"field": ["after"], "code": "INVALID", "message": "This cursor belongs to another list."}],
    }


async def test_what_is_not_there_is_null(cards_client: Client) -> None:
    answer = (
        await cards_client.ask('{ card(id: 99999) { id } findCard(code: "none") { id } there: card(id: 1) { id } }')
    ).json()
    assert answer["data"] == {"card": None, "findCard": None, "there": {"id": 1}}
    assert "errors" not in answer


async def test_the_unexpected_is_masked_and_logged_once(client: Client, logs: list[Any]) -> None:
    response = await client.ask("{ broken }")
    assert "hunter2" not in response.text
    assert "Traceback" not in response.text
    (error,) = response.json()["errors"]
    assert error["message"] == "An unexpected error occurred."
    assert error["extensions"] == {"code": "INTERNAL_ERROR", "requestId": "the-request"}
    assert error["path"] == ["broken"]
    (line,) = (line for line in logs if line["log_level"] == "error")
    assert isinstance(line["exc_info"], RuntimeError)
    assert line["path"] == ["broken"]


async def test_a_mutation_that_breaks_changes_nothing(cards_client: Client, db: Database, logs: list[Any]) -> None:
    before = await cards_there(db)
    answer = (await cards_client.ask(ISSUE, input={"code": "BOOM", "price": "5"})).json()
    assert answer["errors"][0]["extensions"]["code"] == "INTERNAL_ERROR"
    assert len([line for line in logs if line["log_level"] == "error"]) == 1
    assert await cards_there(db) == before


async def test_codes_of_errors_are_those_of_the_catalogue() -> None:
    assert {"ALREADY_TAKEN", "NOT_FOUND", "INSUFFICIENT_BALANCE"} | set(FIELD_CODES) <= ERROR_CODES
    assert not {"FORBIDDEN", "UNAUTHENTICATED", "PROVIDER_FAILED"} & ERROR_CODES
    assert [e.code for e in user_errors(AlreadyTaken("code", what="code"))] == ["ALREADY_TAKEN"]
    unknown: AppError = InvalidInput(Problem(("site_domain", 0), "NEVER_HEARD_OF", "No."))
    (told,) = user_errors(unknown)
    assert (told.field, told.code, told.message) == (["siteDomain", "0"], "INVALID", "No.")


@pytest.mark.parametrize(
    ("by", "values", "field"),
    [
        ({"id": 5}, {"id": 5, "name": "x"}, ["id"]),
        ({"id": 5}, {"id": 7, "categoryId": 5}, ["categoryId"]),
        ({"uuid": uuid.UUID(int=1)}, {"partner_uuid": str(uuid.UUID(int=1))}, ["partnerUuid"]),
        ({"id": 5}, {"option_ids": [3, 5]}, ["optionIds", "1"]),
        ({"id": 0}, {"id": 10**12}, ["id"]),
        ({"normal_code": "AB"}, {"code": "a b", "state": "USED"}, ["code"]),
        ({"slug": "x"}, {"name": "x"}, []),
        ({}, {"id": 5}, []),
    ],
)
def test_what_is_not_there_is_told_where_it_was_named(
    by: dict[str, Any], values: dict[str, Any], field: list[str]
) -> None:
    for given in (values, RejectedInput((), values)):
        error = NotFound(thing="thing")
        error.lookup = by
        (told,) = user_errors(error, {"input": given})
        assert told.field == field


def test_a_result_without_a_name_stops_the_start() -> None:
    with pytest.raises(TypeError, match="result="):
        mutation_field(greeting)


async def test_what_context_of_raises_is_the_answer(client: Client) -> None:
    for token, status, code, header in (
        ("bad", 401, "UNAUTHENTICATED", ("www-authenticate", "Token")),
        ("busy", 429, "TOO_MANY_REQUESTS", ("retry-after", "7")),
    ):
        response = await client.ask("{ __typename }", headers={"authorization": f"Token {token}"})
        assert response.status_code == status
        assert response.headers[header[0]] == header[1]
        (error,) = response.json()["errors"]
        assert error["extensions"]["code"] == code
        assert "data" not in response.json()


async def test_a_crash_before_the_request_is_read_is_masked(client: Client) -> None:
    with structlog.testing.capture_logs() as logs:
        response = await client.ask("{ __typename }", headers={"authorization": "Token crash"})
    assert response.status_code == 500
    assert response.json()["errors"][0]["extensions"]["code"] == "INTERNAL_ERROR"
    assert "hunter2" not in response.text
    assert [line["log_level"] for line in logs] == ["error"]


def test_the_errors_of_every_domain_have_codes_of_their_own() -> None:
    """Those of a module that `ERROR_MODULES` lacks would be told as `INVALID`."""
    unpublished = {
        kind.code()
        for path in sorted((ROOT / "schema").glob("*/*errors.py"))
        for kind in vars(importlib.import_module(f"schema.{path.parent.name}.{path.stem}")).values()
        if isinstance(kind, type) and issubclass(kind, AppError) and kind is not AppError
        if kind.is_user_error and kind.code() not in ERROR_CODES
    }
    assert unpublished == set()
