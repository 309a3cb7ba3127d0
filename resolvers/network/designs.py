"""Designs of networks' gift cards, and the documents that show them."""

from typing import Annotated

from pydantic import Field

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, collect_marketplace, require_name, text_of, values_of
from resolvers.core.lists.filters import OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import require_marketplace
from resolvers.media.media import path_of_network_picture, public_url_of
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.design import GiftCardDesign
from schema.network.design_input import CreateGiftCardDesign, UpdateGiftCardDesign
from schema.network.gift_card import NetworkGiftCard
from store.document.addresses import DocumentKind, document_url
from store.document.source import UNPRINTABLE_STATES
from store.network.designs import GiftCardDesignRow


@graphql_enum
class GiftCardDesignSort(DescribedEnum):
    """Sort order of designs."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_input_for(GiftCardDesign)
class GiftCardDesignFilter(OfMarketplace):
    """Filter for designs."""

    is_active: Annotated[bool | None, Where("is_active")] = Field(
        default=None, description="Only active designs, which new gift cards can have, or only inactive ones."
    )
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(
        default=None, description="Only designs with one of these ids."
    )


gift_card_designs = Listing(
    GiftCardDesign,
    GiftCardDesignFilter,
    GiftCardDesignSort,
    Permission.VIEW_CATALOGUE,
    "The designs of the gift cards of your network, by ranking, lowest first.",
)
gift_card_design = Lookup(
    GiftCardDesign, "id", "design", Permission.VIEW_CATALOGUE, "A design of the gift cards of your network by its id."
)
derives(GiftCardDesign, "picture_address")(public_url_of)


@derives(NetworkGiftCard, "document_url")
def _document_url(context: Context, status: str, token: str) -> str | None:
    is_printable = status not in UNPRINTABLE_STATES
    return document_url(context.services.settings, DocumentKind.GIFT_CARD, token) if is_printable else None


class _DesignById(ById[GiftCardDesignRow]):
    """Finds a design that the caller may change: users of a partner only read them."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> GiftCardDesignRow:
        require_marketplace(call.caller)
        return await super().find(call, id, lock=lock)


_design = _DesignById(GiftCardDesignRow, "design")


@operation(Permission.MANAGE_CATALOGUE)
async def create_gift_card_design(call: Call, input: CreateGiftCardDesign) -> GiftCardDesign:
    """Create a design of a network's gift cards."""
    require_marketplace(call.caller)
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        picture = await path_of_network_picture(call, marketplace.id, input.picture_url)
    findings.raise_problems()
    texts = {"short_description": Text(), "description": Text()}
    values = {**texts, **values_of(input, {"marketplace_uuid"}), "picture_url": picture}
    row = GiftCardDesignRow(marketplace_id=marketplace.id, **values)
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_design)
async def update_gift_card_design(call: Call, input: UpdateGiftCardDesign) -> GiftCardDesign:
    """Update a design. The documents of the gift cards that have it change too."""
    row = await _design.find(call, input.id, lock=True)
    findings = ProblemCollector()
    with call.db.no_autoflush:
        apply(row, input)
        with findings.collect():
            require_name(row.name)
        with findings.collect():
            if input.picture_url is not None:
                row.picture_url = await path_of_network_picture(call, row.marketplace_id, row.picture_url)
    findings.raise_problems()
    await call.db.flush()
    return row
