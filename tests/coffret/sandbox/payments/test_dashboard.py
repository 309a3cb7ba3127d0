"""Refunds in the provider's dashboard, which carry no name of ours."""

from tests.coffret.sandbox.mangopay_api import running
from tests.coffret.sandbox.owners import list_events


async def test_a_part_and_the_rest() -> None:
    async with running() as api:
        payin = await api.paid()
        path = f"/payins/{payin['Id']}/refund"
        part = await api.control("POST", path, {"amount": 900, "fees_back": 100})
        assert (part["Tag"], part["CreditedFunds"]["Amount"], part["Fees"]["Amount"]) == (None, 1000, -100)
        assert await api.read(f"/refunds/{part['Id']}") == part
        assert await list_events(api, "PAYIN_REFUND_SUCCEEDED") == [("PAYIN_REFUND_SUCCEEDED", part["Id"])]
        over = await api.control("POST", path, {"amount": 2000})
        assert over["ResultCode"] == "005403"


async def test_everything() -> None:
    async with running() as api:
        payin = await api.paid()
        whole = await api.control("POST", f"/payins/{payin['Id']}/refund", {})
        assert (whole["Status"], whole["CreditedFunds"]["Amount"]) == ("SUCCEEDED", 2500)


async def test_what_cannot_be_refunded() -> None:
    async with running() as api:
        unpaid = await api.payin()
        for path, body, status in (
            (f"/payins/{unpaid['Id']}/refund", {}, 409),
            ("/payins/none/refund", {}, 404),
            (f"/payins/{unpaid['Id']}/refund", {"amount": 0}, 400),
        ):
            assert (await api.http.post(f"/_sb{path}", json=body)).status_code == status
