"""Sales, refunds and the gift cards of partners: drawn by chance, done by the program, and told to the plain model."""

import datetime as dt
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlmodel import col, select

from coffret.simulation.bank import DECLINED_CARD, DISPUTABLE_CARD, GOOD_CARD, Bank
from coffret.simulation.market import SALE_TERMS, USAGE_TERMS, Market, SimulatedMarketplace, SimulatedPartner
from coffret.simulation.model import NOTHING, ModelGood, ModelRefill, ModelSale, ModelUsage, PlainModel, to_cent
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.gift_card.issuing import issue_gift_card
from resolvers.gift_card.spending import spend_gift_card
from resolvers.payment.creation import create_payment
from resolvers.payment.page.page import pay_by_link, return_to_payment_page
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.errors import InsufficientBalance
from schema.gift_card.input import IssueGiftCard, SpendGiftCard
from schema.payment.input import CreatePayment, RefundPayment
from store.ledger.wallets import WalletRow
from store.payment.payments import PaymentTransactionRow

CUSTOMER = {"first_name": "Ada", "last_name": "Martin", "email": "ada@simulation.example"}


@dataclass(slots=True)
class PaidSale:
    """A sale that was paid, and what can still happen to it."""

    partner: SimulatedPartner
    payment_id: UUID
    payin_id: str
    day: int
    model: ModelSale
    card: ModelGood | None = None
    usage: ModelUsage | None = None
    """That of a network's card."""
    from_card: Decimal = NOTHING
    """What a gift card has paid of it, and was not refunded."""

    def return_to_card(self, amount: Decimal) -> None:
        """A refund gives an amount back to the gift card."""
        self.from_card -= amount
        if self.usage is not None:
            self.usage.give_back(amount)
        elif self.card is not None:
            self.card.remaining += amount


@dataclass(frozen=True, slots=True)
class Disputable:
    """A pay-in that the buyer's bank can take back, and who answers."""

    owner: SimulatedPartner | SimulatedMarketplace
    staff: Context
    payin_id: str
    day: int
    model: ModelSale | ModelRefill


@dataclass(slots=True)
class OpenCard:
    """A gift card that can be spent."""

    id: int
    code: str
    owner: SimulatedPartner | SimulatedMarketplace
    until: int
    """The last day on which it is spent: it expires later."""
    wallet_uuid: UUID
    model: ModelGood
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What all deeds share."""

    market: Market
    bank: Bank
    model: PlainModel
    chance: random.Random

    def amount(self, least: int = 500, most: int = 25_000) -> Decimal:
        """An amount drawn between two, in cents."""
        return Decimal(self.chance.randint(least, most)) / 100

    def drawn(self, cards: list[OpenCard], day: int) -> OpenCard | None:
        """One of the cards that can be spent on a day."""
        usable = [each for each in cards if day < each.until and each.model.remaining > 0]
        return self.chance.choice(usable) if usable else None


async def wallet_of(services: Services, card: Any) -> UUID:
    """The uuid of a gift card's wallet."""
    async with services.db.sessions() as db:
        return (await db.get_one(WalletRow, card.wallet_id)).uuid


async def press(bank: Bank, partner: SimulatedPartner, token: str, bank_card: str = GOOD_CARD) -> str:
    """A buyer opens the page, pays, and comes back. Answers the id of the pay-in at the provider."""
    services = partner.staff.services
    url = await pay_by_link(partner.customer, token, f"{services.public_url}/pay/{token}/return/", "en")
    async with services.db.sessions() as db:
        payin = PaymentTransactionRow
        payin_id = (await db.exec(select(payin.provider_id).where(col(payin.redirect_url) == url))).one()
    await bank.pay(payin_id, bank_card)
    await return_to_payment_page(partner.customer, token)
    return payin_id


