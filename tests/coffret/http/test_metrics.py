"""`/metrics`: what it tells of operations, and to whom."""

import pathlib
import re
import signal
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette

from coffret.http.metrics import exposition
from resolvers.account.tokens import issue_token
from resolvers.core.instrumentation import outcome_label
from schema.account.user import UserRole
from schema.core.errors import CartNotFound, ProviderTimedOut, Unavailable
from store.account.users import UserRow
from store.core.clock import clock
from store.core.settings import Settings
from tests.coffret.conftest import running
from tests.fixtures.shop import Shop
from tests.servers.coffret_programs import Program
from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisServer

HOST = {"host": "127.0.0.1:8000"}


async def token_of(shop: Shop) -> dict[str, str]:
    """Headers of a user of the shop's partner."""
    async with shop.services.db.sessions() as db, db.begin():
        user = UserRow(username="m@shop.localhost", role=UserRole.PARTNER, partner_id=shop.partner.id)
        db.add(user)
        await db.flush()
        return {"Authorization": f"Token {await issue_token(db, user, 'm', clock)}"}


def samples(text: str, name: str) -> dict[str, float]:
    """The values of a metric by their labels."""
    return {labels: float(value) for labels, value in re.findall(rf"^{name}{{(.*?)}} (\S+)$", text, re.MULTILINE)}


async def operation_counts(client: httpx.AsyncClient) -> dict[str, float]:
    return samples((await client.get("/metrics")).text, "coffret_operations_total")


def labels(operation: str, transport: str, outcome: str) -> str:
    return f'operation="{operation}",outcome="{outcome}",transport="{transport}"'


async def test_operations_are_counted_by_transport_and_outcome(client: httpx.AsyncClient, app_shop: Shop) -> None:
    headers = await token_of(app_shop)
    product = await app_shop.product()

    async def graphql(query: str, **more: str) -> Any:
        return (await client.post("/graphql/", json={"query": query}, headers=headers | more)).json()

    before = await operation_counts(client)
    assert (await client.get("/api/permissions/", headers=headers)).status_code == 200
    unknown = "/api/v2/ecommerce/cart/6d5c3bd0-5be6-4a43-8b35-14a9a2f1c5a0/"
    assert (await client.get(unknown, headers=headers)).status_code == 404
    await graphql("{ me { permissions } }")
    await client.post("/graphql/", json={"query": "{ me { permissions } }"})
    await graphql("{ products(first: 5) { nodes { id } totalCount } }")
    await graphql("{ products(first: 0) { nodes { id } } }")
    await graphql(f"{{ product(id: {product.id}) {{ id }} }}")
    item = f"{{productId: {product.id}, quantity: 1}}"
    saving = f'mutation {{ saveEcommerceCart(input: {{items: [{item}], returnUrl: ""}}) {{ ecommerceCart {{ id }} }} }}'
    first = await graphql(saving, **{"Idempotency-Key": "m-1"})
    assert await graphql(saving, **{"Idempotency-Key": "m-1"}) == first
    after = await operation_counts(client)
    assert {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)} == {
        labels("me", "rest", "ok"): 1,
        labels("ecommerce_cart", "rest", "refused:cart_not_found"): 1,
        labels("me", "graphql", "ok"): 1,
        labels("me", "graphql", "refused:unauthenticated"): 1,
        labels("product_list", "graphql", "ok"): 1,
        labels("product_list", "graphql", "refused:invalid_input"): 1,
        labels("product", "graphql", "ok"): 1,
        labels("save_ecommerce_cart", "graphql", "ok"): 1,
        labels("save_ecommerce_cart", "graphql", "replayed"): 1,
    }
    text = (await client.get("/metrics")).text
    timed = samples(text, "coffret_operation_seconds_count")
    assert timed['operation="product_list",transport="graphql"'] >= 2
    assert samples(text, "coffret_graphql_documents_total")['found="made"'] >= 5
    assert "coffret_graphql_cost_bucket" in text
    assert "coffret_database_connections_in_use" in text


def test_what_an_outcome_is_called() -> None:
    assert outcome_label(None) == "ok"
    assert outcome_label(CartNotFound()) == "refused:cart_not_found"
    assert outcome_label(Unavailable(what="The database")) == "failed:unavailable"
    assert outcome_label(ProviderTimedOut()) == "failed:provider_timed_out"
    assert outcome_label(ZeroDivisionError("4970107111111119")) == "error"


# ---- who may read


async def get_metrics(app: Starlette, address: str = "127.0.0.1", **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(app, client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        return await client.get("/metrics", headers=headers)


async def test_in_development_everybody_reads_them(app_settings: Settings) -> None:
    async with running(app_settings) as (app, _):
        assert (await get_metrics(app, "203.0.113.9")).status_code == 200


async def test_in_production_this_machine_reads_them(production: Settings) -> None:
    async with running(production) as (app, _):
        for here in ("127.0.0.1", "127.8.8.8", "::1"):
            assert (await get_metrics(app, here)).status_code == 200
        for elsewhere in ("203.0.113.9", "10.0.0.7", "testclient"):
            response = await get_metrics(app, elsewhere)
            assert response.status_code == 403
            assert "COFFRET_METRICS_TOKEN" in response.text
            assert "coffret_http" not in response.text
        for header in ("X-Forwarded-For", "Forwarded", "Via"):
            assert (await get_metrics(app, **{header: "127.0.0.1"})).status_code == 403


@pytest.mark.parametrize("development", [True, False])
async def test_with_a_token_who_has_it_reads_them(
    production: Settings, app_settings: Settings, *, development: bool
) -> None:
    settings = app_settings if development else production
    async with running(settings.model_copy(update={"metrics_token": SecretStr("watch-me")})) as (app, _):
        assert (await get_metrics(app, "203.0.113.9", Authorization="Bearer watch-me")).status_code == 200
        for wrong in ({}, {"Authorization": "Bearer watch-m"}, {"Authorization": "watch-me"}):
            response = await get_metrics(app, **wrong)
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == "Bearer"
            assert "coffret_http" not in response.text
        assert (
            await get_metrics(app, "203.0.113.9", Authorization="Bearer watch-me", Host="pod-7:9")
        ).status_code == 200


# ---- several processes


@pytest.mark.redis
def test_all_processes_of_a_server_count_together(data: pathlib.Path, redis_server: RedisServer) -> None:
    left = data / "metrics" / "999999999"
    left.mkdir(parents=True)
    program = Program(data, free_port(), "--workers", "2", REDIS_URL=redis_server.url)
    program.wait_until_ready()
    assert not left.exists(), "what a killed server left is removed"
    get = 'method="GET",status="404"'

    def request_count() -> float:
        text = httpx.get(f"http://127.0.0.1:{program.port}/metrics").text
        return samples(text, "coffret_http_request_seconds_count").get(get, 0)

    before = request_count()
    for _ in range(40):
        assert httpx.get(f"http://127.0.0.1:{program.port}/api/nothing/").status_code == 404
    assert {request_count() for _ in range(8)} == {before + 40}
    assert program.end(signal.SIGINT) == 0
    assert list((data / "metrics").iterdir()) == []


def test_without_a_folder_a_process_tells_of_itself() -> None:
    assert b"coffret_http_request_seconds" in exposition()
