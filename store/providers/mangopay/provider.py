"""The Mangopay implementation of the port. The `client` module makes its calls idempotent."""

import asyncio
import datetime as dt
import unicodedata
from collections.abc import AsyncIterator, Sequence

import httpx

from store.core.clock import Clock, clock
from store.providers.base import EventHint, InboundWebhook
from store.providers.call_budget import CallBudget
from store.providers.errors import ActionRequired, Declined, InvalidRequest, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.mangopay import hooks
from store.providers.mangopay.accounts import AccountsMixin
from store.providers.mangopay.client import KEY_RETENTION, Client, Sleep, segment
from store.providers.mangopay.creation import CreationResult
from store.providers.mangopay.destinations import DestinationsMixin
from store.providers.mangopay.documents import DocumentsMixin
from store.providers.mangopay.identity import IdentityChecksMixin
from store.providers.mangopay.objects import Created, Json, MangopayTransaction, Unreadable, Wallet, parse_object
from store.providers.mangopay.part import authentication, return_parameter
from store.providers.mangopay.payers import PayersMixin
from store.providers.mangopay.tls import Certificate
from store.providers.money import MinorAmount
from store.providers.transactions import (
    PaymentRequest,
    RefundRequest,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

_CULTURES = {"ca": "ES"}
"""Our languages that the provider's pages lack -> the nearest one that they have."""
_STATEMENT_LENGTH = 10
_COLLECTIONS = {TransactionKind.PAYIN: "/payins", TransactionKind.REFUND: "/refunds"}


class Mangopay(AccountsMixin, IdentityChecksMixin, DocumentsMixin, DestinationsMixin, PayersMixin):
    """A `PaymentProvider` for Mangopay's REST API, version 2.01.

    `base_url` may have a path: `https://api.mangopay.com`, or `http://127.0.0.1:8000/_provider` for a sandbox.
    `hook_secret` is the last path segment of the notification URL. The provider writes to `alert_email` when its
    notifications fail. With a client certificate, Mangopay's mutual TLS hosts are called. `transport` replaces the
    network, `sleep` the waiting between attempts. Calls are held back by `budget`.
    """

    def __init__(
        self,
        *,
        base_url: str,
        client_id: str,
        api_key: str,
        hook_secret: str,
        alert_email: str = "",
        certificate: Certificate | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Clock = clock,
        sleep: Sleep = asyncio.sleep,
        budget: CallBudget | None = None,
    ) -> None:
        if not hook_secret:
            raise ValueError("Set a secret for notifications: without one, anybody could send them.")
        self._client = Client(
            base_url,
            client_id,
            api_key,
            transport=transport,
            certificate=certificate,
            clock=clock,
            sleep=sleep,
            budget=budget,
        )
        self._alert_email = alert_email
        self._hook_secret = hook_secret
        self._clock = clock

    async def open_wallet(
        self, owner_id: str, currency: str, label: str, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> str:
        """See `PaymentProvider`."""
        body = {"Owners": [owner_id], "Description": label, "Currency": currency}
        return (await self._client.create("/wallets", body, Created, key, sent_at)).object.id

    async def get_balance(self, wallet_id: str, *, return_url: str) -> MinorAmount:
        """See `PaymentProvider`."""
        back = return_parameter(return_url)
        try:
            wallet = await self._client.get(f"/wallets/{segment(wallet_id)}", Wallet, {"ScaContext": "USER_PRESENT"})
        except ActionRequired as error:
            action = authentication(error.action.url, back, self._clock.now())
            raise ActionRequired(str(error), action, code=error.code, request_id=error.request_id) from error
        return MinorAmount(wallet.balance.currency, wallet.balance.amount)

    async def create_payment(
        self, request: PaymentRequest, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """See `PaymentProvider`."""
        body: Json = {
            "AuthorId": request.payer_id,
            "CreditedWalletId": request.wallet_id,
            "DebitedFunds": _money(request.amount),
            "Fees": _money(request.fee),
            "ReturnURL": request.return_url,
            "CardType": "CB_VISA_MASTERCARD",
            "Culture": _CULTURES.get(request.language, request.language.upper()),
            "SecureMode": "DEFAULT",
            "Tag": request.reference,
        }
        if statement := _statement(request.statement):
            body["StatementDescriptor"] = statement
        try:
            result = await self._client.create("/payins/card/web", body, MangopayTransaction, key, sent_at)
        except InvalidRequest as error:
            raise await self._payer_refusal(request.payer_id, error) from error
        return await self._transaction_of(TransactionKind.PAYIN, result)

    async def refund(self, request: RefundRequest, *, key: IdempotencyKey) -> Transaction:
        """See `PaymentProvider`.

        The buyer gets the debited funds plus the refunded fees, which Mangopay counts as negative.
        """
        body = {
            "AuthorId": request.payer_id,
            "DebitedFunds": _money(request.amount - request.fee_back),
            "Fees": _money(MinorAmount(request.fee_back.currency, -request.fee_back.minor)),
            "Tag": request.reference,
        }
        path = f"/payins/{segment(request.payment_id)}/refunds"
        return await self._transaction_of(
            TransactionKind.REFUND, await self._client.create(path, body, MangopayTransaction, key)
        )

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """See `PaymentProvider`."""
        return (await self._client.get(f"{_COLLECTIONS[kind]}/{segment(id)}", MangopayTransaction)).transaction()

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """See `PaymentProvider`."""
        if kind is TransactionKind.REFUND:
            return []
        refunds = self._client.list(f"/payins/{segment(id)}/refunds", MangopayTransaction, {"Sort": "CreationDate:ASC"})
        return [refund.transaction() async for refund in refunds]

    async def resolve(self, key: IdempotencyKey, *, sent_at: dt.datetime) -> Transaction | str | None:
        """See `PaymentProvider`. Mangopay stores responses for 24 hours."""
        resource = await self._client.find_created(key)
        if resource is None:
            if self._clock.now() - sent_at >= KEY_RETENTION:
                raise UnknownOutcome(key)
            return None
        try:
            if "Nature" not in resource:
                return parse_object(Created, resource).id
            transaction = parse_object(MangopayTransaction, resource).transaction()
        except Unreadable as error:
            raise UnknownOutcome(key) from error
        return await self.get_transaction(transaction.kind, transaction.id)

    def read_webhook(self, request: InboundWebhook) -> Sequence[EventHint]:
        """See `PaymentProvider`."""
        return hooks.read_notification(request, self._hook_secret)

    async def ensure_webhooks(self, base_url: str) -> None:
        """See `PaymentProvider`. The registered URL is `base_url`/`hook_secret`, at most 255 characters."""
        await hooks.register(self._client, base_url, self._hook_secret, self._alert_email)

    def events_since(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        """See `PaymentProvider`. Mangopay lists at most 45 days."""
        return hooks.list_all_events(self._client, moment, self._clock.now())

    async def aclose(self) -> None:
        """See `PaymentProvider`."""
        await self._client.aclose()

    async def _transaction_of(self, kind: TransactionKind, result: CreationResult[MangopayTransaction]) -> Transaction:
        transaction = (await self._read_again(_COLLECTIONS[kind], result)).transaction()
        if transaction.status is TransactionStatus.FAILED:
            raise Declined(transaction)
        return transaction


def _money(amount: MinorAmount) -> Json:
    return {"Currency": amount.currency, "Amount": amount.minor}


def _statement(text: str) -> str:
    """The text as Mangopay allows it on bank statements: ten ASCII letters and digits. Accents are dropped."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if letter.isascii() and letter.isalnum())[:_STATEMENT_LENGTH]
