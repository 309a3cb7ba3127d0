"""Payers: the buyers as the provider knows them, one for each e-mail address."""

import datetime as dt
import hashlib
import hmac
from uuid import UUID, uuid4

from pydantic import SecretStr
from sqlalchemy import UniqueConstraint
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column
from store.core.provider_process import KEY_LIFE, ReferencedRow


class PayerRow(ReferencedRow, table=True):
    """A payer, stored before the provider is asked to create it. The address itself is not stored, only its digest."""

    __tablename__ = "payer"
    __table_args__ = (UniqueConstraint("account", "email_digest", name="payer_email_key"),)
    id: UUID = Field(default_factory=uuid4, primary_key=True)
    account: str = Field(max_length=255, description="Our account at the provider, live or of its sandbox.")
    email_digest: bytes
    key: UUID = Field(description="The key of the call that creates it.")
    sent_at: dt.datetime = datetime_column("When the key was stored.")


def email_digest(installation: SecretStr, normal_email: str) -> bytes:
    """The digest of a normalized address. Without the installation's secret it cannot be guessed from lists."""
    return hmac.digest(installation.get_secret_value().encode(), b"payer " + normal_email.encode(), hashlib.sha256)


async def claim_payer(db: AsyncSession, account: str, digest: bytes, now: dt.datetime) -> PayerRow:
    """The payer of an address, stored if it is new.

    A key without an answer that can no longer be repeated is replaced: a second payer at the provider does no harm,
    one that can never be created would keep the buyer from paying.
    """
    of_address = select(PayerRow).where(col(PayerRow.account) == account, col(PayerRow.email_digest) == digest)
    known = (await db.exec(of_address)).one_or_none()
    if known is not None and known.provider_id:
        return known
    new = {"id": uuid4(), "account": account, "email_digest": digest, "key": uuid4(), "sent_at": now, "provider_id": ""}
    await db.exec(insert(PayerRow).values(new).on_conflict_do_nothing())
    payer = (await db.exec(of_address.with_for_update().execution_options(populate_existing=True))).one()
    if not payer.provider_id and now - payer.sent_at >= KEY_LIFE:
        forget_payer(payer, now)
    return payer


async def lock_payer(db: AsyncSession, payer: PayerRow) -> PayerRow:
    """The payer as it is now, locked."""
    return (await db.exec(select(PayerRow).where(col(PayerRow.id) == payer.id).with_for_update())).one()


def forget_payer(payer: PayerRow, now: dt.datetime) -> None:
    """Have the provider create another payer for this address."""
    payer.provider_id, payer.key, payer.sent_at = "", uuid4(), now
