"""The page of a hosted identity check in a real browser: accessible in every state, on a phone and a desktop, without a script."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, ViewportSize

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi
from tests.coffret.sandbox.owners import level, owner
from tests.coffret.sandbox.sandbox_server import BACK, serve_sandbox
from tests.servers.chromium import needs_chromium, reached, sound

pytestmark = needs_chromium
PHONE: ViewportSize = {"width": 390, "height": 844}


class BrowsedSandbox:
    """A sandbox that is served, and a browser."""

    def __init__(self, origin: str, api: MangopayApi, browser: Browser) -> None:
        self.origin, self.api, self.browser = origin, api, browser

    async def open_session(self, kind: str = "BUSINESS", **changes: str) -> Json:
        """A session of a new owner, who comes back to this origin."""
        user = await owner(self.api, kind, **changes)
        return await self.api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": f"{self.origin}{BACK}"})

    async def status(self, session: Json) -> str:
        """Where the session stands."""
        stands: str = (await self.api.read(f"/identity-verifications/{session['Id']}"))["Status"]
        return stands


@pytest.fixture
async def browsed(browser: Browser) -> AsyncIterator[BrowsedSandbox]:
    async with serve_sandbox() as (origin, api):
        yield BrowsedSandbox(origin, api, browser)


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de")])
async def test_every_state_is_sound(browsed: BrowsedSandbox, scheme: str, language: str) -> None:
    day = scheme == "light"  # which looks at a phone in the dark as well
    context = await browsed.browser.new_context(color_scheme="light" if day else "dark", locale=language)
    page = await context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    for kind, choice in (
        ("BUSINESS", "validate"),
        ("NATURAL", "refuse:FACE_MATCH_FAIL"),
        ("BUSINESS", "review_refuse:DOCUMENT_NOT_ACCEPTED"),
    ):
        session = await browsed.open_session(kind)
        await page.goto(session["HostedUrl"])
        await sound(page, f"identity {kind} {scheme}", desktop=day, colours=day)
        await page.click(f'button[value="{choice}"]')
        await page.wait_for_url(f"**{BACK}")
        await page.goto(session["HostedUrl"])
        await sound(page, f"identity {choice} {scheme}", desktop=day, colours=day)
    session = await browsed.open_session()
    await browsed.api.advance(7 * 24 * 3600)
    browsed.api.token = ""
    await page.goto(session["HostedUrl"])
    await sound(page, f"identity expired {scheme}", desktop=day, colours=day)
    await page.goto(f"{browsed.origin}/_provider/identity/unknown")
    await sound(page, f"identity unknown {scheme}", desktop=day, colours=day)
    assert problems == []
    await context.close()


async def test_long_names_fit_a_phone(browsed: BrowsedSandbox) -> None:
    session = await browsed.open_session(
        Name="Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
    )
    page = await browsed.browser.new_page(viewport=PHONE, locale="fr")
    await page.goto(session["HostedUrl"])
    await sound(page, "identity long name")


async def test_by_keyboard_and_without_javascript(browsed: BrowsedSandbox) -> None:
    context = await browsed.browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = await context.new_page()
    session = await browsed.open_session()
    await page.goto(session["HostedUrl"])
    await page.keyboard.press("Tab")
    assert await page.locator(":focus").text_content() == "Skip to the content"
    await page.locator('button[value="refuse:DOCUMENT_HAS_EXPIRED"]').focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(session) == "REFUSED"
    await context.close()


async def test_whoever_leaves_can_come_back(browsed: BrowsedSandbox) -> None:
    page = await browsed.browser.new_page(viewport=PHONE)
    session = await browsed.open_session()
    await page.goto(session["HostedUrl"])
    await page.click(".aside a")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(session) == "PENDING"
    await page.go_back()
    await page.dblclick('button[value="validate"]')
    await reached(page, f"**{BACK}")
    assert await browsed.status(session) == "VALIDATED"
    assert await level(browsed.api, session["UserId"]) == "REGULAR"
