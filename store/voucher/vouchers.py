"""The tables of vouchers."""

from typing import cast

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint, text
from sqlmodel import Field

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.validation.languages import LANGUAGES
from schema.voucher.voucher import (
    Voucher,
    VoucherChosenOption,
    VoucherExpedition,
    VoucherGiftee,
    VoucherGifter,
    VoucherIncludedOption,
    VoucherRental,
)
from store.core.codes import document_token
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, PartnerOwned, UpdatedOn
from store.database.text_search import declare_searchable


class VoucherRow(
    PartnerOwned, InCurrency, CreatedOn, UpdatedOn, VoucherGifter, VoucherGiftee, VoucherExpedition, Voucher, table=True
):
    """A voucher. `normal_code` is the code as it is matched: upper case, without spaces and hyphens."""

    __tablename__ = "voucher"
    __table_args__ = (
        UniqueConstraint("normal_code", name="voucher_code_key"),
        UniqueConstraint("document_token", name="voucher_document_token_key"),
        Index("voucher_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("voucher_expires_on_list_idx", "partner_id", "expires_on", "id"),
        Index("voucher_newest_idx", "created_on", "id"),
        Index("voucher_ending_idx", "expires_on", "id"),
        Index("voucher_state_list_idx", "partner_id", "state", "created_on", "id"),
        Index("voucher_prototype_list_idx", "partner_id", "voucher_prototype_id", "created_on", "id"),
        Index("voucher_due_idx", "expires_on", "id", postgresql_where=text("state IN ('paid', 'using')")),
        CheckConstraint(
            "total_price_amount >= 0 AND purchase_price_amount >= 0 AND rent_price_amount >= 0 "
            "AND bought_rent_price_amount >= 0",
            name="prices_not_negative",
        ),
        CheckConstraint("(state = 'used') = (used_on IS NOT NULL)", name="used_has_its_day"),
    )
    normal_code: str = Field(max_length=40)
    document_token: str = Field(default_factory=document_token, max_length=64)
    gifter_id: int | None = Field(default=None, foreign_key="customer.id", index=True)
    giftee_id: int | None = Field(default=None, foreign_key="customer.id", index=True)


def _joined_lines(*values: str) -> str:
    return f"search_text({' || chr(10) || '.join(values)})"


SEARCH_COLUMNS = {
    "name_text": ("n", _joined_lines(*(f"coalesce(prototype_name ->> '{language}', '')" for language in LANGUAGES))),
    "gifter_text": ("g", _joined_lines("gifter_first_name || ' ' || gifter_last_name", "gifter_email")),
    "giftee_text": (
        "r",
        _joined_lines(
            "coalesce(giftee_first_name, '') || ' ' || coalesce(giftee_last_name, '')", "coalesce(giftee_email, '')"
        ),
    ),
    "origin_text": ("o", _joined_lines("origin")),
}
"""The columns for text search: prototype name in all languages, gifter, giftee, and origin."""
declare_searchable(cast("Table", VoucherRow.__table__), SEARCH_COLUMNS)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__


class VoucherChosenOptionRow(PartnerIndexed, InCurrency, VoucherChosenOption, table=True):
    """A chosen option of a voucher."""

    __tablename__ = "voucher_chosen_option"
    voucher_id: int = Field(foreign_key="voucher.id", index=True)


class VoucherIncludedOptionRow(PartnerIndexed, VoucherIncludedOption, table=True):
    """An option included with a voucher's prototype."""

    __tablename__ = "voucher_included_option"
    voucher_id: int = Field(foreign_key="voucher.id", index=True)


class VoucherRentalRow(PartnerIndexed, CreatedOn, VoucherRental, table=True):
    __tablename__ = "voucher_rental"
    voucher_id: int = Field(foreign_key="voucher.id", index=True)


CONSTRAINT_ERRORS["voucher_code_key"] = lambda: AlreadyTaken("code", what="code")
