"""A browser without a mouse."""

import pytest
from playwright.async_api import Locator

from tests.browser.customer import Customer

VISIBLE_FOCUS = """() => {
  const seen = element => {
    const style = getComputedStyle(element);
    return parseFloat(style.outlineWidth) >= 2 && style.outlineStyle !== 'none';
  };
  const focused = document.activeElement;
  if (focused === document.body) return true;
  const box = focused.getBoundingClientRect();
  const there = box.width > 0 && box.bottom > 0 && box.top < innerHeight;
  return there && (seen(focused) || seen(focused.closest('.choice') ?? focused));
}"""


class Keyboard:
    """A customer who touches nothing but the keyboard, and has to see where the focus is."""

    def __init__(self, customer: Customer) -> None:
        self.customer = customer
        self.page = customer.page

    async def to(self, target: Locator) -> None:
        """Press Tab until something has the focus; on the way and there, the focus can be seen."""
        await target.first.wait_for()
        for _ in range(120):
            if await target.evaluate_all("found => found.includes(document.activeElement)"):
                return
            await self.page.keyboard.press("Tab")
            assert await self.page.evaluate(VISIBLE_FOCUS), await self.page.evaluate(
                "document.activeElement.outerHTML.slice(0, 200)"
            )
        pytest.fail(f"the keyboard does not reach {target}")

    async def press(self, target: Locator, key: str = "Enter") -> None:
        """Go to something and press a key."""
        await self.to(target)
        await self.page.keyboard.press(key)

    async def type(self, selector: str, value: str) -> None:
        """Go to a field and type."""
        await self.to(self.page.locator(selector))
        await self.page.keyboard.press("ControlOrMeta+A")
        await self.page.keyboard.type(value)
