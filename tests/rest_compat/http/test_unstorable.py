"""Texts that no database takes (NUL, half a surrogate pair): told at every key of every operation, and nothing is done."""

import json

import httpx
import pytest

from rest_compat.http.body import Accepts
from rest_compat.http.route import RestRoute
from rest_compat.routes import ROUTES
from schema.core.permission import AccessRule
from tests.described import description
from tests.rest_compat.rows import READS, WRITES, Rows, Where, at, body_keys, holding

BAD = ["a\x00b", "a\ud800b"]
MESSAGES = ["This text holds a character that cannot be stored."]


named = pytest.mark.parametrize(("route", "verb"), WRITES, ids=[f"{v} {r.path}" for r, v in WRITES])


def test_keys_of_every_depth_are_looked_at() -> None:
    found = {(route.path, where) for route, verb in WRITES for where, _ in body_keys(route, verb)}
    assert ("/api/payment_hub/network_partner/update/", ("siret_number",)) in found
    assert ("/api/payment_hub/network_partner/create/", ("partner_tags", 0, "tag")) in found
    assert ("/api/v2/ecommerce/cart/", ("items", 0, "attribute_values", "3")) in found
    assert ("/api/voucher_option_links/{id}/", ("option", "name_en")) in found
    assert len(found) > 150


@pytest.mark.asyncio(loop_scope="module")
@named
async def test_a_bad_text_is_told_at_its_key(rows: Rows, route: RestRoute, verb: str) -> None:
    before = await rows.tenants.snapshot()
    for where in {where for where, _ in body_keys(route, verb)}:
        for bad in BAD:
            sent = holding(bad, where)
            if route.accepts is Accepts.UPLOAD:
                if bad == BAD[1]:
                    continue  # no half of a pair in UTF-8
                form = {key: (None, value) for key, value in sent.items()}
                answer = await rows.send(route, verb, files=form)
            else:
                answer = await rows.send(route, verb, content=json.dumps(sent))
            assert answer.status_code == 400, (where, answer.text)
            assert at(answer.json(), where) == MESSAGES, (where, answer.text)
    assert await rows.tenants.snapshot() == before


@pytest.mark.asyncio(loop_scope="module")
@named
async def test_a_bad_key_is_told_at_its_object(rows: Rows, route: RestRoute, verb: str) -> None:
    answers: list[tuple[httpx.Response, Where]]
    if route.accepts is Accepts.UPLOAD:
        form = b'--x\r\nContent-Disposition: form-data; name="a\x00b"\r\n\r\nx\r\n--x--\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        answers = [(await rows.send(route, verb, content=form, headers=kind), ())]
    else:
        places: set[Where] = {where[:-1] for where, _ in body_keys(route, verb)} | {()}
        answers = [
            (await rows.send(route, verb, content=json.dumps(holding({bad: "x"}, where))), where)
            for where in places
            for bad in BAD
        ]
    for answer, where in answers:
        assert answer.status_code == 400, (where, answer.text)
        assert at(answer.json(), where) == MESSAGES, (where, answer.text)


@pytest.mark.asyncio(loop_scope="module")
async def test_fields_of_a_form_are_looked_at(rows: Rows) -> None:
    (log_in,) = (route for route in ROUTES if route.accepts is Accepts.FORM)
    for key in ("username", "password"):
        answer = await rows.send(log_in, "POST", data={"username": "x", "password": "y", key: "a\x00b"})
        assert (answer.status_code, answer.json()) == (400, {key: MESSAGES})
        form = {"username": (None, "x"), "password": (None, "y"), key: (None, "a\x00b")}
        answer = await rows.send(log_in, "POST", files=form)
        assert (answer.status_code, answer.json()) == (400, {key: MESSAGES})


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("charset", ["undefined", "idna", "utf-7", "unicode_escape", "hex", "none"])
async def test_a_form_in_a_strange_encoding_is_refused(rows: Rows, charset: str) -> None:
    said = rb'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\na\ud800\xff+2AA-\x00b\r\n--x--\r\n'
    body = said.replace(rb"\r\n", b"\r\n").replace(rb"\xff", b"\xff").replace(rb"\x00", b"\x00")
    media = next(route for route in ROUTES if route.accepts is Accepts.UPLOAD)
    kind = {"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"}
    answer = await rows.send(media, "POST", content=body, headers=kind)
    assert answer.status_code == 400, answer.text


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("route", "verb"), READS, ids=[f"{v} {r.path}" for r, v in READS])
async def test_a_bad_parameter_of_a_query_is_told(rows: Rows, route: RestRoute, verb: str) -> None:
    told = description()["paths"][route.path][verb.lower()]["parameters"]
    for name in [parameter["name"] for parameter in told if parameter["in"] == "query"]:
        answer = await rows.send(route, verb, params={name: "a\x00b"})
        assert (answer.status_code, answer.json()) == (400, {name: MESSAGES})


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("route", "verb"), WRITES + READS, ids=[f"{v} {r.path}" for r, v in WRITES + READS])
async def test_a_path_with_a_bad_value_leads_nowhere(rows: Rows, route: RestRoute, verb: str) -> None:
    if "{" not in route.path:
        return
    path = "/".join("a%00b" if part.startswith("{") else part for part in route.path.split("/"))
    who = "a1" if route.operation.permission is AccessRule.PARTNER else "master"
    headers = {"Authorization": f"Token {rows.tenants.tokens[who]}"}
    files = {"x": b""} if route.accepts is Accepts.UPLOAD else None
    answer = await rows.tenants.client.request(verb, path, headers=headers, files=files)
    assert answer.status_code == 404
