"""Every column that may say something about a person is erased, or is here with the reason why it stays."""

import re
from collections.abc import Mapping

from sqlmodel import SQLModel

import store.tables  # noqa: F401 - declares all tables
from store.database.views import VIEW
from store.personal_data import emptied

NAMES = re.compile(
    r"_name|mail|phone|address|postal|(^|_)city|message|comment|gift(er|ee)|recipient|buyer|customer|reason|answer|content|payload|digest|filter"
)
ERASED: Mapping[str, frozenset[str]] = {
    "api_request": frozenset({"messages"}),
    "checkout_attempt": frozenset({"buyer", "lines", "session_digest"}),
    "customer": frozenset(emptied.CUSTOMER),
    "event": frozenset({"data"}),
    "export": frozenset({"filter"}),
    "gift_card": frozenset({*emptied.OF_GIFTER, *emptied.OF_GIFTEE, "message"}),
    "kept_answer": frozenset({"answer"}),
    "mail": frozenset({"recipient", "content", "subject", "message_id"}),
    "network_gift_card_usage": frozenset({"comment"}),
    "network_voucher": frozenset({*emptied.OF_GIFTER, *emptied.OF_GIFTEE, "message"}),
    "network_voucher_usage": frozenset({"comment"}),
    "payment": frozenset(emptied.CUSTOMER_OF_PAYMENT),
    "payment_request": frozenset(emptied.CUSTOMER_OF_PAYMENT),
    "refund_request": frozenset({"customer_name", "customer_email", "reason", "answer"}),
    "saved_filter": frozenset({"filter"}),
    "shop_order": frozenset(emptied.ORDER),
    "audit_entry": frozenset({"address"}),
    "voucher": frozenset({*emptied.OF_GIFTER, *emptied.OF_GIFTEE, "message"}),
    "voucher_rental": frozenset({"comment"}),
    "webhook_attempt": frozenset({"answer"}),
}
"""The columns that erasure empties, and those that go with their row or their session."""
NO_BUYER = frozenset(
    [
        "account_link",
        "app_user",
        "bank_account",
        "dispute_document",
        "identity_check",
        "impersonation",
        "invoice",
        "invoice_series",
        "job",
        "kyc_document",
        "ledger_book",
        "ledger_seal",
        "legal_document",
        "marketplace",
        "media",
        "offer",
        "partner",
        "partner_kyc",
        "passkey",
        "payment_activation",
        "payout_adjustment",
        "payout_document",
        "payout_request",
        "picture",
        "read_cursor",
        "reconciliation_finding",
        "recovery_code",
        "token",
        "totp",
        "webhook_endpoint",
        "former_payout_item",
    ]
)
"""Tables about partners, their representatives and staff, and about what is sold: nothing of them is a buyer's."""
OF_INVOICE = "Of a company: the law asks to keep invoices."
STAYS: Mapping[str, str] = {
    "api_request.address": "Of a program, for as many days as the log goes back.",
    "checkout_attempt.failure_reason": "A word of the payment provider's list.",
    "coupon.email_condition": "A rule of the shop, such as a domain.",
    "dispute.reason_code": "A word of the bank's list.",
    "dispute.reason_message": "The bank's words for it.",
    "dispute.status_message": "The provider's words for it.",
    "dispute.result_message": "The provider's words for it.",
    "gift_card.giftee_text": "Follows the columns that it is generated from.",
    "gift_card.gifter_text": "Follows the columns that it is generated from.",
    "payer.email_digest": "Keyed with the installation's secret: it leads nowhere without it.",
    "payment.customer_id": "Leads to a customer without a name.",
    "payment.payin_result_message": "The provider's words for it.",
    "payment_transaction.failure_reason": "A word of the provider's list.",
    "refund.reason": "A choice of staff.",
    "payment_transaction.result_message": "The provider's words for it.",
    "refund_request.answered_by_id": "A member of staff.",
    "refund_request.answered_on": "A time.",
    "shop_order.billing_city": OF_INVOICE,
    "shop_order.billing_company_name": OF_INVOICE,
    "shop_order.billing_country": OF_INVOICE,
    "shop_order.billing_line_1": OF_INVOICE,
    "shop_order.billing_line_2": OF_INVOICE,
    "shop_order.billing_postal_code": OF_INVOICE,
    "shop_order.billing_vat_id": OF_INVOICE,
    "shop_order.delivery_name": "The name of the way of delivery.",
    "voucher.gifter_id": "Leads to a customer without a name.",
    "voucher.giftee_id": "Leads to a customer without a name.",
    "voucher.name_text": "The name of what was sold.",
    "voucher.prototype_name": "The name of what was sold.",
    "voucher.self_gifted": "A yes or no.",
    "shop_order.buyer_text": "Follows the columns that it is generated from.",
    "voucher.gifter_text": "Follows the columns that it is generated from.",
    "voucher.giftee_text": "Follows the columns that it is generated from.",
    "webhook_endpoint.disabled_reason": "A word of ours.",
}
GENERATED = re.compile(r"^customer_\w+_text$|^gift(er|ee)_text$|^emails$")


def test_every_column_about_people_is_erased_or_stays_for_a_reason() -> None:
    forgotten: list[str] = []
    for table in SQLModel.metadata.sorted_tables:
        if table.info == VIEW or table.name in NO_BUYER:
            continue
        for column in table.columns:
            told = f"{table.name}.{column.name}"
            is_known = column.name in ERASED.get(table.name, ()) or told in STAYS or GENERATED.search(column.name)
            if NAMES.search(column.name) and not is_known:
                forgotten.append(told)
    assert forgotten == []


def test_what_is_named_here_is_there() -> None:
    tables = SQLModel.metadata.tables
    assert [name for name in (*ERASED, *NO_BUYER) if name not in tables] == []
    assert [each for each in STAYS if each.partition(".")[2] not in tables[each.partition(".")[0]].c] == []
