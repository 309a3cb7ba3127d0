"""The table of bank accounts registered at the payment provider."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from sqlalchemy import Index, text
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.bank_account import BankAccountStatus, RegisteredBankAccount
from store.core.provider_process import ReferencedRow
from store.core.return_paths import PATH_LENGTH, new_path
from store.core.row import CreatedOn, PartnerOwned
from store.core.state_machine import StateMachine
from store.kyc import of_current_account
from store.partner.partners import PartnerRow

UNSETTLED = (BankAccountStatus.CREATED, BankAccountStatus.PENDING, BankAccountStatus.UNKNOWN)
"""Statuses that can still change to active."""
_ENDED = {BankAccountStatus.ACTIVE, BankAccountStatus.CANCELLED, BankAccountStatus.DEACTIVATED}
TRANSITIONS = StateMachine(
    "A bank account",
    {
        BankAccountStatus.CREATED: {BankAccountStatus.UNKNOWN, BankAccountStatus.PENDING, *_ENDED},
        BankAccountStatus.UNKNOWN: {BankAccountStatus.PENDING, *_ENDED},
        BankAccountStatus.PENDING: {BankAccountStatus.UNKNOWN, *_ENDED},
        BankAccountStatus.ACTIVE: {BankAccountStatus.CANCELLED, BankAccountStatus.DEACTIVATED},
        BankAccountStatus.CANCELLED: {BankAccountStatus.ACTIVE, BankAccountStatus.DEACTIVATED},
    },
)
"""An active account does not become pending again: responses of the provider may arrive out of order."""


class BankAccountRow(PartnerOwned, CreatedOn, ReferencedRow, RegisteredBankAccount, table=True):
    """A bank account at the provider. A partner whose IBAN changes gets another one.

    Of several active ones the newest counts; the provider is asked to deactivate the others until it has done so.
    """

    __tablename__ = "bank_account"
    __table_args__ = (
        Index("bank_account_id_list_idx", "partner_id", "id"),
        Index("bank_account_provider_id_key", "provider_id", unique=True, postgresql_where=text("provider_id <> ''")),
        Index(
            "bank_account_one_begun_key",
            "partner_id",
            "account_id",
            "iban",
            unique=True,
            postgresql_where=text("status = 'created'"),
        ),
    )
    account_id: str = Field(max_length=128)
    iban: str = Field(max_length=34)
    path: str = Field(default_factory=new_path, max_length=PATH_LENGTH, unique=True)
    key: UUID = Field(default_factory=uuid4)


async def bank_accounts_of(db: AsyncSession, partner: PartnerRow) -> Sequence[BankAccountRow]:
    """The bank accounts of a partner's current provider account, newest first."""
    query = select(BankAccountRow).where(*of_current_account(BankAccountRow, partner))
    return (await db.exec(query.order_by(col(BankAccountRow.id).desc()))).all()


async def lock_account(db: AsyncSession, row: BankAccountRow) -> BankAccountRow:
    """The bank account, locked and read again."""
    return (await db.exec(select(BankAccountRow).where(col(BankAccountRow.id) == row.id).with_for_update())).one()
