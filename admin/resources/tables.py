"""The columns of tables within pages, where not all that their objects have is worth a column."""

from collections.abc import Mapping, Sequence

TABLE_COLUMNS: Mapping[str, Sequence[str]] = {
    "Fee": ("effectiveOn", "kind", "invoiceNumber", "vatRate", "vat", "amount"),
    "GiftCardMovement": ("createdOn", "kind", "reference", "partner", "change"),
    "LedgerEntry": ("role", "owner", "debit", "credit", "balanceAfter"),
    "PaymentTransaction": ("createdOn", "type", "status", "method", "resultMessage", "amount", "commission", "net"),
    "PayoutLine": (
        "payableOn", "kind", "gross", "fees", "amount", "details", "customer", "codeEnd", "reason", "payment", "movedTo",
    ),
    "Requirement": ("code", "field", "person", "deadline"),
    "Token": ("label", "kind", "hint", "createdOn", "lastUsedOn", "expiresOn"),
    "RefundLine": ("name", "quantity", "amount"),
    "RefundRequestLine": ("name", "quantity", "unitPrice", "total"),
}  # fmt: skip
"""The names of fields by type, in the order of the columns. Types that are not named have all that they have."""
