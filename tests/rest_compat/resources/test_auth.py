"""Log-in and permissions over REST, on the real database."""

import httpx
import pytest
from sqlmodel import col, select

from schema.core.permission import GRANTABLE_PERMISSIONS
from store.account.credentials import secret_digest_of
from store.account.users import TokenRow
from tests.fixtures.tenants import PASSWORD
from tests.rest_compat.clients import client_of
from tests.rest_compat.conftest import Marketplace

TOKEN = "/api-token-auth/"


async def test_a_log_in_answers_a_new_token_every_time(market: Marketplace) -> None:
    sent = {"username": market.user.username, "password": PASSWORD}
    async with client_of(market.app) as client:
        first, second = await client.post(TOKEN, json=sent), await client.post(TOKEN, json=sent)
        assert first.status_code == 200
        body = first.json()
        assert list(body) == ["token", "uuid", "user"]
        assert body["uuid"] == str(market.partner.uuid)
        assert body["user"] == {
            "id": market.user.id,
            "first_name": "Ada",
            "username": market.user.username,
            "email": market.user.email,
        }
        assert body["token"] != second.json()["token"]
    async with client_of(market.app, body["token"]) as client:
        assert (await client.get("/api/permissions/")).status_code == 200


@pytest.mark.parametrize("scheme", ["Token", "token", "Bearer", "bearer"])
async def test_a_token_is_sent_under_either_scheme(market: Marketplace, scheme: str) -> None:
    async with client_of(market.app) as client:
        answer = await client.get("/api/permissions/", headers={"Authorization": f"{scheme} {market.token}"})
    assert answer.status_code == 200


async def test_a_log_in_may_be_a_form(market: Marketplace) -> None:
    sent = {"username": market.user.username, "password": PASSWORD}
    async with client_of(market.app) as client:
        assert (await client.post(TOKEN, data=sent)).status_code == 200
        assert (await client.post(TOKEN, files={k: (None, v) for k, v in sent.items()})).status_code == 200


async def test_keys_that_are_none_over_rest_are_without_effect(market: Marketplace) -> None:
    sent = {"username": market.user.username, "password": PASSWORD, "label": "till", "hours": 1}
    query = select(TokenRow).where(col(TokenRow.user_id) == market.user.id).order_by(col(TokenRow.id).desc()).limit(1)
    async with client_of(market.app) as client:
        for more in ({}, {"hours": "soon", "label": 5}):
            answer = await client.post(TOKEN, json=sent | more)
            assert answer.status_code == 200, answer.text
            async with market.services.db.sessions() as db:
                token = (await db.exec(query)).one()
            assert (token.expires_on, token.label) == (None, "")
            assert token.digest == secret_digest_of(answer.json()["token"])


async def test_wrong_user_and_wrong_password_are_the_same_answer(market: Marketplace) -> None:
    async with client_of(market.app) as client:
        answers = [
            await client.post(TOKEN, json={"username": name, "password": password})
            for name, password in ((market.user.username, "wrong"), ("nobody", PASSWORD))
        ]
    assert {a.status_code for a in answers} == {400}
    assert answers[0].content == answers[1].content
    assert answers[0].json() == {"non_field_errors": ["Unable to log in with provided credentials."]}


async def test_missing_fields_are_named(market: Marketplace) -> None:
    async with client_of(market.app) as client:
        response = await client.post(TOKEN, json={})
    assert response.status_code == 400
    assert response.json() == {"username": ["This field is required."], "password": ["This field is required."]}


@pytest.mark.parametrize("text", ["\x00", "a\x00b"])
async def test_a_text_that_cannot_be_stored_is_refused_by_name(market: Marketplace, text: str) -> None:
    async with client_of(market.app) as client:
        for response in (
            await client.post(TOKEN, json={"username": text, "password": "x"}),
            await client.post(TOKEN, data={"username": text, "password": "x"}),
            await client.post(TOKEN, files={"username": (None, text), "password": (None, "x")}),
        ):
            assert response.status_code == 400
            assert list(response.json()) == ["username"]


async def test_a_stale_token_does_not_keep_anyone_from_logging_in(market: Marketplace) -> None:
    async with client_of(market.app, "coffret_stale") as client:
        response = await client.post(TOKEN, json={"username": market.user.username, "password": PASSWORD})
        assert response.status_code == 200


async def test_permissions_are_listed_by_their_documented_names(market: Marketplace) -> None:
    listed = {}
    for name, token in (("partner", market.token), ("marketplace", market.marketplace_token)):
        async with client_of(market.app, token) as client:
            response = await client.get("/api/permissions/")
        assert list(response.json()) == ["permissions"]
        listed[name] = set(response.json()["permissions"])
    assert listed["marketplace"] == {f"permissions.{p}" for p in GRANTABLE_PERMISSIONS} - {
        "permissions.manage_masteradmin"
    }
    assert "permissions.use_voucher" in listed["partner"]
    assert "permissions.create_partner" not in listed["partner"]


@pytest.mark.parametrize("token", [None, "", "coffret_unknown", "x" * 5000, "6f1b6c9e-5a0e-4b70-9b5e-0d4b0a4f3c11"])
async def test_without_a_good_token_there_is_only_401(market: Marketplace, token: str | None) -> None:
    async with client_of(market.app, token) as client:
        responses: list[httpx.Response] = [
            await client.get("/api/permissions/"),
            await client.post("/api/v2/ecommerce/cart/", content=b"not json", headers={"content-type": "text/x"}),
            await client.get("/api/v2/ecommerce/cart/nonsense"),
        ]
    for response in responses:
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Token"
        assert list(response.json()) == ["detail"]
