"""The taxonomy of a marketplace: universes, environments and price ranges of prototypes."""

from decimal import Decimal
from typing import Annotated, TypeVar

from pydantic import Field

from resolvers.core.input_mapping import ById, apply, collect_marketplace, depends_on, require_name, text_of, values_of
from resolvers.core.lists.filters import OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
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
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, UniverseRow

TaxonomyRow = TypeVar("TaxonomyRow", UniverseRow, EnvironmentRow)
"""Tables with only a name, a ranking and an active flag."""
NOT_COLUMNS = {"marketplace_uuid"}
ACTIVE = "Only active ones, which can be chosen, or only inactive ones."
IDS = "Only those with one of these ids."


@graphql_enum
class UniverseSort(DescribedEnum):
    """Sort order of universes."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_enum
class EnvironmentSort(DescribedEnum):
    """Sort order of environments."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_enum
class PriceRangeSort(DescribedEnum):
    """Sort order of price ranges."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_input_for(Universe)
class UniverseFilter(OfMarketplace):
    """Filter for universes."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


@graphql_input_for(Environment)
class EnvironmentFilter(OfMarketplace):
    """Filter for environments."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


@graphql_input_for(PriceRange)
class PriceRangeFilter(OfMarketplace):
    """Filter for price ranges."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(default=None, description=ACTIVE)
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description=IDS)


universes = Listing(
    Universe,
    UniverseFilter,
    UniverseSort,
    Permission.VIEW_CATALOGUE,
    "The universes of your marketplace, by ranking, lowest first.",
)
universe = Lookup(Universe, "id", "universe", Permission.VIEW_CATALOGUE, "A universe by its id.")
environments = Listing(
    Environment,
    EnvironmentFilter,
    EnvironmentSort,
    Permission.VIEW_CATALOGUE,
    "The environments of your marketplace, by ranking, lowest first.",
)
environment = Lookup(Environment, "id", "environment", Permission.VIEW_CATALOGUE, "An environment by its id.")
price_ranges = Listing(
    PriceRange,
    PriceRangeFilter,
    PriceRangeSort,
    Permission.VIEW_CATALOGUE,
    "The price ranges of your marketplace, by ranking, lowest first.",
)
price_range = Lookup(PriceRange, "id", "price range", Permission.VIEW_CATALOGUE, "A price range by its id.")


_universe = ById(UniverseRow, "universe")
_environment = ById(EnvironmentRow, "environment")
_price_range = ById(PriceRangeRow, "price range")


@operation(Permission.MANAGE_MARKETPLACE)
async def create_universe(call: Call, input: CreateUniverse) -> Universe:
    """Create a universe in a marketplace. Prototypes of all its partners can use it."""
    return await _create_row(call, UniverseRow, input)


@operation(Permission.MANAGE_MARKETPLACE, exists=_universe)
async def update_universe(call: Call, input: UpdateUniverse) -> Universe:
    """Update a universe. Prototypes that use it keep it when it becomes inactive."""
    return await _update_row(call, _universe, input)


@operation(Permission.MANAGE_MARKETPLACE)
async def create_environment(call: Call, input: CreateEnvironment) -> Environment:
    """Create an environment in a marketplace. Prototypes of all its partners can use it."""
    return await _create_row(call, EnvironmentRow, input)


@operation(Permission.MANAGE_MARKETPLACE, exists=_environment)
async def update_environment(call: Call, input: UpdateEnvironment) -> Environment:
    """Update an environment. Prototypes that use it keep it when it becomes inactive."""
    return await _update_row(call, _environment, input)


async def _create_row(call: Call, table: type[TaxonomyRow], input: CreateUniverse | CreateEnvironment) -> TaxonomyRow:
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    findings.raise_problems()
    row = table(marketplace_id=marketplace.id, **values_of(input, NOT_COLUMNS))
    call.db.add(row)
    await call.db.flush()
    return row


async def _update_row(call: Call, which: ById[TaxonomyRow], input: UpdateUniverse | UpdateEnvironment) -> TaxonomyRow:
    row = await which.find(call, input.id, lock=True)
    apply(row, input)
    require_name(row.name)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_MARKETPLACE)
async def create_price_range(call: Call, input: CreatePriceRange) -> PriceRange:
    """Create a price range in a marketplace, in the currency of the marketplace."""
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        _check_range(input.minimum, input.maximum)
    findings.raise_problems()
    row = PriceRangeRow(marketplace_id=marketplace.id, currency=marketplace.currency, **values_of(input, NOT_COLUMNS))
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_MARKETPLACE, exists=_price_range)
async def update_price_range(call: Call, input: UpdatePriceRange) -> PriceRange:
    """Update a price range."""
    row = await _price_range.find(call, input.id, lock=True)
    apply(row, input)
    findings = ProblemCollector()
    with findings.collect():
        require_name(row.name)
    with findings.collect():
        depends_on(input.minimum, input.maximum)
        _check_range(row.minimum_amount, row.maximum_amount)
    findings.raise_problems()
    await call.db.flush()
    return row


def _check_range(minimum: Decimal, maximum: Decimal | None) -> None:
    if maximum is not None and maximum <= minimum:
        raise InvalidInput.at("maximum", "The maximum must be greater than the minimum.", "OUT_OF_RANGE")
