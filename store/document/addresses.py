"""The addresses of printable documents. They cannot be guessed; whoever has one can read the document."""

import enum

from store.core.settings import Settings


class DocumentKind(enum.StrEnum):
    """The kind of a document. The value is its part of the address."""

    VOUCHER = "vouchers"
    GIFT_CARD = "gift-cards"
    NETWORK_VOUCHER = "network-vouchers"
    RECEIPT = "receipts"


def document_path(kind: DocumentKind, token: str) -> str:
    """The path of a document, on any host; `token` is its row's `document_token`."""
    return f"/documents/{kind}/{token}.pdf"


def document_key(kind: DocumentKind, id: object) -> str:
    """The key of a rendered document in the file store; `id` is that of its row."""
    return f"documents/{kind}/{id}.pdf"


def document_url(settings: Settings, kind: DocumentKind, token: str) -> str:
    """The full URL of a document."""
    return f"{settings.public_url}{document_path(kind, token)}"


def parse_document_url(url: str) -> tuple[DocumentKind, str]:
    """The kind and the token of a document by its URL, as `document_url` makes it."""
    *_, kind, file = url.split("/")
    return DocumentKind(kind), file.removesuffix(".pdf")


def apple_pass_path(kind: DocumentKind, token: str) -> str:
    """The path of the pass for Apple Wallet, on any host. It is as hard to guess as that of the document."""
    return f"/documents/{kind}/{token}.pkpass"


def google_pass_path(kind: DocumentKind, token: str) -> str:
    """The path that leads to the save link of Google Wallet, on any host."""
    return f"/documents/{kind}/{token}/google-wallet"
