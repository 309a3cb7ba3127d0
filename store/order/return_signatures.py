"""Signatures of order numbers in the URLs that customers are redirected back to."""

import datetime as dt
import hashlib
import hmac
from collections.abc import Sequence
from uuid import UUID

from sqlmodel import Field, SQLModel

from schema.core.columns import datetime_column
from store.order.signing_secrets import SecretKind

RETURN_SECRET = SecretKind("retsec_", b"secret of the returns of a partner\x00")


class ReturnSecretRow(SQLModel, table=True):
    """The secret that signs a partner's return URLs. Without a row the URLs are not signed."""

    __tablename__ = "return_secret"
    partner_id: int = Field(primary_key=True, foreign_key="partner.id", ondelete="CASCADE")
    secret_salt: bytes
    previous_secret_salt: bytes | None = Field(default=None)
    previous_secret_until: dt.datetime | None = datetime_column(
        "Until when the previous secret is valid.", default=None, nullable=True
    )


def signature_of(secrets: Sequence[str], cart_id: UUID, number: int) -> str:
    """HMAC-SHA256 of `<cart id>.<order number>` in hex.

    During a rotation it is one signature per secret, joined by dots.
    """
    message = f"{cart_id}.{number}".encode()
    return ".".join(hmac.digest(RETURN_SECRET.key_of(secret), message, hashlib.sha256).hex() for secret in secrets)
