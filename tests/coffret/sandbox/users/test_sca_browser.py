"""The pages of strong authentication in a real browser: accessible at each step, on a phone and a desktop, without a script."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, ViewportSize

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi
from tests.coffret.sandbox.people import EMAIL, STEPS, owner
from tests.coffret.sandbox.sandbox_server import BACK, serve_sandbox
from tests.servers.chromium import needs_chromium, sound

pytestmark = needs_chromium
PHONE: ViewportSize = {"width": 390, "height": 844}


class BrowsedSandbox:
    """A sandbox that is served, and a browser."""

    def __init__(self, origin: str, api: MangopayApi, browser: Browser) -> None:
        self.origin, self.api, self.browser = origin, api, browser

    def page_of(self, created_user: Json) -> str:
        """Where an owner is sent to."""
        return f"{created_user['PendingUserAction']['RedirectUrl']}&returnUrl={quote(self.origin + BACK)}"

    async def status(self, created_user: Json) -> str:
        """Whether the owner is active."""
        user: Json = await self.api.read(f"/sca/users/{created_user['Id']}")
        return str(user["UserStatus"])


@pytest.fixture
async def browsed(browser: Browser) -> AsyncIterator[BrowsedSandbox]:
    async with serve_sandbox() as (origin, api):
        yield BrowsedSandbox(origin, api, browser)


async def answer(page: Page, stage: str) -> None:
    """Answer a step as a person would."""
    for name, value in dict(STEPS)[stage].items():
        field = page.locator(f"#{name}")
        await (field.check() if value == "yes" else field.fill(value))
    await page.click("#form button.main")


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "de")])
async def test_every_step_is_sound(browsed: BrowsedSandbox, scheme: str, language: str) -> None:
    day = scheme == "light"  # which looks at a phone in the dark as well
    context = await browsed.browser.new_context(color_scheme="light" if day else "dark", locale=language)
    page = await context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    made = await owner(browsed.api, Name="Établissements Montgolfier & Compagnie des Grands Voyages")
    await page.goto(browsed.page_of(made))
    for name, _ in STEPS:
        await page.locator(f'[name="stage"][value="{name}"]').wait_for(state="attached")
        await sound(page, f"sca {name} {scheme}", desktop=day, colours=day)
        if name != "passkey":
            await page.click("#form button.main")
            await page.locator(".problems").wait_for()
            await sound(page, f"sca {name} refused {scheme}", desktop=day, colours=day)
            assert await page.evaluate("document.activeElement.className") == "problems"
            await page.click(".aids a.plain")
            await page.wait_for_url("**fill=1*")
        if name != "code":
            await page.click("#form button.main")
    await page.click("#form button.main")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(made) == "ACTIVE"
    await page.goto(browsed.page_of(made))
    await sound(page, f"sca used {scheme}", desktop=day, colours=day)
    await page.click("a.main")
    await page.wait_for_url(f"**{BACK}")
    for address in (made["PendingUserAction"]["RedirectUrl"], f"{browsed.origin}/_provider/sca?token=none"):
        await page.goto(address)
        await sound(page, f"sca no way back {scheme}", desktop=day, colours=day)
    assert problems == []
    await context.close()


@pytest.mark.parametrize("language", ["en", "fr"])
async def test_a_phone_without_scripts_by_keyboard(browsed: BrowsedSandbox, language: str) -> None:
    context = await browsed.browser.new_context(java_script_enabled=False, viewport=PHONE, locale=language)
    page = await context.new_page()
    made = await owner(browsed.api)
    await page.goto(browsed.page_of(made))
    await page.keyboard.press("Tab")
    skip = "Skip to the content" if language == "en" else "Aller au contenu"
    assert await page.locator(":focus").text_content() == skip
    for name, typed in STEPS:
        await page.locator(f'[name="stage"][value="{name}"]').wait_for(state="attached")
        for field, value in typed.items():
            await page.locator(f"#{field}").focus()
            if value == "yes":
                await page.keyboard.press("Space")
            else:
                await page.keyboard.type(value)
        await page.locator("#form button").last.focus()
        await page.keyboard.press("Enter")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(made) == "ACTIVE"
    await context.close()


async def test_reloading_keeps_the_step(browsed: BrowsedSandbox) -> None:
    page = await browsed.browser.new_page()
    made = await owner(browsed.api)
    await page.goto(browsed.page_of(made))
    for name in ("terms", "consents", "passkey"):
        await page.locator(f'[name="stage"][value="{name}"]').wait_for(state="attached")
        await answer(page, name)
    await page.locator("#email").wait_for()
    await page.reload()
    assert await page.locator("#email").is_visible()
    await page.close()
    other = await browsed.browser.new_page()
    await other.goto(browsed.page_of(made))
    await other.fill("#email", EMAIL.upper())
    await other.click("#form button.main")
    await other.locator("#pin").wait_for()


async def test_two_tabs_end_where_one_does(browsed: BrowsedSandbox) -> None:
    context = await browsed.browser.new_context()
    made = await owner(browsed.api)
    tabs = [await context.new_page() for _ in range(2)]
    first, second = tabs
    await asyncio.gather(*(tab.goto(browsed.page_of(made)) for tab in tabs))
    await answer(first, "terms")
    await first.locator("#consent_data").wait_for()
    await answer(second, "terms")
    await second.locator("#consent_data").wait_for()
    for name in ("consents", "passkey", "email", "pin", "phone"):
        await answer(first, name)
    await first.locator("#code").wait_for()
    await second.reload()
    for tab in tabs:
        await tab.fill("#code", "000000")
    await first.click("#form button.main")
    await first.wait_for_url(f"**{BACK}")
    await second.click("#form button.main")
    await second.locator("a.main.button").wait_for()
    assert await second.locator("h1").text_content() == "This link was used"
    assert len(await browsed.api.read("/events?EventType=SCA_ENROLLMENT_SUCCEEDED")) == 1
    await context.close()


async def test_it_expires_under_the_fingers(browsed: BrowsedSandbox) -> None:
    page = await browsed.browser.new_page(viewport=PHONE)
    made = await owner(browsed.api)
    await page.goto(browsed.page_of(made))
    await page.check("#terms")
    await browsed.api.advance(601)
    await page.click("#form button.main")
    await page.locator("a.main.button").wait_for()
    assert await page.locator("h1").text_content() == "This link has expired"
    await page.click("a.main")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(made) == "PENDING_USER_ACTION"


@pytest.mark.parametrize(("way", "status"), [("succeed", "ACTIVE"), ("fail", "PENDING_USER_ACTION"), ("", "")])
async def test_testers_end_it_at_once(browsed: BrowsedSandbox, way: str, status: str) -> None:
    page = await browsed.browser.new_page(viewport=PHONE)
    made = await owner(browsed.api)
    await page.goto(browsed.page_of(made))
    await page.click(f'button[value="{way}"]' if way else "a.way")
    await page.wait_for_url(f"**{BACK}")
    assert await browsed.status(made) == (status or "PENDING_USER_ACTION")
    assert len((await browsed.api.control("GET", "/sca"))["sessions"]) == (0 if way else 1)
