"""A model of a network's money in plain numbers: what its gift cards and vouchers, partners and accounts should have.

It shares no code with the program. Amounts are cents.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

USABLE, ENDED = ("paid", "using"), ("exprd", "cncld")


def rounded(amount: Fraction) -> int:
    """Half up."""
    return floor(amount + Fraction(1, 2))


@dataclass
class Terms:
    """What holds for the gift cards or the vouchers of the network. Percentages are hundredths of one."""

    rate: int = 0
    fixed: int = 0
    vat: int = 0
    payer: str = "partner"
    books_breakage: bool = False


@dataclass
class Fees:
    """The fees of a usage, each with its VAT."""

    commission: int = 0
    commission_vat: int = 0
    fixed: int = 0
    fixed_vat: int = 0
    payer: str = "partner"

    @classmethod
    def of(cls, value: int, terms: Terms) -> "Fees":
        """By the terms. A partner pays no more than the value."""
        own = terms.payer == "partner"
        net = rounded(Fraction(value * terms.rate, 10000))
        commission = _with_vat(net, terms.vat, value if own else None)
        fixed = _with_vat(terms.fixed, terms.vat, value - commission[0] if own else None)
        return cls(*commission, *fixed, terms.payer)

    @property
    def total(self) -> int:
        return self.commission + self.fixed

    def share(self, returned: int, value: int) -> "Fees":
        """What belongs to a part of the value."""

        def part(whole: int) -> int:
            return rounded(Fraction(whole * returned, value))

        commission = part(self.commission)
        fixed = part(self.total) - commission
        return Fees(commission, part(self.commission_vat), fixed, part(self.fixed_vat), self.payer)

    def less(self, other: "Fees") -> "Fees":
        """The difference."""
        return Fees(
            self.commission - other.commission,
            self.commission_vat - other.commission_vat,
            self.fixed - other.fixed,
            self.fixed_vat - other.fixed_vat,
            self.payer,
        )


def _with_vat(net: int, vat: int, most: int | None) -> tuple[int, int]:
    tax = rounded(Fraction(net * vat, 10000))
    if most is None or net + tax <= most:
        return net + tax, tax
    return most, rounded(Fraction(most * vat, 10000 + vat))


@dataclass
class Used:
    """A usage."""

    id: int
    item: "Item"
    partner: int
    value: int
    fees: Fees
    of_payment: bool = False
    is_active: bool = True
    returned: int = 0


@dataclass
class Item:
    """A gift card, or a voucher, which has a number of usages."""

    id: int
    code: str
    value: int
    status: str
    usages: int = 0
    """How often a voucher can be used; 0 for a gift card."""
    left: int = 0
    unowed: int = 0
    held: int = 0
    count: int = 0
    is_over: bool = False
    """Whether its end is past."""
    is_refunded: bool = False
    """Whether the price of its sale went back."""

    @property
    def is_voucher(self) -> bool:
        return self.usages > 0

    @property
    def can_be_used(self) -> bool:
        return self.status in USABLE and not self.is_over

    @property
    def status_of_rest(self) -> str:
        """The status by what is left."""
        if self.is_voucher:
            return "used" if self.count == self.usages else "using" if self.count else "paid"
        return "used" if not self.left else "paid" if self.left + self.held == self.value else "using"

    @property
    def next_value(self) -> int:
        """What the next usage of a voucher takes."""
        return self.left if self.count + 1 >= self.usages else self.value // self.usages


@dataclass
class Model:
    """The books of a network."""

    terms: dict[bool, Terms] = field(default_factory=lambda: {False: Terms(), True: Terms()})
    """Of gift cards (False) and vouchers (True)."""
    items: list[Item] = field(default_factory=list)
    used: list[Used] = field(default_factory=list)
    accounts: Counter[str] = field(default_factory=Counter)
    earned: Counter[int] = field(default_factory=Counter)
    """By partner."""

    def balances(self) -> dict[str, int]:
        """All balances by role; zeros are left out."""
        cards, vouchers = ([each for each in self.items if each.is_voucher is kind] for kind in (False, True))
        found = {
            **self.accounts,
            "card": sum(each.left - each.unowed for each in cards),
            "card_held": sum(each.held for each in cards),
            "network_voucher": sum(each.left - each.unowed for each in vouchers),
            "partner_network": sum(self.earned.values()),
        }
        return {role: amount for role, amount in found.items() if amount}

    # ---- what is owed

    def refill(self, amount: int) -> None:
        paid = min(amount, self.accounts["owed_by_marketplace"])
        self.accounts["owed_by_marketplace"] -= paid
        self.accounts["marketplace_funds"] += amount - paid

    def _owe(self, amount: int) -> None:
        covered = min(amount, self.accounts["marketplace_funds"])
        self.accounts["marketplace_funds"] -= covered
        self.accounts["owed_by_marketplace"] += amount - covered

    # ---- a life

    def issue(self, item: Item) -> None:
        self.items.append(item)
        item.left = item.value
        if item.status == "draft":
            item.unowed = item.left
        else:
            self._owe(item.left)

    def sell(self, item: Item) -> None:
        """The money of the sale is in the network's wallet."""
        self.accounts["marketplace_funds"] += item.value
        self.issue(item)

    def refund_sale(self, item: Item) -> bool:
        """All of the price goes back, out of what is no longer owed, what was booked as breakage, and the network's funds."""
        if item.is_refunded:
            return False
        back = min(item.unowed, item.value) if item.status == "exprd" else 0
        owed = 0 if item.status == "cncld" else item.left - item.unowed + back
        kept = min(owed, item.value)
        rest = owed - kept
        surplus = max(0, rest - self.accounts["owed_by_marketplace"])
        if self.accounts["marketplace_funds"] + kept + surplus < item.value:
            return False
        self.accounts["breakage"] -= back
        self.accounts["marketplace_funds"] += kept - item.value
        self.refill(rest)
        if item.status != "cncld":
            item.status, item.unowed = "cncld", item.left
        item.is_refunded = True
        return True

    def activate(self, item: Item) -> bool:
        """Returns False if it is refused, as all others do."""
        if item.status in USABLE:
            return True
        if item.status != "draft" or item.is_over:
            return False
        item.status, item.unowed = "paid", 0
        self._owe(item.left)
        return True

    def cancel(self, item: Item) -> bool:
        if item.status != "cncld":
            self.refill(item.left - item.unowed)
            item.status, item.unowed = "cncld", item.left
        return True

    def extend(self, item: Item) -> bool:
        if item.status not in ("draft", *USABLE, "exprd"):
            return False
        item.is_over = False
        if item.status == "exprd":
            item.status = item.status_of_rest
            self.accounts["breakage"] -= item.unowed
            item.unowed = 0
        return True

    def expire(self) -> int:
        """Expire what is due; returns how many."""
        due = [item for item in self.items if item.is_over and item.status in USABLE]
        for item in due:
            item.status = "exprd"
            if self.terms[item.is_voucher].books_breakage:
                self._break(item, item.left)
        return len(due)

    def _break(self, item: Item, amount: int) -> None:
        item.unowed += amount
        self.accounts["breakage"] += amount

    def _came_back(self, item: Item, amount: int) -> None:
        """What comes back to an expired one is booked too."""
        if item.status == "exprd":
            if self.terms[item.is_voucher].books_breakage:
                self._break(item, amount)
        else:
            item.status = item.status_of_rest

    # ---- usages

    def may_use(self, item: Item, value: int) -> bool:
        return item.can_be_used and (item.is_voucher or 0 < value <= item.left)

    def use(self, item: Item, id: int, partner: int, value: int, *, of_payment: bool = False) -> None:
        fees = Fees.of(value, self.terms[item.is_voucher])
        item.left, item.count = item.left - value, item.count + 1
        if item.status != "exprd" or not item.left:
            item.status = item.status_of_rest
        self.used.append(Used(id, item, partner, value, fees, of_payment))
        self._earn(partner, value, fees, 1)

    def cancel_usage(self, used: Used) -> bool:
        item = used.item
        if not used.is_active:
            return True
        if used.of_payment or item.status == "cncld":
            return False
        used.is_active, item.left, item.count = False, item.left + used.value, item.count - 1
        self._earn(used.partner, used.value, used.fees, -1)
        self._came_back(item, used.value)
        return True

    def give_back(self, used: Used, amount: int) -> bool:
        """A refund of the payment."""
        item, before = used.item, used.fees.share(used.returned, used.value)
        if item.status == "cncld" or amount > used.value - used.returned:
            return False
        used.returned += amount
        used.is_active = used.returned < used.value
        item.left += amount
        self._earn(used.partner, amount, used.fees.share(used.returned, used.value).less(before), -1)
        self._came_back(item, amount)
        return True

    def _earn(self, partner: int, value: int, fees: Fees, sign: int) -> None:
        own = fees.payer == "partner"
        self.earned[partner] += sign * (value - (fees.total if own else 0))
        self.accounts["promotion"] += 0 if own else sign * fees.total
        self.accounts["commission"] += sign * (fees.commission - fees.commission_vat)
        self.accounts["management_fees"] += sign * (fees.fixed - fees.fixed_vat)
        self.accounts["vat_on_commission"] += sign * (fees.commission_vat + fees.fixed_vat)

    # ---- what a payment holds

    def hold(self, item: Item, amount: int) -> None:
        item.left, item.held = item.left - amount, item.held + amount

    def release(self, item: Item, amount: int) -> None:
        self._restore(item, amount)
        if item.status == "cncld":
            item.unowed += amount
            self.refill(amount)
        elif item.status == "exprd":
            self._came_back(item, amount)

    def capture(self, item: Item, amount: int, id: int, partner: int) -> None:
        self._restore(item, amount)
        self.use(item, id, partner, amount, of_payment=True)

    def _restore(self, item: Item, amount: int) -> None:
        item.left, item.held = item.left + amount, item.held - amount
        if item.status in ("using", "used"):
            item.status = item.status_of_rest
