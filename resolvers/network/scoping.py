"""Who sees the gift cards and vouchers of a network: the network itself, and by their exact code the partners linked to
them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, false
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Caller, Role
from store.database.loaders import is_any_of
from store.database.statement_cache import Condition
from store.partner.partners import PartnerRow

T = TypeVar("T")


def visible_by_code(caller: Caller, of_network: Any, linked: Any) -> list[ColumnElement[bool]]:
    """The conditions of the rows that a caller who knows their code sees: all of a master, those of their marketplace of
    others; of a partner's users if `linked`, a column of the partner, is true.
    """
    if caller.role is Role.MASTER:
        return []
    if caller.marketplace_id is None:
        return [false()]
    own = of_network == caller.marketplace_id
    if caller.role is Role.MARKETPLACE:
        return [own]
    return [own, select(PartnerRow.id).where(col(PartnerRow.id) == caller.partner_id, linked).exists()]


def seen_by_code(linked: Any) -> Callable[[Caller, Any], tuple[Condition, ...]]:
    """`visible_by_code` as the `visible` of a look-up, of tables with a `marketplace_id`."""

    def conditions(caller: Caller, table: Any) -> tuple[Condition, ...]:
        tests = visible_by_code(caller, table.__table__.c.marketplace_id, linked)
        return tuple(map(Condition.from_expression, tests))

    return conditions


async def used_by_usages(
    db: AsyncSession,
    caller: Caller,
    usages: Any,
    by: str,
    used: type[T],
    ids: Sequence[int],
    linked: Any,
    by_code: ColumnElement[bool] | None = None,
) -> Mapping[int, T]:
    """The gift cards or vouchers in a table `used` whose ids usages have in the column `by`, by the ids of the usages: those
    that the caller sees by their code. `by_code` is true of usages whose partner knew it, if not of all.
    """
    table: Any = used
    query = (
        select(usages.id, table)
        .join(table, table.id == getattr(usages, by))
        .where(is_any_of(usages.id, ids), *visible_by_code(caller, table.marketplace_id, linked))
    )
    if by_code is not None and caller.role is Role.PARTNER:
        query = query.where(by_code)
    return dict((await db.exec(query)).all())
