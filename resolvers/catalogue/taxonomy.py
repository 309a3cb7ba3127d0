"""How a marketplace sorts what its partners sell: universes, environments, price ranges."""

from decimal import Decimal
from typing import Annotated, TypeVar

from pydantic import Field

from resolvers.core.input_mapping import ById, apply, marketplace_among, named, needs, text_of, values_of
from resolvers.core.listing import Listing, OfMarketplace, Where
from resolvers.core.operation import Call, operation
from schema.catalogue.taxonomy import Environment, PriceRange, Universe
from schema.catalogue.taxonomy_input import (
    CreateEnvironment,
    CreatePriceRange,
    CreateUniverse,
    UpdateEnvironment,
    UpdatePriceRange,
    UpdateUniverse,
)
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, UniverseRow

Named = TypeVar("Named", UniverseRow, EnvironmentRow)
"""What has nothing but a name, a place in the list and whether it can be chosen."""
NOT_COLUMNS = {"marketplace_uuid"}
ACTIVE = "Whether it can be chosen."
IDS = "Those with these ids."


@closed_set
class UniverseSort(ClosedSet):
    """How to order universes."""

    RANKING = "ranking", "By ranking, lowest first."


@closed_set
class EnvironmentSort(ClosedSet):
    """How to order environments."""

    RANKING = "ranking", "By ranking, lowest first."


@closed_set
class PriceRangeSort(ClosedSet):
    """How to order price ranges."""

    RANKING = "ranking", "By ranking, lowest first."


@writable_as(Universe)
class UniverseFilter(OfMarketplace):
    """Which universes."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


@writable_as(Environment)
class EnvironmentFilter(OfMarketplace):
    """Which environments."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


@writable_as(PriceRange)
class PriceRangeFilter(OfMarketplace):
    """Which price ranges."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


universes = Listing(
    Universe,
    UniverseFilter,
    UniverseSort,
    Permission.VIEW_CATALOGUE,
    "The universes of your marketplace, best ranked first.",
)
environments = Listing(
    Environment,
    EnvironmentFilter,
    EnvironmentSort,
    Permission.VIEW_CATALOGUE,
    "The environments of your marketplace, best ranked first.",
)
price_ranges = Listing(
    PriceRange,
    PriceRangeFilter,
    PriceRangeSort,
    Permission.VIEW_CATALOGUE,
    "The price ranges of your marketplace, best ranked first.",
)


_universe = ById(UniverseRow, "universe")
_environment = ById(EnvironmentRow, "environment")
_price_range = ById(PriceRangeRow, "price range")


@operation(Permission.MANAGE_MARKETPLACE)
async def create_universe(call: Call, input: CreateUniverse) -> Universe:
    """Add a universe to a marketplace, for the prototypes of all its partners."""
    return await _added(call, UniverseRow, input)


@operation(Permission.MANAGE_MARKETPLACE, exists=_universe)
async def update_universe(call: Call, input: UpdateUniverse) -> Universe:
    """Change a universe. One that is no longer active stays with the prototypes that name it."""
    return await _changed(call, _universe, input)


@operation(Permission.MANAGE_MARKETPLACE)
async def create_environment(call: Call, input: CreateEnvironment) -> Environment:
    """Add an environment to a marketplace, for the prototypes of all its partners."""
    return await _added(call, EnvironmentRow, input)


@operation(Permission.MANAGE_MARKETPLACE, exists=_environment)
async def update_environment(call: Call, input: UpdateEnvironment) -> Environment:
    """Change an environment. One that is no longer active stays with the prototypes that name it."""
    return await _changed(call, _environment, input)


async def _added(call: Call, table: type[Named], input: CreateUniverse | CreateEnvironment) -> Named:
    findings = Findings()
    marketplace = await marketplace_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    findings.tell()
    row = table(marketplace_id=marketplace.id, **values_of(input, NOT_COLUMNS))
    call.db.add(row)
    await call.db.flush()
    return row


async def _changed(call: Call, which: ById[Named], input: UpdateUniverse | UpdateEnvironment) -> Named:
    row = await which.find(call, input.id, lock=True)
    apply(row, input)
    named(row.name)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_MARKETPLACE)
async def create_price_range(call: Call, input: CreatePriceRange) -> PriceRange:
    """Add a price range to a marketplace, in its currency."""
    findings = Findings()
    marketplace = await marketplace_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    with findings.of_one():
        _sensible(input.minimum, input.maximum)
    findings.tell()
    row = PriceRangeRow(marketplace_id=marketplace.id, currency=marketplace.currency, **values_of(input, NOT_COLUMNS))
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_MARKETPLACE, exists=_price_range)
async def update_price_range(call: Call, input: UpdatePriceRange) -> PriceRange:
    """Change a price range."""
    row = await _price_range.find(call, input.id, lock=True)
    apply(row, input)
    findings = Findings()
    with findings.of_one():
        named(row.name)
    with findings.of_one():
        needs(input.minimum, input.maximum)
        _sensible(row.minimum_amount, row.maximum_amount)
    findings.tell()
    await call.db.flush()
    return row


def _sensible(minimum: Decimal, maximum: Decimal | None) -> None:
    if maximum is not None and maximum <= minimum:
        raise InvalidInput.at("maximum", "A range ends above where it begins.", "OUT_OF_RANGE")
