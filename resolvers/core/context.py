"""Who is asking, and what the program works with."""

import contextlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.computed_fields import work_out
from schema.core.errors import Forbidden, PartnerOnly, Unauthenticated
from schema.core.field_permission import Guard
from schema.core.field_source import Computed
from schema.core.permission import Permission, Required, Rule
from schema.partner.partner import PartnerStatus
from store.audit.buffer import Journal
from store.cart.carts import Carts
from store.checkout.sessions import Sessions
from store.core.clock import Clock
from store.core.files import FileStore
from store.core.settings import Settings
from store.database.db import Database
from store.database.loaders import Loaders
from store.database.transaction_reader import Reads, Within
from store.kv import KeyValue
from store.limits.rate_limits import Limits
from store.mail.mailer import Mailer
from store.providers.base import PaymentProvider
from store.webhook.sender import Courier

if TYPE_CHECKING:
    from resolvers.core.authentication import Callers
    from resolvers.core.idempotency import Once


class Role(StrEnum):
    """How much of the data a caller sees."""

    CUSTOMER = "customer"
    REPRESENTATIVE = "representative"
    PARTNER = "partner"
    MARKETPLACE = "marketplace"
    MASTER = "master"


WITHOUT_TOKEN = {Rule.CUSTOMER: Role.CUSTOMER, Rule.REPRESENTATIVE: Role.REPRESENTATIVE}
"""Who has no token: each may run what its own rule is for, and nothing else."""


class Transport(StrEnum):
    """What a request came by."""

    GRAPHQL = "graphql"
    REST = "rest"
    CHECKOUT = "checkout"
    ONBOARDING = "onboarding"
    VENUE = "venue"
    """The page on which staff redeem vouchers and gift cards."""
    INTERNAL = "internal"
    """Jobs, and the command line."""


@dataclass(frozen=True)
class Caller:
    """Whoever makes a request: a user by token, the customer of one partner's checkout, or a partner's representative."""

    role: Role
    permissions: frozenset[Permission]
    user_id: int | None = None
    token_id: int | None = None
    partner_id: int | None = None
    marketplace_id: int | None = None
    site_domain: str = ""
    """Of the caller's partner: the host of its funnel."""
    return_hosts: tuple[str, ...] = ()
    """Of the caller's partner: where its customers may be sent back to; empty: anywhere."""
    partner_status: PartnerStatus | None = None
    """Of the caller's partner."""
    time_zone: str = "UTC"
    """The IANA name of the zone of the caller's marketplace."""

    def may(self, permission: Permission) -> bool:
        """Whether the caller holds a named permission; the master permission holds them all."""
        return permission in self.permissions or Permission.MANAGE_MASTERADMIN in self.permissions

    def sees(self, partner_id: int | None, marketplace_id: int | None) -> bool:
        """Whether what belongs to a partner of a marketplace is there for this caller, as `visible` says of rows."""
        match self.role:
            case Role.MASTER:
                return True
            case Role.MARKETPLACE:
                return marketplace_id is not None and marketplace_id == self.marketplace_id
            case _:
                return partner_id is not None and partner_id == self.partner_id

    @classmethod
    def customer(cls, partner_id: int, marketplace_id: int) -> "Caller":
        """The customer in the checkout of a partner."""
        return cls(Role.CUSTOMER, frozenset(), partner_id=partner_id, marketplace_id=marketplace_id)

    @classmethod
    def representative(cls, partner_id: int, marketplace_id: int) -> "Caller":
        """Whoever holds a good link to the onboarding page of a partner."""
        return cls(Role.REPRESENTATIVE, frozenset(), partner_id=partner_id, marketplace_id=marketplace_id)


@dataclass(frozen=True)
class Services:
    """What a process holds: opened at start, closed at stop, shared by all requests."""

    settings: Settings
    clock: Clock
    db: Database
    kv: KeyValue
    carts: Carts
    customers: Sessions
    provider: PaymentProvider
    callers: "Callers"
    files: FileStore
    """Keeps pictures and documents."""
    mailer: Mailer | None = None
    """Takes mail; None where no mail server is set: messages then wait."""
    journal: Journal = field(init=False)
    """Takes the entries of the audit log that no request waits for."""
    limits: Limits = field(init=False)
    """Counts requests, log-ins and guesses."""
    webhooks: Courier = field(init=False)
    """Sends messages to endpoints."""
    public_url: str = field(init=False)
    """Where clients reach the service, without a trailing slash: told with every row that has an address."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "journal", Journal(self.db))
        object.__setattr__(self, "public_url", self.settings.public_url)
        object.__setattr__(self, "webhooks", Courier(self.settings))
        object.__setattr__(self, "limits", Limits(self.settings, self.kv, self.clock))


@dataclass
class Context:
    """All a request carries, built alike for GraphQL, REST and the funnel."""

    services: Services
    caller: Caller | None = None
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    address: str = ""
    transport: Transport = Transport.INTERNAL
    once: "Once | None" = None
    """Set by the transport where the request has an `Idempotency-Key` and changes something."""

    _load: Loaders | None = field(default=None, init=False, repr=False)
    _within: Within | None = field(default=None, init=False, repr=False)

    @property
    def db(self) -> Reads:
        """What lists and relations are read through."""
        return self.services.db if self._within is None else self._within

    @contextlib.contextmanager
    def within(self, db: AsyncSession) -> Iterator[None]:
        """Read what a transaction sees, before it is committed."""
        self._within, self._load = Within(self.services.db, db), None
        try:
            yield
        finally:
            self._within = self._load = None

    @property
    def load(self) -> Loaders:
        """Related rows, in batches."""
        if self._load is None:  # `cached_property` takes a lock in Python 3.11, which costs more than the loaders
            self._load = Loaders(self.db, self)
        return self._load

    def shows(self, guard: Guard, owner: tuple[()] | tuple[int | None, int | None]) -> bool:
        """Whether a guarded value of this partner and marketplace is shown; Forbidden without the permission."""
        self.require(Permission(guard.permission))
        return not owner or self.asking.sees(*owner)

    async def compute(self, value: Computed, ids: Sequence[int]) -> Mapping[int, Any]:
        """A computed value of the objects with these ids."""
        return await work_out(value, self, ids)

    def require(self, permission: Required) -> None:
        """Refuse a caller that lacks a permission, or is not whom a rule wants."""
        if permission is Rule.PUBLIC:
            return
        caller = self.caller
        if caller is None:
            raise Unauthenticated
        if permission is Rule.PARTNER:
            if caller.role is not Role.PARTNER:
                raise PartnerOnly
        elif isinstance(permission, Rule):
            if WITHOUT_TOKEN.get(permission) is not (caller.role if caller.role in WITHOUT_TOKEN.values() else None):
                raise Forbidden(permission=permission)
        elif not caller.may(permission):
            raise Forbidden(permission=f"permissions.{permission}")

    @property
    def asking(self) -> Caller:
        """The caller, once `require` has passed."""
        if self.caller is None:
            raise Unauthenticated
        return self.caller
