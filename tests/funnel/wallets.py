"""An installation with accounts at Apple and Google, what a page's script sends there, and Apple."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from coffret.sandbox.app import of as sandbox_of
from schema.payment_method import PaymentMethod
from store.core.settings import Settings
from store.providers.apple_pay import ApplePayMerchant
from tests.fixtures.shop import GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.servers.production import production_settings

AppleFiles = dict[str, pathlib.Path]
SECRET = "what-nobody-may-keep"
"""A part of every token."""
BROWSER = {"language": "fr-FR", "colorDepth": 24, "screenHeight": 844, "screenWidth": 390, "timeZoneOffset": -120}
GATEWAY = "https://apple-pay-gateway.apple.com/paymentservices/startSession"


def wallet_settings(files: AppleFiles) -> Settings:
    """The settings of such an installation."""
    ids = {"apple_pay_merchant_id": "merchant.example", "google_pay_merchant_id": "BCR2DN4T"}
    return production_settings(payment_methods=list(PaymentMethod), **ids, **files)


def token_fields(method: str = "apple_pay", card: str = GOOD_CARD) -> dict[str, str]:
    """What the script sends beside the fields of the form."""
    token = {"data": json.dumps({"sandboxCard": card, "secret": SECRET})}
    if method == "apple_pay":
        token |= {"network": "Visa", "transactionId": "061EB32181A2D9CA"}
    return {"method": method, "token": json.dumps(token), "browser": json.dumps(BROWSER)}


async def answer_of(shop: Shop, path: str) -> Any:
    """The provider's stored answer to a token, sent to a path with this part."""
    read = "SELECT body FROM response WHERE url LIKE ?"
    return json.loads(await sandbox_of(shop.sandbox).run(lambda session: session.rows(read, f"%{path}%")[0]["body"]))


async def forget_answer(shop: Shop) -> str:
    """The provider's stored answer to a token of Apple Pay becomes inconclusive. Returns the id of the pay-in."""
    payin = await answer_of(shop, "applepay")
    spoil = "UPDATE response SET status = 500, body = '{}' WHERE url LIKE '%applepay%'"
    assert await sandbox_of(shop.sandbox).run(lambda session: session.change(spoil)) == 1
    return str(payin["Id"])


async def lose_answers(shop: Shop, *, charged: bool) -> None:
    """The answer to a token is lost, after or before it has charged the card, and cannot be looked up for now."""
    for fault in (
        {"method": "POST", "path": "/payins/applepay/direct", "kind": "drop", "when": "after" if charged else "before"}
        | {"times": 1 if charged else 50},
        {"method": "GET", "path": "/responses/*", "kind": "status", "status": 503, "times": 50},
    ):
        assert (await shop.control("POST", "/faults", fault)).status_code == 200


async def send_as_script(customer: Customer, url: str, fields: Mapping[str, str]) -> httpx.Response:
    """Send what the script of the present page sends."""
    page = urlsplit(str(customer.response.url))
    headers = {"Origin": f"{page.scheme}://{page.netloc}", "Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0"}
    return await customer.http.post(customer.response.url.join(url), data=dict(fields), headers=headers)


class Apple:
    """Apple's gateway, which the services of a shop reach."""

    def __init__(self, shop: Shop, answer: httpx.Response) -> None:
        self.answer = answer
        self.requests: list[httpx.Request] = []
        merchant = ApplePayMerchant(shop.services.settings, httpx.MockTransport(self._handle))
        object.__setattr__(shop.services, "apple_pay", merchant)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return self.answer
