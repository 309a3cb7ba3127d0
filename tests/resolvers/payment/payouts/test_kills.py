"""A payout is sent once, whatever dies: the process, the answer, or what is recorded of it."""

import asyncio
import datetime as dt
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from coffret.sandbox import app as sandbox_app
from resolvers.job.provider_notifications import dispatch_notification
from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.payment.payouts import sending, settling
from resolvers.payment.payouts.payouts import create_payout_request, validate_payout_request
from resolvers.payment.payouts.sending import send_payout
from schema.core.errors import AppError
from schema.network.gift_card_input import UseNetworkGiftCard
from schema.payment.payout import CreatePayoutRequest, PayoutRequestStatus, ValidatePayoutRequest
from store.core.clock import clock
from store.ledger.posting import post
from store.payout.requests import PayoutRequestRow
from store.providers.base import Subject
from store.providers.errors import ProviderError
from tests.fixtures.payment.api_payment import balances, books_balance, paid, wallets_agree
from tests.fixtures.payment.network_payment import card_of_network, take_part
from tests.fixtures.payment.notified_shop import follow_only
from tests.fixtures.payment.payout import can_be_paid_out, payouts
from tests.fixtures.payment.refill import market, opened_wallet, refilled
from tests.fixtures.shop import Shop

RUNS = 12
"""Of each seed: with eight seeds, 200."""
WIRES = "SELECT type, tag, count(*) AS made FROM movement WHERE type IN ('PAYOUT', 'TRANSFER') GROUP BY type, tag"
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "drop"},
    {"kind": "hang", "seconds": 0},
    {"kind": "status", "status": 500},
    {"kind": "status", "status": 503},
    {"kind": "truncated"},
    {"kind": "html"},
)


class Killed(BaseException):
    """The process dies: nothing that handles errors runs."""


async def killed_before(*_: Any) -> None:
    raise Killed


async def killed_after(*posted: Any) -> None:
    await post(*posted)
    raise Killed


async def prepared(shop: Shop) -> str:
    """A shop with money of its own and of its network; the code of a card of the network."""
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "900.00")
    await paid(shop, "10.00")
    return str((await card_of_network(shop, "900.00")).code)


async def to_send(shop: Shop, code: str, value: str) -> PayoutRequestRow:
    """Another payout request, of one usage, validated."""
    used = {"code": code, "value": value, "partner_id": shop.partner.id}
    await use_network_gift_card(shop.manager, UseNetworkGiftCard.model_validate(used))
    made = await create_payout_request(market(shop), CreatePayoutRequest(partner_uuid=shop.partner.uuid))
    assert isinstance(made, PayoutRequestRow)
    await validate_payout_request(market(shop), ValidatePayoutRequest(id=made.id))
    return made


async def notice(shop: Shop) -> None:
    """The provider tells of what has happened in the last hour."""
    since = clock.now() - dt.timedelta(hours=1)
    for hint in [hint async for hint in shop.services.provider.events_since(since)]:
        await dispatch_notification(shop.services, hint.subject, hint.resource_id)


async def disturb(shop: Shop, chance: random.Random, patch: pytest.MonkeyPatch) -> None:
    """Something dies at the next step, or nothing does."""
    if chance.random() < 0.4:
        path = chance.choice(("/transfers", "/payouts/bankwire", "*"))
        fault = {**chance.choice(FAULTS), "path": path, "when": chance.choice(("before", "after"))}
        await shop.control("POST", "/faults", fault)
    elif chance.random() < 0.6:
        patch.setattr(chance.choice((sending, settling)), "post", chance.choice((killed_before, killed_after)))


async def step(shop: Shop, payout: PayoutRequestRow, chance: random.Random) -> None:
    """What may happen next: a check, several at once, or a notification."""
    deeds: list[Callable[[], Awaitable[Any]]] = [
        lambda: send_payout(shop.services, payout.id),
        lambda: asyncio.gather(*(send_payout(shop.services, payout.id) for _ in range(4))),
        lambda: notice(shop),
    ]
    with suppress(Killed, ProviderError, AppError, TimeoutError):
        await chance.choice(deeds)()


@pytest.mark.parametrize("seed", range(8))
async def test_one_wire_whatever_dies(shop: Shop, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    follow_only(monkeypatch, Subject.PAYOUT, Subject.TRANSFER)
    chance, code = random.Random(seed), await prepared(shop)
    for number in range(RUNS):
        payout = await to_send(shop, code, f"{chance.randint(1, 9)}.{number:02d}")
        for _ in range(chance.randint(1, 5)):
            with pytest.MonkeyPatch.context() as patch:
                await disturb(shop, chance, patch)
                await step(shop, payout, chance)
            clock.advance(dt.timedelta(minutes=chance.choice((0, 1, 30))))
            await sandbox_app.tick(shop.sandbox)
        await shop.control("DELETE", "/faults")
    for _ in range(6):  # its transfer is looked up, and sent; then it is itself
        for payout in await payouts(shop):
            with suppress(ProviderError):
                await send_payout(shop.services, payout.id)
        clock.advance(dt.timedelta(hours=2))
        await sandbox_app.tick(shop.sandbox)
    rows = await payouts(shop)
    assert [(each.id, each.status) for each in rows if each.status is not PayoutRequestStatus.PAID] == []
    wires = await sandbox_app.of(shop.sandbox).run(lambda session: [tuple(row) for row in session.rows(WIRES)])
    expected = Counter({("PAYOUT", str(payout.id)): 1 for payout in rows})
    expected.update({("TRANSFER", f"payout_request:{payout.id}"): 1 for payout in rows if payout.network_amount})
    assert Counter({(kind, tag): made for kind, tag, made in wires}) == expected
    assert sum((payout.payout_amount for payout in rows), Decimal(0)) > 0
    assert {"partner", "partner_network", "partner_reserved", "network_reserved"}.isdisjoint(await balances(shop))
    await books_balance(shop)
    await wallets_agree(shop)


async def test_fifty_validations_at_once_are_one(shop: Shop) -> None:
    code = await prepared(shop)
    used = {"code": code, "value": "7.00", "partner_id": shop.partner.id}
    await use_network_gift_card(shop.manager, UseNetworkGiftCard.model_validate(used))
    made = await create_payout_request(market(shop), CreatePayoutRequest(partner_uuid=shop.partner.uuid))
    validate = ValidatePayoutRequest(id=made.id)
    found = await asyncio.gather(*(validate_payout_request(market(shop), validate) for _ in range(50)))
    assert {payout.status for payout in found} == {PayoutRequestStatus.VALIDATED}
    assert await shop.one("SELECT count(*) FROM ledger_journal WHERE kind = 'payout_validated'") == 1
    assert await shop.one("SELECT count(*) FROM transfer WHERE type = 'settlement'") == 1
    assert (await balances(shop))["network_reserved"] == 700
    await books_balance(shop)


async def test_many_who_pay_out_now_share_what_is_due(shop: Shop) -> None:
    await prepared(shop)
    asked = CreatePayoutRequest(partner_uuid=shop.partner.uuid)
    found = await asyncio.gather(
        *(create_payout_request(market(shop), asked) for _ in range(20)), return_exceptions=True
    )
    assert [str(each.payout_amount) for each in found if isinstance(each, PayoutRequestRow)] == ["10.00"]
    assert len(await payouts(shop)) == 1
    await books_balance(shop)
