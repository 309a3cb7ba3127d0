"""The words of the back office: labels and values as people say them, short times, sums of reports."""

import re

import pytest
from graphql import GraphQLObjectType, get_named_type

from admin.core.templates import AdminTemplates
from admin.core.values import Reader
from admin.graph.labels import action_label, help_of, label_of, value_label
from admin.graph.schema_types import object_type
from admin.graph.words import CODES
from admin.pages.facts import facts_of, parts_of, table_of_objects
from admin.resources.operations import operation_called, operation_labels
from admin.resources.tables import TABLE_COLUMNS
from admin.texts import schema_texts
from schema.validation.languages import LANGUAGES
from store.core.localization.formats import Formats

OF_PROGRAMS = re.compile(
    r"\b(prototypes?|universes?|environments?|expedition|payins?|reception mode|rentals?|uuids?|giftee|gifter|kyc)\b",
    re.IGNORECASE,
)
READER = Reader(Formats("en"), "Europe/Paris", str, this_year=2026)


TRANSLATABLE = {message.id for message in AdminTemplates.texts.catalogue("fr")}


def euros(amount: str) -> dict[str, str]:
    """An amount as the API has it."""
    return {"amount": amount, "currency": "EUR"}


def test_the_texts_have_no_words_of_programs() -> None:
    sentences = {text for text in schema_texts() if " " in text and text[-1] in ".:"}
    labels = schema_texts() - sentences
    assert set(CODES.values()) <= labels
    assert sorted(text for text in labels if OF_PROGRAMS.search(text)) == ["UUID"]
    assert not [text for text in sentences if re.search(r"\bprototypes?\b", text)]


def test_labels_are_those_of_people() -> None:
    assert [label_of(name) for name in ("voucherPrototypes", "receptionMode", "gifteeDetails", "createdOn")] == [
        "Experiences",
        "Sent by",
        "Recipient",
        "Created",
    ]
    assert [value_label(name) for name in ("PAYIN", "EXPEDITION", "TOTAL_DESCENDING")] == [
        "Payment",
        "By post",
        "Total, descending",
    ]
    assert action_label("holdGiftCard", "GiftCard") == "Reserve an amount"
    assert action_label("createUniverse", "Universe") == "New kind of experience"
    assert help_of("The prototype that is sold.") == "The experience that is sold."


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_are_short_and_whole(language: str) -> None:
    reader = Reader(Formats(language), "Europe/Paris", str, this_year=2026)
    field = object_type("Order").fields["createdOn"]
    cell = reader.cell("createdOn", field, "2026-11-12T13:30:00+00:00")
    assert "14:30" in cell.text
    assert "2026" not in cell.text
    assert "2026" in cell.title
    assert "2025" in reader.cell("createdOn", field, "2025-11-12T13:30:00+00:00").text
    assert "2027" in reader.cell("createdOn", field, "2026-12-31T23:30:00+00:00").text, "in the time zone of the reader"


def test_values_are_written_for_people() -> None:
    order = object_type("Order").fields
    assert READER.cell("language", order["language"], "de").text == "Deutsch"
    payment = object_type("Payment").fields
    assert READER.cell("product", payment["product"], "gift_cards").text == "Gift cards"
    assert READER.cell("product", payment["product"], "spa").text == "Spa"
    assert READER.cell("product", payment["product"], "Yoga, 2 persons").text == "Yoga, 2 persons"
    assert READER.cell("refundStatus", payment["refundStatus"], "NONE").kind == "empty"
    rate = object_type("OrderProduct").fields["vatRate"]
    assert READER.cell("vatRate", rate, "5.50").text == "5.5%"
    assert Reader(Formats("fr"), "UTC", str).cell("vatRate", rate, "5.50").text == "5,5\N{NO-BREAK SPACE}%"


def test_lists_of_lists_are_told_as_one() -> None:
    tags = object_type("NetworkVoucherContent").fields["tags"]
    nested = [["hotel", "spa"], [], ["spa", "lake"]]
    assert READER.text(tags, "tags", nested) == "hotel, spa, lake"
    assert READER.cell("tags", tags, [[], []]).kind == "empty"


def test_what_has_to_be_provided_is_in_the_words_of_forms() -> None:
    required = object_type("Requirement").fields
    assert READER.text(required["field"], "field", "bankAccount.iban") == "Bank account: IBAN"
    assert READER.text(required["action"], "action", "updatePartner") == "Partner: Edit"
    link = READER.cell("action", required["action"], "https://provider.example/session")
    assert (link.kind, link.url) == ("link", "https://provider.example/session")


def test_the_columns_of_a_report_have_plain_heads() -> None:
    figures = {"count": 2, "gross": euros("30.00")}
    table = table_of_objects(object_type("SalesDay"), [{"day": "2026-11-25", "figures": figures}], READER)
    assert table is not None
    assert table.labels == ["Day", "Count", "Gross"]


