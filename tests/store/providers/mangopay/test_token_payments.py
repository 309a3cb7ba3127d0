"""Payments by the token of a card in Apple Pay or Google Pay: what the adapter sends, and what comes of it."""

import datetime as dt
import json
from dataclasses import replace

import pytest

from schema.payment_method import PaymentMethod
from store.providers.actions import ActionKind, UserAction
from store.providers.errors import Declined
from store.providers.keys import new_idempotency_key
from store.providers.transactions import FailureReason, Transaction, TransactionStatus
from tests.store.providers.mangopay.account import CREATED, PAYMENT, TOKEN_OF_CARD, Account, ok, payin

APPLE = replace(PAYMENT, method=PaymentMethod.APPLE_PAY, token=TOKEN_OF_CARD, statement="Spa 7")
GOOGLE = replace(APPLE, method=PaymentMethod.GOOGLE_PAY)
APPLE_PATH, GOOGLE_PATH = "/payins/applepay/direct", "/payins/payment-methods/googlepay"
SENT_ALWAYS = {
    "AuthorId": "user_m_1",
    "CreditedWalletId": "wlt_m_1",
    "DebitedFunds": {"Currency": "EUR", "Amount": 1260},
    "Fees": {"Currency": "EUR", "Amount": 126},
    "Tag": "order-1",
    "StatementDescriptor": "Spa7",
}


async def pay(account: Account, request: object = GOOGLE) -> Transaction:
    return await account.adapter.create_payment(
        request,  # type: ignore[arg-type]
        key=new_idempotency_key(),
        sent_at=account.clock.now(),
    )


async def test_the_token_of_apple_pay(account: Account) -> None:
    done = payin(Status="SUCCEEDED", PaymentType="APPLEPAY", ExecutionType="DIRECT", RedirectURL=None)
    route = account.on("POST", APPLE_PATH, ok(done | {"ExecutionDate": CREATED + 1}))
    paid = await pay(account, APPLE)
    assert (paid.status, paid.action) == (TransactionStatus.SUCCEEDED, None)
    assert json.loads(route.calls.last.request.content) == SENT_ALWAYS | {
        "PaymentData": {"TransactionId": "061EB32181A2D9CA", "Network": "MASTERCARD", "TokenData": TOKEN_OF_CARD.data}
    }


async def test_the_token_of_google_pay_and_the_browser(account: Account) -> None:
    done = payin(Status="SUCCEEDED", PaymentType="GOOGLE_PAY", ExecutionType="DIRECT", RedirectURL=None)
    route = account.on("POST", GOOGLE_PATH, ok(done | {"SecureModeNeeded": False, "SecureModeRedirectURL": None}))
    paid = await pay(account)
    assert (paid.status, paid.action) == (TransactionStatus.SUCCEEDED, None)
    assert json.loads(route.calls.last.request.content) == SENT_ALWAYS | {
        "PaymentData": TOKEN_OF_CARD.data,
        "SecureMode": "DEFAULT",
        "SecureModeReturnURL": "https://shop.example/back/1",
        "ReturnURL": "https://shop.example/back/1",
        "IpAddress": "192.0.2.7",
        "BrowserInfo": {
            "AcceptHeader": "*/*",
            "JavaEnabled": False,
            "JavascriptEnabled": True,
            "Language": "fr-FR",
            "ColorDepth": 24,
            "ScreenHeight": 844,
            "ScreenWidth": 390,
            "TimeZoneOffset": "-120",
            "UserAgent": "Mozilla/5.0",
        },
    }


async def test_the_page_of_the_bank(account: Account) -> None:
    url = "https://provider.test/3ds/abc"
    account.on("POST", GOOGLE_PATH, ok(payin(RedirectURL=None, SecureModeNeeded=True, SecureModeRedirectURL=url)))
    started = await pay(account)
    until = dt.datetime.fromtimestamp(CREATED, dt.UTC) + dt.timedelta(minutes=15)
    assert started.status is TransactionStatus.PENDING
    assert started.action == UserAction(ActionKind.HOSTED_PAYMENT, url, until)


@pytest.mark.parametrize(("request_", "path"), [(APPLE, APPLE_PATH), (GOOGLE, GOOGLE_PATH)])
async def test_a_declined_card(account: Account, request_: object, path: str) -> None:
    account.on("POST", path, ok(payin(Status="FAILED", ResultCode="101102", RedirectURL=None)))
    with pytest.raises(Declined) as told:
        await pay(account, request_)
    failure = told.value.transaction.failure
    assert failure is not None
    assert failure.reason is FailureReason.LIMIT


def test_nothing_shows_the_token() -> None:
    for shown in (repr(APPLE), str(GOOGLE), repr(TOKEN_OF_CARD)):
        assert "secret-of-the-card" not in shown
        assert "192.0.2.7" not in shown
