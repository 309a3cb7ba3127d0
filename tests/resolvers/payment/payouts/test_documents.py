"""The statement and the spreadsheet of a payout: made once, added up again, and shown to whom they are of."""

import asyncio
import datetime as dt
import io
from decimal import Decimal
from typing import Any

import httpx
import pytest
from openpyxl import load_workbook
from pypdf import PdfReader

from resolvers.core.services import Services
from resolvers.document import ServedFile
from resolvers.payment.payouts.documents import (
    MEDIA_TYPES,
    PDF,
    XLSX,
    find_payout_file,
    generate_payout_pdf,
    generate_payout_xls,
    read_payout_file,
)
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import NotFound
from schema.payment.input import RefundPayment
from schema.payment.payout import GeneratePayoutPdf
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.localization.formats import Formats
from store.payout.documents import PayoutDocumentKind
from store.payout.requests import PayoutRequestRow
from tests.changes import Transport
from tests.fixtures.payment.api_payment import fee_rule, paid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.payout import can_be_paid_out, gathered, send, validated
from tests.fixtures.payment.refill import opened_wallet, refilled
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.payment.payouts.test_payouts import opened


async def rich_payout(shop: Shop) -> PayoutRequestRow:
    """A payout of payments, a usage in the network, and a refund."""
    await take_part(shop)
    await take_fees(shop)
    await fee_rule(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "500.00")
    payment = await paid(shop, "100.00", product="spa")
    await paid(shop, "60.00")
    uuid = await shop.one(
        "SELECT w.uuid FROM wallet w JOIN gift_card c ON c.wallet_id = w.id WHERE c.id = :id",
        id=(await card_of_network(shop)).id,
    )
    await paid(shop, "30.00", extra_source_wallet_uuid=uuid, extra_source_amount="30.00")
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("20.00")))
    await send_refunds(shop.services)
    return await validated(shop)


async def served_file(services: Services, payout: PayoutRequestRow, kind: PayoutDocumentKind) -> ServedFile:
    """A document that is made."""
    found = await read_payout_file(services, payout, kind)
    assert isinstance(found, ServedFile)
    return found


def text_of(content: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages).split())


async def test_the_statement_shows_each_line_and_adds_up(shop: Shop) -> None:
    payout = await rich_payout(shop)
    served = await served_file(shop.services, payout, PDF)
    assert served.media_type == "application/pdf"
    seen = text_of(served.content)
    assert Formats("en").money(payout.payout_amount, "EUR") in seen
    for expected in (
        "FR76 3000 4000 0312 3456 7890 143",
        "Payments",
        "Usages in the network",
        "Refunds",
        "spa",
        "Ada Martin",
    ):
        assert expected in seen, expected
    metadata = PdfReader(io.BytesIO(served.content)).xmp_metadata
    assert metadata is not None
    assert "To be paid out" in seen
    done = await send(shop, payout)
    later = await served_file(shop.services, done, PDF)
    assert "Paid out on" in text_of(later.content)


async def test_the_spreadsheet_adds_up_again(shop: Shop) -> None:
    payout = await rich_payout(shop)
    await send(shop, payout)
    served = await served_file(shop.services, payout, XLSX)
    book = load_workbook(io.BytesIO(served.content))
    assert book.sheetnames == ["Summary", "Payments", "Usages in the network", "Refunds", "Other", "Transfers"]
    nets: list[float] = []
    for name in book.sheetnames[1:5]:
        rows = list(book[name].iter_rows(min_row=2, values_only=True))
        lines: list[Any] = [row for row in rows if isinstance(row[0], dt.datetime)]
        nets += [row[6] for row in lines]
        assert all(round(row[4] - row[5], 2) == row[6] for row in lines)
        assert book[name].auto_filter.ref is not None
        assert str(rows[-1][6]).startswith("=SUM(G2:G")
    assert Decimal(str(round(sum(nets), 2))) == payout.payout_amount
    (transfer,) = list(book["Transfers"].iter_rows(min_row=2, max_row=2, values_only=True))
    assert (transfer[2], Decimal(str(transfer[4]))) == ("ok", payout.network_amount)
    shown = load_workbook(io.BytesIO(served.content), data_only=True)["Summary"]
    *_, (label, total) = list(shown.iter_rows(max_col=2, values_only=True))
    assert (label, Decimal(str(total))) == ("Total", payout.payout_amount)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_partner_s_language(shop: Shop, language: str) -> None:
    await paid(shop, "10.00")
    await shop.execute("UPDATE partner SET language = :language", language=language)
    payout = await gathered(shop)
    seen = text_of((await served_file(shop.services, payout, PDF)).content)
    assert " ".join(Formats(language).money(Decimal("10.00"), "EUR").split()) in seen
    assert ("To be paid out" in seen) is (language == "en")
    book = load_workbook(io.BytesIO((await served_file(shop.services, payout, XLSX)).content))
    assert len(set(book.sheetnames)) == 6


