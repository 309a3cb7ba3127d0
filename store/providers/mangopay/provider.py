"""Mangopay behind the port: its objects for our calls. How calls are made safe is in `client`."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence

import httpx

from store.core.clock import Clock, clock
from store.providers.base import (
    ActionRequired,
    Declined,
    EventHint,
    InboundWebhook,
    Key,
    MinorAmount,
    PaymentRequest,
    Person,
    RefundRequest,
    Transaction,
    TransactionKind,
    TransactionStatus,
    UnknownOutcome,
)
from store.providers.mangopay import hooks
from store.providers.mangopay.accounts import Accounts
from store.providers.mangopay.client import KEYS_KEPT, Client, Made, Sleep, segment
from store.providers.mangopay.destinations import Destinations
from store.providers.mangopay.documents import Documents
from store.providers.mangopay.identity import IdentityChecks
from store.providers.mangopay.objects import Created, Json, Movement, Unreadable, Wallet, read
from store.providers.mangopay.part import authentication, returning
from store.providers.mangopay.tls import Certificate

_CULTURES = {"ca": "ES"}
"""The languages of ours that the provider's pages lack, and the nearest they have."""
_STATEMENT_LENGTH = 10
_COLLECTIONS = {TransactionKind.PAYIN: "/payins", TransactionKind.REFUND: "/refunds"}


class Mangopay(Accounts, IdentityChecks, Documents, Destinations):
    """A `PaymentProvider` over Mangopay's REST API, version 2.01.

    `base_url` may have a path: `https://api.mangopay.com`, or `http://127.0.0.1:8000/_provider` for a sandbox.
    `hook_secret` is the last segment of the path that notifications come to, `alert_email` who the provider tells when it
    cannot notify us. With a client certificate the hosts for those who have one are called. `transport` replaces the
    network, `sleep` the waiting between attempts.
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
    ) -> None:
        if not hook_secret:
            raise ValueError("Notifications need a secret, or anybody could send them.")
        self._client = Client(
            base_url, client_id, api_key, transport=transport, certificate=certificate, clock=clock, sleep=sleep
        )
        self._alert_email = alert_email
        self._hook_secret = hook_secret
        self._clock = clock

    async def create_payer(self, person: Person, reference: str, *, key: Key, sent_at: dt.datetime) -> str:
        """See `PaymentProvider`."""
        body = {
            "FirstName": person.first_name,
            "LastName": person.last_name,
            "Email": person.email,
            "UserCategory": "PAYER",
            "TermsAndConditionsAccepted": False,
            "Tag": reference,
        }
        return (await self._client.create("/sca/users/natural", body, Created, key, sent_at)).object.id

    async def open_wallet(self, owner_id: str, currency: str, label: str, *, key: Key, sent_at: dt.datetime) -> str:
        """See `PaymentProvider`."""
        body = {"Owners": [owner_id], "Description": label, "Currency": currency}
        return (await self._client.create("/wallets", body, Created, key, sent_at)).object.id

    async def get_balance(self, wallet_id: str, *, return_url: str) -> MinorAmount:
        """See `PaymentProvider`."""
        back = returning(return_url)
        try:
            wallet = await self._client.get(f"/wallets/{segment(wallet_id)}", Wallet, {"ScaContext": "USER_PRESENT"})
        except ActionRequired as error:
            action = authentication(error.action.url, back, self._clock.now())
            raise ActionRequired(str(error), action, code=error.code, request_id=error.request_id) from error
        return MinorAmount(wallet.balance.currency, wallet.balance.amount)

    async def create_payment(self, request: PaymentRequest, *, key: Key, sent_at: dt.datetime) -> Transaction:
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
        made = await self._client.create("/payins/card/web", body, Movement, key, sent_at)
        return await self._made(TransactionKind.PAYIN, made)

    async def refund(self, request: RefundRequest, *, key: Key) -> Transaction:
        """See `PaymentProvider`. The buyer gets what leaves the wallet plus the fees given back, which are negative."""
        body = {
            "AuthorId": request.payer_id,
            "DebitedFunds": _money(request.amount - request.fee_back),
            "Fees": _money(MinorAmount(request.fee_back.currency, -request.fee_back.minor)),
            "Tag": request.reference,
        }
        path = f"/payins/{segment(request.payment_id)}/refunds"
        return await self._made(TransactionKind.REFUND, await self._client.create(path, body, Movement, key))

    async def get_transaction(self, kind: TransactionKind, id: str) -> Transaction:
        """See `PaymentProvider`."""
        return (await self._client.get(f"{_COLLECTIONS[kind]}/{segment(id)}", Movement)).transaction()

    async def list_children(self, kind: TransactionKind, id: str) -> Sequence[Transaction]:
        """See `PaymentProvider`."""
        if kind is TransactionKind.REFUND:
            return []
        found = self._client.list(f"/payins/{segment(id)}/refunds", Movement, {"Sort": "CreationDate:ASC"})
        return [refund.transaction() async for refund in found]

    async def resolve(self, key: Key, *, sent_at: dt.datetime) -> Transaction | str | None:
        """See `PaymentProvider`. The provider keeps answers for 24 hours."""
        resource = await self._client.kept(key)
        if resource is None:
            if self._clock.now() - sent_at >= KEYS_KEPT:
                raise UnknownOutcome(key)
            return None
        try:
            if "Nature" not in resource:
                return read(Created, resource).id
            made = read(Movement, resource).transaction()
        except Unreadable as error:
            raise UnknownOutcome(key) from error
        return await self.get_transaction(made.kind, made.id)

    def read_webhook(self, request: InboundWebhook) -> Sequence[EventHint]:
        """See `PaymentProvider`."""
        return hooks.read_notification(request, self._hook_secret)

    async def ensure_webhooks(self, base_url: str) -> None:
        """See `PaymentProvider`. The address registered is `base_url`/`hook_secret`, at most 255 characters."""
        await hooks.register(self._client, base_url, self._hook_secret, self._alert_email)

    def events_since(self, moment: dt.datetime) -> AsyncIterator[EventHint]:
        """See `PaymentProvider`. At most 45 days back: older events are gone."""
        return hooks.events(self._client, moment, self._clock.now())

    async def aclose(self) -> None:
        """See `PaymentProvider`."""
        await self._client.aclose()

    async def _made(self, kind: TransactionKind, made: Made[Movement]) -> Transaction:
        transaction = (await self._read_again(_COLLECTIONS[kind], made)).transaction()
        if transaction.status is TransactionStatus.FAILED:
            raise Declined(transaction)
        return transaction


def _money(amount: MinorAmount) -> Json:
    return {"Currency": amount.currency, "Amount": amount.minor}


def _statement(text: str) -> str:
    """What the provider lets stand on bank statements: ten letters and digits."""
    return "".join(letter for letter in text if letter.isascii() and letter.isalnum())[:_STATEMENT_LENGTH]
