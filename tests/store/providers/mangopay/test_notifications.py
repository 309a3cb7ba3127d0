"""What is told of the adapter's calls: lines of the log without secrets, counts by what is called, and what is wrong by field."""

import asyncio
import contextlib

import httpx
import pytest
import structlog
from prometheus_client import REGISTRY

from store.providers.errors import InvalidRequest, ProviderError, ProviderNotFound
from store.providers.keys import new_idempotency_key
from store.providers.mangopay.calls import call_name_of
from store.providers.transactions import TransactionKind
from tests.store.providers.mangopay.account import PAYMENT, Account, Answer, ok, payin


async def test_a_call_is_logged_without_secrets(account: Account) -> None:
    account.on("POST", "/payins/card/web", ok(payin()))
    account.on("GET", "/payins/x", httpx.Response(404, json={"Id": "support-7"}))
    with structlog.testing.capture_logs() as lines:
        key = new_idempotency_key()
        await account.adapter.create_payment(PAYMENT, key=key, sent_at=account.clock.now())
        with pytest.raises(ProviderNotFound) as told:
            await account.adapter.get_transaction(TransactionKind.PAYIN, "x")
    assert told.value.request_id == "support-7"
    calls = [line for line in lines if line["event"] == "provider call"]
    assert [(call["method"], call["path"], call["status"], call["outcome"]) for call in calls] == [
        ("POST", "/payins/card/web", 200, "ok"),
        ("GET", "/payins/x", 404, "refused"),
    ]
    assert calls[0]["idempotency_key"] == key
    assert calls[1]["provider_request_id"] == "support-7"
    assert all(call["ms"] >= 0 and call["log_level"] == "info" for call in calls)
    written = str(lines)
    assert not any(
        secret in written for secret in ("token-1", "api-key-of-shop", "s3cret-of-hooks", "provider.test/pay")
    )


async def test_a_call_given_up_when_the_program_stops_is_no_failure_of_the_provider(account: Account) -> None:
    def stop(_request: httpx.Request) -> httpx.Response:
        raise asyncio.CancelledError

    account.on("GET", "/payins/x", stop)
    with structlog.testing.capture_logs() as lines, pytest.raises(asyncio.CancelledError):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "x")
    [call] = [line for line in lines if line["event"] == "provider call"]
    assert (call["outcome"], call["log_level"]) == ("given_up", "info")


async def test_calls_are_counted_by_what_they_are_and_not_by_ids(account: Account) -> None:
    def count_calls(call: str, outcome: str) -> float:
        return REGISTRY.get_sample_value("coffret_provider_calls_total", {"call": call, "outcome": outcome}) or 0

    outcomes: dict[str, Answer] = {
        "ok": ok(payin()),
        "refused": httpx.Response(404, json={}),
        "failed": httpx.Response(503),
        "interrupted": httpx.ReadTimeout,
        "not_sent": httpx.ConnectError,
    }
    for outcome, answer in outcomes.items():
        account.on("GET", "/payins/anything", answer)
        before = count_calls("GET /payins/{id}", outcome)
        with contextlib.suppress(ProviderError):
            await account.adapter.get_transaction(TransactionKind.PAYIN, "anything")
        assert count_calls("GET /payins/{id}", outcome) > before, outcome
    assert call_name_of("GET", "/payins/xx/refunds") == "GET /payins/{id}/refunds"
    seconds = REGISTRY.get_sample_value("coffret_provider_call_seconds_count", {"call": "GET /payins/{id}"})
    assert seconds is not None
    assert seconds >= len(outcomes)


@pytest.mark.parametrize(
    "call",
    [
        "POST /sca/users/natural",
        "POST /sca/users/legal",
        "PUT /sca/users/legal/{id}",
        "POST /sca/users/{id}/enrollment",
        "GET /sca/users/{id}/sca-status",
        "GET /users/{id}/Regulatory",
        "GET /users/{id}/identity-verifications",
        "GET /identity-verifications/{id}",
        "POST /users/{id}/kyc/documents/{id}/pages",
        "GET /kyc/documents/{id}",
        "POST /users/{id}/recipients",
        "PUT /recipients/{id}",
        "GET /wallets/{id}",
        "GET /clients/wallets",
        "GET /disputes",
        "PUT /disputes/{id}/submit",
        "PUT /disputes/{id}/close",
        "POST /disputes/{id}/documents/{id}/pages",
        "GET /dispute-documents/{id}",
        "GET /payins/{id}/disputes",
        "GET /repudiations/{id}",
        "POST /repudiations/{id}/settlementtransfer",
        "GET /settlements/{id}",
        "POST /transfers",
        "GET /transfers/{id}/refunds",
        "PUT /identity-verifications/{id}/pscs/{id}/retry",
        "POST /payins/card/web",
        "POST /payins/{id}/refunds",
        "GET /refunds/{id}",
        "GET /responses/{id}",
        "PUT /hooks/{id}",
        "GET /events",
    ],
)
def test_every_call_has_a_name_of_its_own_and_ids_have_none(call: str) -> None:
    method, path = call.split()
    assert call_name_of(method, path.replace("{id}", "user_m_01")) == call


async def test_an_invalid_request_names_the_fields(account: Account) -> None:
    body = {"Message": "Wrong", "Type": "param_error", "errors": {"CreditedWalletId": "is required"}}
    account.on("POST", "/wallets", httpx.Response(400, json=body))
    with pytest.raises(InvalidRequest) as told:
        await account.adapter.open_wallet(
            "user_m_1", "EUR", "Partner 7", key=new_idempotency_key(), sent_at=account.clock.now()
        )
    assert told.value.fields == {"CreditedWalletId": "is required"}
