"""The hosted pages in a real browser: accessible in every state, on a phone and a desktop, with and without JavaScript."""

import asyncio
import socket
from collections.abc import AsyncIterator

import httpx
import pytest
import uvicorn
from playwright.async_api import Browser, Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import Clock
from tests.coffret.sandbox.mangopay_api import CHALLENGE, PAYER, payin_body
from tests.servers.chromium import needs_chromium, sound

pytestmark = needs_chromium


class Shop:
    """A shop with the sandbox beside it, on a port."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    async def payin(self, culture: str = "EN") -> str:
        """The address of a new pay-in's page."""
        async with httpx.AsyncClient(base_url=f"{self.origin}/_provider") as http:
            await http.post("/_sb/seed", json={"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil"})
            token = await http.post(
                "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, auth=("sandbox", "sandbox")
            )
            http.headers["Authorization"] = f"Bearer {token.json()['access_token']}"
            payer = (await http.post("/v2.01/sandbox/sca/users/natural", json=dict(PAYER))).json()["Id"]
            body = payin_body(payer) | {"ReturnURL": f"{self.origin}/leave", "Culture": culture}
            page: str = (await http.post("/v2.01/sandbox/payins/card/web", json=body)).json()["RedirectURL"]
            return page


async def leave(request: Request) -> PlainTextResponse:
    """The shop's page that a buyer comes back to sends on to another host, as a shop of its own would."""
    query = request.url.query
    return PlainTextResponse("", 303, {"Location": f"http://localhost:{request.url.port}/shop?{query}"})


async def back(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"back with {request.query_params['transactionId']}")


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = sandbox_app(SandboxSettings(public_url=f"{origin}/_provider", clock=Clock()))
    host = Starlette(routes=[Mount("/_provider", app), Route("/leave", leave), Route("/shop", back)])
    server = uvicorn.Server(uvicorn.Config(host, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield Shop(origin)
    server.should_exit = True
    await serving
    await close(app)


async def fair(page: Page) -> None:
    """Sound, and made of nothing from elsewhere."""
    await sound(page, "provider")
    origin = await page.evaluate("location.origin")
    fetched = await page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert fetched
    assert all(url.startswith(origin) for url in fetched)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_page_is_sound(shop: Shop, browser: Browser, scheme: str) -> None:
    context = await browser.new_context(color_scheme="dark" if scheme == "dark" else "light")
    page = await context.new_page()
    problems: list[str] = []
    page.on(
        "console", lambda message: problems.append(message.text) if "Content Security Policy" in message.text else None
    )
    address = await shop.payin("DE" if scheme == "dark" else "EN")
    await page.goto(address)
    await fair(page)
    await page.click("form#card button.main")
    await fair(page)
    assert await page.evaluate("document.activeElement.className") == "problems"
    await page.click(f'#cards a[href*="{CHALLENGE}"]')
    await fair(page)
    await page.click("form#card button.main")
    await fair(page)
    await page.fill("#code", "111111")
    await page.click("button.main")
    await fair(page)
    await page.click(".aside a")
    await fair(page)
    await page.click("a.main")
    await page.fill("#code", "000000")
    await page.click("button.main")
    assert page.url.startswith("http://localhost:")
    await page.goto(address)
    await fair(page)
    await page.goto(f"{shop.origin}/_provider/pay/unknown")
    await fair(page)
    for card in ("4970109000000809", "4970109000000908"):
        await page.goto(f"{await shop.payin('FR')}?card={card}")
        await page.click("form#card button.main")
        await fair(page)
    assert problems == []
    await context.close()


async def test_all_of_it_works_without_javascript_by_keyboard(shop: Shop, browser: Browser) -> None:
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(await shop.payin())
    await page.keyboard.press("Tab")
    assert await page.locator(":focus").text_content() == "Skip to the payment"
    await page.locator(f'#cards a[href*="{CHALLENGE}"]').focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/*card=*")
    await page.locator("#cvc").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/challenge")
    await page.locator("#code").focus()
    await page.keyboard.type("000000")
    await page.keyboard.press("Enter")
    await page.wait_for_url("http://localhost:*/shop?*")
    assert (await page.text_content("body") or "").startswith("back with payin_m_")
    await context.close()


async def test_a_double_click_pays_once(shop: Shop, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(f"{await shop.payin()}?card=4970107111111119")
    await page.dblclick("form#card button.main")
    await page.wait_for_url("http://localhost:*/shop?*")
    await page.go_back()
    await page.locator("form#card button.main, a.main").first.click()
    await page.wait_for_url("http://localhost:*/shop?*")
    answer = await page.request.get(f"{shop.origin}/_provider/_sb/stats")
    assert (await answer.json())["charged"] == 1
