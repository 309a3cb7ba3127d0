"""Apple Pay and Google Pay on a page: what its script asks the browser for, and what it sends."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from funnel.core.page_request import client_ip_of
from funnel.core.pages import HEADERS
from schema.checkout.checkout import PaymentAttemptStatus
from schema.core.errors import MalformedBody
from schema.payment_method import BuyerBrowser, CardToken, PaymentMethod
from store.core.settings import Settings

GOOGLE_METHOD = "https://google.com/pay"
"""Google Pay's name in the browser's own Payment Request."""
GOOGLE_SOURCES = (
    "https://google.com/pay https://www.google.com/pay https://pay.google.com https://www.gstatic.com/instantbuy/"
)
"""Where the browser itself reads what Google Pay is: Chrome applies the page's policy to that."""
APPLE_DOMAIN_PATH = "/.well-known/apple-developer-merchantid-domain-association"
COLOR_DEPTHS = (1, 4, 8, 15, 16, 24, 32, 48)
"""Bits per pixel, as 3-D Secure lists them."""
LONGEST_TOKEN, LONGEST_TEXT, LARGEST_NUMBER = 16_384, 255, 100_000
RESULTS = {PaymentAttemptStatus.COMPLETED: "success", PaymentAttemptStatus.WAITING: "unknown"}
"""What the browser's sheet shows at its end. Anything else has failed."""


@dataclass(frozen=True, slots=True)
class CardWallet:
    """A button for a method in BY_TOKEN, which a script shows where the browser can pay with it."""

    method: PaymentMethod
    asked: str
    """What the script asks the browser for, as JSON."""
    is_simulated: bool
    """The sandbox stands in for Apple and Google."""


def card_wallets(
    settings: Settings,
    methods: Sequence[PaymentMethod],
    *,
    shop_name: str,
    country: str,
    currency: str,
    amount: Decimal,
) -> tuple[CardWallet, ...]:
    """The buttons of a page on which `amount` is due. `country` is that of the shop; Apple Pay needs one."""
    asked: Mapping[PaymentMethod, dict[str, Any]] = {
        PaymentMethod.APPLE_PAY: _asked_of_apple(shop_name, country, currency, amount),
        PaymentMethod.GOOGLE_PAY: _asked_of_google(settings, shop_name, currency, amount),
    }
    offered = [method for method in methods if country or method is not PaymentMethod.APPLE_PAY]
    return tuple(
        CardWallet(method, json.dumps(asked[method]), method in settings.simulated_wallets) for method in offered
    )


def _asked_of_apple(shop_name: str, country: str, currency: str, amount: Decimal) -> dict[str, Any]:
    """An ApplePayPaymentRequest."""
    return {
        "countryCode": country,
        "currencyCode": currency,
        "supportedNetworks": ["visa", "masterCard"],
        "merchantCapabilities": ["supports3DS"],
        "total": {"label": shop_name, "type": "final", "amount": str(amount)},
    }


def _asked_of_google(settings: Settings, shop_name: str, currency: str, amount: Decimal) -> dict[str, Any]:
    """The arguments of a PaymentRequest: the methods and the details."""
    gateway = {
        "gateway": settings.google_pay_gateway,
        "gatewayMerchantId": settings.google_pay_gateway_merchant_id or settings.mangopay_client_id,
    }
    data = {
        "environment": settings.google_pay_environment,
        "apiVersion": 2,
        "apiVersionMinor": 0,
        "merchantInfo": {"merchantId": settings.google_pay_merchant_id, "merchantName": shop_name},
        "allowedPaymentMethods": [
            {
                "type": "CARD",
                "parameters": {
                    "allowedAuthMethods": ["PAN_ONLY", "CRYPTOGRAM_3DS"],
                    "allowedCardNetworks": ["MASTERCARD", "VISA"],
                },
                "tokenizationSpecification": {"type": "PAYMENT_GATEWAY", "parameters": gateway},
            }
        ],
    }
    total = {"label": shop_name, "amount": {"currency": currency, "value": str(amount)}}
    return {"methods": [{"supportedMethods": GOOGLE_METHOD, "data": data}], "details": {"total": total}}


def allow_card_wallets(response: Response, wallets: Sequence[CardWallet]) -> Response:
    """The page, whose script may ask the browser for a payment."""
    if wallets:
        response.headers["Permissions-Policy"] = HEADERS["Permissions-Policy"].replace("payment=()", "payment=(self)")
    if any(each.method is PaymentMethod.GOOGLE_PAY and not each.is_simulated for each in wallets):
        policy = HEADERS["Content-Security-Policy"]
        response.headers["Content-Security-Policy"] = policy.replace(
            "connect-src 'self'", f"connect-src 'self' {GOOGLE_SOURCES}"
        )
    return response


def read_token(request: Request, form: Mapping[str, str]) -> CardToken:
    """The token that the script sent, and the browser that it comes from. Raises MalformedBody."""
    try:
        token, browser = json.loads(form.get("token", "")), json.loads(form.get("browser", ""))
        return CardToken(
            data=_text(token["data"], LONGEST_TOKEN),
            transaction_id=_text(token.get("transactionId", ""), LONGEST_TEXT),
            network=_text(token.get("network", ""), LONGEST_TEXT),
            ip_address=client_ip_of(request),
            browser=BuyerBrowser(
                accept_header=request.headers.get("accept", "*/*")[:LONGEST_TEXT],
                user_agent=request.headers.get("user-agent", "")[:LONGEST_TEXT],
                language=_text(browser["language"], LONGEST_TEXT),
                color_depth=_color_depth(browser["colorDepth"]),
                screen_height=_number(browser["screenHeight"]),
                screen_width=_number(browser["screenWidth"]),
                time_zone_offset=_number(browser["timeZoneOffset"]),
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MalformedBody(reason="it has no token of a card") from error


def _text(value: object, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise ValueError("no text, or too long")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or abs(value) > LARGEST_NUMBER:
        raise ValueError("no number, or too large")
    return value


def _color_depth(value: object) -> int:
    """The next lower depth that the provider takes: browsers also say 30, for example."""
    return max((depth for depth in COLOR_DEPTHS if depth <= _number(value)), default=COLOR_DEPTHS[0])


def tell_script(url: str, status: PaymentAttemptStatus | None = None) -> Response:
    """The answer to the script: how the sheet ends, and the page that follows."""
    result = RESULTS.get(status, "fail") if status is not None else "fail"
    return JSONResponse({"result": result, "url": url}, headers={"Cache-Control": "no-store"})


def apple_pay_routes(settings: Settings) -> Sequence[Route]:
    """Where Apple reads that a host belongs to the merchant; nothing without Apple Pay. The file is read once."""
    if settings.apple_pay_domain_file is None:
        return ()
    text = settings.apple_pay_domain_file.read_text()

    async def serve(_request: Request) -> Response:
        return PlainTextResponse(text, headers={"X-Content-Type-Options": "nosniff"})

    return (Route(APPLE_DOMAIN_PATH, serve),)
