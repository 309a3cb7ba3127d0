"""How holds grow: not at once, doubling, never beyond the longest."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.limits.backoff import Backoff
from store.limits.log_ins import ADDRESS_BACKOFF, PAIR_BACKOFF, USER_BACKOFF

BACKOFFS = pytest.mark.parametrize("backoff", [PAIR_BACKOFF, USER_BACKOFF, ADDRESS_BACKOFF])


@pytest.mark.parametrize(
    ("misses", "seconds"),
    [(0, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (16, 2048), (17, 3600), (18, 3600), (10**6, 3600)],
)
def test_the_fifth_miss_holds_a_pair_a_second_and_each_further_one_twice_as_long(misses: int, seconds: int) -> None:
    assert PAIR_BACKOFF.delay_after(misses) == dt.timedelta(seconds=seconds)


@BACKOFFS
@given(misses=st.integers(0, 10**9))
def test_holds_double_until_the_longest(backoff: Backoff, misses: int) -> None:
    here, above = backoff.delay_after(misses), backoff.delay_after(misses + 1)
    if misses <= backoff.free_misses:
        assert here == dt.timedelta()
    else:
        assert above == min(2 * here, backoff.max_delay)


@BACKOFFS
def test_misses_are_remembered_for_longer_than_they_hold(backoff: Backoff) -> None:
    assert backoff.memory > backoff.max_delay


def test_a_user_alone_is_never_held_longer_than_half_a_minute() -> None:
    assert USER_BACKOFF.max_delay == dt.timedelta(seconds=30)
