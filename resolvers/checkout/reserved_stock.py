"""Stock that payments in other browsers reserve."""

import datetime as dt
from dataclasses import replace

from schema.checkout.checkout import CheckoutKey, CheckoutLine, LineProblem
from store.checkout.reading import reservations_elsewhere, stock_held_by_others
from store.database.transaction_reader import DatabaseReader
from store.payment.attempts import reservations_end

STOCK_PROBLEMS = (LineProblem.OUT_OF_STOCK, LineProblem.NOT_ENOUGH_STOCK)


async def with_holders(
    db: DatabaseReader, partner_id: int, key: CheckoutKey, lines: tuple[CheckoutLine, ...]
) -> tuple[CheckoutLine, ...]:
    """The lines, with `reserved_until` where another browser's payment for this cart reserves the missing stock, and
    `is_held_by_others` where payments for other carts do.
    """
    if not any(line.problem in STOCK_PROBLEMS for line in lines):
        return lines
    until: dict[tuple[int, int | None], dt.datetime] = {}
    for holds, attempt in await reservations_elsewhere(db, partner_id, key):
        until |= {of: max(reservations_end(attempt), until.get(of, reservations_end(attempt))) for of in holds.stock}
    held = await stock_held_by_others(db, partner_id, key)

    def line_with_holders(line: CheckoutLine) -> CheckoutLine:
        of = line.choice.product_id, line.variant.id if line.variant else None
        is_held = 0 < held.get(of, 0) >= line.choice.quantity - (line.available or 0)
        return replace(line, reserved_until=until.get(of), is_held_by_others=is_held)

    return tuple(line_with_holders(line) if line.problem in STOCK_PROBLEMS else line for line in lines)
