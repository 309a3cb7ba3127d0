"""Wallets: their balances in the ledger, and the own wallets of marketplaces at the payment provider."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.lists.listing import Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.scoping import find_visible, visible_conditions
from resolvers.core.services import Services
from schema.core.errors import MarketplaceOnly, OnlyInSandbox, ProviderTimedOut
from schema.core.money import Money
from schema.core.permission import Permission
from schema.partner.marketplace import Marketplace
from schema.partner.marketplace_input import ActivateMarketplacePayments
from schema.payment.errors import PlatformUserUnknown
from schema.wallet import Wallet, WalletKind
from store.core.provider_process import OUTCOME_LIFE
from store.core.settings.provider import ProviderName
from store.ledger.balances import wallet_balances
from store.ledger.books import book_of_marketplace
from store.ledger.wallet_openings import WalletOpeningRow, begin_opening, opening_of_book
from store.ledger.wallets import WalletRow, open_marketplace_wallet
from store.partner.partners import MarketplaceRow
from store.providers.errors import ProviderError, UnknownOutcome
from store.providers.keys import IdempotencyKey

log = structlog.get_logger(__name__)
LONGEST_LABEL = 255
wallet = Lookup(Wallet, "uuid", "wallet", Permission.VIEW_WALLET, "A wallet by its uuid.")


@computes(Wallet, "balance")
async def wallet_balance(context: Context, ids: Sequence[int]) -> Mapping[int, Money]:
    """The balances of wallets."""
    async with context.db.read_sessions() as db:
        balances = await wallet_balances(db, ids)
    return {id: Money(amount=balance.decimal, currency=balance.currency) for id, balance in balances.items()}


# ---- wallets of marketplaces


@computes(Marketplace, "wallet")
async def wallet_of_marketplace(context: Context, ids: Sequence[int]) -> Mapping[int, Wallet]:
    """The own wallets of marketplaces."""
    return await _own_wallets(context, ids, is_live=True)


@computes(Marketplace, "test_wallet")
async def test_wallet_of_marketplace(context: Context, ids: Sequence[int]) -> Mapping[int, Wallet]:
    """The own wallets of marketplaces for payments of test partners."""
    return await _own_wallets(context, ids, is_live=False)


async def _own_wallets(context: Context, ids: Sequence[int], *, is_live: bool) -> Mapping[int, Wallet]:
    query = select(WalletRow).where(
        *visible_conditions(context.required_caller, WalletRow),
        col(WalletRow.kind) == WalletKind.MARKETPLACE,
        col(WalletRow.is_live) == is_live,
        col(WalletRow.marketplace_id).in_(ids),
    )
    async with context.db.read_sessions() as db:
        return {row.marketplace_id: row for row in await db.exec(query)}


async def marketplace_to_activate(call: Call, input: Any) -> MarketplaceRow:
    """The marketplace of an input's `marketplace_uuid`. Raises NotFound."""
    async with call.services.db.sessions() as db:
        return await _marketplace(call, db, uuid_from_input(input, "marketplace_uuid"))


async def _marketplace(call: Call, db: AsyncSession, uuid: UUID | None) -> MarketplaceRow:
    return await find_visible(db, call.caller, MarketplaceRow, "marketplace", uuid=uuid)


@operation(Permission.MANAGE_MARKETPLACE, transaction=False, exists=marketplace_to_activate, raises=PROVIDER_ERRORS)
async def activate_marketplace_payments(call: Call, input: ActivateMarketplacePayments) -> Marketplace:
    """Open the own wallet of a marketplace at the payment provider, so that payment requests can refill it
    (`invoicingMarketplaceId`). It belongs to the platform's own user there: nobody has to authenticate. If no response
    arrives, send it again: there is one wallet, however often it is sent.
    """
    if call.caller.role is Role.PARTNER:
        raise MarketplaceOnly
    if not input.is_live and call.services.settings.provider is not ProviderName.SANDBOX:
        raise OnlyInSandbox
    opening = await _begin(call, input)
    if opening.wallet_id is None:
        opening = await _open(call, opening)
    if opening.wallet_id is None:  # the provider has forgotten an old key, and has no such wallet
        opening = await _open(call, await _begin(call, input))
    if opening.wallet_id is None:
        raise ProviderTimedOut
    async with call.services.db.sessions() as db, db.begin():
        marketplace = await _marketplace(call, db, input.marketplace_uuid)
        call.add_audit_subject(marketplace)
        await call.store_response(db, marketplace)
    return marketplace


