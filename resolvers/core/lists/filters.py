"""Filters of lists: the tests of their fields, and the SQL conditions that the tests become."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, field_validator
from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    ColumnElement,
    String,
    Uuid,
    any_,
    cast,
    exists,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import col

from resolvers.core.caller import Caller
from resolvers.core.lists.sale_conditions import has_bought, has_code, is_of_customer
from resolvers.core.scoping import marketplace_condition
from schema.core.resource import SchemaModel
from schema.core.text import TextColumn
from schema.ledger import LedgerJournalKind
from schema.validation.numbers import within_ids
from store.database.loaders import column
from store.database.statement_cache import Condition
from store.database.text_search import contains, is_searchable, like_pattern, normalized_sql
from store.kyc import PartnerKycRow
from store.ledger.payables import PayableItemRow
from store.ledger.rows import LedgerJournalRow
from store.ledger.wallets import WalletRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.requests import PayoutRequestRow
from store.providers.accounts import KycLevel

LONGEST_TERM = 200
"""Longest search text, in characters."""


def _contains(column: Column[Any], value: str) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        condition: ColumnElement[bool] = normalized_sql(tested).like(normalized_sql(bind), escape="\\")
        return condition

    return Condition.on_column(column, "contains", (like_pattern(value),), (String(),), build)


def _contains_translated(column: Column[Any], value: str) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        said = func.jsonb_each_text(tested).table_valued("key", "value")
        return exists(
            select(1).select_from(said).where(normalized_sql(said.c.value).like(normalized_sql(bind), escape="\\"))
        )

    return Condition.on_column(column, "says", (like_pattern(value),), (String(),), build)


def _at_least(column: Column[Any], value: Any) -> Condition:
    return Condition.on_column(column, ">=", (value,), (column.type,), lambda tested, bind: tested >= bind)


def _below(column: Column[Any], value: Any) -> Condition:
    return Condition.on_column(column, "<", (value,), (column.type,), lambda tested, bind: tested < bind)


def _at_most(column: Column[Any], value: Any) -> Condition:
    return Condition.on_column(column, "<=", (value,), (column.type,), lambda tested, bind: tested <= bind)


def _among(column: Column[Any], values: Any) -> Condition:
    if len(values) == 1:  # so that an index that begins with this column keeps the order of the list
        return Condition.equal(column, values[0])
    return Condition.on_column(
        column, "in", (values,), (ARRAY(column.type),), lambda tested, bind: tested == any_(bind)
    )


def _contains_all(column: Column[Any], values: Any) -> Condition:
    return Condition.on_column(column, "has", (values,), (column.type,), lambda tested, bind: tested.contains(bind))


def _contains_item(column: Column[Any], value: Any) -> Condition:
    """Few rows have an item. Found first, by the index of the items, they cannot be searched for along the list's order."""

    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        rows = column.table.alias()
        found = select(rows.c.id).where(rows.c[column.name].contains(bind))
        condition: ColumnElement[bool] = tested.table.c.id == any_(func.array(found.scalar_subquery()))
        return condition

    return Condition.on_column(column, "item", ([value],), (column.type,), build)


def _is_set(column: Column[Any], value: bool) -> Condition:
    return Condition.on_column(column, "set", (value,), (Boolean(),), lambda tested, bind: tested.is_not(None) == bind)


def _of_partner(column: Column[Any], uuid: UUID) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        named = select(col(PartnerRow.id)).where(col(PartnerRow.uuid) == bind)
        condition: ColumnElement[bool] = tested == named.scalar_subquery()
        return condition

    return Condition.on_column(column, "partner", (uuid,), (Uuid(),), build)


def _of_marketplace(column: Column[Any], uuid: UUID) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        named = select(col(MarketplaceRow.id)).where(col(MarketplaceRow.uuid) == bind)
        return marketplace_condition(column.table, tested.table.c, named.scalar_subquery())

    return Condition.on_column(column, "marketplace", (uuid,), (Uuid(),), build)


def _of_wallet(column: Column[Any], uuid: UUID) -> Condition:
    def build(bind: Any) -> ColumnElement[bool]:
        id = select(col(WalletRow.id)).where(col(WalletRow.uuid) == bind).scalar_subquery()
        return or_(*(column.table.c[f"{side}_wallet_id"] == id for side in ("debited", "credited")))

    return Condition.parametrized(("wallet", column.table), (uuid,), (Uuid(),), build)


def _text(value: str) -> ColumnElement[str]:
    """A text that is a part of the statement: only what is asked for is sent with it."""
    return literal_column(f"'{value}'")


def _is_identified(column: Column[Any], value: bool) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        identified = select(1).where(
            col(PartnerRow.id) == tested,
            col(PartnerKycRow.partner_id) == col(PartnerRow.id),
            col(PartnerKycRow.account_id) == col(PartnerRow.provider_user_id),
            col(PartnerKycRow.level) == _text(KycLevel.REGULAR),
        )
        condition: ColumnElement[bool] = exists(identified) == bind
        return condition

    return Condition.on_column(column, "identified", (value,), (Boolean(),), build)


def _has_payouts_blocked(column: Column[Any], value: bool) -> Condition:
    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        blocked = select(1).where(col(PartnerRow.id) == tested, col(PartnerRow.block_payout_validation))
        condition: ColumnElement[bool] = exists(blocked) == bind
        return condition

    return Condition.on_column(column, "payouts_blocked", (value,), (Boolean(),), build)


