"""Finding a partner by what its network calls it, where that may be several things, and of several partners."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, func, or_
from sqlmodel import col, select

from resolvers.core.operation import Call
from resolvers.core.scoping import find, visible
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.core.message_names import Key, Words
from store.partner.checks import company_number
from store.partner.partners import PartnerRow

Test: TypeAlias = Callable[[str], ColumnElement[bool]]

TESTS: Mapping[str, Test] = {
    "source_id": lambda value: col(PartnerRow.source_id) == value,
    "siret_number": lambda value: col(PartnerRow.siret_number) == company_number(value),
    "commercial_name": lambda value: func.lower(col(PartnerRow.commercial_name)) == func.lower(value),
}
"""What a partner may be called, and when it is."""


async def named(call: Call, given: Mapping[str, str | None], *, lock: bool = False) -> PartnerRow:
    """The one partner the caller sees that all that is given names.

    Raises NotFound for none; InvalidInput for several, for names of different partners, and where nothing is given.
    """
    wanted = {name: value.strip() for name, value in given.items() if value and value.strip()}
    if not wanted:
        raise InvalidInput.at((), Words("Send {names}.", names=[Key(name) for name in given]), "REQUIRED")
    tests = [TESTS[name](value) for name, value in wanted.items()]
    query: Any = select(PartnerRow.id, *tests).where(*visible(call.caller, PartnerRow), or_(*tests))
    rows = (await call.db.exec(query)).all()
    if not rows:
        raise NotFound(by=wanted, thing="partner")
    meant = [id for id, *matches in rows if all(matches)]
    if len(meant) != 1:
        told = "Several partners are named so." if meant else "These do not name the same partner."
        raise InvalidInput(*(Problem((name,), "INVALID", told) for name in wanted))
    return await find(call.db, call.caller, PartnerRow, "partner", lock=lock, id=meant[0])
