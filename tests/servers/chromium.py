"""Chromium for the tests that look at pages as people do: how it is started, and what holds for every page."""

import itertools
import os
import pathlib
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Browser, Error, Page, Playwright, async_playwright, expect

from tests.servers.programs import needed

expect.set_options(timeout=15_000)  # milliseconds; a busy machine takes longer than the usual five seconds

NAMES = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
"""The first has no windows to draw, and takes a third less time."""
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--host-resolver-rules=MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
"""Shops live at `*.localhost`; nothing else can be reached."""
WIDTHS = (390, 1280)
NARROWEST = 320
"""What WCAG wants to be usable without scrolling sideways."""
RULES: dict[str, Any] = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
AXE = f"{AXE_SCRIPT};null"
"""The program of axe: half a megabyte, so that a document gets it once."""
RUN_AXE = """async options => {
    if (!window.axe?.run) return null;
    const { violations } = await axe.run(options);
    const found = violations.flatMap(({ id, nodes }) => nodes.map(node => [id, node.html, node.failureSummary, node.target[0]]));
    const { scrollX, scrollY } = window, problems = [];
    for (const [id, html, summary, target] of found) {
        const element = id === 'target-size' && document.querySelector(target);
        element && element.scrollIntoView({ block: 'center', behavior: 'instant' });
        const again = element && await axe.run(element, { runOnly: [id] });
        if (!again || again.violations.length) problems.push([id, html, summary]);
    }
    scrollTo({ left: scrollX, top: scrollY, behavior: 'instant' });
    return problems;
}"""
"""The violations only: the rest of a report is long, and would have to be written, carried and read. A bar that stays at an edge
of the window covers parts of what is below it, which axe takes for too small: such a target is asked about in the middle, too.
"""
PICTURES = os.environ.get("SCREENSHOTS", "")
"""A folder that keeps a picture of every page that was looked at."""

TRIES = 3
REPLACED = "Execution context was destroyed", "reading 'documentElement'", "reading 'scrollWidth'"
"""Told of a page that another one replaces at this moment."""
T = TypeVar("T")

needs_chromium = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where Chromium is; a test that asks for it is skipped where there is none."""
    return needed(CHROMIUM, "chromium")


async def launched(playwright: Playwright, *arguments: str) -> Browser:
    """A running Chromium."""
    return await playwright.chromium.launch(executable_path=CHROMIUM, args=(*ARGUMENTS, *arguments))


async def reached(page: Page, url: str) -> None:
    """Wait for an address. A navigation that another one overtakes, as after a double click, is no failure of the wait."""
    while True:
        try:
            return await page.wait_for_url(url)
        except Error as error:
            if "ERR_ABORTED" not in error.message:
                raise


async def sound(page: Page, name: str = "", *, desktop: bool = True, colours: bool = True) -> None:
    """No accessibility violation on a phone in the dark and on a desktop by day, nothing wider than the window. Leaves the page
    as wide as it was.

    Without `desktop` only the phone is asked about accessibility: for a page that was asked at both in other colours. Without
    `colours` contrast is left out, which takes the most time: for a page of the same parts as another. A page that was opened
    in the dark is in the dark on the desktop too; on the phone contrast is left out then, as the same page opened by day is
    asked about it there.
    """
    await expect(page.locator("[aria-busy=true]")).to_have_count(
        0, timeout=60_000
    )  # it is paler while a price is asked for
    before = page.viewport_size
    number = next(_numbers)
    both = desktop and not await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 844})
        if both:
            scheme: Literal["dark", "light"] = "dark" if width == WIDTHS[0] else "light"
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if desktop or width == WIDTHS[0]:
            is_known = desktop and not both and width == WIDTHS[0]
            assert await violations(page, colours=colours and not is_known) == [], f"{name} at {width}: {page.url}"
        assert await wider_than_the_window(page) == [], f"{name} at {width}: {page.url}"
        if PICTURES:
            file = pathlib.Path(PICTURES) / f"{number:03}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}-{width}.png"
            await page.screenshot(path=file, full_page=True)
    await fits(page, name, widths=(NARROWEST,))
    if before is not None:
        await page.set_viewport_size(before)


async def fits(page: Page, name: str = "", *, widths: Sequence[int] = (NARROWEST, *WIDTHS)) -> None:
    """Nothing is wider than the window, at any of these widths."""
    for width in widths:
        await page.set_viewport_size({"width": width, "height": 568})
        assert await wider_than_the_window(page) == [], f"{name} at {width}: {page.url}"


async def asked(page: Page, look: Callable[[], Awaitable[T]]) -> T:
    """What a page says. Pages that wait for a payment load themselves again, and links lead on while axe begins: then it
    is asked once more.
    """
    for _ in range(TRIES):
        try:
            return await look()
        except Error as error:
            if not any(sign in str(error) for sign in REPLACED):
                raise
            await page.wait_for_load_state()
    return await look()


async def violations(page: Page, *, colours: bool = True) -> list[tuple[str, str, str]]:
    """What axe finds: rule, element, explanation."""
    options = RULES | {"rules": RULES["rules"] | {"color-contrast": {"enabled": colours}}}

    async def look() -> list[list[str]]:
        answer: list[list[str]] | None = await page.evaluate(RUN_AXE, options)
        if answer is None:  # a document that has no axe yet
            await page.evaluate(AXE)
            answer = await page.evaluate(RUN_AXE, options)
        assert answer is not None
        return answer

    return [(rule, element, explanation) for rule, element, explanation in await asked(page, look)]


async def wider_than_the_window(page: Page) -> list[str]:
    """Elements that make the page scroll sideways; empty when it does not."""
    script = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
            ['the page', ...[...document.querySelectorAll('body *')]
                .filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML.slice(0, 120))]"""
    found: list[str] = await asked(page, lambda: page.evaluate(script))
    return found


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    """Chromium, for one test."""
    async with async_playwright() as playwright:
        browser = await launched(playwright)
        yield browser
        await browser.close()
