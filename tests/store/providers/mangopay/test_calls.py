"""What the adapter asks and how it reads the answers."""

import datetime as dt
import json
from dataclasses import replace

import httpx
import pytest

from schema.payment_method import PaymentMethod
from store.providers.actions import ActionKind, UserAction
from store.providers.base import PaymentProvider
from store.providers.errors import Declined, ProviderNotFound, TransientError
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.mangopay.results import failure_reason
from store.providers.money import MinorAmount
from store.providers.transactions import (
    CardRefundRequest,
    Failure,
    FailureReason,
    Payer,
    TransactionKind,
    TransactionStatus,
)
from tests.store.providers.mangopay.account import CREATED, PAYMENT, REFUND, Account, Answer, ok, payin, refund

MOMENT = dt.datetime.fromtimestamp(CREATED, dt.UTC)


def test_it_is_a_payment_provider(account: Account) -> None:
    provider: PaymentProvider = account.adapter
    assert provider.name == "mangopay"


async def test_a_payer_is_made_without_terms_or_identity(account: Account) -> None:
    route = account.on("POST", "/sca/users/natural", ok({"Id": "user_m_1", "UserStatus": "ACTIVE"}))
    key = new_idempotency_key()
    assert (
        await account.adapter.create_payer(
            Payer("Ana", "Puig", "ana@example.com"), "buyer-1", key=key, sent_at=account.clock.now()
        )
        == "user_m_1"
    )
    request = route.calls.last.request
    assert request.headers["Idempotency-Key"] == key
    assert request.headers["Authorization"] == "Bearer token-1"
    assert json.loads(request.content) == {
        "FirstName": "Ana",
        "LastName": "Puig",
        "Email": "ana@example.com",
        "UserCategory": "PAYER",
        "TermsAndConditionsAccepted": False,
        "Tag": "buyer-1",
    }


async def test_a_wallet_has_one_owner_and_one_currency(account: Account) -> None:
    route = account.on("POST", "/wallets", ok({"Id": "wlt_m_1"}))
    assert (
        await account.adapter.open_wallet(
            "user_m_1", "EUR", "Partner 7", key=new_idempotency_key(), sent_at=account.clock.now()
        )
        == "wlt_m_1"
    )
    assert json.loads(route.calls.last.request.content) == {
        "Owners": ["user_m_1"],
        "Description": "Partner 7",
        "Currency": "EUR",
    }


async def test_a_wallet_is_found_by_its_reference(account: Account) -> None:
    account.on("POST", "/wallets", ok({"Id": "wlt_m_1"}))
    key, now = new_idempotency_key(), account.clock.now()
    await account.adapter.open_wallet("platform", "EUR", "Market", reference="ours", key=key, sent_at=now)
    listed = [{"Id": "wlt_m_9", "Tag": None}, {"Id": "wlt_m_1", "Tag": "ours"}]
    account.on("GET", "/users/platform/wallets", ok(listed))
    assert await account.adapter.find_wallet("platform", "ours") == "wlt_m_1"
    assert await account.adapter.find_wallet("platform", "theirs") is None


async def test_a_payment_is_started_on_the_hosted_page(account: Account) -> None:
    route = account.on("POST", "/payins/card/web", ok(payin()))
    started = await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert json.loads(route.calls.last.request.content) == {
        "AuthorId": "user_m_1",
        "CreditedWalletId": "wlt_m_1",
        "DebitedFunds": {"Currency": "EUR", "Amount": 1260},
        "Fees": {"Currency": "EUR", "Amount": 126},
        "ReturnURL": "https://shop.example/back/1",
        "CardType": "CB_VISA_MASTERCARD",
        "Culture": "FR",
        "SecureMode": "DEFAULT",
        "Tag": "order-1",
    }
    assert (started.id, started.kind, started.status) == (
        "payin_m_1",
        TransactionKind.PAYIN,
        TransactionStatus.PENDING,
    )
    assert (started.amount, started.fee) == (MinorAmount("EUR", 1260), MinorAmount("EUR", 126))
    assert (started.reference, started.payer_id, started.created_at) == ("order-1", "user_m_1", MOMENT)
    assert started.action == UserAction(
        ActionKind.HOSTED_PAYMENT, "https://provider.test/pay/abc", MOMENT + dt.timedelta(minutes=15)
    )
    assert (started.failure, started.executed_at, started.parent_id) == (None, None, None)


