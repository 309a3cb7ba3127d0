"""The adapter against the table of the provider's wire: what it sends, and what it makes of every answer of the table."""

import dataclasses
import datetime as dt
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import httpx
import orjson
import pytest

from store.providers.accounts import (
    AccountRequest,
    AccountStatus,
    Address,
    CheckStatus,
    DestinationRequest,
    DestinationStatus,
    DocumentType,
    KycLevel,
    LegalKind,
    RefusalReason,
    Representative,
)
from store.providers.base import (
    Declined,
    FailureReason,
    Key,
    PaymentProvider,
    Person,
    ProviderError,
    Subject,
    TransactionKind,
    TransactionStatus,
    Transient,
    UnknownOutcome,
    new_key,
)
from store.providers.mangopay.hooks import EVENT_TYPES
from store.providers.mangopay.results import reason
from tests.store.providers import wire
from tests.store.providers.mangopay_account import ACCOUNT, PAYMENT, REFUND, SECRET, Account, notification
from tests.store.providers.wire import GOOD, WireCall

KEY = Key("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
BACK = "https://shop.example/k/abcdefgh"
PERSON = Person("Ana", "Puig", "ana@example.com")
ADDRESS = Address("4 rue de la Paix", "Paris", "75002", "FR", "2e étage", "Île-de-France")
ACTING = Representative("Ana", "Puig", "ana@example.com", dt.date(1980, 2, 29), "FR", "ES", "+33611223344")
IBAN = "FR7630004000031234567890143"
LABEL = "A & B, c/o 'C'"
"""With all the signs that the provider does not take."""

Operation = Callable[[Account], Awaitable[Any]]


def account_of(kind: LegalKind) -> AccountRequest:
    return AccountRequest("partner-1", kind, "Maison", "maison@example.com", ACTING, ADDRESS, "552100554")


def bank_account(*, business: bool) -> DestinationRequest:
    return DestinationRequest("id-1", "Ana Puig", business, ADDRESS, IBAN, "EUR", LABEL, "Ana", "Puig")


async def content() -> AsyncIterator[bytes]:
    yield b"%PDF-1.4\n"
    yield b"0" * 2000


async def all_events(account: Account) -> list[object]:
    return [hint async for hint in account.adapter.events_since(account.clock.now())]


def creating(call: Callable[[Account, Mapping[str, Any]], Awaitable[Any]]) -> Operation:
    """A call that makes something, with its key and the moment of its first attempt."""
    return lambda account: call(account, {"key": KEY, "sent_at": account.clock.now()})


OPERATIONS: Mapping[str, tuple[Operation, Sequence[str]]] = {
    "create_payer": (
        lambda account: account.adapter.create_payer(PERSON, "buyer-1", key=KEY, sent_at=account.clock.now()),
        ["create_natural_payer"],
    ),
    "create_account": (
        creating(
            lambda account, once: account.adapter.create_account(
                account_of(LegalKind.BUSINESS), return_url=BACK, **once
            )
        ),
        ["create_legal_owner"],
    ),
    "create_account of a person": (
        creating(
            lambda account, once: account.adapter.create_account(
                account_of(LegalKind.INDIVIDUAL), return_url=BACK, **once
            )
        ),
        ["create_natural_owner"],
    ),
    "update_account": (
        lambda account: account.adapter.update_account("id-1", account_of(LegalKind.ORGANIZATION)),
        ["update_legal_user"],
    ),
    "update_account of a person": (
        lambda account: account.adapter.update_account("id-1", account_of(LegalKind.INDIVIDUAL)),
        ["update_natural_user"],
    ),
    "get_account": (lambda account: account.adapter.get_account("id-1"), ["read_user"]),
    "open_enrolment": (
        creating(lambda account, once: account.adapter.open_enrolment("id-1", return_url=BACK, **once)),
        ["open_enrolment"],
    ),
    "get_enrolment": (lambda account: account.adapter.get_enrolment("id-1"), ["read_sca_status"]),
    "enrolment_failed": (
        lambda account: account.adapter.enrolment_failed("id-1", account.clock.now()),
        ["list_events"],
    ),
    "get_blocks": (lambda account: account.adapter.get_blocks("id-1"), ["read_regulatory_status"]),
    "open_identity_check": (
        creating(lambda account, once: account.adapter.open_identity_check("id-1", return_url=BACK, **once)),
        ["create_identity"],
    ),
    "get_identity_check": (lambda account: account.adapter.get_identity_check("id-1"), ["read_identity"]),
    "list_identity_checks": (
        lambda account: account.adapter.list_identity_checks("id-1"),
        ["list_identities", "read_identity"],
    ),
    "create_document": (
        creating(
            lambda account, once: account.adapter.create_document(
                "id-1", DocumentType.ADDRESS_PROOF, reference="document-1", **once
            )
        ),
        ["create_document"],
    ),
    "add_page": (
        creating(lambda account, once: account.adapter.add_page("id-1", "id-2", content, **once)),
        ["create_document_page"],
    ),
    "submit_document": (lambda account: account.adapter.submit_document("id-1", "id-2"), ["submit_document"]),
    "get_document": (lambda account: account.adapter.get_document("id-1"), ["read_document"]),
    "list_documents": (lambda account: account.adapter.list_documents("id-1"), ["list_documents"]),
    "add_destination": (
        creating(
            lambda account, once: account.adapter.add_destination(bank_account(business=True), return_url=BACK, **once)
        ),
        ["create_recipient"],
    ),
    "add_destination of a person": (
        creating(
            lambda account, once: account.adapter.add_destination(bank_account(business=False), return_url=BACK, **once)
        ),
        ["create_recipient"],
    ),
    "get_destination": (lambda account: account.adapter.get_destination("id-1"), ["read_recipient"]),
    "list_destinations": (lambda account: account.adapter.list_destinations("id-1"), ["list_recipients"]),
    "deactivate_destination": (
        lambda account: account.adapter.deactivate_destination("id-1"),
        ["deactivate_recipient"],
    ),
    "open_wallet": (
        creating(lambda account, once: account.adapter.open_wallet("id-1", "EUR", "Wallet", **once)),
        ["create_wallet"],
    ),
    "get_balance": (lambda account: account.adapter.get_balance("id-1", return_url=BACK), ["read_wallet"]),
    "create_payment": (
        lambda account: account.adapter.create_payment(PAYMENT, key=KEY, sent_at=account.clock.now()),
        ["create_hosted_payin"],
    ),
    "create_payment with a word for the bank": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, statement="Étoile & Co, Paris"), key=KEY, sent_at=account.clock.now()
        ),
        ["create_hosted_payin"],
    ),
    "refund": (lambda account: account.adapter.refund(REFUND, key=KEY), ["refund_part_of_payin"]),
    "get_transaction": (
        lambda account: account.adapter.get_transaction(TransactionKind.PAYIN, "id-1"),
        ["read_payin"],
    ),
    "get_transaction of a refund": (
        lambda account: account.adapter.get_transaction(TransactionKind.REFUND, "id-1"),
        ["read_refund"],
    ),
    "list_children": (lambda account: account.adapter.list_children(TransactionKind.PAYIN, "id-1"), ["list_refunds"]),
    "resolve": (lambda account: account.adapter.resolve(KEY, sent_at=account.clock.now()), ["read_response"]),
    "ensure_webhooks": (
        lambda account: account.adapter.ensure_webhooks("https://shop.example/hooks"),
        ["list_hooks", "update_hook", "create_hook"],
    ),
    "events_since": (all_events, ["list_events"]),
}
"""What of the port makes which calls of the table."""


