"""From an input to a row: what was sent is written, what was left out stays."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, get_origin
from uuid import UUID

import strawberry
from sqlmodel import col, select
from strawberry.utils.str_converters import to_camel_case

from resolvers.core.context import Role
from resolvers.core.operation import Call
from resolvers.core.scoping import find, visible
from schema.core.errors import InvalidInput
from schema.core.field_source import Inline
from schema.core.input_errors import Findings, told_already
from schema.core.resource import Fields, Money, Text, TextInput, place_of
from schema.validation.numbers import LARGEST_ID
from store.partner.partners import MarketplaceRow, PartnerRow

T = TypeVar("T")

NOT_COLUMNS = frozenset({"id", "partner_uuid"})


def text_of(sent: TextInput | None) -> Text:
    """A new text out of the languages that were sent."""
    return Text() if sent is None else Text().merged(sent)


def named(name: Text) -> None:
    """Refuse a name that is empty in every language."""
    if not any(name.model_dump().values()):
        raise InvalidInput.at("name", "Give a name in at least one language.")


def values_of(input: Fields, skip: Collection[str] = ()) -> dict[str, Any]:
    """The columns of a new row, from an input whose fields are named like those of its resource."""
    sent = {name: getattr(input, name) for name in _written(input, skip)}
    kept = [_kept(place_of(input.about, name), value) for name, value in sent.items() if value is not None]
    columns = {column: value for each in kept for column, value in each.items()}
    return {column: text_of(v) if isinstance(v, TextInput) else v for column, v in columns.items()}


def apply(row: Any, input: Fields, skip: Collection[str] = ()) -> None:
    """Write what was sent of a change: a text language by language, everything else whole."""
    for name in _written(input, skip):
        if (change := sent(input, name)) is None:
            continue
        for column, value in _kept(place_of(input.about, name), change.value).items():
            setattr(row, column, getattr(row, column).merged(value) if isinstance(value, TextInput) else value)


def sent(input: Fields, name: str) -> strawberry.Some[Any] | None:
    """The change that was sent of a field; None for one that was left out, or that was told to be wrong."""
    found = vars(input).get(name)
    return found if isinstance(found, strawberry.Some) else None


def needs(*_read: object) -> None:
    """Say which fields of an input a check judges by, besides those that it looks at: where one of them cannot be used, the
    check ends here, and calls nothing wrong that is right.
    """


def _written(input: Fields, skip: Collection[str]) -> set[str]:
    return set(type(input).model_fields) - NOT_COLUMNS - set(skip)


def _kept(place: str | Inline, sent: Any) -> dict[str, Any]:
    """What was sent for a field, by column: an amount of money is one, an embedded value has those of its parts."""
    if isinstance(place, str):
        return {place: sent}
    if place.kind is Money:
        return _kept(place.columns["amount"], sent)
    kept: dict[str, Any] = {}
    for name, field in type(sent).model_fields.items():
        part = getattr(sent, name)
        if get_origin(field.annotation) is strawberry.Maybe:
            if part is None:
                continue
            part = part.value
        kept |= _kept(place.columns[name], part)
    return kept


def ends_later(sent: dt.datetime, old: dt.datetime | None, now: dt.datetime) -> None:
    """Refuse an `expires_on` that gives no more time: one that has passed, or that is no later than the one there is."""
    if sent <= now:
        raise InvalidInput.at("expires_on", "Choose a time to come.")
    if old is not None and sent <= old:
        raise InvalidInput.at("expires_on", "Choose a time after the one it is valid until.")


async def owner_of(call: Call, partner_uuid: UUID | None) -> PartnerRow:
    """The partner that something is made for: the caller's own, or the one it names and may see."""
    if partner_uuid is not None:
        query = select(PartnerRow).where(*visible(call.caller, PartnerRow), col(PartnerRow.uuid) == partner_uuid)
        named = (await call.db.exec(query)).one_or_none()
        if named is None:
            raise InvalidInput.at("partner_uuid", "No partner of yours has this uuid.")
        return named
    if call.caller.role is not Role.PARTNER:
        raise InvalidInput.at("partner_uuid", "Say for which partner.")
    return await find(call.db, call.caller, PartnerRow, "partner", id=call.caller.partner_id)


