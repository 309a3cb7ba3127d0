"""Related rows read in the statement of the row itself: the same as loaded after it."""

from typing import Any

import pytest

from rest_compat.resources.voucher import VOUCHER
from schema.voucher.voucher import Voucher
from store.database.related_rows import load_first_from, related_rows, split_joined, split_related


def test_a_look_up_reads_every_relation_of_a_documented_voucher() -> None:
    assert VOUCHER.rows is not None
    assert len(VOUCHER.rows.related) == len(VOUCHER.projection.rows.batches)  # type: ignore[union-attr]


def test_only_relations_can_be_read() -> None:
    with pytest.raises(TypeError, match="no relation"):
        related_rows(Voucher, "code", ())


def test_joined_rows_are_kept_once_each() -> None:
    partners, rentals = related_rows(Voucher, "partner", ("uuid",)), related_rows(Voucher, "prototype", ("reference",))
    rows = [(9, 1, 41, None, 41, "u", None, None), (8, 2, 41, 7, 41, "u", 7, "r"), (7, 3, 42, 6, 42, "v", None, None)]
    own, found = split_joined(rows, ("partner_id", "prototype_id"), (partners, rentals))
    assert own == [(9, 1, 41, None), (8, 2, 41, 7), (7, 3, 42, 6)]
    assert found[partners.relation, ("uuid",)] == {41: [(41, 41, "u")], 42: [(42, 42, "v")]}
    assert found[rentals.relation, ("reference",)] == {7: [(7, 7, "r")]}


async def test_what_was_not_read_is_loaded() -> None:
    asked: list[Any] = []

    async def load(link: Any, keys: Any, columns: Any) -> dict[Any, Any]:
        asked.append((link, list(keys)))
        return {key: (key, key) for key in keys}

    related = related_rows(Voucher, "rentals", ("reference",))
    rows = [
        (
            1,
            1,
            1,
            [
                (
                    1,
                    5,
                    "x",
                )
            ],
        ),
        (2, 2, 2, []),
    ]
    own, found = split_related(rows, ("id",), (related,))
    assert own == [(1, 1, 1), (2, 2, 2)]
    first = load_first_from(found, load)
    assert await first(related.relation, [1, 2], ("reference",)) == {1: [(1, 5, "x")], 2: []}
    assert not asked
    assert await first(related.relation, [1, 3], ("reference",)) == {1: [(1, 5, "x")], 3: (3, 3)}
    assert await first(related.relation, [1], ("comment",)) == {1: (1, 1)}
    assert asked == [(related.relation, [3]), (related.relation, [1])]
