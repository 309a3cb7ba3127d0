"""A customer in a real browser: opens a cart, walks through the checkout, pays. Finds things by what they are, not by
their language."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Error, Locator, Page, Request, Response, WebError

from schema.delivery.delivery import DeliveryKind
from tests.browser.running_shop import Json, RunningShop
from tests.fixtures.shop import GOOD_CARD

DETAILS = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
ADDRESS = {"address_line_1": "1 rue des Lilas", "postal_code": "75011", "city": "Paris"}
ABROAD = ADDRESS | {"postal_code": "1000", "city": "Bruxelles"}


def _step_at(url: str) -> str:
    path = urlsplit(url).path
    return "order" if path.startswith("/orders/") else path.rstrip("/").rpartition("/")[2] or "shop"


@dataclass
class Watch:
    """What a browser does that no page of ours may make it do."""

    hosts: frozenset[str]
    problems: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def follow(self, context: BrowserContext) -> None:
        """Watch all pages of a browser context."""
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("console", self._console)
        context.on("weberror", self._error)

    def _request(self, request: Request) -> None:
        self.requested.append(request.url)
        if urlsplit(request.url).netloc not in self.hosts:
            self.problems.append(f"asks somebody else: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and not response.request.is_navigation_request():
            self.problems.append(f"{response.status} for {response.url}")

    def _console(self, message: ConsoleMessage) -> None:
        missing_page = message.type == "error" and message.text.startswith("Failed to load resource")
        if message.type in {"error", "warning"} and not missing_page:
            self.problems.append(f"console: {message.text}")

    def _error(self, error: WebError) -> None:
        self.problems.append(f"script: {error.error}")


class Customer:
    """Somebody with a browser tab; `another_tab` opens one more in the same browser."""

    def __init__(self, page: Page, shop: RunningShop, watch: Watch) -> None:
        self.page = page
        self.shop = shop
        self.watch = watch

    async def another_tab(self) -> "Customer":
        """The same customer, another tab."""
        return Customer(await self.page.context.new_page(), self.shop, self.watch)

    # ---- where the customer is

    @property
    def at(self) -> str:
        """The last word of the address: `customization`, `payment`, …; `shop` back there, `order` at its page."""
        return _step_at(self.page.url)

    async def h1(self) -> str:
        """The title on the page."""
        return (await self.page.locator("h1").inner_text()).strip()

    async def read_text(self, selector: str = "main") -> str:
        """What can be read there, with single blanks."""
        return " ".join((await self.page.locator(selector).inner_text()).split())

    async def notes(self) -> list[str]:
        """The titles of the notices and errors at the top."""
        return [title.strip() for title in await self.page.locator(".note h2").all_inner_texts()]

    # ---- the steps

    async def open(self, cart: Json) -> Self:
        """Follow the shop's link to the checkout."""
        await self.page.goto(cart["funnel_url"])
        return self

    async def choose_delivery(self, kind: DeliveryKind = DeliveryKind.CLICK_AND_COLLECT, country: str = "") -> None:
        """Choose how to receive it."""
        await self.page.check(f"#delivery-{self.shop.modes[kind]}")
        if country:
            await self.page.select_option("#country", country)

    async def go_on(self, to: str = "information") -> None:
        """Leave the first step."""
        await self.button("continue").click()
        await self.arrive(to)

    async def give_details(self, to: str = "payment", **fields: str) -> None:
        """Fill the second step in and leave it."""
        for name, value in (DETAILS | fields).items():
            await self.page.fill(f"#{name}", value)
        await self.page.click("form.column button.main:visible")
        await self.arrive(to)

    async def come_to_pay(self, cart: Json, kind: DeliveryKind = DeliveryKind.CLICK_AND_COLLECT) -> Self:
        """From the shop's link to the third step."""
        await self.open(cart)
        await self.choose_delivery(kind, "FR" if kind is DeliveryKind.HOME_DELIVERY else "")
        await self.go_on()
        await self.give_details(**(ADDRESS if kind is DeliveryKind.HOME_DELIVERY else {}))
        return self

    async def use(self, *codes: str) -> None:
        """Type coupons and gift cards in."""
        for code in codes:
            before = await self.page.locator(".applied li").count()
            await self.page.fill("#code", code)
            await self.press(self.page.locator(".add-code button"))
            assert await self.page.locator(".applied li").count() == before + 1, await self.read_text()

    @property
    def pay_button(self) -> Locator:
        """The button of the third step."""
        return self.page.locator("button.main[form=pay]:visible")

    async def leave_to_pay(self) -> None:
        """Press pay, with a card, and come to the provider's page."""
        if await self.page.locator("#method-card").count():
            await self.page.check("#method-card")
        await self.pay_button.click()
        await self.arrive_at_provider()

    # ---- at the provider

    async def pay_by(self, card: str = GOOD_CARD) -> None:
        """Choose a test card on the provider's page and pay with it."""
        await self.page.click(f'#cards a[href*="{card}"]')
        await self.reach(f"**/pay/*card={card}*")
        await self.page.click("form#card button.main")

    async def confirm(self, code: str = "000000") -> None:
        """Answer the bank's challenge."""
        await self.reach("**/challenge*")
        await self.page.fill("#code", code)
        await self.page.click("button[value=confirm]")

    # ---- pressing buttons, waiting for pages

    async def press(self, button: Locator) -> None:
        """Press something and wait for the page that follows."""
        async with self.page.expect_navigation():
            await button.click()

    def button(self, value: str) -> Locator:
        """A button of the first step, of those with this value the one that is shown."""
        return self.page.locator(f'button[name="do"][value="{value}"]:not(.sr):visible')

    async def reach(self, url: str | Callable[[str], bool]) -> None:
        """Wait for an address. A navigation that another one overtakes (a double click) is no failure of the wait."""
        while True:
            try:
                return await self.page.wait_for_url(url)
            except Error as error:
                if "ERR_ABORTED" not in error.message:
                    raise

    async def arrive(self, at: str) -> None:
        """Wait until the customer is at a step."""
        await self.reach(lambda url: _step_at(url) == at)

    async def arrive_at_provider(self) -> None:
        """Wait for the provider's page."""
        await self.reach("**/_provider/pay/*")

    async def arrive_in_shop(self, number: int | None = None) -> None:
        """Wait until the shop has its customer back, with the number of the order."""
        query = f"?order={number}" if number else "?order=*"
        await self.reach(self.shop.home + query)

    async def arrive_at_outcome(self) -> None:
        """Wait for the page that tells how a payment ended."""
        await self.reach("**/payment/return/**")