@pytest.mark.parametrize(("language", "culture"), [("en", "EN"), ("ca", "ES"), ("nl", "NL")])
async def test_the_page_speaks_the_buyers_language_or_the_nearest(
    account: Account, language: str, culture: str
) -> None:
    route = account.on("POST", "/payins/card/web", ok(payin()))
    await account.adapter.create_payment(
        replace(PAYMENT, language=language), key=new_idempotency_key(), sent_at=account.clock.now()
    )
    assert json.loads(route.calls.last.request.content)["Culture"] == culture


@pytest.mark.parametrize(
    ("method", "path", "language", "culture"),
    [
        (PaymentMethod.BANCONTACT, "bancontact", "nl", "NL"),
        (PaymentMethod.BANCONTACT, "bancontact", "it", "EN"),
        (PaymentMethod.BANCONTACT, "bancontact", "ca", "EN"),
        (PaymentMethod.IDEAL, "ideal", "nl", None),
    ],
)
async def test_pages_of_local_methods_have_fewer_languages(
    account: Account, method: PaymentMethod, path: str, language: str, culture: str | None
) -> None:
    route = account.on("POST", f"/payins/payment-methods/{path}", ok(payin()))
    request = replace(PAYMENT, method=method, language=language)
    await account.adapter.create_payment(request, key=new_idempotency_key(), sent_at=account.clock.now())
    assert json.loads(route.calls.last.request.content).get("Culture") == culture


@pytest.mark.parametrize(
    ("statement", "reference"), [("Café Chez Nous 24", "CafeChezNo"), ("Spa 7", "Spa7"), ("—", None), ("", None)]
)
async def test_the_bank_statement_shows_what_the_provider_lets_through(
    account: Account, statement: str, reference: str | None
) -> None:
    route = account.on("POST", "/payins/card/web", ok(payin()))
    await account.adapter.create_payment(
        replace(PAYMENT, statement=statement), key=new_idempotency_key(), sent_at=account.clock.now()
    )
    assert json.loads(route.calls.last.request.content).get("StatementDescriptor") == reference


async def test_a_decline_comes_as_a_success_that_failed(account: Account) -> None:
    declined = payin(Status="FAILED", ResultCode="101101", ResultMessage="Do not honor", RedirectURL=None)
    account.on("POST", "/payins/card/web", ok(declined))
    with pytest.raises(Declined) as told:
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    transaction = told.value.transaction
    assert (transaction.id, transaction.status, transaction.action) == ("payin_m_1", TransactionStatus.FAILED, None)
    assert transaction.failure == Failure("101101", "Do not honor", FailureReason.ISSUER_DECLINED)
    assert told.value.code == "101101"
    assert account.slept == []


async def test_a_refund_takes_fees_back_as_a_negative_amount(account: Account) -> None:
    route = account.on("POST", "/payins/payin_m_1/refunds", ok(refund()))
    done = await account.adapter.refund(REFUND, key=new_idempotency_key(), sent_at=account.clock.now())
    assert json.loads(route.calls.last.request.content) == {
        "AuthorId": "user_m_1",
        "DebitedFunds": {"Currency": "EUR", "Amount": 900},
        "Fees": {"Currency": "EUR", "Amount": -100},
        "Tag": "refund-1",
    }
    assert (done.kind, done.status, done.parent_id) == (
        TransactionKind.REFUND,
        TransactionStatus.SUCCEEDED,
        "payin_m_1",
    )
    assert (done.amount, done.fee) == (MinorAmount("EUR", 1000), MinorAmount("EUR", 100))
    assert done.executed_at == MOMENT + dt.timedelta(seconds=5)


