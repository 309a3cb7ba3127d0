"""How holds grow: not at once, doubling, never beyond the longest."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.account.log_ins import ADDRESS, PAIR, USER
from store.limits.backoff import Ladder

LADDERS = pytest.mark.parametrize("ladder", [PAIR, USER, ADDRESS])


@pytest.mark.parametrize(
    ("misses", "seconds"),
    [(0, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (16, 2048), (17, 3600), (18, 3600), (10**6, 3600)],
)
def test_the_fifth_miss_holds_a_pair_a_second_and_each_further_one_twice_as_long(misses: int, seconds: int) -> None:
    assert PAIR.hold(misses) == dt.timedelta(seconds=seconds)


@LADDERS
@given(misses=st.integers(0, 10**9))
def test_holds_double_until_the_longest(ladder: Ladder, misses: int) -> None:
    here, above = ladder.hold(misses), ladder.hold(misses + 1)
    if misses <= ladder.free:
        assert here == dt.timedelta()
    else:
        assert above == min(2 * here, ladder.longest)


@LADDERS
def test_misses_are_remembered_for_longer_than_they_hold(ladder: Ladder) -> None:
    assert ladder.remembered > ladder.longest


def test_a_user_alone_is_never_held_longer_than_half_a_minute() -> None:
    assert USER.longest == dt.timedelta(seconds=30)
