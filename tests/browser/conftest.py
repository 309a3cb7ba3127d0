"""One running Coffret and one browser for all tests here, and customers with browsers of their own."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, async_playwright

from tests.browser.customer import Customer, Watch
from tests.browser.running_shop import RunningShop, running
from tests.servers.chromium import launched
from tests.servers.coffret_programs import DataDirectories

NewCustomer = Callable[..., Awaitable[Customer]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shop(data_directories: DataDirectories) -> AsyncIterator[RunningShop]:
    """A running Coffret with demo data."""
    with data_directories.copied(demo=True) as data:
        async with running(data) as made:
            yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A running Chromium."""
    async with async_playwright() as playwright:
        browser = await launched(playwright)
        yield browser
        await browser.close()


@asynccontextmanager
async def customers(shop: RunningShop, browser: Browser) -> AsyncIterator[NewCustomer]:
    """Makes customers. Whatever they did, their browsers were sent nowhere else, and none of our policies was broken."""
    watches: list[tuple[BrowserContext, Watch]] = []

    async def new(width: int = 1280, language: str = "en-GB", *, scripts: bool = True) -> Customer:
        context = await browser.new_context(
            viewport={"width": width, "height": 844}, locale=language, java_script_enabled=scripts
        )
        context.set_default_timeout(60_000)
        watch = Watch(frozenset({shop.domain, f"127.0.0.1:{shop.program.port}"}))
        watch.follow(context)
        watches.append((context, watch))
        return Customer(await context.new_page(), shop, watch)

    yield new
    for context, _ in watches:
        await context.close()
    assert [problem for _, watch in watches for problem in watch.problems] == []


@pytest_asyncio.fixture(loop_scope="session")
async def new_customer(shop: RunningShop, browser: Browser) -> AsyncIterator[NewCustomer]:
    """Makes the customers of a test, looks in the end at what they were sent to, and leaves the shop as it was."""
    async with customers(shop, browser) as new:
        yield new
    await shop.withdraw()


@pytest_asyncio.fixture(loop_scope="session")
async def customer(new_customer: NewCustomer) -> Customer:
    """A customer at a desktop computer."""
    return await new_customer()
