"""The page of a hosted identity check in a real browser: accessible in every state, on a phone and a desk, without a script."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, ViewportSize

from tests.coffret.sandbox.owners import level, owner
from tests.coffret.sandbox.served import BACK, served
from tests.coffret.sandbox.world import Json, World
from tests.servers.chromium import needs_chromium, reached, sound

pytestmark = needs_chromium
PHONE: ViewportSize = {"width": 390, "height": 844}


class Desk:
    """A sandbox that is served, and a browser."""

    def __init__(self, origin: str, world: World, browser: Browser) -> None:
        self.origin, self.world, self.browser = origin, world, browser

    async def opened(self, kind: str = "BUSINESS", **changes: str) -> Json:
        """A session of a new owner, who comes back to this origin."""
        user = await owner(self.world, kind, **changes)
        return await self.world.made(f"/users/{user}/identity-verifications", {"ReturnUrl": f"{self.origin}{BACK}"})

    async def status(self, session: Json) -> str:
        """Where the session stands."""
        stands: str = (await self.world.read(f"/identity-verifications/{session['Id']}"))["Status"]
        return stands


@pytest.fixture
async def desk(browser: Browser) -> AsyncIterator[Desk]:
    async with served() as (origin, world):
        yield Desk(origin, world, browser)


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de")])
async def test_every_state_is_sound(desk: Desk, scheme: str, language: str) -> None:
    context = await desk.browser.new_context(color_scheme="dark" if scheme == "dark" else "light", locale=language)
    page = await context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    for kind, choice in (
        ("BUSINESS", "validate"),
        ("NATURAL", "refuse:FACE_MATCH_FAIL"),
        ("BUSINESS", "review_refuse:DOCUMENT_NOT_ACCEPTED"),
    ):
        session = await desk.opened(kind)
        await page.goto(session["HostedUrl"])
        await sound(page, f"identity {kind} {scheme}", desk=scheme == "light")
        await page.click(f'button[value="{choice}"]')
        await page.wait_for_url(f"**{BACK}")
        await page.goto(session["HostedUrl"])
        await sound(page, f"identity {choice} {scheme}", desk=scheme == "light")
    session = await desk.opened()
    await desk.world.advance(7 * 24 * 3600)
    desk.world.token = ""
    await page.goto(session["HostedUrl"])
    await sound(page, f"identity expired {scheme}", desk=scheme == "light")
    await page.goto(f"{desk.origin}/_provider/identity/unknown")
    await sound(page, f"identity unknown {scheme}", desk=scheme == "light")
    assert problems == []
    await context.close()


async def test_long_names_fit_a_phone(desk: Desk) -> None:
    session = await desk.opened(Name="Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft")
    page = await desk.browser.new_page(viewport=PHONE, locale="fr")
    await page.goto(session["HostedUrl"])
    await sound(page, "identity long name")


async def test_by_keyboard_and_without_javascript(desk: Desk) -> None:
    context = await desk.browser.new_context(java_script_enabled=False, viewport=PHONE)
    page = await context.new_page()
    session = await desk.opened()
    await page.goto(session["HostedUrl"])
    await page.keyboard.press("Tab")
    assert await page.locator(":focus").text_content() == "Skip to the content"
    await page.locator('button[value="refuse:DOCUMENT_HAS_EXPIRED"]').focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**{BACK}")
    assert await desk.status(session) == "REFUSED"
    await context.close()


async def test_whoever_leaves_can_come_back(desk: Desk) -> None:
    page = await desk.browser.new_page(viewport=PHONE)
    session = await desk.opened()
    await page.goto(session["HostedUrl"])
    await page.click(".aside a")
    await page.wait_for_url(f"**{BACK}")
    assert await desk.status(session) == "PENDING"
    await page.go_back()
    await page.dblclick('button[value="validate"]')
    await reached(page, f"**{BACK}")
    assert await desk.status(session) == "VALIDATED"
    assert await level(desk.world, session["UserId"]) == "REGULAR"
