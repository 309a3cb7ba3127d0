"""The states of vouchers: every pair of them, the promises of the rules, and months that are not all of one length."""

import datetime as dt
import itertools
from dataclasses import dataclass
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.voucher.voucher import VoucherKind, VoucherState
from store.voucher.payment import end_of_validity
from store.voucher.rules import is_extendable, is_over, is_refundable, is_usable
from store.voucher.states import TRANSITIONS, transition_permission

WRITTEN = """
    draft: paid error
    error: draft paid
    paid: using used exprd error
    using: used paid exprd
    used: using paid
    exprd: paid
"""
"""The documented moves."""
TO_USE = {"paid using", "paid used", "using used"}
BACK_TO_LIFE = {"used using", "used paid", "exprd paid"}
PARIS = ZoneInfo("Europe/Paris")
NOW = dt.datetime(2030, 6, 1, 12, tzinfo=dt.UTC)


def test_the_table_is_the_documented_one() -> None:
    documented = {
        (VoucherState(old), VoucherState(new))
        for old, _, to in (line.strip().partition(": ") for line in WRITTEN.strip().splitlines())
        for new in to.split()
    }
    assert {move for move in itertools.product(VoucherState, repeat=2) if TRANSITIONS.allows(*move)} == documented
    for old, new in itertools.product(VoucherState, repeat=2):
        if old is new:
            assert transition_permission(old, new) is None
        elif (old, new) not in documented:
            with pytest.raises(InvalidTransition):
                transition_permission(old, new)
        else:
            move = f"{old.value} {new.value}"
            expected = Permission.UPDATE_VOUCHER
            if move in TO_USE:
                expected = Permission.USE_VOUCHER
            elif move in BACK_TO_LIFE:
                expected = Permission.REOPEN_VOUCHER
            assert transition_permission(old, new) is expected


@dataclass(frozen=True)
class Facts:
    """What the rules look at."""

    state: VoucherState
    kind: VoucherKind = VoucherKind.SOLD
    activated_on: dt.datetime | None = NOW - dt.timedelta(days=1)
    expires_on: dt.datetime | None = NOW + dt.timedelta(days=1)
    purchase_price_amount: Decimal = Decimal("10.00")
    frozen_on: dt.datetime | None = None
    refunded_on: dt.datetime | None = None


MOMENTS = st.none() | st.integers(-3, 3).map(lambda days: NOW + dt.timedelta(days=days))
FACTS = st.builds(
    Facts,
    state=st.sampled_from(VoucherState),
    kind=st.sampled_from(VoucherKind),
    activated_on=MOMENTS,
    expires_on=MOMENTS,
    purchase_price_amount=st.sampled_from([Decimal(0), Decimal("0.01"), Decimal(100)]),
    frozen_on=MOMENTS,
    refunded_on=MOMENTS,
)


@given(FACTS)
def test_the_rules_do_not_contradict_each_other_or_the_table(voucher: Facts) -> None:
    if is_usable(voucher, NOW):
        assert voucher.frozen_on is None
        assert voucher.refunded_on is None
        assert TRANSITIONS.allows(voucher.state, VoucherState.USED)
        assert voucher.activated_on is not None
        assert voucher.activated_on <= NOW
        assert voucher.expires_on is None or voucher.expires_on > NOW
    if is_refundable(voucher, NOW):
        assert voucher.frozen_on is None
        assert voucher.refunded_on is None
        assert voucher.state is VoucherState.PAID
        assert voucher.kind is VoucherKind.SOLD
        assert voucher.purchase_price_amount > 0
        assert not is_over(voucher, NOW)
    if is_extendable(voucher, NOW):
        assert voucher.refunded_on is None
        assert voucher.state not in {VoucherState.USED, VoucherState.DRAFT, VoucherState.ERROR}
        assert voucher.expires_on is not None


S = VoucherState