async def _begin(call: Call, input: ActivateMarketplacePayments) -> WalletOpeningRow:
    """The opening of the wallet, stored with its key. Raises PlatformUserUnknown."""
    services = call.services
    async with services.db.sessions() as db, db.begin():
        marketplace = await _marketplace(call, db, input.marketplace_uuid)
        book_id = await book_of_marketplace(db, marketplace.id, is_live=input.is_live)
        row = await opening_of_book(db, book_id) or await begin_opening(db, book_id, marketplace.id)
        if row.wallet_id is None and row.sent_at is None:
            if not services.settings.platform_user_id:
                raise PlatformUserUnknown
            row.provider_user_id, row.sent_at = services.settings.platform_user_id, services.clock.now()
        return row


async def _open(call: Call, row: WalletOpeningRow) -> WalletOpeningRow:
    async with calling_provider("opening a marketplace's wallet", marketplace_id=row.marketplace_id):
        return await OPENING.send(call.services, row, _open_or_find(call.services, row))


@dataclass(frozen=True, slots=True)
class OpeningAnswer:
    """The id of the wallet at the provider, and the key that it was sent with. None: the provider has none."""

    key: UUID
    provider_wallet_id: str | None


async def _open_or_find(services: Services, row: WalletOpeningRow) -> OpeningAnswer:
    assert row.sent_at is not None, "the key is stored before it is sent"
    async with services.db.sessions() as db:
        marketplace = await db.get_one(MarketplaceRow, row.marketplace_id)
    try:
        id: str | None = await services.provider.open_wallet(
            row.provider_user_id,
            marketplace.currency,
            marketplace.name[:LONGEST_LABEL],
            reference=str(row.reference),
            key=IdempotencyKey(str(row.key)),
            sent_at=row.sent_at,
        )
    except UnknownOutcome:
        if services.clock.now() - row.sent_at < OUTCOME_LIFE:
            raise
        id = await _find(services, row)
    return OpeningAnswer(row.key, id)


async def _find(services: Services, row: WalletOpeningRow) -> str | None:
    """The wallet at the provider, by its tag. A look-up that fails tells nothing of the wallet: the outcome stays unknown."""
    try:
        return await services.provider.find_wallet(row.provider_user_id, str(row.reference))
    except ProviderError as error:
        log.exception("a wallet cannot be looked for", marketplace_id=row.marketplace_id, code=error.code)
        raise ProviderTimedOut from error


async def _lock(db: AsyncSession, row: WalletOpeningRow) -> WalletOpeningRow:
    locked = await opening_of_book(db, row.book_id)
    assert locked is not None, "an opening is never deleted"
    return locked


async def _record(tx: Recording, row: WalletOpeningRow, answer: OpeningAnswer) -> WalletOpeningRow:
    if row.wallet_id is None and answer.provider_wallet_id is not None:
        row.wallet_id = (await open_marketplace_wallet(tx.db, row.book_id, answer.provider_wallet_id)).id
    elif row.wallet_id is None and row.key == answer.key:
        row.forget_key()
    return row


async def _record_refused(_: Recording, row: WalletOpeningRow, refused: RefusedCall[WalletOpeningRow]) -> None:
    if row.wallet_id is None and row.key == refused.row.key:
        row.forget_key()


OPENING = ProviderCall(lock=_lock, record=_record, refuse=_record_refused)