def _in_payout(column: Column[Any], values: Any) -> Condition:
    """Payments whose payout request has one of these statuses."""

    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        journal, item, payout, usage = LedgerJournalRow, PayableItemRow, PayoutRequestRow, NetworkGiftCardUsageRow
        found = (
            select(1)
            .where(col(item.journal_id) == col(journal.id), col(payout.id) == col(item.payout_request_id))
            .where(cast(payout.status, String) == any_(bind))
        )
        paid = col(journal.source_kind) == _text("payment"), col(journal.source_id) == cast(tested, String)
        used = (
            col(usage.payment_id) == tested,
            col(journal.source_kind) == _text(usage.__tablename__),
            col(journal.source_id) == cast(usage.id, String),
        )
        return or_(
            exists(found.where(*paid, col(journal.kind) == _text(LedgerJournalKind.PAYMENT))),
            exists(found.where(*used, col(journal.kind) == _text(LedgerJournalKind.CAPTURE))),
        )

    return Condition.on_column(column, "payout", ([value.value for value in values],), (ARRAY(String),), build)


TESTS: Mapping[str, Callable[[Any, Any], Condition]] = {
    "=": Condition.equal,
    ">=": _at_least,
    "<=": _at_most,
    "<": _below,
    "in": _among,
    "contains": _contains,
    "has": _contains_all,
    "item": _contains_item,
    "says": _contains_translated,
    "set": _is_set,
    "search": contains,
    "partner": _of_partner,
    "marketplace": _of_marketplace,
    "wallet": _of_wallet,
    "identified": _is_identified,
    "payouts_blocked": _has_payouts_blocked,
    "payout": _in_payout,
    "bought": has_bought,
    "customer": is_of_customer,
    "code": has_code,
}


@dataclass(frozen=True)
class Where:
    """How a filter field tests a column.

    The tests are `=`, `>=`, `<=`, `<`, `in` (a list), `contains` (text, ignoring case and accents), `has` (a list
    with all of these items), `item` (a list with this item), `says` (a translated text that contains this in any
    language, ignoring case and accents), `set` (whether the column is not null), `search` (`contains` with the
    index of a column declared by `store.database.text_search.searched`), `partner` and `marketplace` (whether the
    column leads to the one with this uuid), `wallet` (whether a transfer is from or to the wallet with this uuid), `identified` and `payouts_blocked` (whether
    the column leads to a partner that the payment provider has identified, or whose payouts are blocked), `payout` (whether
    the payment with this id is in a payout request with one of these statuses), `bought`, `customer` and `code` (see
    `sale_conditions`).
    """

    column: str
    test: str = "="

    def condition(self, table: Any, value: Any) -> Condition:
        """The condition that the column passes the test with this value."""
        return TESTS[self.test](column(table, self.column), value)

    def check(self, table: Any) -> None:
        """Raise LookupError for an unknown column or test, and TypeError for a column type that the test does not
        support.
        """
        if self.test not in TESTS:
            raise LookupError(f"Unknown test {self.test!r}: use one of {', '.join(TESTS)}.")
        kind = column(table, self.column).type
        stored = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
        if self.test == "contains" and not isinstance(stored, String):
            raise TypeError(f"{self.column!r} is not text, so it cannot be tested with `contains`.")
        if self.test == "search" and not is_searchable(column(table, self.column)):
            raise TypeError(f"{self.column!r} has no trigrams: declare it with `searched`, or test that it `contains`.")
        if self.test in ("has", "item") and not isinstance(stored, ARRAY):
            raise TypeError(f"{self.column!r} is not a list, so it cannot be tested with `{self.test}`.")
        if self.test == "says" and not isinstance(kind, TextColumn):
            raise TypeError(f"{self.column!r} is not a translated text, so it cannot be tested with `says`.")


class Filter(SchemaModel):
    """Each field declares the column that it tests, and how: `Annotated[str | None, Where("code")]`."""

    @field_validator("*")
    @classmethod
    def _is_within_ids(cls, value: Any) -> Any:
        """No row has a larger number."""
        return within_ids(value)

    @classmethod
    def tests(cls) -> dict[str, Where]:
        return {n: m for n, f in cls.model_fields.items() for m in f.metadata if isinstance(m, Where)}

    def sought(self, name: str, caller: Caller) -> Any:  # noqa: ARG002 - some filters need it
        """What the field of a name is tested with, for a caller."""
        return getattr(self, name)

    def where(self, table: Any, caller: Caller) -> list[Condition]:
        """The conditions of the fields that are set; a field that is null has none."""
        given = ((w, self.sought(n, caller)) for n, w in self.tests().items())
        return [w.condition(table, v) for w, v in given if v is not None]


class OfMarketplace(Filter):
    """A filter of rows that belong to a marketplace."""

    marketplace_uuid: Annotated[UUID | None, Where("marketplace_id", "marketplace")] = Field(
        default=None, description="Rows of the marketplace with this uuid."
    )


class OfPartner(Filter):
    """A filter of rows that belong to a partner."""

    partner_uuid: Annotated[UUID | None, Where("partner_id", "partner")] = Field(
        default=None, description="Rows of the partner with this uuid."
    )
    marketplace_uuid: Annotated[UUID | None, Where("partner_id", "marketplace")] = Field(
        default=None, description="Rows of the marketplace with this uuid and of its partners."
    )
