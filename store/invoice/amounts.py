"""What an invoice charges: fees summed up by kind and rate, and the VAT of each rate."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from schema.invoice.invoice import InvoiceLineKind, VatCategory

WHOLE = Decimal(1)


@dataclass(frozen=True, slots=True)
class FeeSum:
    """Fees of one kind with one rate, in minor units, VAT included."""

    kind: InvoiceLineKind
    vat_rate: Decimal
    count: int
    total: int


@dataclass(frozen=True, slots=True)
class InvoicedLine:
    """A line with its VAT, in minor units."""

    kind: InvoiceLineKind
    category: VatCategory
    vat_rate: Decimal
    count: int
    net: int
    vat: int

    @property
    def total(self) -> int:
        return self.net + self.vat


def net_of(total: int, vat_rate: Decimal) -> int:
    """The part of an amount with VAT that is not VAT, rounded half up."""
    return int((total * 100 / (100 + vat_rate)).quantize(WHOLE, ROUND_HALF_UP))


def share_of(whole: int, part: int, total: int) -> int:
    """What belongs of a whole to a part of a total, rounded half up."""
    return int((Decimal(whole * part) / total).quantize(WHOLE, ROUND_HALF_UP))


def price_lines(sums: Iterable[FeeSum], untaxed: VatCategory) -> list[InvoicedLine]:
    """The lines of an invoice, by falling rate. `untaxed` is the category of fees without VAT.

    The VAT of a rate is that of its sum, as EN 16931 asks for, and its lines share it: each is the VAT of all lines so far
    less that of those before. So it differs from the sum of the fees' own VAT, each rounded by itself.
    """
    by_rate: defaultdict[Decimal, list[FeeSum]] = defaultdict(list)
    for each in sums:
        by_rate[each.vat_rate].append(each)
    lines = []
    for rate in sorted(by_rate, reverse=True):
        total = net = 0
        for each in sorted(by_rate[rate], key=lambda each: each.kind):
            total += each.total
            own = net_of(total, rate) - net
            net += own
            category = VatCategory.STANDARD if rate else untaxed
            lines.append(InvoicedLine(each.kind, category, rate, each.count, own, each.total - own))
    return lines
