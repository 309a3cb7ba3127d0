"""The VAT of an invoice is that of its sums, and its lines share it to the cent."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from schema.invoice.invoice import InvoiceLineKind, VatCategory
from store.invoice.amounts import FeeSum, net_of, price_lines, unit_of

RATES = st.sampled_from([Decimal("0.00"), Decimal("5.50"), Decimal("19.00"), Decimal("20.00"), Decimal("25.50")])

CATEGORIES = (VatCategory.EXEMPT, VatCategory.STANDARD)


@given(
    totals=st.lists(st.tuples(st.sampled_from(InvoiceLineKind), RATES, st.integers(1, 10**9)), min_size=1, max_size=8),
    sign=st.sampled_from([1, -1]),
)
def test_lines_sum_to_what_was_charged_and_share_the_vat_of_their_rate(
    totals: list[tuple[InvoiceLineKind, Decimal, int]], sign: int
) -> None:
    sums = [FeeSum(kind, CATEGORIES[bool(rate)], rate, 1, sign * total) for kind, rate, total in totals]
    lines = price_lines(sums)
    assert sum(line.total for line in lines) == sign * sum(total for _, _, total in totals)
    for rate in {rate for _, rate, _ in totals}:
        own = [line for line in lines if line.vat_rate == rate]
        net, vat = sum(line.net for line in own), sum(line.vat for line in own)
        assert abs(vat - net * rate / 100) <= 1
        assert net == net_of(sum(line.total for line in own), rate)
        assert {line.category for line in own} == {CATEGORIES[bool(rate)]}
    assert [line.vat_rate for line in lines] == sorted((line.vat_rate for line in lines), reverse=True)


def test_amounts_of_currencies_with_three_decimals_have_those_that_are_stored() -> None:
    unit = unit_of("KWD")
    (line,) = price_lines([FeeSum(InvoiceLineKind.USAGES, VatCategory.STANDARD, Decimal(20), 1, 40)], unit)
    assert (unit, line.net, line.vat) == (10, 30, 10)
    assert [unit_of(currency) for currency in ("EUR", "JPY")] == [1, 1]
