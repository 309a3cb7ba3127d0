"""Compares the balances of wallets: what the provider says that they hold, and what the ledger counts in them."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from resolvers.core.provider.calls import REFUSALS
from resolvers.core.services import Services
from store.core.settings.provider import ProviderName
from store.providers.errors import ProviderNotFound
from store.providers.money import MinorAmount
from store.providers.transactions import PlatformWallet
from store.reconciliation.balances import MarketplaceMoney, marketplace_money, platform_money

log = structlog.get_logger(__name__)
COMPARED = {PlatformWallet.FEES: "The wallet of fees.", PlatformWallet.REPUDIATION: "The wallet of disputes."}


@dataclass(frozen=True, slots=True)
class WalletReading:
    """A wallet with what it holds and what the ledger counts. `held` is None if the provider tells of no such wallet."""

    subject: str
    """The provider's id of the wallet."""
    held: MinorAmount | None
    own: MinorAmount
    detail: str
    marketplace_id: int | None = None
    is_of_fees: bool = False

    @property
    def difference(self) -> int:
        """What it holds beyond what the ledger counts, in minor units."""
        return (0 if self.held is None else self.held.minor) - self.own.minor

    def row(self) -> Mapping[str, Any]:
        """The row of its finding."""
        return {
            "subject": self.subject,
            "currency": self.own.currency,
            "provider_amount": None if self.held is None else self.held.decimal,
            "own_amount": self.own.decimal,
            "marketplace_id": self.marketplace_id,
            "detail": self.detail,
            "is_of_fees": self.is_of_fees,
        }


@dataclass(frozen=True, slots=True)
class BalanceComparison:
    """The wallets that hold another amount than the ledger counts, and the ids of those that could not be read."""

    differing: list[WalletReading] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


async def compare_balances(services: Services) -> BalanceComparison:
    """Read all wallets that the platform can read. Raises ProviderError if the provider does not answer.

    Both sides are not read at the same moment: what differs once may be a payment that is just being recorded.
    """
    compared, with_test = BalanceComparison(), services.settings.provider is ProviderName.SANDBOX
    async for reading in _platform(services, with_test=with_test):
        compared.differing.extend([reading] if reading.difference else [])
    async with services.db.sessions() as db:
        marketplaces = await marketplace_money(db, with_test=with_test)
    for wallet in marketplaces:
        try:
            reading = await _of_marketplace(services, wallet)
        except REFUSALS as error:
            log.warning("a marketplace's wallet cannot be read", wallet=wallet.provider_wallet_id, error=repr(error))
            compared.unread.append(wallet.provider_wallet_id)
        else:
            compared.differing.extend([reading] if reading.difference else [])
    return compared


async def _platform(services: Services, *, with_test: bool) -> AsyncIterator[WalletReading]:
    """The platform's own wallets, those too that the ledger counts and the provider does not tell of."""
    async with services.db.sessions() as db:
        counted = dict(await platform_money(db, with_test=with_test))
    for each in await services.provider.platform_balances():
        if each.wallet in COMPARED:
            currency = each.balance.currency
            own = MinorAmount(currency, counted.pop((each.wallet, currency), 0))
            is_of_fees = each.wallet is PlatformWallet.FEES
            yield WalletReading(each.id, each.balance, own, COMPARED[each.wallet], is_of_fees=is_of_fees)
    for (wallet, currency), minor in counted.items():
        yield WalletReading(f"{wallet.value}_{currency}", None, MinorAmount(currency, minor), COMPARED[wallet])


async def _of_marketplace(services: Services, wallet: MarketplaceMoney) -> WalletReading:
    """A marketplace's wallet. Raises ProviderError."""
    id, of = wallet.provider_wallet_id, wallet.marketplace_id
    try:
        held = await services.provider.get_balance(id, return_url=services.public_url)
    except ProviderNotFound:
        return WalletReading(id, None, wallet.amount, "There is no such wallet.", of)
    return WalletReading(id, held, wallet.amount, "The marketplace's wallet.", of)
