"""The document of an invoice: a PDF/A-3 with an electronic invoice that passes the validators, served to whom it is of."""

import asyncio
import datetime as dt
import io
import re
from decimal import Decimal
from typing import Any

import facturx
import pytest
from lxml.etree import fromstring
from pypdf import PdfReader
from sqlmodel import col, select

from resolvers.invoice.issuing import create_credit_note
from resolvers.payment.refunds.refunds import refund_payment
from schema.invoice.invoice import InvoiceKind
from schema.mail import MailKind
from schema.payment.input import RefundPayment
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.localization.formats import Formats
from store.document.invoice import source
from store.document.invoice.factur_x import render_invoice
from store.document.invoice.words import KINDS, InvoiceWords
from store.invoice.invoices import InvoiceRow
from store.mail.attachments import load_documents
from store.mail.content import content_of
from store.mail.render import render_mail
from store.mail.rows import MailRow
from tests.changes import Direct
from tests.fixtures.e_invoice import broken_business_rules
from tests.fixtures.invoice import can_be_invoiced, invoices, issue_now, issued, stored_invoice
from tests.fixtures.payment.api_payment import fee_rule, paid, wallet_uuid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.invoice.test_crediting import TOO_LATE
from tests.store.mail.examples import CONTENTS, SHOP

RAM = "{urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100}"


async def document(shop: Shop | Tenants, row: InvoiceRow) -> bytes:
    return (await render_invoice(shop.services.db, shop.services.files, row.id)).content


def xml_of(pdf: bytes) -> bytes:
    _, xml = facturx.get_xml_from_pdf(pdf, check_xsd=True, check_schematron=False)
    return bytes(xml)


def values(xml: bytes, tag: str) -> list[str]:
    return [str(element.text) for element in fromstring(xml).iter(f"{RAM}{tag}")]


def text_of(pdf: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages).split())


async def test_what_is_printed_is_what_the_electronic_invoice_says(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    await paid(shop, "60.00")
    (row,) = await issued(shop)
    pdf = await document(shop, row)
    xml = xml_of(pdf)
    assert broken_business_rules(xml) == []
    assert values(xml, "TypeCode")[0] == "380"
    assert (values(xml, "GrandTotalAmount"), values(xml, "DuePayableAmount")) == (["9.60"], ["0"])
    assert values(xml, "TaxTotalAmount") == ["1.60"]
    seen, formats = text_of(pdf), Formats(row.language)
    for expected in (
        row.number,
        "Réseau des Cimes SAS",
        "12 quai du Lac",
        "FR44732829320",
        "FR40303265045",
        formats.money(Decimal("9.60"), "EUR"),
        formats.money(Decimal("8.00"), "EUR"),
        str(payment.id)[:8],
    ):
        assert expected in seen, expected
    assert await document(shop, row) == pdf


@pytest.mark.parametrize(
    ("issuer", "partner_vat", "rate", "category"),
    [
        ({}, "FR40303265045", "20.00", "S"),
        ({}, "DE136695976", "20.00", "AE"),
        ({"exemption_reason": "Exempt under article 261 of the CGI"}, "", "0.00", "E"),
        ({"exemption_reason": "VAT not applicable, article 293 B of the CGI", "vat_id": ""}, "", "0.00", "O"),
    ],
)
async def test_each_kind_of_vat_passes_the_validators(
    shop: Shop, issuer: dict[str, str], partner_vat: str, rate: str, category: str
) -> None:
    await can_be_invoiced(shop, **issuer)
    await shop.execute("UPDATE partner SET vat_id = :vat", vat=partner_vat)
    await fee_rule(shop, vat_rate=Decimal(rate))
    payment = await paid(shop, "100.00")
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("40.00")))
    await send_refunds(shop.services)
    for row in await issued(shop):
        pdf = await document(shop, row)
        xml = xml_of(pdf)
        assert broken_business_rules(xml) == []
        assert set(values(xml, "CategoryCode")) == {category}
        if issuer:
            assert issuer["exemption_reason"] in text_of(pdf)
    assert [row.kind for row in await invoices(shop.services)] == [InvoiceKind.INVOICE, InvoiceKind.CREDIT_NOTE]


