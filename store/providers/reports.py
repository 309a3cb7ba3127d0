"""Reports of the provider: all movements of a period as a file, and the part of the port for them."""

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import TransactionKind


class ReportKind(StrEnum):
    """What a report lists. All of it has succeeded."""

    WALLET_MOVEMENTS = "wallet_movements"
    """What has debited or credited wallets of users, also those of the platform's own user."""
    COLLECTED_FEES = "collected_fees"
    """What has debited or credited the platform's wallet of fees."""


class ReportStatus(StrEnum):
    """PENDING is the only status that can change to READY."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    """It was not made, or its file is not kept any more: another one has to be requested."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report of what was created in a period. `reference` is our name for it."""

    kind: ReportKind
    since: dt.datetime
    until: dt.datetime
    reference: str


@dataclass(frozen=True, slots=True)
class ProviderReport:
    """A report as last read from the provider. `url` is that of its file once READY; `failure` says why it FAILED."""

    id: str
    status: ReportStatus
    url: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class ReportedMovement:
    """A line of a report: a movement that has succeeded.

    The debited wallet pays `debited`, the credited one gets `credited`, and the wallet of fees `fees`, which is negative
    if they are given back. The wallets are None where a card or a bank is on that side. `kind` is None for a kind of
    movement that we do not make.
    """

    id: str
    kind: TransactionKind | None
    debited: MinorAmount
    credited: MinorAmount
    fees: MinorAmount
    debited_wallet_id: str | None
    credited_wallet_id: str | None
    created_at: dt.datetime
    executed_at: dt.datetime
    reference: str = ""


class ReportProvider(Protocol):
    """The operations for reports. The rules of `PaymentProvider` apply."""

    async def make_report(self, request: ReportRequest, *, key: IdempotencyKey, sent_at: dt.datetime) -> ProviderReport:
        """Request a report. It is PENDING until the provider has made its file."""
        ...

    async def get_report(self, id: str) -> ProviderReport:
        """The current state of a report. Raises `ProviderNotFound`."""
        ...

    def read_report(self, report: ProviderReport) -> AsyncIterator[ReportedMovement]:
        """The lines of a READY report. Raises `TransientError` if the file cannot be loaded, or a line not be read: then
        nothing is known of those that were not returned.
        """
        ...
