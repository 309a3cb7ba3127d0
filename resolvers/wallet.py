"""Wallets: their balances in the ledger."""

from collections.abc import Mapping, Sequence

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.listing import Lookup
from schema.core.money import Money
from schema.core.permission import Permission
from schema.wallet import Wallet
from store.ledger.balances import wallet_balances

wallet = Lookup(Wallet, "uuid", "wallet", Permission.VIEW_WALLET, "A wallet by its uuid.")


@computes(Wallet, "balance")
async def wallet_balance(context: Context, ids: Sequence[int]) -> Mapping[int, Money]:
    """The balances of wallets."""
    async with context.db.read_sessions() as db:
        balances = await wallet_balances(db, ids)
    return {id: Money(amount=balance.decimal, currency=balance.currency) for id, balance in balances.items()}
