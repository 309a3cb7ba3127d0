"""Look-up of a partner by its source id, company number or commercial name."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, func, or_
from sqlmodel import col, select

from resolvers.core.operation import Call
from resolvers.core.scoping import find_visible, visible_conditions
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.core.message_names import FieldName, TemplatedMessage
from store.partner.checks import company_number
from store.partner.partners import PartnerRow

NameTest: TypeAlias = Callable[[str], ColumnElement[bool]]

TESTS: Mapping[str, NameTest] = {
    "source_id": lambda value: col(PartnerRow.source_id) == value,
    "siret_number": lambda value: col(PartnerRow.siret_number) == company_number(value),
    "commercial_name": lambda value: func.lower(col(PartnerRow.commercial_name)) == func.lower(value),
}
"""Identifier -> condition that matches it."""


async def find_named_partner(call: Call, identifiers: Mapping[str, str | None], *, lock: bool = False) -> PartnerRow:
    """The one visible partner that matches all given identifiers.

    Raises NotFound if none matches; InvalidInput if several match, if the identifiers match different partners, or if
    none is given.
    """
    values = {name: value.strip() for name, value in identifiers.items() if value and value.strip()}
    if not values:
        raise InvalidInput.at(
            (), TemplatedMessage("Send {names}.", names=[FieldName(name) for name in identifiers]), "REQUIRED"
        )
    tests = [TESTS[name](value) for name, value in values.items()]
    query: Any = select(PartnerRow.id, *tests).where(*visible_conditions(call.caller, PartnerRow), or_(*tests))
    rows = (await call.db.exec(query)).all()
    if not rows:
        raise NotFound(lookup=values, thing="partner")
    meant = [id for id, *matches in rows if all(matches)]
    if len(meant) != 1:
        message = "Several partners match." if meant else "These values match different partners."
        raise InvalidInput(*(Problem((name,), "INVALID", message) for name in values))
    return await find_visible(call.db, call.caller, PartnerRow, "partner", lock=lock, id=meant[0])
