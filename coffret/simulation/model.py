"""The plain model: what partners have earned, what cards hold and what marketplaces have paid in, by school arithmetic.

It knows neither the ledger nor the tables: the simulation tells it what was agreed, and it adds up.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

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

    def lose(self) -> None:
        self.is_lost = True


@dataclass(slots=True)
class ModelRefill:
    """What a bank card has paid to a marketplace."""

    network_id: int
    amount: Decimal
    funds: defaultdict[int, Decimal]

    def lose(self) -> None:
        """The buyer's bank has taken it back for good."""
        self.funds[self.network_id] -= self.amount


@dataclass(slots=True)
class ModelGood:
    """A gift card, of a partner or of a network, or a network's voucher."""

    remaining: Decimal
    usages_left: int = 0
    """Of a voucher."""
    part: Decimal = NOTHING
    """Of a voucher: what each usage is worth but the last, which is worth what remains."""
    is_cancelled: bool = False

    @property
    def next_value(self) -> Decimal:
        """What the next usage of a voucher is worth."""
        return self.remaining if self.usages_left <= 1 else self.part


@dataclass(slots=True)
class ModelUsage:
    """A usage of a network's gift card or voucher at a partner."""

    partner_id: int
    good: ModelGood
    amount: Decimal
    fees: Decimal
    """What the partner pays of them."""
    returned: Decimal = NOTHING
    """What refunds of its payment have given back."""
    is_cancelled: bool = False

    @property
    def earned(self) -> Decimal:
        """What is left of it, less what is left of the fees."""
        if self.is_cancelled:
            return NOTHING
        return self.amount - self.returned - (self.fees - to_cent(self.fees * self.returned / self.amount))

    def give_back(self, amount: Decimal) -> None:
        """A refund gives an amount back to the gift card."""
        self.returned += amount
        self.good.remaining += amount


@dataclass(slots=True)
class PlainModel:
    """All that was agreed."""

    sales: list[ModelSale] = field(default_factory=list)
    usages: list[ModelUsage] = field(default_factory=list)
    cards: dict[int, ModelGood] = field(default_factory=dict)
    vouchers: dict[int, ModelGood] = field(default_factory=dict)
    funds: defaultdict[int, Decimal] = field(default_factory=lambda: defaultdict(lambda: NOTHING))
    """By marketplace: what it has paid in, less the value of what its network has issued."""

    def sell(self, partner_id: int, amount: Decimal, commission: Decimal) -> ModelSale:
        self.sales.append(ModelSale(partner_id, amount, commission))
        return self.sales[-1]

    def refill(self, network_id: int, amount: Decimal) -> ModelRefill:
        """A marketplace pays in."""
        self.funds[network_id] += amount
        return ModelRefill(network_id, amount, self.funds)

    def issue_card(self, id: int, value: Decimal, network_id: int | None = None) -> ModelGood:
        """A gift card is issued: of a network, or of a partner, which owes it alone."""
        self.cards[id] = ModelGood(value)
        if network_id is not None:
            self.funds[network_id] -= value
        return self.cards[id]

    def issue_voucher(self, id: int, price: Decimal, usages: int, network_id: int) -> ModelGood:
        """A voucher of a network is issued."""
        part = (price / usages).quantize(CENT, ROUND_DOWN)
        self.vouchers[id] = ModelGood(price, usages, part)
        self.funds[network_id] -= price
        return self.vouchers[id]

    def cancel(self, good: ModelGood, network_id: int) -> None:
        """What a network has issued is cancelled: what is left of it is the network's again."""
        self.funds[network_id] += good.remaining
        good.is_cancelled = True

    def use(self, partner_id: int, good: ModelGood, amount: Decimal, fees: Decimal) -> ModelUsage:
        """An amount of what a network has issued is used."""
        good.remaining -= amount
        good.usages_left -= 1
        self.usages.append(ModelUsage(partner_id, good, amount, fees))
        return self.usages[-1]

    def cancel_usage(self, usage: ModelUsage) -> None:
        usage.is_cancelled = True
        usage.good.remaining += usage.amount
        usage.good.usages_left += 1

    def earned(self) -> dict[int, Decimal]:
        """What each partner has earned by now."""
        sums: defaultdict[int, Decimal] = defaultdict(lambda: NOTHING)
        for sale in self.sales:
            sums[sale.partner_id] += sale.earned
        for usage in self.usages:
            sums[usage.partner_id] += usage.earned
        return dict(sums)