async def test_it_is_made_once_and_again_when_it_has_changed(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await can_be_paid_out(shop)
    await paid(shop, "10.00")
    payout = await validated(shop)
    for kind in (PDF, XLSX):
        served = await asyncio.gather(*(served_file(shop.services, payout, kind) for _ in range(3)))
        again = await served_file(shop.services, payout, kind)
        assert again.content in {each.content for each in served}
        first = await served_file(shop.services, payout, kind)
        assert first.content == again.content
    done = await send(shop, payout)
    for kind in (PDF, XLSX):
        before = await served_file(shop.services, payout, kind)
        assert (await served_file(shop.services, done, kind)).content != before.content


async def test_its_address_works_for_an_hour(tenants: Tenants, ask: Transport) -> None:
    id = await opened(tenants)
    query = "query ($id: Int!) { payoutRequest(id: $id) { pdfUrl xlsxUrl } }"

    async def urls() -> Any:
        return (await tenants.graphql("market a", query, id=id))["data"]["payoutRequest"]

    async def get(url: str) -> httpx.Response:
        return await tenants.client.get("/" + url.split("/", 3)[3])

    assert await urls() == {"pdfUrl": None, "xlsxUrl": None}
    assert (await ask.change("a1", generate_payout_pdf, id=id)).done
    found = await urls()
    assert (found["xlsxUrl"], found["pdfUrl"] is None) == (None, False)
    assert (await ask.change("market a", generate_payout_xls, id=id)).done
    for name, kind in (("pdfUrl", PDF), ("xlsxUrl", XLSX)):
        url = (await urls())[name]
        response = await get(url)
        assert (response.status_code, response.headers["content-type"]) == (200, MEDIA_TYPES[kind])
        assert url.endswith(f".{kind}")
        for wrong in (url.replace("documents/payouts/", "documents/payouts/x"), url.replace(f".{kind}", ".csv")):
            assert (await get(wrong)).status_code == 404
        other = PDF if kind == XLSX else XLSX
        assert (await get(url.replace(f".{kind}", f".{other}"))).status_code == 404
        token = url.rsplit("/", 1)[1].removesuffix(f".{kind}")
        clock.advance(dt.timedelta(minutes=59))
        assert (await get(url)).status_code == 200
        clock.advance(dt.timedelta(minutes=17))
        assert (await get(url)).status_code == 404
        with pytest.raises(NotFound):
            await find_payout_file(tenants.services, token, kind)
    assert (await ask.change("b1", generate_payout_pdf, id=id)).wrong == {("", "NOT_FOUND")}


async def test_rest_answers_the_file_itself(tenants: Tenants) -> None:
    id = await opened(tenants)

    async def get(who: str, path: str, method: str = "GET") -> httpx.Response:
        headers = {"Authorization": f"Token {tenants.tokens[who]}"}
        return await tenants.client.request(method, f"/api/payout_requests/{id}/{path}", headers=headers)

    assert (await get("a1", "")).json()["pdf_file"] is None
    for path, kind, key in (("pdf/", PDF, "pdf_file"), ("xls/", XLSX, "xls_file")):
        answer = await get("a1", path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPES[kind])
        assert answer.headers["content-disposition"].startswith("inline; filename=")
        assert len(answer.content) > 1_000
        assert (await get("a1", "")).json()[key].endswith(f".{kind}")
        assert (await get("b1", path)).status_code == 404
    assert await tenants.one("SELECT count(*) FROM payout_request WHERE pdf_made_on IS NOT NULL") == 1
    assert GeneratePayoutPdf(id=id).id == id
