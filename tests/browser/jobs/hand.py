"""A hand that counts what it does."""

from pathlib import Path

from playwright.async_api import Locator, Page, expect

from tests.browser.jobs.effort import Effort


class Hand:
    """Clicks and types in the page of somebody, and counts it: to choose something is two clicks, to type begins with one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.texts: list[str] = []

    @property
    def effort(self) -> Effort:
        """What it has cost so far."""
        return Effort(self.clicks, len(self.texts), sum(map(len, self.texts)))

    async def menu(self, name: str, section: str = "") -> None:
        """Follow a link of the menu, which is open at a desktop; a section that is closed is opened first."""
        menu = self.page.locator("#menu")
        if section:
            await self.click(menu.locator("summary", has_text=section))
        await self.click(menu.get_by_role("link", name=name, exact=True))

    async def search(self, words: str) -> None:
        """Search everything: type into the box at the top and press Enter, which is one more key."""
        box = self.page.locator("#q")
        await self.type(box, words)
        await box.press("Enter")
        self.texts[-1] += "\n"

    async def row(self, name: str) -> None:
        """Follow the link of a row of a list."""
        await self.click(self.page.locator("main tbody").get_by_role("link", name=name).first)

    async def link(self, name: str) -> None:
        """Follow the first link of that name."""
        await self.click(self.page.locator("main").get_by_role("link", name=name).first)

    async def button(self, name: str) -> None:
        """Press a button."""
        await self.click(self.page.locator("main").get_by_role("button", name=name, exact=True).first)

    async def click(self, target: Locator) -> None:
        """Click on something."""
        await target.click()
        self.clicks += 1

    async def type(self, target: Locator, text: str) -> None:
        """Type into a field."""
        await target.fill(text)
        self.texts.append(text)

    async def choose(self, target: Locator, label: str) -> None:
        """Choose of a list: opened by one click, chosen by another."""
        await target.select_option(label=label)
        self.clicks += 2

    async def upload(self, target: Locator, file: Path) -> None:
        """Choose a file: one click for the field, two in the window of the computer."""
        await target.set_input_files(file)
        self.clicks += 3

    async def reads(self, text: str) -> None:
        """Wait until something can be read."""
        await expect(self.page.locator("main").get_by_text(text).first).to_be_visible()

    async def is_done(self, label: str) -> None:
        """Wait until the page says that a change was made."""
        await expect(self.page.get_by_role("status")).to_have_text(f"Done: {label}")
