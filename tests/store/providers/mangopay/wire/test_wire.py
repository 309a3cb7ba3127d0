"""The adapter against the table of the provider's wire: what it sends, and what it makes of every answer of the table."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

import httpx
import pytest

from store.providers.accounts import (
    AccountStatus,
    CheckStatus,
    DestinationStatus,
    DocumentType,
    KycLevel,
    LegalKind,
    OwnerCheckStatus,
    RefusalReason,
)
from store.providers.base import PaymentProvider, Subject
from store.providers.disputes import DisputeOutcome, DisputeStatus, DisputeType
from store.providers.errors import Declined, ProviderError, TransientError, UnknownOutcome
from store.providers.keys import new_idempotency_key
from store.providers.mangopay.hooks import EVENT_TYPES
from store.providers.mangopay.results import failure_reason, return_reason
from store.providers.transactions import FailureReason, TransactionKind, TransactionStatus
from tests.store.providers.mangopay.account import SECRET, Account, notification
from tests.store.providers.mangopay.wire import wire
from tests.store.providers.mangopay.wire.answered_by_table import BACK, KEY, OPERATIONS, Wire, account_of


@pytest.mark.parametrize("name", OPERATIONS)
async def test_what_is_sent_is_what_the_provider_takes(account: Account, name: str) -> None:
    operation, calls = OPERATIONS[name]
    answering = Wire(account, EventType="PAYIN_NORMAL_SUCCEEDED")
    await operation(account)
    assert answering.wrong == []
    assert answering.names == {*calls}
    for call, _, request in answering.requests:
        key = request.headers.get("Idempotency-Key", "")
        assert bool(re.fullmatch(wire.IDEMPOTENCY_KEY, key)) is (call.method == "POST")


def test_every_call_of_the_port_is_looked_at() -> None:
    calls = {name for name in dir(PaymentProvider) if not name.startswith("_")} - {
        "name",
        "read_webhook",
        "read_report",
        "aclose",
    }
    assert {name.partition(" ")[0] for name in OPERATIONS} == calls


@pytest.mark.parametrize("kind", LegalKind)
async def test_every_kind_of_account_is_one_of_the_provider(account: Account, kind: LegalKind) -> None:
    answering = Wire(account)
    await account.adapter.create_account(account_of(kind), return_url=BACK, key=KEY, sent_at=account.clock.now())
    await account.adapter.update_account("id-1", account_of(kind))
    assert answering.wrong == []


def test_the_types_of_documents_are_the_providers() -> None:
    assert [each.value for each in DocumentType] == list(wire.ENUMS["DocumentType"])


async def test_the_token_is_asked_for_as_the_table_says(account: Account) -> None:
    Wire(account)
    await account.adapter.get_account("id-1")
    request = account.token.calls.last.request
    assert str(request.url).endswith(wire.TABLE["token"]["path"])
    assert dict(parse_qsl(request.content.decode())) == wire.TABLE["token"]["form"]
    assert request.headers["Authorization"].startswith("Basic ")


OVER = (CheckStatus.EXPIRED, CheckStatus.UNKNOWN, CheckStatus.REFUSED)
"""What a session may count as whose end has no better word."""
MEANINGS: Mapping[str, Mapping[str, Sequence[object]]] = {
    "UserStatus": {
        "PENDING_USER_ACTION": (AccountStatus.ACTION_REQUIRED,),
        "ACTIVE": (AccountStatus.ACTIVE,),
        "CLOSED": (AccountStatus.CLOSED,),
        "NEWER": (AccountStatus.UNKNOWN,),
    },
    "IdentityStatus": {
        "PENDING": (CheckStatus.PENDING,),
        "VALIDATED": (CheckStatus.VALIDATED,),
        "REFUSED": (CheckStatus.REFUSED,),
        "REVIEW": (CheckStatus.IN_REVIEW,),
        "EXPIRED": (CheckStatus.EXPIRED,),
        "OUT_OF_DATE": (CheckStatus.OUTDATED,),
        "OUTDATED": (CheckStatus.OUTDATED,),
        "TIMEOUT": OVER,
        "ERROR": OVER,
        "NEWER": (CheckStatus.UNKNOWN,),
    },
    "DocumentStatus": {
        "CREATED": (CheckStatus.CREATED,),
        "VALIDATION_ASKED": (CheckStatus.PENDING,),
        "VALIDATED": (CheckStatus.VALIDATED,),
        "REFUSED": (CheckStatus.REFUSED,),
        "OUT_OF_DATE": (CheckStatus.OUTDATED,),
        "NEWER": (CheckStatus.UNKNOWN,),
    },
    "RecipientStatus": {
        "PENDING": (DestinationStatus.PENDING,),
        "ACTIVE": (DestinationStatus.ACTIVE,),
        "CANCELED": (DestinationStatus.CANCELLED,),
        "DEACTIVATED": (DestinationStatus.DEACTIVATED,),
        "NEWER": (DestinationStatus.UNKNOWN,),
    },
    "PscStatus": {
        "PENDING_VALIDATION": (OwnerCheckStatus.PENDING,),
        "VALIDATED": (OwnerCheckStatus.VALIDATED,),
        "REJECTED": (OwnerCheckStatus.REJECTED,),
        "ABANDONED": (OwnerCheckStatus.ABANDONED,),
        "NEWER": (OwnerCheckStatus.UNKNOWN,),
    },
    "DisputeStatus": {
        "CREATED": (DisputeStatus.CREATED,),
        "PENDING_CLIENT_ACTION": (DisputeStatus.PENDING_CLIENT_ACTION,),
        "SUBMITTED": (DisputeStatus.SUBMITTED,),
        "PENDING_BANK_ACTION": (DisputeStatus.PENDING_BANK_ACTION,),
        "REOPENED_PENDING_CLIENT_ACTION": (DisputeStatus.REOPENED_PENDING_CLIENT_ACTION,),
        "CLOSED": (DisputeStatus.CLOSED,),
        "NEWER": (DisputeStatus.UNKNOWN,),
    },
    "TransactionStatus": {
        "CREATED": (TransactionStatus.PENDING,),
        "SUCCEEDED": (TransactionStatus.SUCCEEDED,),
        "FAILED": (TransactionStatus.FAILED,),
        "NEWER": (TransactionStatus.PENDING,),  # not final: it is read again until it is
    },
}
TELLING = {
    "UserStatus": ["create_account", "create_account of a person", "update_account", "get_account"],
    "IdentityStatus": ["open_identity_check", "get_identity_check", "list_identity_checks"],
    "DocumentStatus": [
        *("create_document", "submit_document", "get_document", "list_documents"),
        *("create_dispute_document", "submit_dispute_document", "get_dispute_document", "list_dispute_documents"),
    ],
    "PscStatus": ["retry_owner_check"],
    "DisputeStatus": ["get_dispute", "list_disputes", "list_payment_disputes"],
    "RecipientStatus": ["add_destination", "get_destination", "list_destinations", "deactivate_destination"],
    "TransactionStatus": [
        "create_payment",
        "refund",
        "get_transaction",
        "transfer",
        "refund_transfer",
        "pay_out",
        "settle_dispute",
        "get_transaction of a refund",
        "get_transaction of a transfer",
        "get_transaction of a payout",
        "get_transaction of a repudiation",
        "get_transaction of a settlement",
        "list_children",
        "list_children of a transfer",
        "list_children of a payout",
        "list_children of a repudiation",
    ],
}


@pytest.mark.parametrize(
    ("enum", "status"), [(enum, status) for enum, meanings in MEANINGS.items() for status in meanings]
)
async def test_every_status_of_the_table_has_a_meaning(account: Account, enum: str, status: str) -> None:
    assert {*MEANINGS[enum]} == {*wire.ENUMS[enum], "NEWER"}
    Wire(account, **{"UserStatus" if enum == "UserStatus" else "Status": status})
    for name in TELLING[enum]:
        try:
            told = await OPERATIONS[name][0](account)
        except Declined as declined:
            told = declined.transaction
        assert (told[0] if isinstance(told, list) else told).status in MEANINGS[enum][status], name


@pytest.mark.parametrize("type", [*wire.ENUMS["DisputeType"], "NEWER"])
async def test_every_type_of_dispute_has_a_meaning(account: Account, type: str) -> None:
    Wire(account, DisputeType=type)
    dispute = await account.adapter.get_dispute("id-1")
    assert dispute.type is (DisputeType.UNKNOWN if type == "NEWER" else DisputeType(type.lower()))


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        ("CLOSED", "WON", DisputeOutcome.WON),
        ("CLOSED", "LOST", DisputeOutcome.LOST),
        ("CLOSED", "VOID", DisputeOutcome.VOID),
        ("CLOSED", "NEWER", DisputeOutcome.UNKNOWN),
        ("CLOSED", None, DisputeOutcome.UNKNOWN),
        ("PENDING_CLIENT_ACTION", "", DisputeOutcome.OPEN),
        ("SUBMITTED", None, DisputeOutcome.OPEN),
    ],
)
async def test_how_a_dispute_ended(account: Account, status: str, code: str | None, outcome: DisputeOutcome) -> None:
    Wire(account, Status=status, ResultCode=code)
    assert (await account.adapter.get_dispute("id-1")).outcome is outcome


@pytest.mark.parametrize(("level", "meaning"), [("LIGHT", "LIGHT"), ("REGULAR", "REGULAR"), ("NEWER", "LIGHT")])
async def test_only_a_level_that_is_known_to_suffice_does(account: Account, level: str, meaning: str) -> None:
    Wire(account, KYCLevel=level)
    assert (await account.adapter.get_account("id-1")).kyc_level is KycLevel[meaning]


@pytest.mark.parametrize("code", ["001030", "001032"])
async def test_a_payment_that_is_still_open_has_not_failed(account: Account, code: str) -> None:
    Wire(account, ResultCode=code, ResultMessage="The user has not been redirected")
    told = await account.adapter.get_transaction(TransactionKind.PAYIN, "id-1")
    assert (told.status, told.failure) == (TransactionStatus.PENDING, None)


@pytest.mark.parametrize(("code", "reasons"), [(code, reasons) for code, reasons, final in wire.results() if final])
def test_every_result_code_has_its_reason(code: str, reasons: Sequence[str]) -> None:
    assert {*reasons} <= {*FailureReason}
    assert failure_reason(code) in reasons


@pytest.mark.parametrize(
    ("code", "reasons"), [(code, each["reasons"]) for each in wire.CODES["returns"] for code in each["codes"]]
)
async def test_every_reason_for_a_return_has_its_reason(account: Account, code: str, reasons: Sequence[str]) -> None:
    assert return_reason(code) in reasons
    why = {"RefundReasonType": code, "RefundReasonMessage": "seen so"}
    account.on("GET", "/refunds/id-1", httpx.Response(200, json=wire.answer("payout_refund", RefundReason=why)))
    told = (await account.adapter.get_transaction(TransactionKind.REFUND, "id-1")).return_reason
    assert told
    assert (told.code, told.message, told.reason) == (code, "seen so", reasons[0])


REFUSALS = [*dict.fromkeys((*wire.CODES["refusals"]["document"], *wire.CODES["refusals"]["identity"]))]


async def test_every_reason_of_a_refusal_has_a_word_of_its_own(account: Account) -> None:
    answering = Wire(account, Status="REFUSED")
    seen = []
    for code in [*REFUSALS, "SOME_NEW_REASON"]:
        check = wire.answer("check", CheckStatus="REFUSED", Reasons=[{"Type": code, "Value": "seen so"}])
        answering.chosen |= {"RefusedReasonType": code, "RefusedReasonMessage": "seen so", "Checks": [check]}
        [document] = (await account.adapter.get_document("id-1")).refusals
        [identity] = (await account.adapter.get_identity_check("id-1")).refusals
        assert (document.code, document.message) == (identity.code, identity.message) == (code, "seen so")
        assert document.reason is identity.reason
        seen.append(document.reason)
    assert len({*seen}) == len(seen)
    assert {*seen} == {*RefusalReason}


@pytest.mark.parametrize("name", TELLING["TransactionStatus"])
async def test_without_what_money_depends_on_an_answer_is_not_believed(account: Account, name: str) -> None:
    answering = Wire(account)
    for missing in ("Id", "CreationDate", "DebitedFunds", "Fees", "Status"):
        answering.without = [missing]
        with pytest.raises((TransientError, UnknownOutcome)):
            await OPERATIONS[name][0](account)


@pytest.mark.parametrize(("type", "status"), wire.ERROR_TYPES.items())
async def test_every_refusal_of_the_table_is_an_error_of_the_port(account: Account, type: str, status: int) -> None:
    account.on("GET", "/payins/id-1", httpx.Response(status, json=wire.answer("error", Type=type, Id="text")))
    with pytest.raises(ProviderError) as told:
        await account.adapter.get_transaction(TransactionKind.PAYIN, "id-1")
    assert (told.value.code, told.value.request_id) == (type, "text")


def test_the_events_of_the_table_are_those_that_are_registered() -> None:
    followed = {
        type: Subject(subject) for subject, types in wire.EVENTS.items() if subject != "later" for type in types
    }
    assert dict(EVENT_TYPES) == followed


@pytest.mark.parametrize(
    ("subject", "type"), [(subject, type) for subject, types in wire.EVENTS.items() for type in types]
)
def test_a_notification_of_the_table_is_read(account: Account, subject: str, type: str) -> None:
    values = dict(zip(wire.NOTIFICATION, (type, "id-1", "1760000000"), strict=True))
    hints = account.adapter.read_webhook(notification(f"/hooks/{SECRET}", **values))
    at = dt.datetime.fromtimestamp(1_760_000_000, dt.UTC)
    expected = [] if subject == "later" else [(type, Subject(subject), "id-1", at)]
    assert [(hint.type, hint.subject, hint.resource_id, hint.occurred_at) for hint in hints] == expected


def test_new_keys_are_ones_the_provider_takes() -> None:
    assert re.fullmatch(wire.IDEMPOTENCY_KEY, new_idempotency_key())
