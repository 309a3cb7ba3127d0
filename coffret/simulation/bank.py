"""The other side: buyers, banks and the payment provider, played through the control plane of the sandbox."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
from starlette.applications import Starlette

from coffret.sandbox import app as sandbox_app
from store.providers.money import MinorAmount

GOOD_CARD, DECLINED_CARD, DISPUTABLE_CARD = "4970107111111119", "4970109000000106", "4970109000001500"
RECEIVED = """
    SELECT wallet_id, currency, sum(amount) FROM (
        SELECT debited_wallet_id AS wallet_id, currency, debited - fees AS amount FROM movement
        WHERE type = 'PAYOUT' AND nature = 'REGULAR' AND status = 'SUCCEEDED'
        UNION ALL
        SELECT r.credited_wallet_id, r.currency, -r.debited FROM movement r JOIN movement p ON p.id = r.parent_id
        WHERE p.type = 'PAYOUT' AND p.nature = 'REGULAR' AND r.nature = 'REFUND' AND r.status = 'SUCCEEDED'
    ) GROUP BY wallet_id, currency
"""
"""What bank accounts have got out of each wallet, less what came back."""


@dataclass(frozen=True, slots=True)
class Bank:
    """What happens at the payment provider and at banks."""

    app: Starlette
    control: httpx.AsyncClient

    async def ask(self, path: str, body: Mapping[str, Any]) -> Any:
        """Have something happen. Raises httpx.HTTPStatusError if it cannot."""
        return (await self.control.post(path, json=body)).raise_for_status().json()

    async def pay(self, payin_id: str, card: str = GOOD_CARD) -> None:
        """A buyer pays with a bank card."""
        await self.ask(f"/payins/{payin_id}/pay", {"card": card, "challenge": "confirm"})

    async def tick(self) -> None:
        """The provider ends what is due."""
        await sandbox_app.tick(self.app)

    async def received(self) -> dict[str, Decimal]:
        """What the bank account of each wallet's owner has got, by wallet."""
        rows = await sandbox_app.of(self.app).run(lambda session: [tuple(row) for row in session.rows(RECEIVED)])
        return {wallet: MinorAmount(currency, amount).decimal for wallet, currency, amount in rows}

    async def balanced(self) -> bool:
        """Whether the provider's own books balance."""
        return bool((await self.control.get("/ledger/check")).raise_for_status().json()["balanced"])


@asynccontextmanager
async def open_bank(app: Starlette) -> AsyncIterator[Bank]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox/_sb") as control:
        yield Bank(app, control)
