"""Maps inputs to rows: fields that were sent are written, fields that were left out keep their value."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, get_origin
from uuid import UUID

import strawberry
from sqlmodel import col, select
from strawberry.utils.str_converters import to_camel_case

from resolvers.core.caller import Role
from resolvers.core.operation import Call
from resolvers.core.scoping import find_visible, visible_conditions
from schema.core.errors import InvalidInput
from schema.core.field_source import EmbeddedValue
from schema.core.id_or_code import IdOrCode
from schema.core.input_errors import ProblemCollector, already_reported
from schema.core.inputs import column_of
from schema.core.money import Money
from schema.core.resource import EmbeddedColumns, SchemaModel
from schema.core.text import Text, TextInput
from schema.validation.numbers import LARGEST_ID
from store.partner.partners import MarketplaceRow, PartnerRow

T = TypeVar("T")
E = TypeVar("E", bound=EmbeddedColumns)

NOT_COLUMNS = frozenset({"id", "partner_uuid"})


def text_of(texts: TextInput | None) -> Text:
    """A new text with the languages that were sent."""
    return Text() if texts is None else Text().merge(texts)


def require_name(name: Text) -> None:
    """Raise InvalidInput for a name that is empty in every language."""
    if not any(name.model_dump().values()):
        raise InvalidInput.at("name", "Give a name in at least one language.")


def values_of(input: SchemaModel, skip: Collection[str] = ()) -> dict[str, Any]:
    """The columns of a new row. The fields of the input have the names of its resource's fields."""
    values = {name: getattr(input, name) for name in _written_fields(input, skip)}
    column_sets = [
        _columns_of(column_of(input.resource, name), value) for name, value in values.items() if value is not None
    ]
    columns = {column: value for each in column_sets for column, value in each.items()}
    return {column: text_of(v) if isinstance(v, TextInput) else v for column, v in columns.items()}


def apply(row: Any, input: SchemaModel, skip: Collection[str] = ()) -> None:
    """Write the fields that were sent to a row: a text language by language, everything else as a whole."""
    for name in _written_fields(input, skip):
        if (change := change_of(input, name)) is None:
            continue
        for column, value in _columns_of(column_of(input.resource, name), change.value).items():
            setattr(row, column, getattr(row, column).merge(value) if isinstance(value, TextInput) else value)


def embedded_of(kind: type[E], input: SchemaModel | None) -> E:
    """The columns that a new row embeds, from their input; without one, they have their defaults."""
    return kind() if input is None else kind(**_columns_of(kind.embedded_value, input))


def change_of(input: SchemaModel, name: str) -> strawberry.Some[Any] | None:
    """The change of a field; None if it was left out, or already reported as invalid."""
    change = vars(input).get(name)
    return change if isinstance(change, strawberry.Some) else None


def depends_on(*_read: object) -> None:
    """Name the fields that a check reads besides those it tests. If one of them is invalid, the check ends here, so
    that it does not report a valid value as wrong.
    """


def _written_fields(input: SchemaModel, skip: Collection[str]) -> set[str]:
    return set(type(input).model_fields) - NOT_COLUMNS - set(skip)


def _columns_of(place: str | EmbeddedValue, value: Any) -> dict[str, Any]:
    """The value of a field by column: an amount of money is one column, an embedded value has those of its parts."""
    if isinstance(place, str):
        return {place: value}
    if place.kind is Money:
        return _columns_of(place.columns["amount"], value)
    columns: dict[str, Any] = {}
    for name, field in type(value).model_fields.items():
        part = getattr(value, name)
        if get_origin(field.annotation) is strawberry.Maybe:
            if part is None:
                continue
            part = part.value
        columns |= _columns_of(place.columns[name], part)
    return columns


def check_later_expiry(expires_on: dt.datetime, old: dt.datetime | None, now: dt.datetime) -> None:
    """Raise InvalidInput unless `expires_on` is in the future and later than the present one."""
    if expires_on <= now:
        raise InvalidInput.at("expires_on", "Choose a time to come.")
    if old is not None and expires_on <= old:
        raise InvalidInput.at("expires_on", "Choose a time after the one it is valid until.")


async def owner_of(call: Call, partner_uuid: UUID | None) -> PartnerRow:
    """The partner of a new row: the caller's own, or the one that the input names and the caller may see.

    Raises InvalidInput if there is none.
    """
    if partner_uuid is not None:
        query = select(PartnerRow).where(
            *visible_conditions(call.caller, PartnerRow), col(PartnerRow.uuid) == partner_uuid
        )
        named = (await call.db.exec(query)).one_or_none()
        if named is None:
            raise InvalidInput.at("partner_uuid", "No partner of yours has this uuid.")
        return named
    if call.caller.role is not Role.PARTNER:
        raise InvalidInput.at("partner_uuid", "Say for which partner.")
    return await find_visible(call.db, call.caller, PartnerRow, "partner", id=call.caller.partner_id)