def test_operations_have_the_words_of_their_buttons() -> None:
    field = object_type("AuditEntry").fields["operation"]
    cell = READER.cell("operation", field, "update_order_details")
    assert (cell.text, cell.title) == ("Order: Edit details", "update_order_details")
    french = Reader(Formats("fr"), "UTC", AdminTemplates.texts.translations("fr").gettext)
    assert (
        french.text(field, "operation", "update_order_details")
        == "Commande\N{NO-BREAK SPACE}: Modifier les informations"
    )
    assert READER.text(field, "operation", "create_coupon") == "New coupon"
    assert READER.text(field, "operation", "obtain_token") == "Log in"
    assert READER.cell("operation", field, "something_else").title == ""
    assert READER.text(object_type("AuditEntry").fields["subjectType"], "subjectType", "GiftCard") == "Gift card"
    assert {part for label in operation_labels().values() for part in label.split(": ")} <= TRANSLATABLE


@pytest.mark.parametrize(
    "typed", ["Order: Edit details", " order: edit details", "updateOrderDetails", "update_order_details"]
)
def test_an_operation_is_looked_for_by_the_words_of_its_button_or_its_name(typed: str) -> None:
    assert operation_called(typed, READER.translate) == "update_order_details"


def test_an_operation_is_looked_for_in_the_language_of_the_reader() -> None:
    translate = AdminTemplates.texts.translations("fr").gettext
    for typed in ("Commande: Modifier les informations", "commande\N{NO-BREAK SPACE}:  Modifier les informations"):
        assert operation_called(typed, translate) == "update_order_details"
    assert operation_called("something_else", translate) == "something_else"


def test_columns_of_tables_exist() -> None:
    for name, columns in TABLE_COLUMNS.items():
        fields = object_type(name).fields
        embedded = [get_named_type(field.type) for field in fields.values()]
        inner = {each for kind in embedded if isinstance(kind, GraphQLObjectType) for each in kind.fields}
        assert set(columns) <= fields.keys() | inner, name


def test_a_line_of_a_payout_tells_what_was_sold() -> None:
    line = {
        "journalId": "9",
        "sourceKind": "payment",
        "sourceId": "111ece73-fcbf-47cc-b598-9c698c23f469",
        "kind": "PAYMENT",
        "section": "PAYMENTS",
        "details": "products",
        "customer": "Hanna Lindenau",
        "codeEnd": "",
        "payableOn": "2026-11-25",
        "gross": euros("70.90"),
        "fees": euros("3.28"),
        "amount": euros("67.62"),
    }
    table = table_of_objects(object_type("PayoutLine"), [line], READER)
    assert table is not None
    assert table.labels == ["Payable on", "Kind", "Gross", "Fees", "Amount", "Details", "Customer"]
    texts = [cell.text for cell in table.rows[0][0]]
    assert texts == ["25 Nov 2026", "Payment", "€70.90", "€3.28", "€67.62", "Products", "Hanna Lindenau"]


def test_a_report_has_its_sums_and_the_lists_within_its_lists() -> None:
    usages = {"count": 2, "value": euros("30.00"), "net": euros("27.00")}
    product = {"product": "NETWORK_VOUCHER", "usages": usages, "owedBack": euros("1.00")}
    partner = {"partner": {"uuid": "1", "commercialName": "Spa"}, "opening": euros("5.00"), "products": [product]}
    currency = {"currency": "EUR", "opening": euros("0.00"), "products": [product], "partners": [partner]}
    kind = object_type("SettlementStatement")
    parts = {part.label: part for part in parts_of(kind, {"currencies": [currency]}, READER, is_report=True)}
    assert list(parts) == ["Currencies", "Products", "Partners", "Partners: Products"]
    table = parts["Partners: Products"].table
    assert table is not None
    assert "Uses: Value" in table.labels
    of_two = parts_of(kind, {"currencies": [currency, {**currency, "currency": "CHF"}]}, READER, is_report=True)
    assert [part.label for part in of_two][:3] == ["Currencies", "EUR: Products", "EUR: Partners"]
    plain = [part.label for part in parts_of(kind, {"currencies": [currency]}, READER)]
    assert plain == ["Currencies"], "only reports show all"
    fee = {"effectiveOn": "2026-11-01", "kind": "PAYMENTS", "amount": euros("3.00"), "vat": euros("0.50")}
    statement = {"total": euros("3.00"), "vat": euros("0.50"), "missing": [], "lines": {"nodes": [fee]}}
    (lines,) = parts_of(object_type("FeeStatement"), statement, READER, is_report=True)
    assert lines.table is not None
    assert [cell.text for cell in lines.table.sums] == ["", "", "€0.50", "€3.00"]
    assert [fact.label for fact in facts_of(object_type("FeeStatement"), statement, READER)] == ["Total", "VAT"]
