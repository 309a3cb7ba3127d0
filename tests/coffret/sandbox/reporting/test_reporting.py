"""Reports and the electronic money of users."""

from collections.abc import AsyncIterator

import pytest

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