@dataclass(slots=True)
class Sales:
    """What partners sell, refund, and issue and take as gift cards. A deed tells whether there was anything to do."""

    ground: Ground
    sales: list[PaidSale] = field(default_factory=list)
    disputable: list[Disputable] = field(default_factory=list)
    cards: list[OpenCard] = field(default_factory=list)
    network_cards: list[OpenCard] = field(default_factory=list)
    """Those of all networks."""

    async def sell(self, partner: SimulatedPartner, day: int) -> bool:
        self.sales.append(await self._sell(partner, day, GOOD_CARD, self.ground.amount()))
        return True

    async def sell_disputably(self, partner: SimulatedPartner, day: int) -> bool:
        sale = await self._sell(partner, day, DISPUTABLE_CARD, self.ground.amount())
        self.disputable.append(Disputable(partner, partner.staff, sale.payin_id, day, sale.model))
        return True

    async def be_declined(self, partner: SimulatedPartner, _day: int) -> bool:
        """A buyer whose bank card is declined, and who gives up."""
        payment = await self._create(partner, self.ground.amount())
        await press(self.ground.bank, partner, payment.link_token, DECLINED_CARD)
        return True

    async def sell_with_card(self, partner: SimulatedPartner, day: int) -> bool:
        """A sale of which a gift card of the partner pays a part."""
        card = self.ground.drawn([each for each in self.cards if each.owner is partner], day)
        if card is None:
            return False
        sale = await self._sell_with(card, partner, day)
        card.model.remaining -= sale.from_card
        return True

    async def sell_with_network_card(self, partner: SimulatedPartner, day: int) -> bool:
        """A sale of which a gift card of the network pays a part: that is a usage of it."""
        card = self.ground.drawn([each for each in self.network_cards if each.owner is partner.marketplace], day)
        if card is None:
            return False
        sale = await self._sell_with(card, partner, day)
        sale.usage = self.ground.model.use(
            partner.row.id, card.model, sale.from_card, USAGE_TERMS.fee_within(sale.from_card)
        )
        return True

    async def _sell_with(self, card: OpenCard, partner: SimulatedPartner, day: int) -> PaidSale:
        part = min(card.model.remaining, self.ground.amount(100, 3_000))
        by_bank = self.ground.amount()
        extra = {"extra_source_wallet_uuid": card.wallet_uuid, "extra_source_amount": part}
        sale = await self._sell(partner, day, GOOD_CARD, by_bank, part, extra)
        sale.card, sale.from_card, card.is_used = card.model, part, True
        self.sales.append(sale)
        return sale

    async def _sell(
        self,
        partner: SimulatedPartner,
        day: int,
        bank_card: str,
        by_bank: Decimal,
        part: Decimal = NOTHING,
        extra: dict[str, Any] | None = None,
    ) -> PaidSale:
        payment = await self._create(partner, by_bank + part, extra or {})
        payin_id = await press(self.ground.bank, partner, payment.link_token, bank_card)
        model = self.ground.model.sell(partner.row.id, by_bank, SALE_TERMS.fee(by_bank))
        return PaidSale(partner, payment.id, payin_id, day, model)

    async def _create(self, partner: SimulatedPartner, amount: Decimal, extra: dict[str, Any] | None = None) -> Any:
        input = {
            "partner_uuid": partner.row.uuid,
            "customer": CUSTOMER,
            "amount": amount,
            "discount": "0.00",
            "product": "stay",
            "type": "credit_card",
            **(extra or {}),
        }
        return await create_payment(partner.staff, CreatePayment.model_validate(input))

    async def refund(self, partner: SimulatedPartner, day: int) -> bool:
        """A sale is refunded: in full, or a part of what the bank card or the gift card has paid."""
        sales = [each for each in self.sales if each.partner is partner and each.model.left and day - each.day < 60]
        if not sales:
            return False
        sale = self.ground.chance.choice(sales)
        by_bank, by_card = sale.model.left, sale.from_card
        kind = self.ground.chance.choice(("full", "bank", "card"))
        if kind == "bank":
            by_bank, by_card = min(by_bank, to_cent(by_bank / self.ground.chance.randint(2, 9)) + 1), NOTHING
        elif kind == "card" and by_card:
            by_bank, by_card = NOTHING, min(by_card, to_cent(by_card / 3) + Decimal("0.10"))
        split = {"extra_source_amount": by_card, "additional_payin_amount": by_bank}
        asked = {"id": sale.payment_id, "amount": by_bank + by_card, "split": split}
        try:
            await refund_payment(partner.staff, RefundPayment.model_validate(asked))
        except InsufficientBalance:  # the partner's earnings were paid out: nothing has changed
            return False
        sale.model.refunded += by_bank
        sale.return_to_card(by_card)
        return True

    # ---- gift cards of partners

    async def issue_card(self, partner: SimulatedPartner, day: int) -> bool:
        value, days = self.ground.amount(2_000, 15_000), self.ground.chance.choice((20, 60, 365))
        until = partner.staff.services.clock.now() + dt.timedelta(days=days)
        card: Any = await issue_gift_card(
            partner.staff,
            IssueGiftCard.model_validate({"partner_uuid": partner.row.uuid, "value": value, "expires_on": until}),
        )
        model, wallet = self.ground.model.issue_card(card.id, value), await wallet_of(partner.staff.services, card)
        self.cards.append(OpenCard(card.id, card.code, partner, day + days - 3, wallet, model))
        return True

    async def spend_card(self, partner: SimulatedPartner, day: int) -> bool:
        """A gift card is spent at the venue."""
        card = self.ground.drawn([each for each in self.cards if each.owner is partner], day)
        if card is None:
            return False
        amount = min(card.model.remaining, self.ground.amount(100, 4_000))
        await spend_gift_card(partner.staff, SpendGiftCard.model_validate({"id": card.id, "amount": amount}))
        card.model.remaining -= amount
        return True
