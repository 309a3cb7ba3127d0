"""Row-level scoping: the rows that a caller sees. Rows of other tenants count as missing."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Table, and_, false, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Caller, Role
from schema.core.errors import MarketplaceOnly, NotFound
from schema.core.permission import Permission
from schema.network.box import OfferStatus
from store.audit.api_requests import ApiRequestRow
from store.audit.entries import AuditEntryRow
from store.event.events import EventRow
from store.export.exports import ExportRow
from store.gift_card.designs import GiftCardDesignRow
from store.gift_card.gift_cards import GiftCardRow
from store.invoice.invoices import InvoiceRow
from store.ledger.rows import LedgerJournalRow
from store.ledger.wallets import WalletRow
from store.mail.rows import MailRow
from store.network.boxes import BoxRow, OfferRow
from store.network.gift_cards import NetworkGiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.fees import FeeRuleRow
from store.payment.transfers import TransferRow
from store.webhook.rows import WebhookDeliveryRow, WebhookEndpointRow

T = TypeVar("T")

MARKETPLACE_OWNED = (
    PartnerRow,
    ApiRequestRow,
    AuditEntryRow,
    EventRow,
    ExportRow,
    FeeRuleRow,
    GiftCardDesignRow,
    InvoiceRow,
    LedgerJournalRow,
    MailRow,
    OfferRow,
    TransferRow,
    WalletRow,
    WebhookDeliveryRow,
    WebhookEndpointRow,
)
"""Tables whose own `marketplace_id` names the marketplace, in addition to the partner: some rows have no partner."""
SHARED_WITH_PARTNERS: Mapping[Any, Callable[[Caller], ColumnElement[bool]]] = {
    BoxRow: lambda caller: or_(col(BoxRow.is_active), col(BoxRow.id).in_(_boxes_with_offer_of(caller))),
    FeeRuleRow: lambda _: col(FeeRuleRow.partner_id).is_(None),
    GiftCardDesignRow: lambda _: col(GiftCardDesignRow.partner_id).is_(None),
    OfferRow: lambda _: and_(col(OfferRow.status) == OfferStatus.ACCEPTED, col(OfferRow.is_active)),
}
"""Tables whose rows all have a marketplace, and of which partners see, besides their own, those of their marketplace that
meet the condition.
"""
HIDDEN_FROM_PARTNERS = (NetworkGiftCardRow, NetworkVoucherRow)
"""Tables of a marketplace's own rows that its partners see by their exact code only."""
OWN_OF_USERS = (ExportRow,)
"""Tables whose rows only the user of `user_id` sees, and whoever may see the audit log of its tenant."""
ISSUED_BY_PARTNERS = (GiftCardRow,)
"""Tables with rows of networks, which are read through a view of their own."""


def _boxes_with_offer_of(caller: Caller) -> Any:
    return select(col(OfferRow.box_id)).where(_is_owner(col(OfferRow.partner_id), caller.partner_id))


def visible_conditions(caller: Caller, table: Any) -> list[ColumnElement[bool]]:
    """The conditions that a row of a tenant-owned table must meet for this caller to see it.

    A table is owned through `partner_id` or `marketplace_id`; partners and marketplaces own themselves.
    """
    columns = table.__table__.c
    if table in OWN_OF_USERS and not caller.may(Permission.VIEW_AUDIT):
        return [_is_owner(columns.user_id, caller.user_id), *_tenant_conditions(caller, table)]
    return _tenant_conditions(caller, table)


def _tenant_conditions(caller: Caller, table: Any) -> list[ColumnElement[bool]]:
    columns = table.__table__.c
    if caller.role is Role.MASTER:
        return [columns.partner_id.is_not(None)] if table in ISSUED_BY_PARTNERS else []
    if caller.role is not Role.MARKETPLACE and table in HIDDEN_FROM_PARTNERS:
        return [false()]
    of_marketplace = columns.id if table is MarketplaceRow else columns.get("marketplace_id")
    of_partner = columns.id if table is PartnerRow else columns.get("partner_id")
    in_marketplace = _is_owner(of_marketplace, caller.marketplace_id)
    if caller.role is Role.MARKETPLACE:
        if of_partner is None:
            return [in_marketplace]
        return [marketplace_condition(table.__table__, columns, caller.marketplace_id)]
    owned = in_marketplace if of_partner is None else _is_owner(of_partner, caller.partner_id)
    shared = SHARED_WITH_PARTNERS.get(table)
    if shared is None:
        return [owned]
    return [in_marketplace, shared(caller) if of_partner is None else or_(owned, shared(caller))]


def marketplace_condition(table: Table, columns: Any, id: Any) -> ColumnElement[bool]:
    """Whether a row belongs to a marketplace: by its own column or, as most rows, through its partner. Users may use
    either.

    `columns` are those of the table, or of a subquery of it.
    """
    own, partner = columns.get("marketplace_id"), columns.get("partner_id")
    if partner is None or table.name in {row.__tablename__ for row in MARKETPLACE_OWNED}:
        return _is_owner(own, id)
    through: ColumnElement[bool] = partner.in_(
        select(col(PartnerRow.id)).where(_is_owner(col(PartnerRow.marketplace_id), id))
    )
    return through if own is None else or_(_is_owner(own, id), through)


def _is_owner(owner: Any, id: Any) -> ColumnElement[bool]:
    """Whether a row has this owner. A missing owner matches no row."""
    condition: ColumnElement[bool] = false() if owner is None or id is None else owner == id
    return condition


def require_marketplace(caller: Caller) -> None:
    """Raise MarketplaceOnly for users of a partner."""
    if caller.role is Role.PARTNER:
        raise MarketplaceOnly


async def find_visible(
    db: AsyncSession, caller: Caller, row: type[T], thing: str, *, lock: bool = False, **by: object
) -> T:
    """The one row with these column values that the caller may see, locked if requested. Raises NotFound.

    A locked row is read again: the previous holder of the lock may have changed what this session has read.
    """
    table: Any = row
    query = select(row).where(
        *visible_conditions(caller, row), *(table.__table__.c[name] == value for name, value in by.items())
    )
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    visible_row = (await db.exec(query)).one_or_none()
    if visible_row is None:
        raise NotFound(lookup=by, thing=thing)
    return visible_row
