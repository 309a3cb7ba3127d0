"""The Mangopay implementation of the port. The `client` module makes its calls idempotent."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Sequence

import httpx

from store.core.clock import Clock, clock
from store.providers.base import EventHint, InboundWebhook
from store.providers.call_budget import CallBudget
from store.providers.errors import ActionRequired, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.mangopay import hooks
from store.providers.mangopay.accounts import AccountsMixin
from store.providers.mangopay.client import KEY_RETENTION, Client, Sleep, segment
from store.providers.mangopay.destinations import DestinationsMixin
from store.providers.mangopay.disputes import DisputesMixin
from store.providers.mangopay.documents import DocumentsMixin
from store.providers.mangopay.identity import IdentityChecksMixin
from store.providers.mangopay.objects import (
    Created,
    Json,
    MangopayTransaction,
    ProviderWallet,
    TaggedWallet,
    Unreadable,
    parse_object,
)
from store.providers.mangopay.part import authentication, return_parameter, tag
from store.providers.mangopay.reports import ReportsMixin
from store.providers.mangopay.tls import Certificate
from store.providers.money import MinorAmount
from store.providers.transactions import Transaction


class Mangopay(AccountsMixin, IdentityChecksMixin, DocumentsMixin, DestinationsMixin, DisputesMixin, ReportsMixin):
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
        self,
        owner_id: str,
        currency: str,
        label: str,
        *,
        reference: str = "",
        key: IdempotencyKey,
        sent_at: dt.datetime,
    ) -> str:
        """See `PaymentProvider`."""
        body: Json = {"Owners": [owner_id], "Description": label, "Currency": currency}
        tagged = {"Tag": tag(reference)} if reference else {}
        return (await self._client.create("/wallets", body | tagged, Created, key, sent_at)).object.id

    async def find_wallet(self, owner_id: str, reference: str) -> str | None:
        """See `PaymentProvider`."""
        async for wallet in self._client.list(f"/users/{segment(owner_id)}/wallets", TaggedWallet, {}):
            if wallet.tag == reference:
                return wallet.id
        return None

    async def get_balance(self, wallet_id: str, *, return_url: str) -> MinorAmount:
        """See `PaymentProvider`."""
        back = return_parameter(return_url)
        try:
            wallet = await self._client.get(
                f"/wallets/{segment(wallet_id)}", ProviderWallet, {"ScaContext": "USER_PRESENT"}
            )
        except ActionRequired as error:
            action = authentication(error.action.url, back, self._clock.now())
            raise ActionRequired(str(error), action, code=error.code, request_id=error.request_id) from error
        return wallet.balance.minor_amount()

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
