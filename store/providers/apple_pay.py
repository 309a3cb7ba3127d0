"""Apple's validation of a shop: the session that a browser needs before it shows the sheet of Apple Pay."""

from typing import Any

import httpx

from store.core.settings import Settings
from store.providers.mangopay.tls import ssl_context

GATEWAYS = frozenset(
    {
        *("apple-pay-gateway.apple.com", "cn-apple-pay-gateway.apple.com"),
        *("apple-pay-gateway-cert.apple.com", "cn-apple-pay-gateway-cert.apple.com"),
        *(f"apple-pay-gateway-{place}-pod{number}.apple.com" for place in ("nc", "pr") for number in range(1, 6)),
        *(f"cn-apple-pay-gateway-{place}-pod{number}.apple.com" for place in ("sh", "tj") for number in range(1, 4)),
    }
)
"""Apple's hosts; nothing else is called. Those with `cert` are for tests."""
PATH = "/paymentservices/"
"""What all of Apple's addresses begin with, after the host."""
LONGEST_NAME, LONGEST_URL, MOST_LOGGED = 64, 200, 300
TIMEOUT = 10.0
"""Seconds. The browser gives up after thirty."""


class NotApples(ValueError):
    """The address is none of Apple's."""


class MerchantRefused(Exception):
    """Apple did not answer, or refuses this merchant, its certificate or the host."""


class ApplePayMerchant:
    """The merchant at Apple. It calls Apple with its merchant identity certificate."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        """Raises ValueError if the certificate cannot be used."""
        self._id = settings.apple_pay_merchant_id
        certificate = settings.apple_pay_certificate
        self._http: httpx.AsyncClient | None = None
        if certificate is not None:
            verify = ssl_context(certificate) if transport is None else True
            self._http = httpx.AsyncClient(verify=verify, transport=transport, timeout=TIMEOUT)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def session(self, url: str, *, host: str, shop_name: str) -> dict[str, Any]:
        """The session for a page at `host`, which the browser gets unread. `url` is what the browser was told to ask.

        Raises NotApples and MerchantRefused.
        """
        gateway = _gateway(url)
        if self._http is None:
            raise MerchantRefused("Apple Pay is not configured.")
        asked = {
            "merchantIdentifier": self._id,
            "displayName": shop_name[:LONGEST_NAME],
            "initiative": "web",
            "initiativeContext": host.partition(":")[0],
        }
        try:
            answer = await self._http.post(gateway, json=asked)
            session = answer.json() if answer.is_success else None
        except (httpx.HTTPError, ValueError) as error:
            raise MerchantRefused(repr(error)) from error
        if not isinstance(session, dict):
            raise MerchantRefused(f"Status {answer.status_code}: {answer.text[:MOST_LOGGED]}")
        return session


def _gateway(url: str) -> httpx.URL:
    """The address, if it is https at one of Apple's hosts, at the default port and without credentials, below PATH. Raises
    NotApples.
    """
    try:
        gateway = httpx.URL(url[: LONGEST_URL + 1])
    except (httpx.InvalidURL, ValueError) as error:
        raise NotApples(url) from error
    is_apples = gateway.scheme == "https" and gateway.netloc.decode() in GATEWAYS and not gateway.userinfo
    is_plain = gateway.path.startswith(PATH) and ".." not in gateway.path and not (gateway.query or gateway.fragment)
    if len(url) > LONGEST_URL or not is_apples or not is_plain:
        raise NotApples(url)
    return gateway
