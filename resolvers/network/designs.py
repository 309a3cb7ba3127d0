"""Designs of gift cards, of partners and of networks, and the documents of networks' gift cards."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from resolvers.core.caller import Role
from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import (
    ById,
    apply,
    collect_marketplace,
    collect_owner,
    require_name,
    text_of,
    values_of,
)
from resolvers.core.lists.filters import OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import require_marketplace
from resolvers.media.media import path_of_network_picture, path_of_picture, public_url_of
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.text import Text
from schema.gift_card.design import GiftCardDesign
from schema.gift_card.design_input import CreateGiftCardDesign, UpdateGiftCardDesign
from schema.gift_occasion import GiftOccasion
from schema.network.gift_card import NetworkGiftCard
from store.document.addresses import DocumentKind, document_url
from store.document.source import UNPRINTABLE_STATES
from store.gift_card.designs import GiftCardDesignRow
from store.partner.partners import MarketplaceRow, PartnerRow


@graphql_enum
class GiftCardDesignSort(DescribedEnum):
    """Sort order of designs."""

    RANKING = "ranking", "By ranking, lowest first."


@graphql_input_for(GiftCardDesign)
class GiftCardDesignFilter(OfMarketplace):
    """Filter for designs."""

    partner_uuid: Annotated[UUID | None, Where("partner_id", "partner")] = Field(
        default=None, description="Only designs of the partner with this uuid."
    )
    is_of_partner: Annotated[bool | None, Where("partner_id", "set")] = Field(
        default=None, description="Only designs of partners' own gift cards, or only those of networks."
    )
    occasion: Annotated[GiftOccasion | None, Where("occasion")] = Field(
        default=None, description="Only designs for this occasion."
    )
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
    "The designs of your gift cards and of those of your network, by ranking, lowest first.",
)
gift_card_design = Lookup(
    GiftCardDesign,
    "id",
    "design",
    Permission.VIEW_CATALOGUE,
    "A design of your gift cards, or of those of your network, by its id.",
)
derives(GiftCardDesign, "picture_address")(public_url_of)


@derives(NetworkGiftCard, "document_url")
def network_gift_card_document_url(context: Context, status: str, token: str) -> str | None:
    is_printable = status not in UNPRINTABLE_STATES
    return document_url(context.services.settings, DocumentKind.GIFT_CARD, token) if is_printable else None


class _DesignById(ById[GiftCardDesignRow]):
    """Finds a design that the caller may change: users of a partner only read those of the network."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> GiftCardDesignRow:
        row = await super().find(call, id, lock=lock)
        if row.partner_id is None:
            require_marketplace(call.caller)
        return row


_design = _DesignById(GiftCardDesignRow, "design")


@operation(Permission.MANAGE_CATALOGUE)
async def create_gift_card_design(call: Call, input: CreateGiftCardDesign) -> GiftCardDesign:
    """Create a design of gift cards. Users of a partner create those of its own gift cards, users of the network also those
    of the network.
    """
    findings = ProblemCollector()
    owner = await _collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        owned = _owned_by(owner)
        picture = await _path_of_picture(call, input.picture_url, **owned)
    findings.raise_problems()
    texts = {"short_description": Text(), "description": Text()}
    values = {**texts, **values_of(input, {"marketplace_uuid"}), "picture_url": picture}
    row = GiftCardDesignRow(**owned, **values)
    call.db.add(row)
    await call.db.flush()
    return row


async def _collect_owner(
    findings: ProblemCollector, call: Call, input: CreateGiftCardDesign
) -> PartnerRow | MarketplaceRow:
    """Whose gift cards a new design is for: a partner's, or those of a network. Its problems are collected with the
    others.
    """
    if input.partner_uuid is None and call.caller.role is not Role.PARTNER:
        return await collect_marketplace(findings, call, input)
    with findings.collect():
        if input.marketplace_uuid is not None:
            raise InvalidInput.at("marketplace_uuid", "A partner's design belongs to its marketplace: omit this.")
    return await collect_owner(findings, call, input)


def _owned_by(owner: PartnerRow | MarketplaceRow) -> dict[str, Any]:
    """The columns that say whose design it is."""
    if isinstance(owner, MarketplaceRow):
        return {"marketplace_id": owner.id, "partner_id": None}
    return {"marketplace_id": owner.marketplace_id, "partner_id": owner.id}


async def _path_of_picture(call: Call, url: str, marketplace_id: int, partner_id: int | None) -> str:
    """The stored path of a picture that such a design may show. Raises InvalidInput."""
    if partner_id is None:
        return await path_of_network_picture(call, marketplace_id, url)
    return await path_of_picture(call, partner_id, url)


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
                row.picture_url = await _path_of_picture(call, row.picture_url, row.marketplace_id, row.partner_id)
    findings.raise_problems()
    await call.db.flush()
    return row
