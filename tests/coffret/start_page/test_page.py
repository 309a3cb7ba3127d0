"""The start page of a development installation: all that it leads to is there, all that it tells to try works."""

import asyncio
import re
import socket

import httpx
import pytest
import uvicorn
from playwright.async_api import async_playwright
from pydantic import SecretStr
from starlette.applications import Starlette

from coffret.demo.users import PASSWORD, USERNAMES
from coffret.sandbox.payments.cards import CARDS
from resolvers.core.services import Services
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from tests.coffret.conftest import running
from tests.funnel.checkout.page import Element, parsed
from tests.servers.chromium import launched, sound

MANGOPAY = {"provider": ProviderName.MANGOPAY, "mangopay_client_id": "c", "mangopay_api_key": SecretStr("k")}


async def start(client: httpx.AsyncClient) -> Element:
    answer = await client.get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "script" not in answer.text
    return parsed(answer.text)


def codes(page: Element) -> list[str]:
    """What is there to copy."""
    return [code.text for code in page.all("code", class_="copied")]


@pytest.mark.usefixtures("demo")
async def test_everything_it_leads_to_is_there(client: httpx.AsyncClient) -> None:
    page = await start(client)
    links = [link.attributes["href"] for link in page.all("a")]
    assert {"/docs/", "/openapi.json", "/graphql/", "/_mail/", "/_provider/_sb/"} <= set(links)
    assert sum(link.startswith("http://demo") for link in links) == 8
    assert "http://network.localhost:8000/" in links
    for link in [*links, *(sheet.attributes["href"] for sheet in page.all("link"))]:
        answer = await client.get(link, headers={"Accept": "text/html"}, follow_redirects=True)
        assert answer.status_code == 200, link


async def test_everything_it_tells_to_try_works(client: httpx.AsyncClient, demo: Services) -> None:
    page = await start(client)
    told = codes(page)
    assert set(USERNAMES) <= set(told)
    for username in USERNAMES:
        credentials = {"username": username, "password": next(code for code in told if code == PASSWORD)}
        assert (await client.post("/api-token-auth/", json=credentials)).status_code == 200
    assert [card.spaced_number for card in CARDS] == [code for code in told if re.fullmatch(r"\d{4} [\d ]+", code)]
    assert {"WELCOME10", "SPRING15"} <= set(told)
    assert not {"SUMMER20", "FIRST50"} & set(told), "ended, or used up"
    async with demo.db.sessions() as db:
        connection = await db.connection()
        sql = "SELECT code FROM {} WHERE code = ANY(%s)"
        found = {
            table: (await connection.exec_driver_sql(sql.format(table).replace("%s", "$1"), (told,))).scalars().all()
            for table in ("gift_card", "voucher", "network_voucher")
        }
    assert [len(of) for of in found.values()] == [2, 1, 1]


async def test_what_is_spent_is_no_longer_told(client: httpx.AsyncClient, demo: Services) -> None:
    before = codes(await start(client))
    async with demo.db.sessions() as db, db.begin():
        connection = await db.connection()
        await connection.exec_driver_sql("UPDATE coupon SET is_active = false")
        await connection.exec_driver_sql("UPDATE voucher SET state = 'cancelled' WHERE state = 'paid'")
    gone = set(before) - set(codes(await start(client)))
    assert {"WELCOME10", "SPRING15"} < gone
    assert len(gone) >= 3


async def test_without_demo_data_it_tells_how_to_begin(client: httpx.AsyncClient) -> None:
    page = await start(client)
    assert "user create" in page.one("p", class_="none").text
    assert PASSWORD not in codes(page)


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1:1", "[::1]:8000"])
async def test_it_is_at_the_services_own_address(client: httpx.AsyncClient, host: str) -> None:
    assert "Coffret is running" in (await client.get("/", headers={"Host": host})).text


@pytest.mark.parametrize("host", ["demo.localhost:8000", "nobody.localhost", "evil.example"])
async def test_it_is_nowhere_else(client: httpx.AsyncClient, host: str) -> None:
    answer = await client.get("/", headers={"Host": host})
    assert (answer.status_code, "Coffret" in answer.text) == (404, False)


async def test_production_does_not_tell_what_it_is(production: Settings) -> None:
    async with running(production) as (_, client):
        answer = await client.get("/", headers={"Host": production.public_url.removeprefix("https://")})
    assert (answer.status_code, answer.text) == (404, "Not Found")


async def test_money_that_is_real_has_no_test_cards(app_settings: Settings) -> None:
    settings = app_settings.model_copy(update=MANGOPAY)
    async with running(settings) as (_, client):
        page = await start(client)
    assert codes(page) == []
    assert "/_provider/_sb/" not in [link.attributes["href"] for link in page.all("a")]


@pytest.mark.browser
@pytest.mark.usefixtures("chromium", "demo")
async def test_it_is_sound(application: tuple[Starlette, httpx.AsyncClient]) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application[0], log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    async with async_playwright() as playwright:
        browser = await launched(playwright)
        problems: list[str] = []
        page = await browser.new_page()
        page.on("console", lambda message: problems.append(message.text))
        await page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        await sound(page, "start")
        assert problems == []
        await browser.close()
    server.should_exit = True
    await task
