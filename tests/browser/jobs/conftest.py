"""Staff at their first page, and orders that were paid."""

from collections.abc import Awaitable, Callable

import pytest

from schema.delivery.delivery import DeliveryKind
from tests.browser.conftest import NewCustomer
from tests.browser.customer import ADDRESS, Customer
from tests.browser.jobs.hand import Hand
from tests.browser.jobs.job_list import JOBS
from tests.browser.running_shop import Json, RunningShop
from tests.browser.test_back_office_home import log_in
from tests.fixtures.shop import GOOD_CARD

Begin = Callable[[str], Awaitable[Hand]]
BuySoap = Callable[[str, DeliveryKind], Awaitable[tuple[Customer, Json]]]


@pytest.fixture
def begin(shop: RunningShop, new_customer: NewCustomer) -> Begin:
    """Lets whoever has a job begin with it: at the first page, logged in."""

    async def begin(slug: str) -> Hand:
        page = (await new_customer()).page
        await log_in(page, shop, JOBS[slug].role.username)
        return Hand(page)

    return begin


@pytest.fixture
def buy_soap(shop: RunningShop, new_customer: NewCustomer) -> BuySoap:
    """Lets somebody of that last name buy three soaps; answers the buyer, who is at the order's page, and the order."""

    async def buy_soap(last_name: str, kind: DeliveryKind) -> tuple[Customer, Json]:
        buyer = await new_customer()
        soap = await shop.demo_product("Trio of garden soaps")
        cart = await shop.hand_over({"product_id": soap, "quantity": 3})
        await buyer.open(cart)
        await buyer.choose_delivery(kind, "FR" if kind is DeliveryKind.HOME_DELIVERY else "")
        await buyer.go_on()
        address = ADDRESS if kind is DeliveryKind.HOME_DELIVERY else {}
        await buyer.give_details(last_name=last_name, **address)
        await buyer.leave_to_pay()
        await buyer.pay_by(GOOD_CARD)
        await buyer.arrive("order")
        return buyer, await shop.order(cart)

    return buy_soap