@pytest.mark.parametrize(
    ("voucher", "usable", "extendable", "refundable"),
    [
        (Facts(S.PAID), True, True, True),
        (Facts(S.USING), True, True, False),
        (Facts(S.USED), False, False, False),
        (Facts(S.DRAFT, activated_on=None, expires_on=None), False, False, False),
        (Facts(S.ERROR), False, False, False),
        (Facts(S.EXPIRED, expires_on=NOW), False, True, False),
        (Facts(S.PAID, expires_on=NOW), False, True, False),
        (Facts(S.PAID, expires_on=NOW + dt.timedelta(microseconds=1)), True, True, True),
        (Facts(S.PAID, expires_on=None), True, False, True),
        (Facts(S.PAID, activated_on=None), False, True, True),
        (Facts(S.PAID, activated_on=NOW), True, True, True),
        (Facts(S.PAID, activated_on=NOW + dt.timedelta(seconds=1)), False, True, True),
        (Facts(S.PAID, kind=VoucherKind.IMPORTED), True, True, False),
        (Facts(S.PAID, purchase_price_amount=Decimal(0)), True, True, False),
        (Facts(S.PAID, frozen_on=NOW), False, True, False),
        (Facts(S.USING, refunded_on=NOW), False, False, False),
        (Facts(S.PAID, refunded_on=NOW), False, False, False),
    ],
)
def test_what_can_be_done_with_a_voucher(voucher: Facts, *, usable: bool, extendable: bool, refundable: bool) -> None:
    found = is_usable(voucher, NOW), is_extendable(voucher, NOW), is_refundable(voucher, NOW)
    assert found == (usable, extendable, refundable)


@pytest.mark.parametrize(
    ("sold_on", "months", "day"),
    [
        ("2030-01-31T10:00:00+01:00", 1, "2030-02-28"),
        ("2027-11-30T10:00:00+01:00", 3, "2028-02-29"),
        ("2030-03-15T10:00:00+01:00", 12, "2031-03-15"),
        ("2030-12-01T10:00:00+01:00", 1, "2031-01-01"),
        ("2030-05-31T23:30:00+00:00", 1, "2030-07-01"),  # it is June at the marketplace
        ("2030-05-05T10:00:00+02:00", 0, "2030-05-05"),
    ],
)
def test_a_voucher_is_valid_to_the_end_of_a_day_of_its_marketplace(sold_on: str, months: int, day: str) -> None:
    end = end_of_validity(dt.datetime.fromisoformat(sold_on), months, PARIS)
    assert end.utcoffset() == dt.timedelta(0)
    assert end.astimezone(PARIS).isoformat()[:19] == f"{day}T23:59:59"


@pytest.mark.parametrize(
    ("zone", "sold_on", "end"),
    [
        ("Asia/Beirut", "2026-10-24T12:00:00+00:00", "2026-10-24T21:59:59+00:00"),  # clocks go back from 24:00 to 23:00
        ("Africa/Cairo", "2026-04-23T12:00:00+00:00", "2026-04-23T21:59:59+00:00"),  # and forward from 24:00 to 1:00
        ("Pacific/Kiritimati", "2026-11-20T09:59:59+00:00", "2026-11-20T09:59:59+00:00"),
        ("Pacific/Pago_Pago", "2026-11-21T10:59:59+00:00", "2026-11-21T10:59:59+00:00"),
    ],
)
def test_a_day_ends_with_its_last_second_wherever_that_is(zone: str, sold_on: str, end: str) -> None:
    assert end_of_validity(dt.datetime.fromisoformat(sold_on), 0, ZoneInfo(zone)) == dt.datetime.fromisoformat(end)


@given(st.integers(0, 10**9), st.integers(1, 60))
def test_more_months_are_never_fewer_days(seconds: int, months: int) -> None:
    sold_on = NOW + dt.timedelta(seconds=seconds)
    earlier, later = (end_of_validity(sold_on, number, PARIS) for number in (months - 1, months))
    assert sold_on <= earlier + dt.timedelta(seconds=1)
    assert dt.timedelta(days=27) < later - earlier < dt.timedelta(days=32)
