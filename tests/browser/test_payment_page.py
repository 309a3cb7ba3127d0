"""The page of a payment link, in a browser: paid with a challenge, declined and tried again, over, paid already."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import NewCustomer
from tests.browser.customer import Customer
from tests.browser.running_shop import RunningShop
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD
from tests.servers.chromium import needs_chromium, sound

pytestmark = [*needs_chromium, pytest.mark.asyncio(loop_scope="session")]


async def link_to(shop: RunningShop, amount: float = 250.0, **more: Any) -> str:
    """Ask a customer for a payment, as a shop's server does; the address of its page."""
    body = {
        "partner_uuid": str(shop.partner.uuid),
        "amount": amount,
        "customer": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
        "language": "en",
        "reference": "B-2041",
        "description": "Deposit for your stay from 3 to 7 May",
        **more,
    }
    answer = await shop.http.post("/api/payment_requests/", json=body)
    assert answer.status_code == 201, answer.text
    url, _, rel = answer.headers["link"].partition("; ")
    assert rel == 'rel="payment"'
    return url.strip("<>")


async def press(customer: Customer) -> None:
    """Press the button that pays, and come to the provider."""
    await customer.page.click("main form button.main")
    await customer.arrive_at_provider()


async def test_a_card_with_a_challenge(shop: RunningShop, customer: Customer) -> None:
    url = await link_to(shop)
    before = await shop.charges()
    page = customer.page
    await page.goto(url)
    assert await customer.h1() == f"Your payment to {shop.partner.commercial_name}"
    await sound(page, "pay a request")
    await press(customer)
    await customer.pay_by(CHALLENGE_CARD)
    await customer.confirm()
    await customer.reach(url)
    assert await customer.h1() == "Thank you, it is paid"
    await sound(page, "paid")
    receipt = await page.get_attribute("main a.main", "href")
    assert receipt is not None
    assert (await page.request.get(f"{urlsplit(url).scheme}://{urlsplit(url).netloc}{receipt}")).ok
    await page.go_back()
    await page.goto(url)
    assert await customer.h1() == "Thank you, it is paid"
    assert await shop.charges() == before + 1
    await shop.check_ledger()


async def test_without_scripts_a_declined_card_is_replaced(shop: RunningShop, new_customer: NewCustomer) -> None:
    customer = await new_customer(390, scripts=False)
    url = await link_to(shop, 40.0, language="de")
    before = await shop.charges()
    await customer.page.goto(url)
    assert await customer.page.get_attribute("html", "lang") == "de"
    await press(customer)
    await customer.pay_by(DECLINED_CARD)
    await customer.reach(url)
    assert await customer.notes() == ["Ihre Zahlung wurde abgelehnt"]
    await press(customer)
    await customer.pay_by()
    await customer.reach(url)
    assert await shop.charges() == before + 1


async def test_a_declined_one_is_sound(shop: RunningShop, customer: Customer) -> None:
    url = await link_to(shop, 40.0)
    await customer.page.goto(url)
    await press(customer)
    await customer.page.goto(url)
    await sound(customer.page, "begun")
    await customer.page.click("main a.main")
    await customer.arrive_at_provider()
    await customer.pay_by(DECLINED_CARD)
    await customer.reach(url)
    await sound(customer.page, "declined")


async def test_two_tabs_charge_once(shop: RunningShop, customer: Customer) -> None:
    url = await link_to(shop, 15.0)
    before = await shop.charges()
    other = await customer.another_tab()
    await customer.page.goto(url)
    await other.page.goto(url)
    await press(customer)
    await press(other)
    await customer.pay_by()
    await customer.reach(url)
    await other.page.goto(url)
    assert await other.h1() == "Thank you, it is paid"
    assert await shop.charges() == before + 1


@pytest.mark.parametrize("state", ["expired", "cancelled"])
async def test_what_is_over_is_told(shop: RunningShop, customer: Customer, state: str) -> None:
    url = await link_to(shop, 15.0)
    over = (
        "UPDATE payment_request SET status = :state, expires_on = now() - interval '1 minute' WHERE link_token = :token"
    )
    await shop.execute(over, state=state, token=urlsplit(url).path.split("/")[2])
    await customer.page.goto(url)
    titles = {"expired": "This link has expired", "cancelled": "This payment was cancelled"}
    assert await customer.h1() == titles[state]
    await sound(customer.page, state)
