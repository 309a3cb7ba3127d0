"""What stands around every request: hosts, proxies, ids, health, notifications, pictures."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from coffret.http.middleware import TrustedProxies
from schema.checkout.checkout import ProductChoice
from store.core.settings import Settings
from store.media.pictures import store_picture
from tests.coffret.conftest import running
from tests.fixtures.shop import Shop, open_shop


async def test_health_and_readiness(client: httpx.AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ok", "database": "ok", "redis": "ok"})
    assert b"coffret_http_request_seconds" in (await client.get("/metrics")).content


async def test_readiness_names_what_cannot_be_reached(app_settings: Settings) -> None:
    app_settings.redis_url = "redis://127.0.0.1:1/0"
    async with running(app_settings) as (_, client):
        ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["redis"], ready.json()["database"]) == (503, "unreachable", "ok")


@pytest.mark.parametrize(
    ("request_id", "valid"), [("order-17", True), ("a" * 129, False), ("with space", False), ("", False)]
)
async def test_a_sane_request_id_is_kept(client: httpx.AsyncClient, request_id: str, valid: bool) -> None:
    answered = (await client.get("/healthz", headers={"X-Request-Id": request_id})).headers.get_list("x-request-id")
    assert len(answered) == 1
    assert (answered[0] == request_id) is valid
    assert answered[0]


async def test_the_api_answers_on_its_own_hosts_only(client: httpx.AsyncClient) -> None:
    for host, status in (
        ("127.0.0.1:8000", 401),
        ("localhost:1", 401),
        ("demo.localhost:8000", 401),
        ("evil.example", 400),
        ("127.0.0.1.evil.example", 400),
    ):
        answer = await client.get("/api/permissions/", headers={"Host": host})
        assert answer.status_code == status, host
        assert "x-request-id" in answer.headers


async def test_hosts_and_proxies_are_trusted_by_setting(app_settings: Settings) -> None:
    app_settings.allowed_hosts = ["api.example"]
    app_settings.trusted_proxies = ["127.0.0.0/8"]
    async with running(app_settings) as (_, client):
        forwarded = {"X-Forwarded-Host": "api.example", "X-Forwarded-Proto": "https", "Host": "10.0.0.1"}
        assert (await client.get("/api/permissions/", headers=forwarded)).status_code == 401
    app_settings.trusted_proxies = ["10.9.9.9"]
    async with running(app_settings) as (_, client):
        assert (await client.get("/api/permissions/", headers=forwarded)).status_code == 400


@pytest.mark.parametrize(
    ("proxy", "forwarded", "client"),
    [
        ("10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "192.0.2.7:51234", "192.0.2.7"),
        ("10.0.0.1", "2001:db8::7", "2001:db8::7"),
        ("10.0.0.1", "[2001:db8::7]:51234", "2001:db8::7"),
        ("10.0.0.1", "203.0.113.9, 192.0.2.7:1, 10.0.0.2:2", "192.0.2.7"),
        ("::ffff:10.0.0.1", "192.0.2.7", "192.0.2.7"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("198.51.100.1", "192.0.2.7", "198.51.100.1"),
    ],
)
async def test_a_client_is_its_address_whatever_its_proxy_writes(proxy: str, forwarded: str, client: str) -> None:
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["client"][0])

    async def receive() -> Message:
        raise AssertionError

    async def send(_: Message) -> None:
        raise AssertionError

    headers = [(b"x-forwarded-for", forwarded.encode())]
    scope = {"type": "http", "client": (proxy, 1), "headers": headers}
    await TrustedProxies(app, ["10.0.0.0/8"])(scope, receive, send)
    assert seen == [client]


async def test_a_forged_notification_is_refused(client: httpx.AsyncClient, app_shop: Shop) -> None:
    for path in ("/provider/hooks/guess/", "/provider/hooks/guess"):
        url = f"{path}?EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=1&Date=1"
        assert (await client.get(url)).status_code == 404
    assert await app_shop.count("pgqueuer") == 0


async def test_the_provider_notifies_and_the_order_is_made(app_settings: Settings) -> None:
    """Everything together: the worker, the sandbox's own notification, nobody coming back."""
    async with running(app_settings, run_background=True) as (app, _):
        container = app.state.container
        shop = await open_shop(container.services, container.sandbox)
        key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
        started = await shop.start(key, seen)
        await shop.pay(started)
        async with asyncio.timeout(20):
            while await shop.count("shop_order") == 0:
                await asyncio.sleep(0.05)


async def test_pictures_can_be_shown_and_do_nothing_else(client: httpx.AsyncClient, app_shop: Shop) -> None:
    async with app_shop.services.db.sessions() as db, db.begin():
        path = await store_picture(db, app_shop.partner.id, b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg")
    answer = await client.get(path)
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "immutable" in answer.headers["cache-control"]
    for unknown in ("unknown.svg", f"{'0' * 40}.svg", "%00", "%FF.svg", f"{path.removeprefix('/media/')}%00"):
        assert (await client.get(f"/media/{unknown}")).status_code == 404, unknown


async def test_the_sandbox_is_there_in_development(application: tuple[Starlette, httpx.AsyncClient]) -> None:
    assert (await application[1].get("/_provider/_sb/")).status_code == 200
