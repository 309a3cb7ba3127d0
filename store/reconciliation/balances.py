"""What the ledger counts in the wallets that the platform itself can read: its own, and those of the marketplaces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from store.ledger.balances import BALANCE
from store.providers.money import MinorAmount
from store.providers.transactions import PlatformWallet

ROLES = {"fees_wallet": PlatformWallet.FEES, "repudiation_wallet": PlatformWallet.REPUDIATION}
PLATFORM = text(f"""
    SELECT a.role, b.currency, sum({BALANCE.format(a="a")})::bigint AS minor
    FROM ledger_account a JOIN ledger_book b ON b.id = a.book_id
    WHERE a.role IN ('fees_wallet', 'repudiation_wallet') AND (b.is_live OR :with_test) GROUP BY a.role, b.currency
""")  # noqa: S608 - of SQL in this file
MARKETPLACES = text(f"""
    SELECT w.provider_wallet_id, w.marketplace_id, b.currency, coalesce(sum({BALANCE.format(a="a")}), 0)::bigint AS minor
    FROM wallet w JOIN ledger_book b ON b.id = w.book_id
    LEFT JOIN ledger_account a ON a.book_id = w.book_id AND a.role = 'wallet' AND a.owner_id = w.id
    WHERE w.kind = 'marketplace' AND (b.is_live OR :with_test)
    GROUP BY w.provider_wallet_id, w.marketplace_id, b.currency ORDER BY w.provider_wallet_id
""")  # noqa: S608 - of SQL in this file


@dataclass(frozen=True, slots=True)
class MarketplaceMoney:
    """What the ledger counts in a marketplace's wallet."""

    provider_wallet_id: str
    marketplace_id: int
    amount: MinorAmount


async def platform_money(db: AsyncSession, *, with_test: bool) -> Mapping[tuple[PlatformWallet, str], int]:
    """The platform's own wallets, in minor units, by kind and currency. Test books count if their money lies there."""
    rows = (await (await db.connection()).execute(PLATFORM, {"with_test": with_test})).all()
    return {(ROLES[row.role], row.currency): row.minor for row in rows}


async def marketplace_money(db: AsyncSession, *, with_test: bool) -> Sequence[MarketplaceMoney]:
    """The wallets of the marketplaces."""
    rows = (await (await db.connection()).execute(MARKETPLACES, {"with_test": with_test})).all()
    return [
        MarketplaceMoney(row.provider_wallet_id, row.marketplace_id, MinorAmount(row.currency, row.minor))
        for row in rows
    ]
