"""The documentation in a browser: on a phone and a desktop, by day and by night, with its script and without."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import pytest
import uvicorn
from playwright.async_api import Browser, Page
from starlette.applications import Starlette

from rest_compat.docs import DocsOptions
from rest_compat.router import rest_routes
from tests.rest_compat.openapi.test_docs_pages import PATHS, no_context
from tests.servers.chromium import needs_chromium, sound

SDL = '''type Query {
  """One thing."""
  thing(of: Kind = OLD, like: ThingInput): Thing
}

"""What there is: a description that is long enough to be broken into several lines on a telephone, as many of ours are."""
type Thing {
  kind: Kind!
  at: DateTime
}

input ThingInput {
  kind: Kind = OLD
}

enum Kind {
  OLD
}

scalar DateTime'''
"""Of each kind something: the page of our own schema has 400 definitions, all alike, which axe would look at for minutes."""
pytestmark = needs_chromium
OPENED = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """Where the documentation is served."""
    app = Starlette(routes=rest_routes(no_context, DocsOptions(sdl=lambda: SDL, ide=True)))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await task


@contextlib.asynccontextmanager
async def reader(
    browser: Browser, address: str, *, colours: Literal["light", "dark"] = "light", scripts: bool = True
) -> AsyncIterator[Page]:
    """A reader's page. Nothing goes wrong there, and nobody else is asked."""
    trouble: list[str] = []
    async with await browser.new_context(color_scheme=colours, java_script_enabled=scripts) as context:
        page = await context.new_page()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda sent: None if sent.url.startswith((address, "data:")) else trouble.append(sent.url))
        yield page
    assert trouble == []


KINDS = ("/docs/", "/docs/?q=gift", "/docs/?q=nothing+at+all", "/docs/integrate/", "/docs/graphql/", "/docs/carts/")
"""One page of each kind: by night only colours differ, and the others are of the same parts."""


@pytest.mark.parametrize(("colours", "paths"), [("light", (*KINDS, *PATHS)), ("dark", KINDS)])
async def test_every_page_is_sound(
    browser: Browser, address: str, colours: Literal["light", "dark"], paths: Sequence[str]
) -> None:
    async with reader(browser, address, colours=colours) as page:
        for path in dict.fromkeys(paths):
            await page.goto(f"{address}{path}")
            await page.evaluate(OPENED)
            await sound(page, f"docs {path} {colours}", desktop=path in KINDS, colours=path in KINDS)


async def test_a_search_works_without_scripts(browser: Browser, address: str) -> None:
    async with reader(browser, address, scripts=False) as page:
        await page.goto(f"{address}/docs/carts/")
        assert await page.get_by_role("button", name="Copy").count() == 0
        await page.get_by_role("searchbox").fill("funnel_url")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="Get a cart").click()
        assert page.url == f"{address}/docs/carts/#get_ecommerce_cart"


async def test_the_guide_shows_one_language_without_scripts(browser: Browser, address: str) -> None:
    async with reader(browser, address, scripts=False) as page:
        await page.goto(f"{address}/docs/integrate/")
        await page.get_by_label("PHP", exact=True).check()
        assert await page.locator(".in-php >> nth=0").is_visible()
        assert await page.locator(".in-sh >> nth=0").is_visible()
        assert not await page.locator(".in-js >> nth=0").is_visible()
        assert not await page.locator(".in-py >> nth=0").is_visible()


async def test_a_search_answers_while_one_types(browser: Browser, address: str) -> None:
    async with reader(browser, address) as page:
        await page.goto(f"{address}/docs/")
        await page.get_by_role("searchbox").fill("funnel_url")
        await page.get_by_text("2 with “funnel_url”").wait_for()
        assert await page.locator("#found li").count() == 2
        await page.get_by_role("searchbox").fill("")
        await page.locator("#found li >> nth=20").wait_for()


async def test_examples_are_copied(browser: Browser, address: str) -> None:
    async with reader(browser, address) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await page.goto(f"{address}/docs/carts/")
        await page.get_by_role("button", name="Copy: Get a cart: request").click()
        await page.get_by_text("Copied").wait_for()
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith(f"curl {address}/api/v2/ecommerce/cart/")
        assert copied.endswith('-H "Authorization: Token $TOKEN"')
