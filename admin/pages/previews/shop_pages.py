"""Which objects customers see where: the pages of a shop, and the documents that its customers get."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any
from uuid import UUID

from starlette.responses import Response

from admin.pages.previews.requests import PreviewRequest
from funnel.checkout import basket, customization, network_page
from funnel.checkout.storefronts import BASKET, NETWORK, PRODUCTS, Storefront
from funnel.core.messages import N_
from funnel.holding import handler as holding
from funnel.holding.request import LIST_ID, HolderRequest
from funnel.shop import catalogue_page, experience
from resolvers.catalogue.experience_page import get_experience_page, preview_option
from resolvers.checkout.object_preview import (
    preview_design,
    preview_gift_card_document,
    preview_network_card_document,
    preview_network_voucher_document,
    preview_product,
    preview_voucher_document,
)
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.network.offer_preview import preview_offer
from resolvers.partner.sites import Shop, network_seller_of, network_shop_of, shop_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopPage:
    """A page that customers see: what is read of the object, whose shop it is, and how the page is rendered."""

    selection: str
    find_shop: Callable[[Services, Mapping[str, Any]], Awaitable[Shop | None]]
    render: Callable[[PreviewRequest, Mapping[str, Any]], Awaitable[Response]]
    """Raises NotFound if there is nothing that customers could see."""
    is_on_sale: Callable[[Mapping[str, Any]], bool] = itemgetter("isActive")
    url: str = ""
    """The field with the address of the page; empty if there is none."""
    place: str = ""
    """The id of the part of the page that is about the object; empty for the whole page."""
    storefront: Storefront = BASKET
    named: str = N_("Preview in the shop")
    missing: tuple[str, str] = ("marketplace", N_("The network has no shop of its own."))
    """What is told if there is no such page: a field, and what is wrong with it."""
    document: "PrintedDocument | None" = None
    """The document that its buyer gets; None if that is none of its own."""


@dataclass(frozen=True, slots=True)
class PrintedDocument:
    """The document that a buyer gets: whose shop sells it, and how it is drawn in a language."""

    find_seller: Callable[[Services, Mapping[str, Any]], Awaitable[Shop | None]]
    draw: Callable[[Context, Mapping[str, Any], str], Awaitable[bytes]]


# ---- whose shop it is


async def _shop_of_itself(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await shop_of(services.db, UUID(values["uuid"]))


async def _shop_of_partner(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await shop_of(services.db, UUID(values["partner"]["uuid"]))


async def _shop_of_network(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await network_shop_of(services.db, UUID(values["marketplace"]["uuid"]))


async def _seller_of_network(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await network_seller_of(services.db, UUID(values["marketplace"]["uuid"]))


async def _shop_of_design(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await (_shop_of_partner if values["partner"] else _shop_of_network)(services, values)


async def _seller_of_design(services: Services, values: Mapping[str, Any]) -> Shop | None:
    return await (_shop_of_partner if values["partner"] else _seller_of_network)(services, values)


# ---- how it is rendered


async def _start_page(request: PreviewRequest, _values: Mapping[str, Any]) -> Response:
    return await catalogue_page.show(request)


async def _experience(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return await experience.render(request, await get_experience_page(request.context, values["slug"]))


async def _option(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return await experience.render(request, await preview_option(request.context, values["id"]))


async def _product(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return customization.show_only(request, await preview_product(request.context, values["id"]))


async def _design(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    if values["partner"] is None:
        return await network_page.show_design(replace(request, storefront=NETWORK), values["id"])
    return basket.show_only(request, await preview_design(request.context, values["id"]))


async def _box(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    return await network_page.show_box(request, values["id"])


async def _offer(request: PreviewRequest, values: Mapping[str, Any]) -> Response:
    page = await preview_offer(request.context, values["id"])
    return await holding.show(
        HolderRequest(
            request.http_request,
            request.templates,
            request.csrf_tokens,
            request.cookies,
            request.session_id,
            request.language,
            page.brand,
            start=page.path,
            page=page,
        )
    )


# ---- what its buyer gets


async def _draw_voucher(context: Context, values: Mapping[str, Any], language: str) -> bytes:
    return await preview_voucher_document(context, values["id"], language)


async def _draw_gift_card(context: Context, values: Mapping[str, Any], language: str) -> bytes:
    draw = preview_gift_card_document if values["partner"] else preview_network_card_document
    return await draw(context, values["id"], language)


async def _draw_network_voucher(context: Context, values: Mapping[str, Any], language: str) -> bytes:
    return await preview_network_voucher_document(context, values["id"], language)


# ---- all of them


def _counts(offer: Mapping[str, Any]) -> bool:
    return bool(offer["isActive"]) and offer["status"] == "ACCEPTED"


def _always(_values: Mapping[str, Any]) -> bool:
    return True


OF_PARTNER = "id isActive partner { uuid language }"
PAGES: Mapping[str, ShopPage] = {
    "Partner": ShopPage(selection="uuid language", find_shop=_shop_of_itself, render=_start_page, is_on_sale=_always),
    "VoucherPrototype": ShopPage(
        selection=f"{OF_PARTNER} slug url",
        find_shop=_shop_of_partner,
        render=_experience,
        url="url",
        document=PrintedDocument(_shop_of_partner, _draw_voucher),
    ),
    "VoucherOption": ShopPage(
        selection=OF_PARTNER,
        find_shop=_shop_of_partner,
        render=_option,
        place="extras",
        missing=("voucherPrototypes", N_("No experience has this option.")),
    ),
    "Product": ShopPage(selection=OF_PARTNER, find_shop=_shop_of_partner, render=_product, storefront=PRODUCTS),
    "GiftCardDesign": ShopPage(
        selection=f"{OF_PARTNER} marketplace {{ uuid }}",
        find_shop=_shop_of_design,
        render=_design,
        document=PrintedDocument(_seller_of_design, _draw_gift_card),
    ),
    "Box": ShopPage(
        selection="id isActive marketplace { uuid }",
        find_shop=_shop_of_network,
        render=_box,
        storefront=NETWORK,
        document=PrintedDocument(_seller_of_network, _draw_network_voucher),
    ),
    "Offer": ShopPage(
        selection=f"{OF_PARTNER} status",
        find_shop=_shop_of_partner,
        render=_offer,
        place=LIST_ID,
        is_on_sale=_counts,
        named=N_("Preview for holders of vouchers"),
    ),
}
"""By the type of the object."""
