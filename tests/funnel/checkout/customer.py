"""A customer with a browser that runs no scripts."""

from collections.abc import Mapping
from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx

from tests.funnel.checkout.page import Element, fields_of, parsed


class Customer:
    """Opens pages, fills in forms, presses buttons. Follows redirects as long as they stay in the shop."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.response = httpx.Response(0)
        self.page = Element("", {})

    @property
    def path(self) -> str:
        """Where the customer is, with the query."""
        url = self.response.url
        return url.raw_path.decode()

    @property
    def step(self) -> str:
        """The last word of the path: `customization`, `payment`, …; `order` at the page of an order."""
        path = urlsplit(self.path).path
        return "order" if path.startswith("/orders/") else path.rstrip("/").rpartition("/")[2]

    @property
    def h1(self) -> str:
        """The title on the page."""
        return self.page.one("h1").text

    @property
    def errors(self) -> list[str]:
        """What the summary of errors says; without one, what stands at the fields."""
        summary = [link.text for box in self.page.all(id="errors") for link in box.all("a")]
        return summary or [told.text for told in self.page.all("p", class_="wrong")]

    @property
    def amounts(self) -> dict[str, str]:
        """The first sum on the page, line by line."""
        total = self.page.all("dl", class_="totals")[0]
        return {row.one("dt").text: row.one("dd").text for row in total.all("div")}

    async def open(self, url: str, **headers: str) -> Self:
        """Open an address."""
        return await self._follow(await self.http.get(url, headers=headers or None))

    def form(self, action: str) -> Element:
        """The form that is sent to an address beginning like this, of the content before those of the header."""
        forms = [form for part in self.page.all("main") for form in part.all("form")] + self.page.all("form")
        return next(form for form in forms if form.attributes["action"].startswith(action))

    async def send(
        self, action: str, changes: Mapping[str, str] | None = None, button: tuple[str, str] | None = None, **more: str
    ) -> Self:
        """Change fields of a form and press one of its buttons (name, value); browsers say where the form comes from."""
        form = self.form(action)
        data = fields_of(form, self.page) | dict(changes or {}) | more | (dict([button]) if button else {})
        url = urljoin(str(self.response.url), form.attributes["action"])
        return await self.post(url, data)

    async def post(self, url: str, data: Mapping[str, str], **headers: str) -> Self:
        """Send a form, as a browser of today does."""
        url_of_page = self.response.url
        told = {
            "Origin": f"{url_of_page.scheme}://{url_of_page.netloc.decode()}",
            "Sec-Fetch-Site": "same-origin",
        } | headers
        answer = await self.http.post(url, data=dict(data), headers=told)
        return await self._follow(answer)

    async def _follow(self, answer: httpx.Response) -> Self:
        seen = 0
        while answer.has_redirect_location:
            assert answer.status_code == 303 or (answer.status_code in {301, 308} and answer.request.method == "GET"), (
                answer.status_code
            )
            target = answer.url.join(answer.headers["location"])
            if target.host != answer.url.host:
                break
            seen += 1
            assert seen < 6, "redirects go round in circles"
            answer = await self.http.get(target.copy_with(fragment=None))
        self.response = answer
        if answer.headers.get("content-type", "").startswith("text/html"):
            self.page = parsed(answer.text)
        return self

    async def choose(self, cart_id: object, delivery_id: int, country: str = "", **changes: str) -> Self:
        """Open a cart, choose a delivery and continue."""
        await self.open(f"/ecommerce/shop/customization/?cart={cart_id}")
        where = {"delivery": str(delivery_id)} | ({"country": country} if country else {})
        return await self.send("/ecommerce/shop/customization/", where | changes, ("do", "continue"))

    async def identify(self, **changes: str) -> Self:
        """Say who buys and continue; an address where the page asks for one."""
        person = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
        home = {"address_line_1": "1 rue des Lilas", "postal_code": "75011", "city": "Paris", "country": "FR"}
        asked = self.page.all("input", id="city")
        return await self.send("/ecommerce/shop/information/", person | (home if asked else {}) | changes)

    async def press_pay(self) -> Self:
        """Press the button that pays."""
        return await self.send("/ecommerce/shop/payment/?")

    async def use_code(self, code: str) -> Self:
        """Add a coupon or a gift card."""
        form = self.page.one("input", id="code").inside("form")
        assert form is not None
        data = fields_of(form, self.page) | {"code": code}
        return await self.post(urljoin(str(self.response.url), form.attributes["action"]), data)

    @property
    def refresh(self) -> tuple[int, str]:
        """After how many seconds the page leads on, and where to; fails when it does not."""
        seconds, _, url = self.response.headers["refresh"].partition("; url=")
        return int(seconds), url
