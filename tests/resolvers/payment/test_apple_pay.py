"""Apple's validation of a shop, as an operation."""

import httpx
import pytest

from resolvers.payment import apple_pay
from schema.core.errors import InvalidInput, NotFound, ProviderFailed
from tests.fixtures.shop import Shop
from tests.funnel.wallets import GATEWAY, Apple


@pytest.fixture
async def taking(shop: Shop) -> Shop:
    """A shop that takes Apple Pay."""
    await shop.execute("UPDATE partner SET payment_methods = '{card,apple_pay}'")
    return shop


async def test_nobody_but_apple_is_asked(taking: Shop) -> None:
    with pytest.raises(InvalidInput):
        await apple_pay.open_apple_pay_session(taking.context, "https://example.net/", "shop.example")


async def test_an_installation_without_a_certificate(taking: Shop) -> None:
    with pytest.raises(ProviderFailed):
        await apple_pay.open_apple_pay_session(taking.context, GATEWAY, "shop.example")


async def test_a_shop_that_does_not_take_it(shop: Shop) -> None:
    apple = Apple(shop, httpx.Response(200, json={}))
    with pytest.raises(NotFound):
        await apple_pay.open_apple_pay_session(shop.context, GATEWAY, "shop.example")
    assert apple.requests == []
