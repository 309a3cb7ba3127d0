"""Every published list is read along an index, in each of its orders."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import UniqueConstraint

from resolvers.core.lists.listing import Listing
from schema.graph.fields import ORIGINS
from schema.graph.selection import STRAWBERRY_DEFINITION
from schema.root import schema
from store.database.keyset import KeysetOrder
from store.gift_card.gift_cards import GiftCardRow

VIEWS: dict[str, tuple[Any, dict[str, str]]] = {"network_gift_card": (GiftCardRow, {"marketplace_id": "network_id"})}
"""Views, each with the table that it reads and what its columns are called there."""


def listings() -> Iterator[Listing[object]]:
    """The lists of the schema."""
    query = schema._schema.query_type
    assert query is not None
    for field in query.fields.values():
        yield from (
            source
            for source in field.extensions[STRAWBERRY_DEFINITION].metadata.get(ORIGINS, ())
            if isinstance(source, Listing)
        )


@pytest.mark.parametrize(
    "order",
    [o for source in listings() for o in source.orders.values()],
    ids=lambda o: f"{o.table.__tablename__}.{o.by}",
)
def test_an_index_serves_the_order(order: KeysetOrder) -> None:
    table = order.table.__table__
    owner = [name for name in ("partner_id", "marketplace_id") if name in table.c][:1]
    wanted = list(dict.fromkeys([*owner, order.by, "id"]))
    if table.name in VIEWS:
        rows, renamed = VIEWS[table.name]
        table, wanted = rows.metadata.tables[rows.__tablename__], [renamed.get(name, name) for name in wanted]
    found = [[c.name for c in index.columns] for index in table.indexes]
    found += [[c.name for c in key.columns] for key in table.constraints if isinstance(key, UniqueConstraint)]
    found.append([c.name for c in table.primary_key])
    assert wanted in found, f"add Index('{table.name}_{order.by}_list_idx', {', '.join(map(repr, wanted))})"