async def test_a_refused_refund_is_a_decline_that_says_why(account: Account) -> None:
    account.on("POST", "/payins/payin_m_1/refunds", ok(refund(Status="FAILED", ResultCode="005407")))
    with pytest.raises(Declined) as told:
        await account.adapter.refund(REFUND, key=new_idempotency_key(), sent_at=account.clock.now())
    assert told.value.transaction.failure == Failure("005407", "Success", FailureReason.REFUND_REPEATED)


async def test_a_refund_in_another_currency_is_not_even_sent(account: Account) -> None:
    mixed = CardRefundRequest("refund-1", "payin_m_1", "user_m_1", MinorAmount("EUR", 1000), MinorAmount("JPY", 100))
    with pytest.raises(ValueError, match="EUR and JPY"):
        await account.adapter.refund(mixed, key=new_idempotency_key(), sent_at=account.clock.now())
    assert account.token.call_count == 0


async def test_a_transaction_is_read_from_where_its_kind_lives(account: Account) -> None:
    account.on("GET", "/payins/payin_m_1", ok(payin(Status="SUCCEEDED", ExecutionDate=CREATED + 60)))
    account.on("GET", "/refunds/refund_m_1", ok(refund()))
    paid = await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert (paid.status, paid.action) == (TransactionStatus.SUCCEEDED, None)
    assert paid.executed_at == MOMENT + dt.timedelta(minutes=1)
    given = await account.adapter.get_transaction(TransactionKind.REFUND, "refund_m_1")
    assert given.id == "refund_m_1"


@pytest.mark.parametrize("code", [None, "001030", "001032"])
async def test_an_open_payment_may_carry_a_code_and_is_pending_all_the_same(account: Account, code: str | None) -> None:
    account.on("GET", "/payins/payin_m_1", ok(payin(ResultCode=code)))
    read = await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert (read.status, read.failure) == (TransactionStatus.PENDING, None)


async def test_a_failed_transaction_that_is_read_is_an_answer_and_not_an_error(account: Account) -> None:
    failed = payin(Status="FAILED", ResultCode="424242", ResultMessage="New one", ExecutionDate=CREATED)
    account.on("GET", "/payins/payin_m_1", ok(failed))
    read = await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert read.failure == Failure("424242", "New one", FailureReason.UNKNOWN)
    assert read.executed_at is None


async def test_a_status_that_is_new_to_us_is_read_again_later(account: Account) -> None:
    account.on("GET", "/payins/payin_m_1", ok(payin(Status="UNDER_REVIEW", RedirectURL=None)))
    read = await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert (read.status, read.action) == (TransactionStatus.PENDING, None)


@pytest.mark.parametrize("id", ["", ".", ".."])
async def test_what_cannot_be_an_id_names_nothing(account: Account, id: str) -> None:
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_transaction(TransactionKind.PAYIN, id)
    assert account.token.call_count == 0


async def test_an_id_never_leaves_its_place_in_the_address(account: Account) -> None:
    account.routes.route().mock(httpx.Response(404, json={}))
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "../hooks?x=1")
    assert account.routes.calls.last.request.url.raw_path.endswith(b"/payins/..%2Fhooks%3Fx%3D1")


async def test_refunds_of_a_payment_are_read_page_after_page(account: Account) -> None:
    path = "/payins/payin_m_1/refunds"
    first = account.on("GET", path, ok([refund(Id="a"), refund(Id="b")], X_Number_Of_Pages="2"), page="1")
    second = account.on("GET", path, ok([refund(Id="c", Status="FAILED")], X_Number_Of_Pages="2"), page="2")
    refunds = await account.adapter.list_children(TransactionKind.PAYIN, "payin_m_1")
    assert [each.id for each in refunds] == ["a", "b", "c"]
    assert (first.call_count, second.call_count) == (1, 1)
    assert first.calls.last.request.url.params["Sort"] == "CreationDate:ASC"


async def test_without_a_count_of_pages_a_page_that_is_not_full_is_the_last(account: Account) -> None:
    path = "/payins/payin_m_1/refunds"
    account.on("GET", path, ok([refund(Id=f"r{number}") for number in range(100)]), page="1")
    account.on("GET", path, ok([]), page="2")
    assert len(await account.adapter.list_children(TransactionKind.PAYIN, "payin_m_1")) == 100