async def test_a_credit_note_names_the_invoices_that_it_is_about(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    await issued(shop)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("40.00")))
    await send_refunds(shop.services)
    _, note = await issued(shop)
    xml = xml_of(await document(shop, note))
    assert broken_business_rules(xml) == []
    assert (values(xml, "TypeCode")[0], values(xml, "GrandTotalAmount")) == ("381", ["2.40"])
    referenced = fromstring(xml).find(f".//{RAM}InvoiceReferencedDocument/{RAM}IssuerAssignedID")
    assert referenced is not None
    assert referenced.text == "F-000001"


async def test_a_credit_note_about_what_a_gift_card_paid_names_the_invoice(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await take_part(shop)
    await take_fees(shop)
    wallet = await wallet_uuid(shop, await card_of_network(shop))
    payment = await paid(shop, "50.00", extra_source_wallet_uuid=wallet, extra_source_amount="50.00")
    (invoice,) = await issued(shop)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("20.00")))
    await send_refunds(shop.services)
    xml = xml_of(await document(shop, (await issued(shop))[-1]))
    assert broken_business_rules(xml) == []
    assert invoice.number in values(xml, "IssuerAssignedID")


async def test_a_correction_names_its_invoice_and_reason(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    changed = {"invoice_id": str(row.id), "reason": "Agreed otherwise"}
    assert (await Direct(tenants).change("market a", create_credit_note, **changed)).done
    note = (await invoices(tenants.services))[-1]
    pdf = await document(tenants, note)
    assert broken_business_rules(xml_of(pdf)) == []
    assert "Agreed otherwise" in text_of(pdf)
    assert row.number in text_of(pdf)


async def test_it_is_an_archivable_and_tagged_pdf_that_says_what_is_attached(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    reader = PdfReader(io.BytesIO(await document(tenants, row)))
    catalog: Any = reader.trailer["/Root"]
    metadata = catalog["/Metadata"].get_data().decode()
    assert re.search(r"<pdfaid:part>3</pdfaid:part>", metadata)
    assert re.search(r"<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>", metadata)
    assert catalog["/MarkInfo"]["/Marked"]
    assert "/StructTreeRoot" in catalog
    assert catalog["/Lang"] == row.language
    assert catalog["/OutputIntents"]
    attached = catalog["/AF"][0]
    assert attached.get_object()["/AFRelationship"] == "/Alternative"
    assert sorted(reader.attachments) == ["factur-x.xml", "fees.csv"]
    (fees,) = reader.attachments["fees.csv"]
    assert fees.decode().splitlines()[1].endswith(",8.40,1.40,EUR")
    fonts = [
        font.get_object()
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()  # type: ignore[index]
    ]
    assert all("/FontFile" in str(font["/DescendantFonts"][0].get_object()["/FontDescriptor"]) for font in fonts)


async def test_its_file_has_a_name_that_file_systems_take(shop: Shop) -> None:
    await can_be_invoiced(shop, number_prefix="F/2026/")
    await fee_rule(shop)
    await paid(shop, "100.00")
    (row,) = await issued(shop)
    made = await render_invoice(shop.services.db, shop.services.files, row.id)
    assert "F 2026 000001" in made.file_name


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_is_in_the_language_of_the_partner(tenants: Tenants, language: str) -> None:
    await tenants.execute("UPDATE partner SET language = :language", language=language)
    row = await stored_invoice(tenants, "a1")
    kind = InvoiceWords(language).say(KINDS[InvoiceKind.INVOICE])
    assert kind in text_of(await document(tenants, row))
    assert (kind == "Invoice") is (language == "en")


async def test_its_address_works_for_an_hour_for_whoever_has_it(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    query = f'{{ invoice(id: "{row.id}") {{ pdfUrl }} }}'
    url = (await tenants.graphql("a1", query))["data"]["invoice"]["pdfUrl"]
    answer = await tenants.client.get(url)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
    assert answer.headers["cache-control"] == "private, no-cache"
    assert "F-000001" in answer.headers["content-disposition"]
    payout = url.replace("/invoices/", "/payouts/")
    for forged in (url.replace("/invoices/", "/invoices/x"), payout):
        assert (await tenants.client.get(forged)).status_code == 404
    clock.advance(dt.timedelta(minutes=76))
    assert (await tenants.client.get(url)).status_code == 404


async def test_it_is_mailed_to_the_partner_with_the_document(shop: Shop) -> None:
    await can_be_invoiced(shop)
    await fee_rule(shop)
    await paid(shop, "100.00")
    (row,) = await issued(shop)
    async with shop.services.db.sessions() as db:
        (mail,) = (await db.exec(select(MailRow).where(col(MailRow.kind) == MailKind.INVOICE))).all()
    assert mail.recipient == shop.partner.agency_email
    services, about = shop.services, content_of(mail.kind, mail.content)
    documents = await load_documents(
        services.db, services.settings, services.files, services.wallet_keys, mail.kind, about
    )
    (attached,) = documents.files
    assert (attached.content_type, attached.content) == ("application/pdf", await document(shop, row))
    rendered = render_mail(mail.kind, about, "en", SHOP, "https://api.shop.example", documents.links)
    assert "Your invoice is attached" in rendered.text
    assert rendered.subject == "Invoice F-000001 from Réseau des Cimes SAS"
    assert "€6.00" in rendered.text


async def test_a_document_that_is_too_large_for_a_message_is_not_attached(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await stored_invoice(tenants, "a1")
    services, about = tenants.services, CONTENTS[MailKind.INVOICE].model_copy(update={"invoice_id": row.id})
    monkeypatch.setattr("store.mail.attachments.MAX_ATTACHED_BYTES", len(await document(tenants, row)) - 1)
    documents = await load_documents(
        services.db, services.settings, services.files, services.wallet_keys, MailKind.INVOICE, about
    )
    assert documents.files == []
    rendered = render_mail(MailKind.INVOICE, about, "en", SHOP, "https://api.shop.example", documents.links)
    for said in (rendered.text, rendered.html):
        assert "too large to be attached" in said
        assert "is attached" not in said


async def test_first_requests_at_the_same_time_get_one_document(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    made = await asyncio.gather(*(document(tenants, row) for _ in range(4)))
    assert len(set(made)) == 1
    assert await document(tenants, row) == made[0]


async def test_a_document_that_is_not_whole_is_made_again(tenants: Tenants) -> None:
    row = await stored_invoice(tenants, "a1")
    whole, key = await document(tenants, row), f"documents/invoices/{row.id}.pdf"
    kept = await tenants.services.files.get(key)
    assert kept is not None
    await tenants.services.files.put(key, kept[:-200], "application/octet-stream")
    again = await document(tenants, row)
    assert (text_of(again), await document(tenants, row)) == (text_of(whole), again)


async def test_a_fee_that_is_charged_again_is_no_payment(shop: Shop) -> None:
    """Its refund has failed."""
    await can_be_invoiced(shop)
    await fee_rule(shop)
    payment = await paid(shop, "100.00")
    await issued(shop)
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("100.00")))
    await issue_now(shop.services, shop.partner.id)
    fault = {"method": "POST", "path": "/payins/*/refunds", "kind": "failed", "code": TOO_LATE, "times": 1}
    assert (await shop.control("POST", "/faults", fault)).status_code == 200
    await send_refunds(shop.services)
    listed = [text_of(await document(shop, row)).partition("Fees in detail")[2] for row in await issued(shop)]
    assert [re.findall("Payment|Failed refund|Refund", each) for each in listed] == [
        ["Payment"],
        ["Refund"],
        ["Failed refund"],
    ]


async def test_long_lists_of_fees_are_attached_and_not_printed(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await stored_invoice(tenants, "a1")
    monkeypatch.setattr(source, "MOST_PRINTED", 0)
    pdf = await document(tenants, row)
    assert "The fees are listed one by one in the attached file fees.csv." in text_of(pdf)
    assert "Fees in detail" not in text_of(pdf)
    assert broken_business_rules(xml_of(pdf)) == []
