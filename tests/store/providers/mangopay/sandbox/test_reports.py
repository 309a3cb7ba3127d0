"""The adapter and the sandbox together: reports of the movements of a period."""

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from coffret.sandbox.reporting.reports import MADE_AFTER
from store.providers.errors import ProviderNotFound, TransientError
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.reports import ProviderReport, ReportedMovement, ReportKind, ReportRequest, ReportStatus
from store.providers.transactions import TransactionKind
from tests.coffret.sandbox.mangopay_api import MangopayApi, running
from tests.store.providers.mangopay.connected_provider import adapter_of


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


@pytest.fixture
async def adapter(api: MangopayApi) -> AsyncIterator[Mangopay]:
    adapter = adapter_of(api)
    yield adapter
    await adapter.aclose()


def report_request(api: MangopayApi, kind: ReportKind = ReportKind.WALLET_MOVEMENTS) -> ReportRequest:
    return ReportRequest(kind, api.clock.now() - dt.timedelta(days=1), api.clock.now(), "report-7")


async def made_report(
    api: MangopayApi, adapter: Mangopay, kind: ReportKind = ReportKind.WALLET_MOVEMENTS
) -> ProviderReport:
    """A report that the provider has made."""
    asked = await adapter.make_report(report_request(api, kind), key=new_idempotency_key(), sent_at=api.clock.now())
    assert asked.status is ReportStatus.PENDING
    await api.advance(MADE_AFTER)
    return await adapter.get_report(asked.id)


async def read(adapter: Mangopay, report: ProviderReport) -> Sequence[ReportedMovement]:
    return [line async for line in adapter.read_report(report)]


@pytest.mark.parametrize("kind", ReportKind)
async def test_what_has_moved_is_read(api: MangopayApi, adapter: Mangopay, kind: ReportKind) -> None:
    payin = await api.paid(Tag="reference, with 'signs' \"and\"\nlines")
    [line] = await read(adapter, await made_report(api, adapter, kind))
    assert (line.id, line.kind, line.reference) == (payin["Id"], TransactionKind.PAYIN, payin["Tag"])
    assert [line.debited, line.credited, line.fees] == [MinorAmount("EUR", amount) for amount in (2500, 2250, 250)]
    assert (line.debited_wallet_id, line.credited_wallet_id) == (None, "wallet")
    assert (int(line.created_at.timestamp()), line.executed_at.tzinfo) == (payin["CreationDate"], dt.UTC)


async def test_a_repeated_request_is_one_report(api: MangopayApi, adapter: Mangopay) -> None:
    once: Any = {"key": new_idempotency_key(), "sent_at": api.clock.now()}
    await api.control("POST", "/faults", {"path": "/reporting/reports", "kind": "drop", "when": "after"})
    request = report_request(api)
    first = await adapter.make_report(request, **once)
    assert (await adapter.make_report(request, **once)).id == first.id
    assert len(await api.read("/reporting/reports")) == 1


async def test_a_report_that_failed_says_why(api: MangopayApi, adapter: Mangopay) -> None:
    await api.control("POST", "/faults", {"method": "POST", "path": "/reporting/reports", "kind": "failed"})
    report = await made_report(api, adapter)
    assert report.status is ReportStatus.FAILED
    assert report.failure.startswith("009199")
    with pytest.raises(ProviderNotFound):
        await adapter.get_report("report_unknown")


@pytest.mark.parametrize("kind", ["status", "drop", "html", "truncated"])
async def test_a_file_that_cannot_be_read_is_no_empty_file(api: MangopayApi, adapter: Mangopay, kind: str) -> None:
    await api.paid()
    report = await made_report(api, adapter)
    await api.control("POST", "/faults", {"path": "/reporting/downloads/*", "kind": kind})
    with pytest.raises(TransientError):
        await read(adapter, report)
    assert len(await read(adapter, report)) == 1
