"""The adapter's calls, and answers to all of them as the table of the provider's wire says."""

import dataclasses
import datetime as dt
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

import httpx
import orjson

from schema.payment_method import PaymentMethod
from store.providers.accounts import (
    AccountRequest,
    Address,
    DestinationRequest,
    DocumentType,
    LegalKind,
    Representative,
)
from store.providers.disputes import DisputeDocumentType, ProviderDispute, SettlementRequest
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.reports import ReportKind, ReportRequest
from store.providers.transactions import (
    Payer,
    PayoutInstruction,
    TransactionKind,
    TransferRefundRequest,
    TransferRequest,
)
from tests.store.providers.mangopay.account import ACCOUNT, PAYMENT, REFUND, TOKEN_OF_CARD, Account
from tests.store.providers.mangopay.wire import wire
from tests.store.providers.mangopay.wire.wire import GOOD, WireCall

KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
BACK = "https://shop.example/k/abcdefgh"
PERSON = Payer("Ana", "Puig", "ana@example.com")
ADDRESS = Address("4 rue de la Paix", "Paris", "75002", "FR", "2e étage", "Île-de-France")
ACTING = Representative("Ana", "Puig", "ana@example.com", dt.date(1980, 2, 29), "FR", "ES", "+33611223344")
IBAN = "FR7630004000031234567890143"
LABEL = "A & B, c/o 'C'"
"""With all the signs that the provider does not take."""

TRANSFER = TransferRequest("transfer-1", "id-1", "id-2", "id-3", MinorAmount("EUR", 5000), MinorAmount("EUR", 0))
TRANSFER_REFUND = TransferRefundRequest("back-1", "id-4", "id-1", MinorAmount("EUR", 700), MinorAmount("EUR", 0))
PAYOUT = PayoutInstruction(
    "payout-1", "id-1", "id-2", "id-6", MinorAmount("EUR", 5000), MinorAmount("EUR", 120), "Août n° 4711-2026"
)
DAY = dt.datetime(2026, 11, 24, tzinfo=dt.UTC)
REPORT = ReportRequest(ReportKind.WALLET_MOVEMENTS, DAY, DAY + dt.timedelta(days=1), "report-1")
SETTLEMENT = SettlementRequest("settled-1", "id-5", "id-1", MinorAmount("EUR", 100))

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