class ForPartner(Protocol):
    """An input that may name a partner."""

    @property
    def partner_uuid(self) -> UUID | None: ...


class ForMarketplace(Protocol):
    """An input that may name a marketplace."""

    @property
    def marketplace_uuid(self) -> UUID | None: ...


async def collect_owner(findings: ProblemCollector, call: Call, input: ForPartner) -> PartnerRow:
    """The partner as `owner_of` finds it. Its problem is collected with the others."""
    owner = already_reported(PartnerRow)
    with findings.collect():
        owner = await owner_of(call, input.partner_uuid)
    return owner  # noqa: RET504 - the placeholder remains if the check fails


async def collect_marketplace(findings: ProblemCollector, call: Call, input: ForMarketplace) -> MarketplaceRow:
    """The marketplace as `marketplace_of` finds it. Its problem is collected with the others."""
    marketplace = already_reported(MarketplaceRow)
    with findings.collect():
        marketplace = await marketplace_of(call, input.marketplace_uuid)
    return marketplace  # noqa: RET504 - the placeholder remains if the check fails


async def check_same_owner(call: Call, row: Any, partner_uuid: strawberry.Maybe[UUID]) -> None:
    """Raise InvalidInput if another partner than that of the row is sent: rows do not change their partner."""
    if partner_uuid is not None and (await owner_of(call, partner_uuid.value)).id != row.partner_id:
        raise InvalidInput.at("partner_uuid", "It belongs to another partner, and stays there.")


async def marketplace_of(call: Call, marketplace_uuid: UUID | None) -> MarketplaceRow:
    """The marketplace of a new row: the caller's own, or the one that the input names and the caller may see.

    Raises InvalidInput if there is none.
    """
    query = select(MarketplaceRow).where(*visible_conditions(call.caller, MarketplaceRow))
    if marketplace_uuid is not None:
        query = query.where(col(MarketplaceRow.uuid) == marketplace_uuid)
    elif call.caller.role is Role.MASTER:
        raise InvalidInput.at("marketplace_uuid", "Say for which marketplace.")
    row = (await call.db.exec(query)).one_or_none()
    if row is None:
        raise InvalidInput.at("marketplace_uuid", "No marketplace of yours has this uuid.")
    return row


async def currency_of(call: Call, partner: PartnerRow) -> str:
    """The currency of the partner's marketplace."""
    return (await call.db.get_one(MarketplaceRow, partner.marketplace_id)).currency


@dataclass(frozen=True)
class ById(Generic[T]):
    """Finds the row that an input names by `id`, among those that the caller sees. Raises NotFound with the `thing`."""

    row: type[T]
    thing: str

    async def __call__(self, call: Call, input: Any) -> T:
        """For `exists=` of an operation: finds the row from the raw input. An invalid id finds nothing."""
        return await self.find(call, id_from_input(input))

    async def find(self, call: Call, id: int, *, lock: bool = False) -> T:
        """The row with this id, locked if requested."""
        return await find_visible(call.db, call.caller, self.row, self.thing, lock=lock, id=valid_id(id))


def valid_id(id: object) -> int:
    """The id, or 0, which no row has, if it is not an integer that a column can hold."""
    return id if type(id) is int and 0 < id <= LARGEST_ID else 0


def id_from_input(input: Any) -> int:
    """The id in a rejected input; 0, which no row has, if it is missing or invalid.

    The input has the names of GraphQL or those of its fields. The id has the same name in both.
    """
    return valid_id(input.get("id") if isinstance(input, Mapping) else None)


def id_or_code(input: IdOrCode) -> Mapping[str, object]:
    """What identifies a gift card or voucher, as `{"id": …}` or `{"code": …}`. Raises InvalidInput unless the input has
    exactly one of them.
    """
    if (input.id is None) is (input.code is None):
        raise InvalidInput.at("code", "Send its id or its code, and not both.")
    return {"id": input.id} if input.code is None else {"code": input.code}


def uuid_from_input(input: Any, name: str = "partner_uuid") -> UUID | None:
    """The uuid in a rejected input, by its snake-case or camel-case name; None if it is missing or invalid."""
    named = (name, to_camel_case(name))
    value = next((input[key] for key in named if key in input), None) if isinstance(input, Mapping) else None
    try:
        return value if isinstance(value, UUID) else UUID(str(value))
    except ValueError:
        return None


async def check_partner_uuid(call: Call, input: Any) -> None:
    """For `exists=` of an operation: raise NotFound for a `partner_uuid` of no partner that the caller sees.

    A missing or invalid uuid is left to the checks of the fields.
    """
    if (uuid := uuid_from_input(input)) is not None:
        await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=uuid)
