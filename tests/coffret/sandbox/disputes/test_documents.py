"""The documents that contest a dispute."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.disputes.disputed import contested, eur, open_dispute
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import assert_refused, list_events
from tests.store.providers.mangopay.wire.wire import sample


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def submitted(api: MangopayApi, dispute: Json) -> str:
    """A document with one page, submitted."""
    path = f"/disputes/{dispute['Id']}/documents"
    id: str = (await api.create(path, {"Type": "DELIVERY_PROOF"}))["Id"]
    assert (await api.call("POST", f"{path}/{id}/pages", {"File": sample("base64")})).status_code == 204
    answer = await api.call("PUT", f"{path}/{id}", {"Status": "VALIDATION_ASKED"})
    assert answer.json()["Status"] == "VALIDATION_ASKED"
    return id


@pytest.mark.parametrize(
    ("outcome", "status", "reason", "event"),
    [
        ("send_to_bank", "VALIDATED", None, "DISPUTE_DOCUMENT_SUCCEEDED"),
        ("win", "VALIDATED", None, "DISPUTE_DOCUMENT_SUCCEEDED"),
        ("reopen", "REFUSED", "DOCUMENT_NOT_ACCEPTED", "DISPUTE_DOCUMENT_FAILED"),
    ],
)
async def test_examined_with_the_dispute(
    api: MangopayApi, outcome: str, status: str, reason: str | None, event: str
) -> None:
    dispute = await open_dispute(api)
    id = await submitted(api, dispute)
    await api.call("PUT", f"/disputes/{dispute['Id']}/submit", {"ContestedFunds": eur(2500)})
    await api.control("POST", f"/disputes/{dispute['Id']}", {"outcome": outcome, "message": "Not readable"})
    document = await api.read(f"/dispute-documents/{id}")
    assert (document["Status"], document["RefusedReasonType"]) == (status, reason)
    assert document["RefusedReasonMessage"] == ("Not readable" if reason else None)
    assert await list_events(api, event) == [(event, id)]
    assert (await api.control("GET", f"/disputes/{dispute['Id']}"))["Documents"] == [document]


async def test_only_while_the_platform_has_to_act(api: MangopayApi) -> None:
    dispute = await contested(api)
    answer = await api.call("POST", f"/disputes/{dispute['Id']}/documents", {"Type": "INVOICE"})
    await assert_refused(api, answer, 400, "param_error", "DisputeId")


async def test_what_was_submitted_does_not_change(api: MangopayApi) -> None:
    dispute, other = await open_dispute(api), await open_dispute(api)
    id = await submitted(api, dispute)
    page = {"File": sample("base64")}
    answer = await api.call("POST", f"/disputes/{dispute['Id']}/documents/{id}/pages", page)
    await assert_refused(api, answer, 400, "param_error", "Status")
    answer = await api.call("POST", f"/disputes/{other['Id']}/documents/{id}/pages", page)
    await assert_refused(api, answer, 404, "ressource_not_found")


async def test_listed(api: MangopayApi) -> None:
    dispute, other = await open_dispute(api), await open_dispute(api)
    first, second = await submitted(api, dispute), await submitted(api, other)
    assert [each["Id"] for each in await api.read(f"/disputes/{dispute['Id']}/documents")] == [first]
    assert [each["Id"] for each in await api.read("/dispute-documents?Type=DELIVERY_PROOF")] == [first, second]
    assert await api.read("/dispute-documents?Status=REFUSED") == []


async def test_its_files_are_told_by_addresses(api: MangopayApi) -> None:
    id = await submitted(api, await open_dispute(api))
    [file] = (await api.call("POST", f"/dispute-documents/{id}/consult")).json()
    told = await api.http.get(file["Url"])
    assert (told.status_code, "keeps no files" in told.text) == (200, True)
