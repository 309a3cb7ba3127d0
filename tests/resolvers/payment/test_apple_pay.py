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


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://example.net/",
        "http://apple-pay-gateway.apple.com/paymentservices/startSession",
        "https://apple-pay-gateway.apple.com.example.net/paymentservices/startSession",
        "https://apple-pay-gateway.apple.com@example.net/paymentservices/startSession",
        "https://user@apple-pay-gateway.apple.com/paymentservices/startSession",
        "https://apple-pay-gateway.apple.com:8443/paymentservices/startSession",
        "https://apple-pay-gateway.apple.com:port/paymentservices/startSession",
        "https://apple-pay-gateway.apple.com/",
        "https://apple-pay-gateway.apple.com/elsewhere/startSession",
        "https://apple-pay-gateway.apple.com/paymentservices/../elsewhere",
        "https://apple-pay-gateway.apple.com/paymentservices/startSession\x00",
        f"{GATEWAY}?host=example.net",
        f"{GATEWAY}#part",
        f"{GATEWAY}{'n' * 200}",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1",
        "https://xn--0/paymentservices/startSession",
        "file:///etc/passwd",
    ],
)
async def test_nobody_but_apple_is_asked(taking: Shop, url: str) -> None:
    apple = Apple(taking, httpx.Response(200, json={}))
    with pytest.raises(InvalidInput):
        await apple_pay.open_apple_pay_session(taking.context, url, "shop.example")
    assert apple.requests == []


async def test_an_installation_without_a_certificate(taking: Shop) -> None:
    with pytest.raises(ProviderFailed):
        await apple_pay.open_apple_pay_session(taking.context, GATEWAY, "shop.example")


async def test_a_shop_that_does_not_take_it(shop: Shop) -> None:
    apple = Apple(shop, httpx.Response(200, json={}))
    with pytest.raises(NotFound):
        await apple_pay.open_apple_pay_session(shop.context, GATEWAY, "shop.example")
    assert apple.requests == []
