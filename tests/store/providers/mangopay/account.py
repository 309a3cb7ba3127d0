"""An adapter wired to routes of ours instead of the network, and the bodies that the provider would answer."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import respx

from schema.payment_method import BuyerBrowser, CardToken
from store.core.clock import Clock
from store.providers.base import InboundWebhook
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.transactions import CardRefundRequest, PayinRequest

BASE = "https://provider.test/some/path"
ACCOUNT = f"{BASE}/v2.01/shop"
TOKEN = f"{BASE}/v2.01/oauth/token"
SECRET = "s3cret-of-hooks"
CREATED = 1_760_000_000

PAYMENT = PayinRequest(
    reference="order-1",
    payer_id="user_m_1",
    wallet_id="wlt_m_1",
    amount=MinorAmount("EUR", 1260),
    fee=MinorAmount("EUR", 126),
    return_url="https://shop.example/back/1",
    language="fr",
)
TOKEN_OF_CARD = CardToken(
    data='{"version":"EC_v1","data":"secret-of-the-card"}',
    transaction_id="061EB32181A2D9CA",
    network="MasterCard",
    ip_address="192.0.2.7",
    browser=BuyerBrowser(
        accept_header="*/*",
        user_agent="Mozilla/5.0",
        language="fr-FR",
        color_depth=24,
        screen_height=844,
        screen_width=390,
        time_zone_offset=-120,
    ),
)
REFUND = CardRefundRequest("refund-1", "payin_m_1", "user_m_1", MinorAmount("EUR", 1000), MinorAmount("EUR", 100))


Answer = httpx.Response | Callable[[httpx.Request], httpx.Response] | type[httpx.TransportError]


class Account:
    """The routes, the adapter, and how long the adapter would have slept."""

    def __init__(self, hook_secret: str = SECRET, *, alert_email: str = "") -> None:
        self.routes = respx.Router(assert_all_called=False)
        self.handler: Callable[[httpx.Request], Awaitable[httpx.Response]] = self.routes.async_handler
        """What answers the adapter's requests."""
        self.slept: list[float] = []
        self.while_asleep: Callable[[], object] = lambda: None
        """What happens while the adapter waits."""
        self.clock = Clock()
        self.token = self.routes.post(TOKEN).mock(side_effect=self._token)
        self.adapter = Mangopay(
            base_url=f"{BASE}/",
            client_id="shop",
            api_key="api-key-of-shop",
            hook_secret=hook_secret,
            alert_email=alert_email,
            transport=httpx.MockTransport(self._handle),
            clock=self.clock,
            sleep=self._sleep,
        )

    def on(self, method: str, path: str, *answers: Answer, **query: str) -> respx.Route:
        """Answer one call: by a response, a function of the request, or a transport error to raise.

        Several answers are given one after the other, the last one for ever.
        """
        route = self.routes.request(method, ACCOUNT + path, params__contains=query)
        left = list(answers)

        def next_answer(request: httpx.Request) -> httpx.Response:
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, type):
                raise answer("as the test wants it")
            if not isinstance(answer, httpx.Response):
                answer = answer(request)
            return httpx.Response(answer.status_code, content=answer.content, headers=answer.headers)

        return route.mock(side_effect=next_answer)

    def _token(self, request: httpx.Request) -> httpx.Response:
        number = self.token.call_count + 1
        return httpx.Response(200, json={"access_token": f"token-{number}", "token_type": "Bearer", "expires_in": 3600})

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.while_asleep()

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        return await self.handler(request)


def ok(body: object, **headers: str) -> httpx.Response:
    """A 200."""
    return httpx.Response(200, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def refusal(status: int, type: str = "", **more: Any) -> httpx.Response:
    """An error as the provider words it; its date is a float."""
    body = {"Message": f"About {type}", "Type": type, "Id": "5e83fbe8#1740580804", "Date": 1740581497.0, "errors": None}
    return httpx.Response(status, json=body | more)


KEY_NOT_KNOWN = refusal(400, "correlationid_not_found")
CONFLICT = refusal(409, "idempotent_creation_conflict")


def payin(**more: Any) -> dict[str, Any]:
    """A web card pay-in, open."""
    return {
        "Id": "payin_m_1",
        "Tag": "order-1",
        "CreationDate": CREATED,
        "AuthorId": "user_m_1",
        "CreditedUserId": "user_m_2",
        "CreditedWalletId": "wlt_m_1",
        "DebitedWalletId": None,
        "DebitedFunds": {"Currency": "EUR", "Amount": 1260},
        "CreditedFunds": {"Currency": "EUR", "Amount": 1134},
        "Fees": {"Currency": "EUR", "Amount": 126},
        "Status": "CREATED",
        "ResultCode": None,
        "ResultMessage": None,
        "ExecutionDate": None,
        "Type": "PAYIN",
        "Nature": "REGULAR",
        "PaymentType": "CARD",
        "ExecutionType": "WEB",
        "RedirectURL": "https://provider.test/pay/abc",
        "ReturnURL": "https://shop.example/back/1",
    } | more


def refund(**more: Any) -> dict[str, Any]:
    """A refund of 10.00, 1.00 of it out of the fees, done."""
    return {
        "Id": "refund_m_1",
        "Tag": "refund-1",
        "CreationDate": CREATED,
        "AuthorId": "user_m_1",
        "DebitedFunds": {"Currency": "EUR", "Amount": 900},
        "CreditedFunds": {"Currency": "EUR", "Amount": 1000},
        "Fees": {"Currency": "EUR", "Amount": -100},
        "Status": "SUCCEEDED",
        "ResultCode": "000000",
        "ResultMessage": "Success",
        "ExecutionDate": CREATED + 5,
        "Type": "PAYOUT",
        "Nature": "REFUND",
        "InitialTransactionId": "payin_m_1",
        "InitialTransactionType": "PAYIN",
        "RefundReason": {"RefundReasonType": "INITIALIZED_BY_CLIENT", "RefundReasonMessage": None},
    } | more


def kept_answer(resource: object, status: int = 200) -> dict[str, Any]:
    """The kept answer to a call; its status is text."""
    return {
        "StatusCode": str(status),
        "ContentLength": "471",
        "ContentType": "application/json; charset=utf-8",
        "Date": "Wed, 13 Jan 2016 22:25:56 GMT",
        "RequestURL": f"{ACCOUNT}/payins/card/web",
        "Resource": resource,
    }


def notification(path: str = f"/hooks/{SECRET}", method: str = "GET", **query: str) -> InboundWebhook:
    """A hook's call."""
    return InboundWebhook(method, path, "&".join(f"{name}={value}" for name, value in query.items()))
