"""The services of a process: database, stores, provider, mail."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resolvers.core.list_reader import ListReader
from store.audit.api_requests import ApiLog
from store.audit.buffer import EntryBuffer
from store.audit.entries import AUDIT_LOG
from store.cart.carts import Carts
from store.cart.multi_product_carts import MultiProductCarts
from store.checkout.sessions import Sessions
from store.core.clock import Clock
from store.core.files import FileStore
from store.core.settings import Settings
from store.database.db import Database
from store.document.wallet.keys import WalletKeys
from store.kv import KeyValueStore
from store.limits.rate_limits import RateLimits
from store.mail.mailer import Mailer
from store.providers.apple_pay import ApplePayMerchant
from store.providers.base import PaymentProvider
from store.webhook.sender import WebhookSender

if TYPE_CHECKING:
    from resolvers.core.authentication import Authenticator


@dataclass(frozen=True)
class Services:
    """The services of a process. They open at start, close at stop, and are shared by all requests."""

    settings: Settings
    clock: Clock
    db: Database
    kv: KeyValueStore
    carts: Carts
    customer_sessions: Sessions
    provider: PaymentProvider
    authenticator: "Authenticator"
    files: FileStore
    """Stores pictures and documents."""
    list_reader: "ListReader[Services] | None" = None
    """Reads lists by their names; None in programs that export none."""
    mailer: Mailer | None = None
    """Sends mail; None if no mail server is configured: messages then wait."""
    audit_buffer: EntryBuffer = field(init=False)
    """Buffers the entries of the audit log that no request waits for."""
    api_log: ApiLog = field(init=False)
    """Takes the refused and failed requests of programs."""
    multi_product_carts: MultiProductCarts = field(init=False)
    limits: RateLimits = field(init=False)
    """Limits requests, log-ins and guesses."""
    webhook_sender: WebhookSender = field(init=False)
    """Sends messages to webhook endpoints."""
    wallet_keys: WalletKeys = field(init=False)
    """Sign passes for Apple Wallet and Google Wallet."""
    apple_pay: ApplePayMerchant = field(init=False)
    """Validates shops for Apple Pay."""
    public_url: str = field(init=False)
    """Public base URL of the service, without a trailing slash; part of every URL in published rows."""

    @property
    def lists(self) -> "ListReader[Services]":
        """Reads lists by their names. Raises RuntimeError in programs that have opened none."""
        if self.list_reader is None:
            raise RuntimeError("This program reads no lists by name: open its services with a list reader.")
        return self.list_reader

    def __post_init__(self) -> None:
        object.__setattr__(self, "audit_buffer", EntryBuffer(self.db, AUDIT_LOG))
        object.__setattr__(self, "api_log", ApiLog(self.db))
        object.__setattr__(self, "multi_product_carts", MultiProductCarts(self.kv))
        object.__setattr__(self, "public_url", self.settings.public_url)
        object.__setattr__(self, "wallet_keys", WalletKeys(self.settings.wallet_folder))
        object.__setattr__(self, "apple_pay", ApplePayMerchant(self.settings))
        object.__setattr__(self, "webhook_sender", WebhookSender(self.settings))
        object.__setattr__(self, "limits", RateLimits(self.settings, self.kv, self.clock))
