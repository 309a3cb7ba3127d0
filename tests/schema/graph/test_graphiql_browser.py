"""GraphiQL in a real browser: it loads the schema, sends the token, and asks nobody but us."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import uvicorn
from playwright.async_api import Page, async_playwright

from tests.schema.graph.clients import application
from tests.servers.chromium import launched, needs_chromium

pytestmark = needs_chromium
SET = "(values) => document.querySelectorAll('.CodeMirror').forEach((e, n) => values[n] && e.CodeMirror.setValue(values[n]))"


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """The address of the endpoint while the block runs."""
    server = uvicorn.Server(uvicorn.Config(application(None, ide=True), log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/graphql/"
        server.should_exit = True
        await task


async def test_graphiql_works_and_asks_nobody_else() -> None:
    async with serving() as address, async_playwright() as playwright, await launched(playwright) as browser:
        page = await browser.new_page()
        asked: list[tuple[str, str | None]] = []
        trouble: list[str] = []
        page.on("request", lambda request: asked.append((request.url, request.headers.get("authorization"))))
        page.on(
            "console", lambda message: trouble.append(message.text) if message.type in {"error", "warning"} else None
        )
        page.on("pageerror", lambda error: trouble.append(str(error)))
        await page.goto(address)
        await page.wait_for_selector(".graphiql-query-editor .CodeMirror")
        answer = await run(page, '{ greeting(name: "Ada") }', '{ "Authorization": "Token reader" }')
        assert '"Hello Ada"' in answer
        await page.click('[aria-label="Open settings dialog"]')
        await page.wait_for_selector("text=Theme")
    assert trouble == []
    assert all(url.startswith((address.removesuffix("/"), "data:")) for url, _ in asked)
    assert asked[0][1] is None
    assert asked[-1] == (address, "Token reader")


async def run(page: Page, query: str, headers: str) -> str:
    """Run a query with headers in the page; answers what it shows."""
    await page.locator(".CodeMirror").nth(2).wait_for(state="attached")
    await page.evaluate(SET, [query, None, headers])
    await page.wait_for_timeout(500)
    await page.click(".graphiql-execute-button")
    await page.locator(".result-window", has_text="data").wait_for()
    return str(await page.evaluate("document.querySelector('.result-window .CodeMirror').CodeMirror.getValue()"))
