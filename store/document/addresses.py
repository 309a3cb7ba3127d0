"""Where printable documents are found: an address that nobody guesses, for whoever holds it."""

import enum

from store.core.settings import Settings


class DocumentKind(enum.StrEnum):
    """What a document is about. The value is its part of the address."""

    VOUCHER = "vouchers"
    GIFT_CARD = "gift-cards"


def document_path(kind: DocumentKind, token: str) -> str:
    """The path of a document, at any host; `token` is its row's `document_token`."""
    return f"/documents/{kind}/{token}.pdf"


def document_url(settings: Settings, kind: DocumentKind, token: str) -> str:
    """The whole address of a document."""
    return f"{settings.public_url}{document_path(kind, token)}"