@pytest.mark.parametrize("answer", [ok({"Id": "r1"}), ok(None), ok([{}]), ok(["r1"])])
async def test_what_is_no_list_of_refunds_is_not_taken_for_an_empty_one(account: Account, answer: Answer) -> None:
    account.on("GET", "/payins/payin_m_1/refunds", answer)
    with pytest.raises(TransientError):
        await account.adapter.list_children(TransactionKind.PAYIN, "payin_m_1")


async def test_a_refund_has_no_children(account: Account) -> None:
    assert await account.adapter.list_children(TransactionKind.REFUND, "refund_m_1") == []
    assert account.token.call_count == 0


@pytest.mark.parametrize(
    "answer",
    [
        ok(payin(DebitedFunds={"Currency": "EUR", "Amount": 12.5})),
        ok(payin(DebitedFunds={"Currency": "EUR", "Amount": 1260.0})),
        ok(payin(DebitedFunds={"Currency": "EUR", "Amount": "1260"})),
        ok(payin(CreationDate=None)),
        ok({}),
        ok([]),
        httpx.Response(200, text="<html>maintenance</html>"),
        httpx.Response(200, text='{"Id": "pay'),
    ],
)
async def test_an_answer_that_is_not_what_was_asked_for_is_never_believed(
    account: Account, answer: httpx.Response
) -> None:
    route = account.on("GET", "/payins/payin_m_1", answer)
    with pytest.raises(TransientError):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert route.call_count == 5


REASONS = {
    FailureReason.ISSUER_DECLINED: "101101 101103 101199",
    FailureReason.LIMIT: "101102 101104 101112 101115",
    FailureReason.CARD_INVALID: "101105 101106 101410 105101 105102 105103 105104 105202 105203 105204 105205 105206",
    FailureReason.AUTHENTICATION_FAILED: "101301 101302 101303 101304 101399",
    FailureReason.CANCELLED_BY_BUYER: "001031 101002",
    FailureReason.EXPIRED: "001030 001032 001033 001034 101001 101109 121009",
    FailureReason.VELOCITY: "101111 101113 101116 101118 008505",
    FailureReason.FRAUD_REFUSED: "008001 008002 008007 008500 008600 008700 008999 008123 121005",
    FailureReason.PROVIDER_TECHNICAL: "009101 009103 009199 009499 009999 001999 121008 121999 130006 130011",
    FailureReason.ALREADY_REFUNDED: "001401",
    FailureReason.REFUND_TOO_LATE: "001403",
    FailureReason.REFUND_OVER_AMOUNT: "005403",
    FailureReason.REFUND_OVER_FEE: "005404",
    FailureReason.FEE_WALLET_EMPTY: "005405",
    FailureReason.REFUND_REPEATED: "005407",
    FailureReason.DISPUTED: "005408",
    FailureReason.ALREADY_SETTLED: "003012",
    FailureReason.INSUFFICIENT_WALLET: "001001 121003",
    FailureReason.WRONG_OWNER: "001002 121002 121007",
    FailureReason.AMOUNT: "001011 001012 001013 001014",
    FailureReason.CATEGORY: "002701",
    FailureReason.KYC_REQUIRED: "002704 002951 002996 002997 002998 002999",
    FailureReason.TRANSFER_AUTHENTICATION: "007101 007102",
    FailureReason.BANK_ACCOUNT: "121006 121012 121018 121019 121030",
    FailureReason.PAYOUT_REFUSED: "121001 121004 121010",
    FailureReason.UNKNOWN: "000000 424242 1011 101100 101107",
}


@pytest.mark.parametrize(
    ("code", "meaning"), [(code, word) for word, codes in REASONS.items() for code in codes.split()]
)
def test_every_result_code_has_a_word_of_ours(code: str, meaning: FailureReason) -> None:
    assert failure_reason(code) is meaning


def test_every_word_has_a_code() -> None:
    assert set(REASONS) == set(FailureReason)


def test_notifications_without_a_secret_are_not_an_option() -> None:
    with pytest.raises(ValueError, match="secret"):
        Mangopay(base_url="https://provider.test", client_id="shop", api_key="key", hook_secret="")