async def all_disputes(account: Account) -> list[ProviderDispute]:
    return [dispute async for dispute in account.adapter.list_disputes(account.clock.now())]


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
    "retry_owner_check": (lambda account: account.adapter.retry_owner_check("id-1", "id-2"), ["retry_psc"]),
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
    "open_wallet with a reference": (
        creating(lambda account, once: account.adapter.open_wallet("id-1", "EUR", "Wallet", reference="ours", **once)),
        ["create_wallet"],
    ),
    "find_wallet": (lambda account: account.adapter.find_wallet("id-1", "ours"), ["list_wallets"]),
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
    "create_payment by American Express": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, method=PaymentMethod.AMERICAN_EXPRESS), key=KEY, sent_at=account.clock.now()
        ),
        ["create_hosted_payin"],
    ),
    "create_payment by Bancontact": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, method=PaymentMethod.BANCONTACT, statement="Étoile"),
            key=KEY,
            sent_at=account.clock.now(),
        ),
        ["create_bancontact_payin"],
    ),
    "create_payment by iDEAL": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, method=PaymentMethod.IDEAL), key=KEY, sent_at=account.clock.now()
        ),
        ["create_ideal_payin"],
    ),
    "create_payment by Apple Pay": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, method=PaymentMethod.APPLE_PAY, token=TOKEN_OF_CARD),
            key=KEY,
            sent_at=account.clock.now(),
        ),
        ["create_apple_pay_payin"],
    ),
    "create_payment by Google Pay": (
        lambda account: account.adapter.create_payment(
            dataclasses.replace(PAYMENT, method=PaymentMethod.GOOGLE_PAY, token=TOKEN_OF_CARD, statement="Étoile"),
            key=KEY,
            sent_at=account.clock.now(),
        ),
        ["create_google_pay_payin"],
    ),
    "refund": (creating(lambda account, once: account.adapter.refund(REFUND, **once)), ["refund_part_of_payin"]),
    "transfer": (
        creating(lambda account, once: account.adapter.transfer(TRANSFER, return_url=BACK, **once)),
        ["create_transfer"],
    ),
    "refund_transfer": (
        creating(lambda account, once: account.adapter.refund_transfer(TRANSFER_REFUND, **once)),
        ["refund_part_of_transfer"],
    ),
    "pay_out": (creating(lambda account, once: account.adapter.pay_out(PAYOUT, **once)), ["create_payout"]),
    "pay_out without a word for the bank": (
        creating(lambda account, once: account.adapter.pay_out(dataclasses.replace(PAYOUT, statement=""), **once)),
        ["create_payout"],
    ),
    "platform_balances": (lambda account: account.adapter.platform_balances(), ["list_client_wallets"]),
    "get_transaction": (
        lambda account: account.adapter.get_transaction(TransactionKind.PAYIN, "id-1"),
        ["read_payin"],
    ),
    "get_transaction of a refund": (
        lambda account: account.adapter.get_transaction(TransactionKind.REFUND, "id-1"),
        ["read_refund"],
    ),
    "get_transaction of a transfer": (
        lambda account: account.adapter.get_transaction(TransactionKind.TRANSFER, "id-1"),
        ["read_transfer"],
    ),
    "get_transaction of a payout": (
        lambda account: account.adapter.get_transaction(TransactionKind.PAYOUT, "id-1"),
        ["read_payout"],
    ),
    "get_transaction of a repudiation": (
        lambda account: account.adapter.get_transaction(TransactionKind.REPUDIATION, "id-1"),
        ["read_repudiation"],
    ),
    "get_transaction of a settlement": (
        lambda account: account.adapter.get_transaction(TransactionKind.SETTLEMENT, "id-1"),
        ["read_settlement"],
    ),
    "list_children of a transfer": (
        lambda account: account.adapter.list_children(TransactionKind.TRANSFER, "id-1"),
        ["list_transfer_refunds"],
    ),
    "list_children of a payout": (
        lambda account: account.adapter.list_children(TransactionKind.PAYOUT, "id-1"),
        ["list_payout_refunds"],
    ),
    "list_children of a repudiation": (
        lambda account: account.adapter.list_children(TransactionKind.REPUDIATION, "id-1"),
        ["list_refunds_of_repudiation"],
    ),
    "list_children": (lambda account: account.adapter.list_children(TransactionKind.PAYIN, "id-1"), ["list_refunds"]),
    "get_dispute": (lambda account: account.adapter.get_dispute("id-1"), ["read_dispute"]),
    "list_disputes": (all_disputes, ["list_disputes"]),
    "list_payment_disputes": (
        lambda account: account.adapter.list_payment_disputes("id-1"),
        ["list_disputes_of_payin"],
    ),
    "create_dispute_document": (
        creating(
            lambda account, once: account.adapter.create_dispute_document(
                "id-1", DisputeDocumentType.USER_CORRESPONDENCE, reference="document-1", **once
            )
        ),
        ["create_dispute_document"],
    ),
    "add_dispute_page": (
        creating(lambda account, once: account.adapter.add_dispute_page("id-1", "id-2", content, **once)),
        ["create_dispute_document_page"],
    ),
    "submit_dispute_document": (
        lambda account: account.adapter.submit_dispute_document("id-1", "id-2"),
        ["submit_dispute_document"],
    ),
    "get_dispute_document": (
        lambda account: account.adapter.get_dispute_document("id-1"),
        ["read_dispute_document"],
    ),
    "list_dispute_documents": (
        lambda account: account.adapter.list_dispute_documents("id-1"),
        ["list_dispute_documents"],
    ),
    "contest_dispute": (
        lambda account: account.adapter.contest_dispute("id-1", MinorAmount("EUR", 1000)),
        ["read_dispute", "submit_dispute"],
    ),
    "close_dispute": (
        lambda account: account.adapter.close_dispute("id-1"),
        ["read_dispute", "close_dispute"],
    ),
    "settle_dispute": (
        creating(lambda account, once: account.adapter.settle_dispute(SETTLEMENT, **once)),
        ["create_settlement"],
    ),
    "make_report": (
        creating(lambda account, once: account.adapter.make_report(REPORT, **once)),
        ["create_report"],
    ),
    "get_report": (lambda account: account.adapter.get_report("id-1"), ["read_report"]),
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
        self.requests: list[tuple[WireCall, list[str], httpx.Request]] = []
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
        return {call.name for call, _, _ in self.requests}

    @property
    def wrong(self) -> list[str]:
        """What was sent that the provider does not take."""
        return [f"{call.name}: {problem}" for call, problems, _ in self.requests for problem in problems]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        found = [([*wrong_in(call, request)], call) for call in GOOD if addresses(call, request)]
        problems, call = min(found, key=lambda each: len(each[0]))
        self.requests.append((call, problems, request))
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
