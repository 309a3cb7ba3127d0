"""Stock that a payment in another browser reserves for the same cart."""

import datetime as dt
from dataclasses import replace

from schema.checkout.checkout import CheckoutKey, CheckoutLine, LineProblem
from store.checkout.reading import reservations_elsewhere
from store.database.transaction_reader import DatabaseReader
from store.payment.attempts import reservations_end

STOCK_PROBLEMS = (LineProblem.OUT_OF_STOCK, LineProblem.NOT_ENOUGH_STOCK)


async def with_reserved_until(
    db: DatabaseReader, partner_id: int, key: CheckoutKey, lines: tuple[CheckoutLine, ...]
) -> tuple[CheckoutLine, ...]:
    """The lines, with `reserved_until` where another browser's payment for this cart reserves the missing stock."""
    if not any(line.problem in STOCK_PROBLEMS for line in lines):
        return lines
    until: dict[tuple[int, int | None], dt.datetime] = {}
    for holds, attempt in await reservations_elsewhere(db, partner_id, key):
        until |= {of: max(reservations_end(attempt), until.get(of, reservations_end(attempt))) for of in holds.stock}
    return tuple(
        replace(line, reserved_until=until.get((line.choice.product_id, line.variant.id if line.variant else None)))
        if line.problem in STOCK_PROBLEMS
        else line
        for line in lines
    )
