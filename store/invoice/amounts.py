"""What an invoice charges: fees summed up by kind and rate, and the VAT of each rate."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from schema.invoice.invoice import InvoiceLineKind, VatCategory
from store.providers.money import MinorAmount, smallest_unit

WHOLE = Decimal(1)


@dataclass(frozen=True, slots=True)
class FeeSum:
    """Fees of one kind with one category and rate, in minor units, VAT included."""

    kind: InvoiceLineKind
    category: VatCategory
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


def unit_of(currency: str) -> int:
    """The smallest amount that is stored, in minor units: of currencies with three decimals ten."""
    return MinorAmount.of(smallest_unit(currency), currency).minor


def net_of(total: int, vat_rate: Decimal, unit: int = 1) -> int:
    """The part of an amount with VAT that is not VAT, rounded half up to `unit`."""
    return _round(total * 100 / (100 + vat_rate), unit)


def share_of(whole: int, part: int, total: int, unit: int = 1) -> int:
    """What belongs of a whole to a part of a total, rounded half up to `unit`."""
    return _round(Decimal(whole * part) / total, unit)


def _round(amount: Decimal, unit: int) -> int:
    return int((amount / unit).quantize(WHOLE, ROUND_HALF_UP)) * unit


def price_lines(sums: Iterable[FeeSum], unit: int = 1) -> list[InvoicedLine]:
    """The lines of an invoice, by falling rate.

    The VAT of a rate is that of its sum, as EN 16931 asks for, and its lines share it: each is the VAT of all lines so far
    less that of those before. So it differs from the sum of the fees' own VAT, each rounded by itself.
    """
    by_rate: defaultdict[tuple[Decimal, VatCategory], list[FeeSum]] = defaultdict(list)
    for each in sums:
        by_rate[-each.vat_rate, each.category].append(each)
    lines = []
    for _, own in sorted(by_rate.items()):
        total = net = 0
        for each in sorted(own, key=lambda each: each.kind):
            total += each.total
            part = net_of(total, each.vat_rate, unit) - net
            net += part
            lines.append(InvoicedLine(each.kind, each.category, each.vat_rate, each.count, part, each.total - part))
    return lines
