"""What the address of a printable document is made of."""

import secrets


def document_token() -> str:
    """256 bits that nobody guesses."""
    return secrets.token_urlsafe(32)