class ForPartner(Protocol):
    """An input that may name a partner."""

    @property
    def partner_uuid(self) -> UUID | None: ...


class ForMarketplace(Protocol):
    """An input that may name a marketplace."""

    @property
    def marketplace_uuid(self) -> UUID | None: ...


async def owner_among(findings: Findings, call: Call, input: ForPartner) -> PartnerRow:
    """The partner that something is made for. That there is none is told with what else is found."""
    found = told_already(PartnerRow)
    with findings.of_one():
        found = await owner_of(call, input.partner_uuid)
    return found  # noqa: RET504 - a check may end before it found anything


async def marketplace_among(findings: Findings, call: Call, input: ForMarketplace) -> MarketplaceRow:
    """The marketplace that something is made for. That there is none is told with what else is found."""
    found = told_already(MarketplaceRow)
    with findings.of_one():
        found = await marketplace_of(call, input.marketplace_uuid)
    return found  # noqa: RET504 - a check may end before it found anything


async def stays_with_owner(call: Call, row: Any, sent: strawberry.Maybe[UUID]) -> None:
    """Refuse a partner that a row is not of: nothing moves from one partner to another."""
    if sent is not None and (await owner_of(call, sent.value)).id != row.partner_id:
        raise InvalidInput.at("partner_uuid", "It belongs to another partner, and stays there.")


async def marketplace_of(call: Call, marketplace_uuid: UUID | None) -> MarketplaceRow:
    """The marketplace that something is made for: the caller's own, or the one it names and may see."""
    query = select(MarketplaceRow).where(*visible(call.caller, MarketplaceRow))
    if marketplace_uuid is not None:
        query = query.where(col(MarketplaceRow.uuid) == marketplace_uuid)
    elif call.caller.role is Role.MASTER:
        raise InvalidInput.at("marketplace_uuid", "Say for which marketplace.")
    found = (await call.db.exec(query)).one_or_none()
    if found is None:
        raise InvalidInput.at("marketplace_uuid", "No marketplace of yours has this uuid.")
    return found


async def currency_of(call: Call, partner: PartnerRow) -> str:
    """The currency that a partner sells in."""
    return (await call.db.get_one(MarketplaceRow, partner.marketplace_id)).currency


@dataclass(frozen=True)
class ById(Generic[T]):
    """The row that an input names by its `id`, among those that the caller sees; NotFound, saying which `thing`, otherwise."""

    row: type[T]
    thing: str

    async def __call__(self, call: Call, given: Any) -> T:
        """For `exists=` of an operation: from the input as it was sent. One without an id that could be one finds nothing."""
        return await self.find(call, given_id(given))

    async def find(self, call: Call, id: int, *, lock: bool = False) -> T:
        """The row with this id, locked when asked."""
        return await find(call.db, call.caller, self.row, self.thing, lock=lock, id=usable_id(id))


def usable_id(id: object) -> int:
    """An id as it was sent; 0, which no row has, for what cannot be one: no column takes every number."""
    return id if type(id) is int and 0 < id <= LARGEST_ID else 0


def given_id(given: Any) -> int:
    """The id in an input that could not be used otherwise; 0, which no row has, when even that is missing.

    `given` has the names of GraphQL or the fields of the input, whichever transport it came through: both say `id`.
    """
    return usable_id(given.get("id") if isinstance(given, Mapping) else None)


def given_uuid(given: Any, name: str = "partner_uuid") -> UUID | None:
    """The uuid of that name in an input that could not be used otherwise; None when even that is missing or wrong."""
    named = (name, to_camel_case(name))
    found = next((given[key] for key in named if key in given), None) if isinstance(given, Mapping) else None
    try:
        return found if isinstance(found, UUID) else UUID(str(found))
    except ValueError:
        return None


async def partner_if_named(call: Call, given: Any) -> None:
    """For `exists=` of an operation: refuse a `partner_uuid` that the caller sees no partner of.

    An input without one that could be one is left to the checks of its fields, which say so.
    """
    if (uuid := given_uuid(given)) is not None:
        await find(call.db, call.caller, PartnerRow, "partner", uuid=uuid)
