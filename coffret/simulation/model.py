"""The plain model: what partners have earned, what cards hold and what marketplaces have paid in, by school arithmetic.

It knows neither the ledger nor the tables: the simulation tells it what was agreed, and it adds up.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

CENT, NOTHING = Decimal("0.01"), Decimal("0.00")


def to_cent(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def fee_of(amount: Decimal, percentage: Decimal, fixed: Decimal, vat_rate: Decimal) -> Decimal:
    """A percentage and a fixed amount, each rounded and with its VAT, which is rounded by itself."""
    parts = (to_cent(amount * percentage / 100), to_cent(fixed))
    return sum((part + to_cent(part * vat_rate / 100) for part in parts), NOTHING)


@dataclass(slots=True)
class ModelSale:
    """What a bank card has paid to a partner."""

    partner_id: int
    amount: Decimal
    commission: Decimal
    refunded: Decimal = NOTHING
    is_lost: bool = False
    """Whether the buyer's bank has taken it back for good."""

    @property
    def left(self) -> Decimal:
        return self.amount - self.refunded

    @property
    def earned(self) -> Decimal:
        """What is left of it, less what is left of the commission."""
        if self.is_lost:
            return NOTHING
        return self.left - (self.commission - to_cent(self.commission * self.refunded / self.amount))


@dataclass(slots=True)
class ModelUsage:
    """An amount of a network's gift card that was used at a partner."""

    partner_id: int
    card_id: int
    amount: Decimal
    fees: Decimal
    is_cancelled: bool = False

    @property
    def earned(self) -> Decimal:
        return NOTHING if self.is_cancelled else self.amount - self.fees


@dataclass(slots=True)
class ModelCard:
    """A gift card, of a partner or of a network."""

    remaining: Decimal
    is_cancelled: bool = False


@dataclass(slots=True)
class PlainModel:
    """All that was agreed."""

    sales: list[ModelSale] = field(default_factory=list)
    usages: list[ModelUsage] = field(default_factory=list)
    cards: dict[int, ModelCard] = field(default_factory=dict)
    funds: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(lambda: NOTHING))
    """By marketplace: what it has paid in, less the value of the gift cards of its network that it has issued."""

    def sell(self, partner_id: int, amount: Decimal, commission: Decimal) -> ModelSale:
        self.sales.append(ModelSale(partner_id, amount, commission))
        return self.sales[-1]

    def issue(self, card_id: int, value: Decimal, network_id: int | None = None) -> None:
        """A gift card is issued: of a network, or of a partner, which owes it alone."""
        self.cards[card_id] = ModelCard(value)
        if network_id is not None:
            self.funds[network_id] -= value

    def cancel(self, card_id: int, network_id: int) -> None:
        """A network's gift card is cancelled: what is left of it is the network's again."""
        card = self.cards[card_id]
        self.funds[network_id] += card.remaining
        card.is_cancelled = True

    def use(self, partner_id: int, card_id: int, amount: Decimal, fees: Decimal) -> ModelUsage:
        """An amount of a network's gift card is used."""
        self.cards[card_id].remaining -= amount
        self.usages.append(ModelUsage(partner_id, card_id, amount, fees))
        return self.usages[-1]

    def cancel_usage(self, usage: ModelUsage) -> None:
        usage.is_cancelled = True
        self.cards[usage.card_id].remaining += usage.amount

    def earned(self) -> dict[int, Decimal]:
        """What each partner has earned by now."""
        sums: defaultdict[int, Decimal] = defaultdict(lambda: NOTHING)
        for sale in self.sales:
            sums[sale.partner_id] += sale.earned
        for usage in self.usages:
            sums[usage.partner_id] += usage.earned
        return dict(sums)
