"""Weighs wallets: what the provider says that they hold, beside what the ledger counts in them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import structlog

from resolvers.core.services import Services
from store.core.settings import ProviderName
from store.providers.errors import ActionRequired, ProviderNotFound
from store.providers.money import MinorAmount
from store.providers.transactions import PlatformWallet
from store.reconciliation.balances import marketplace_money, platform_money

log = structlog.get_logger(__name__)
COMPARED = {PlatformWallet.FEES: "The wallet of fees.", PlatformWallet.REPUDIATION: "The wallet of disputes."}


async def weigh(services: Services) -> Sequence[Mapping[str, Any]]:
    """The wallets that hold another amount than the ledger counts, as rows of findings. Raises ProviderError.

    Both sides are not read at the same moment: what differs once may be a payment that is just being recorded.
    """
    return [
        {
            "subject": subject,
            "currency": own.currency,
            "provider_amount": None if held is None else held.decimal,
            "own_amount": own.decimal,
            "marketplace_id": marketplace_id,
            "detail": detail,
        }
        async for subject, held, own, marketplace_id, detail in _wallets(services)
        if (0 if held is None else held.minor) != own.minor
    ]


async def _wallets(
    services: Services,
) -> AsyncIterator[tuple[str, MinorAmount | None, MinorAmount, int | None, str]]:
    """Each wallet with what it holds and what the ledger counts."""
    with_test = services.settings.provider is ProviderName.SANDBOX
    async with services.db.sessions() as db:
        platform = await platform_money(db, with_test=with_test)
        marketplaces = await marketplace_money(db, with_test=with_test)
    for each in await services.provider.platform_balances():
        if each.wallet in COMPARED:
            own = MinorAmount(each.balance.currency, platform.get((each.wallet, each.balance.currency), 0))
            yield each.id, each.balance, own, None, COMPARED[each.wallet]
    for wallet in marketplaces:
        try:
            held = await services.provider.get_balance(wallet.provider_wallet_id, return_url=services.public_url)
        except ProviderNotFound:
            yield wallet.provider_wallet_id, None, wallet.amount, wallet.marketplace_id, "There is no such wallet."
        except ActionRequired:
            log.warning("a marketplace's wallet is not the platform's own", marketplace_id=wallet.marketplace_id)
        else:
            yield wallet.provider_wallet_id, held, wallet.amount, wallet.marketplace_id, "The marketplace's wallet."