class Wire:
    """Answers every call as the table says, and keeps what was sent. `chosen` are values for the fields of answers."""

    def __init__(self, account: Account, **chosen: object) -> None:
        self.sent: list[tuple[WireCall, list[str], httpx.Request]] = []
        self.without: Sequence[str] = ()
        self.chosen = {
            "PendingUserAction": {"RedirectUrl": "https://provider.test/sca?token=1"},
            "StatusCode": "200",
            "Resource": wire.answer("wallet"),
        } | chosen
        account.routes.route(url__startswith=ACCOUNT).mock(side_effect=self._answer)

    @property
    def names(self) -> set[str]:
        """The calls that were made."""
        return {call.name for call, _, _ in self.sent}

    @property
    def wrong(self) -> list[str]:
        """What was sent that the provider does not take."""
        return [f"{call.name}: {problem}" for call, problems, _ in self.sent for problem in problems]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        found = [([*wrong_in(call, request)], call) for call in GOOD if addresses(call, request)]
        problems, call = min(found, key=lambda each: len(each[0]))
        self.sent.append((call, problems, request))
        if not call.returns:
            return httpx.Response(call.statuses[0])
        known = wire.object_of(call.returns).keys() & self.chosen.keys()
        body = wire.answer(call.returns, **{name: self.chosen[name] for name in known})
        for name in self.without:
            body.pop(name, None)
        return httpx.Response(call.statuses[0], json=[body] if call.many else body)


def addresses(call: WireCall, request: httpx.Request) -> bool:
    """Whether a request is for a call's method and path."""
    path = re.escape(ACCOUNT) + re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(call.path))
    return call.method == request.method and bool(re.fullmatch(path, str(request.url.copy_with(query=None))))


def wrong_in(call: WireCall, request: httpx.Request) -> Iterator[str]:
    """What of a request is not as the table says."""
    query = request.url.params.keys()
    yield from (f"?{name} is unknown" for name in query - {*call.query, *call.query_besides})
    yield from (f"?{name} is missing" for name in {*call.query_required} - query)
    if request.content:
        if request.headers["Content-Type"] != "application/json":
            yield "it is not JSON"
        yield from call.problems(orjson.loads(request.content))
    elif call.required:
        yield "it has no body"


@pytest.mark.parametrize("name", OPERATIONS)
async def test_what_is_sent_is_what_the_provider_takes(account: Account, name: str) -> None:
    operation, calls = OPERATIONS[name]
    answering = Wire(account, EventType="PAYIN_NORMAL_SUCCEEDED")
    await operation(account)
    assert answering.wrong == []
    assert answering.names == {*calls}
    for call, _, request in answering.sent:
        key = request.headers.get("Idempotency-Key", "")
        assert bool(re.fullmatch(wire.IDEMPOTENCY_KEY, key)) is (call.method == "POST")


def test_every_call_of_the_port_is_looked_at() -> None:
    calls = {name for name in dir(PaymentProvider) if not name.startswith("_")} - {"name", "read_webhook", "aclose"}
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
    "DocumentStatus": ["create_document", "submit_document", "get_document", "list_documents"],
    "RecipientStatus": ["add_destination", "get_destination", "list_destinations", "deactivate_destination"],
    "TransactionStatus": [
        "create_payment",
        "refund",
        "get_transaction",
        "get_transaction of a refund",
        "list_children",
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
    assert reason(code) in reasons


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
        with pytest.raises((Transient, UnknownOutcome)):
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
    assert re.fullmatch(wire.IDEMPOTENCY_KEY, new_key())
