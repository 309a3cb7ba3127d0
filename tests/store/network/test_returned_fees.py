"""Parts of usages that go back: they sum to the whole, and nobody gives back less than nothing."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from schema.partner.network_settings import UsageFeePayer
from store.network.fees import UsageTerms, apply_fees, part_to_return
from store.network.gift_cards import NetworkGiftCardUsageRow

COLUMNS = (
    "net_amount",
    "commission_amount",
    "commission_vat_amount",
    "management_fee_amount",
    "management_fee_vat_amount",
    "value_amount",
)


def cents(most: int) -> st.SearchStrategy[Decimal]:
    return st.integers(0, most).map(lambda minor: Decimal(minor) / 100)


@given(
    value=st.integers(1, 2000),
    cuts=st.lists(st.integers(1, 1999), max_size=6),
    fee=cents(500),
    rate=cents(10000),
    vat=cents(2500),
    paid_by=st.sampled_from(UsageFeePayer),
)
def test_parts_sum_to_the_whole(
    value: int, cuts: list[int], fee: Decimal, rate: Decimal, vat: Decimal, paid_by: UsageFeePayer
) -> None:
    whole = Decimal(value) / 100
    usage = NetworkGiftCardUsageRow(
        id=1, partner_id=1, gift_card_id=1, currency="EUR", value_amount=whole, net_amount=whole
    )
    apply_fees(usage, UsageTerms(fee, rate, vat, paid_by), "EUR")
    ends = [*sorted({cut for cut in cuts if cut < value}), value]
    parts = []
    for start, end in zip([0, *ends], ends, strict=False):
        part = part_to_return(usage, Decimal(end - start) / 100)
        fees = part.commission_amount + part.management_fee_amount
        assert 0 <= part.net_amount <= part.value_amount
        assert fees >= 0
        assert part.commission_amount >= 0
        assert part.net_amount == part.value_amount - (fees if paid_by is UsageFeePayer.PARTNER else 0)
        usage.returned_amount += part.value_amount
        parts.append(part)
    for column in COLUMNS:
        assert sum(getattr(part, column) for part in parts) == getattr(usage, column), column
