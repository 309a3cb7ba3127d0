"""Reports and the electronic money of users."""

import csv
import io
from collections.abc import AsyncIterator

import pytest

from coffret.sandbox.reporting.reports import MADE_AFTER
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


def eur(amount: int) -> Json:
    return {"Currency": "EUR", "Amount": amount}


async def test_electronic_money_is_what_wallets_received_and_paid(api: MangopayApi) -> None:
    payin = await api.paid()
    refund = {"AuthorId": payin["AuthorId"], "DebitedFunds": eur(500), "Fees": eur(0)}
    await api.create(f"/payins/{payin['Id']}/refunds", refund)
    now = api.clock.now()
    for path in ("", f"/{now.year}", f"/{now.year}/{now.month}"):
        told = await api.read(f"/users/partner/emoney{path}")
        assert (told["CreditedEMoney"], told["DebitedEMoney"]) == (eur(2250), eur(500))
    assert (await api.read("/users/partner/emoney/2019"))["CreditedEMoney"] == eur(0)
    assert (await api.call("GET", "/users/partner/emoney/2019/13")).status_code == 404


async def test_reports_are_accepted_and_listed(api: MangopayApi) -> None:
    older = await api.create("/reports/transactions", {"Filters": {"AuthorId": "partner"}, "Sort": "CreationDate:DESC"})
    assert (older["ReportType"], older["Status"], older["Filters"]) == (
        "TRANSACTIONS",
        "PENDING",
        {"AuthorId": "partner"},
    )
    assert await api.read("/reports") == [older] == [await api.read(f"/reports/{older['Id']}")]
    period = {"AfterDate": 1740787200, "BeforeDate": 1743544740}
    fees = await api.create("/reporting/reports", {"ReportType": "COLLECTED_FEES", **period})
    await api.create("/reporting/reports", {"ReportType": "ECHO_SPLIT", **period})
    assert await api.read("/reporting/reports?ReportType=COLLECTED_FEES") == [fees]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"ReportType": "COLLECTED_FEES", "AfterDate": 2, "BeforeDate": 1}, "BeforeDate"),
        ({"ReportType": "OTHER", "AfterDate": 1, "BeforeDate": 2}, "ReportType"),
    ],
)
async def test_what_is_refused(api: MangopayApi, body: Json, field: str) -> None:
    answer = await api.call("POST", "/reporting/reports", body)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


PERIOD = {"AfterDate": 1, "BeforeDate": 2**31}


async def made_report(api: MangopayApi, kind: str, **more: object) -> Json:
    """A report that was made."""
    asked = await api.create("/reporting/reports", {"ReportType": kind, **PERIOD, **more})
    assert (asked["Status"], asked["DownloadURL"]) == ("PENDING", None)
    await api.advance(MADE_AFTER)
    result: Json = await api.read(f"/reporting/reports/{asked['Id']}")
    return result


async def lines(api: MangopayApi, report: Json) -> list[dict[str, str]]:
    """The lines of the file of a report."""
    answer = await api.http.get(report["DownloadURL"])
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.text)))


async def test_a_report_lists_what_moved_in_wallets(api: MangopayApi) -> None:
    payin = await api.paid()
    await api.payin()
    made = await made_report(api, "USER_WALLET_TRANSACTIONS")
    assert (made["Status"], made["ResultCode"], "Content" in made) == ("READY_FOR_DOWNLOAD", "000000", False)
    [line] = await lines(api, made)
    assert line["TransactionId"] == payin["Id"]
    assert (line["TransactionType"], line["TransactionNature"]) == ("PAYIN", "REGULAR")
    assert (line["DebitedFundsAmount"], line["FeesAmount"], line["CreditedFundsAmount"]) == ("2500", "250", "2250")
    assert (line["DebitedWalletId"], line["CreditedWalletId"]) == ("", "wallet")
    assert await api.read("/reporting/reports?Status=READY_FOR_DOWNLOAD") == [made]


async def test_a_report_of_fees_lists_what_has_fees(api: MangopayApi) -> None:
    await api.paid(Fees=eur(0))
    payin = await api.paid()
    listed = await lines(
        api, await made_report(api, "COLLECTED_FEES", Columns=["TransactionId", "Tag", "CreationDate:ISO"])
    )
    assert [line["TransactionId"] for line in listed] == [payin["Id"]]
    assert set(listed[0]) == {"TransactionId", "Tag", "CreationDate:ISO"}


async def test_a_report_has_only_its_period(api: MangopayApi) -> None:
    await api.paid()
    assert await lines(api, await made_report(api, "USER_WALLET_TRANSACTIONS", BeforeDate=2)) == []


async def test_a_report_fails_or_is_never_made(api: MangopayApi) -> None:
    await api.control("POST", "/faults", {"method": "POST", "path": "/reporting/reports", "kind": "failed"})
    failed = await made_report(api, "COLLECTED_FEES")
    assert (failed["Status"], failed["ResultCode"], failed["DownloadURL"]) == ("FAILED", "009199", None)
    await api.control("POST", "/switches", {"reports_are_made": False})
    assert (await made_report(api, "COLLECTED_FEES"))["Status"] == "PENDING"
    await api.control("POST", "/switches", {"reports_are_made": True})
    assert {each["Status"] for each in await api.read("/reporting/reports")} == {"FAILED", "READY_FOR_DOWNLOAD"}


async def test_a_download_needs_its_signature_and_can_fail(api: MangopayApi) -> None:
    made = await made_report(api, "COLLECTED_FEES")
    assert (await api.http.get(made["DownloadURL"][:-1])).status_code == 403
    await api.control("POST", "/faults", {"path": "/reporting/downloads/*", "kind": "status", "status": 503})
    assert (await api.http.get(made["DownloadURL"])).status_code == 503
    assert (await api.http.get(made["DownloadURL"])).status_code == 200


async def test_money_is_moved_in_the_dashboard(api: MangopayApi) -> None:
    await api.paid()
    await api.control("POST", "/seed", {"user_id": "other", "wallet_id": "other_wallet", "name": "Maison Lune"})
    asked = {"debited_wallet_id": "wallet", "credited_wallet_id": "other_wallet", "amount": 1000, "fees": 10}
    moved = await api.control("POST", "/transfers", asked)
    assert (moved["Status"], moved["Tag"], moved["CreditedFunds"]) == ("SUCCEEDED", None, eur(990))
    refused = await api.http.post("/_sb/transfers", json={**asked, "amount": 99999})
    assert refused.status_code == 409
    assert [each["Id"] for each in await api.read("/transfers/" + moved["Id"] + "/refunds")] == []
    assert (await api.control("GET", "/ledger/check"))["balanced"]
