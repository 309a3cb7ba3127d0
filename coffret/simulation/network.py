"""What networks do: they issue gift cards, which partners take, and pay in what these are worth."""

import datetime as dt
from dataclasses import dataclass, field
from decimal import ROUND_UP, Decimal
from typing import Any

from coffret.simulation.bank import DISPUTABLE_CARD, GOOD_CARD
from coffret.simulation.market import USAGE_TERMS, SimulatedMarketplace, SimulatedPartner
from coffret.simulation.model import ModelRefill
from coffret.simulation.trade import CUSTOMER, Disputable, Ground, OpenCard, press, wallet_of
from coffret.simulation.usages import OpenUsage, cancel_drawn_usage
from resolvers.core.context import Context
from resolvers.network.gift_card_issuing import cancel_network_gift_card, create_network_gift_card
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.payment.requests.payment_requests import create_payment_request
from schema.network.gift_card_input import (
    CancelNetworkGiftCard,
    CancelNetworkGiftCardUsage,
    CreateNetworkGiftCard,
    UseNetworkGiftCard,
)
from schema.payment.request_input import CreatePaymentRequest

REFILL_STEP = Decimal(100)
VALID_DAYS = (20, 45, 120, 365)


@dataclass(slots=True)
class Networks:
    """The gift cards of networks, and their usages. A deed tells whether there was anything to do."""

    ground: Ground
    cards: list[OpenCard]
    disputable: list[Disputable]
    usages: list[OpenUsage] = field(default_factory=list)

    async def issue_network_card(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        value, days = self.ground.amount(2_000, 20_000), self.ground.chance.choice(VALID_DAYS)
        now = marketplace.manager.services.clock.now()
        input = {
            "marketplace_uuid": marketplace.row.uuid,
            "value": value,
            "gifter_details": CUSTOMER,
            "message": "",
            "starts_on": now - dt.timedelta(days=2),
            "expires_on": now + dt.timedelta(days=days),
        }
        card: Any = await create_network_gift_card(marketplace.manager, CreateNetworkGiftCard.model_validate(input))
        model = self.ground.model.issue_card(card.id, value, marketplace.row.id)
        wallet = await wallet_of(marketplace.manager.services, card)
        self.cards.append(OpenCard(card.id, card.code, marketplace, day + days - 3, wallet, model))
        return True

    async def cancel_network_card(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        """A card of which nothing was used is cancelled."""
        card = self.ground.drawn([each for each in self.cards if each.owner is marketplace and not each.is_used], day)
        if card is None:
            return False
        await cancel_network_gift_card(marketplace.manager, CancelNetworkGiftCard(id=card.id))
        self.ground.model.cancel(card.model, marketplace.row.id)
        self.cards.remove(card)
        return True

    async def use_network_card(self, partner: SimulatedPartner, day: int) -> bool:
        card = self.ground.drawn([each for each in self.cards if each.owner is partner.marketplace], day)
        if card is None:
            return False
        amount = min(card.model.remaining, self.ground.amount(200, 6_000))
        input = UseNetworkGiftCard.model_validate({"code": card.code, "value": amount, "partner_id": partner.row.id})
        usage: Any = await use_network_gift_card(partner.marketplace.manager, input)
        card.is_used = True
        model = self.ground.model.use(partner.row.id, card.model, amount, USAGE_TERMS.fee_within(amount))
        self.usages.append(OpenUsage(partner, usage.id, card, model))
        return True

    async def cancel_card_usage(self, partner: SimulatedPartner, day: int) -> bool:
        return await cancel_drawn_usage(self.ground, self.usages, partner, day, self._cancel_usage)

    async def _cancel_usage(self, manager: Context, id: int) -> None:
        await cancel_network_gift_card_usage(manager, CancelNetworkGiftCardUsage(id=id))

    async def refill(self, marketplace: SimulatedMarketplace, _day: int) -> bool:
        """The marketplace pays in what it has issued and not paid in yet, and a little more."""
        await self._refill(marketplace, GOOD_CARD)
        return True

    async def refill_disputably(self, marketplace: SimulatedMarketplace, day: int) -> bool:
        payin_id, model = await self._refill(marketplace, DISPUTABLE_CARD)
        self.disputable.append(Disputable(marketplace, marketplace.manager, payin_id, day, model))
        return True

    async def _refill(self, marketplace: SimulatedMarketplace, bank_card: str) -> tuple[str, ModelRefill]:
        missing = -self.ground.model.funds[marketplace.row.id]
        amount = max(missing, Decimal(0)).quantize(REFILL_STEP, ROUND_UP) + REFILL_STEP
        payee = next(each for each in self.ground.market.partners if each.marketplace is marketplace)
        input = {
            "partner_uuid": payee.row.uuid,
            "customer": CUSTOMER,
            "amount": amount,
            "language": "en",
            "invoicing_marketplace_id": marketplace.row.id,
        }
        request: Any = await create_payment_request(marketplace.manager, CreatePaymentRequest.model_validate(input))
        payin_id = await press(self.ground.bank, payee, request.link_token, bank_card)
        return payin_id, self.ground.model.refill(marketplace.row.id, amount)
