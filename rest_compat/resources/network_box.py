"""Boxes of a marketplace, and the offers of its partners: their shapes and their routes."""

from collections.abc import Sequence

from resolvers.network.boxes import box, boxes
from resolvers.network.offers import offers
from rest_compat.http.route import ResponseEnvelope, RestRoute, RowsOf
from rest_compat.shapes.keys import ConstantKey, number, or_null, per_language, same
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.catalogue.taxonomy import PriceRange
from schema.network.box import Box, BoxImage, BoxPartner, BoxProduct, Offer

RANGE = ResourceShape(
    "BoxPriceRange",
    PriceRange,
    {
        **same("id"),
        **per_language("name"),
        "partner": ConstantKey(
            None, {"type": ["integer", "null"]}, "Null: price ranges belong to a marketplace, not to a partner."
        ),
    },
    example={"id": 2, "name_en": "100 to 200 euros", "name_fr": "De 100 à 200 euros"},
)
PICTURE = ResourceShape(
    "BoxPicture",
    BoxImage,
    {
        "id": "media.id",
        "uuid": "media.uuid",
        "name": "media.name",
        "created_on": "media.created_on",
        "archived_on": or_null("media.archived_on"),
        "size": "media.size",
        "readable": ConstantKey(True, {"type": "boolean"}, "True: whoever sees the box sees the picture."),
        "writable": ConstantKey(False, {"type": "boolean"}, "False: a picture that a box uses cannot be changed."),
        "updated_on": "media.updated_on",
        "cover": "is_cover",
    },
    example={
        "id": 12,
        "uuid": "1b9c2f4e-58f5-4cbb-a7b0-2f6f3e5a0a0d",
        "name": "The pool at sunset",
        "archived_on": None,
        "size": 184320,
        "cover": True,
    },
)
BOX_IMAGE = ResourceShape("BoxImage", BoxImage, {**same("id"), "image": Nested("", PICTURE)}, example={"id": 31})
ALLOWED_PARTNER = ResourceShape(
    "AllowedPartner",
    BoxPartner,
    {"id": "partner.id", "source_id": "partner.source_id", "agency_name": "partner.commercial_name"},
    example={"id": 41, "source_id": "41", "agency_name": "The Old Mill"},
)
PRODUCT = ResourceShape(
    "BoxProduct",
    BoxProduct,
    {**same("id"), **per_language("name"), "price_range": "price_range_id"},
    example={"id": 7, "name_en": "A day at the spa", "name_fr": "Une journée au spa", "price_range": 2},
)
BOX = ResourceShape(
    "Box",
    Box,
    {
        **same("id"),
        **per_language("name"),
        **per_language("short_description"),
        **per_language("long_description"),
        "creation_date": "created_on",
        **same("is_active", "is_highlight"),
        "price": number("price.amount"),
        "weight": "weight_grams",
        **same("price_scope", "max_usages", "max_days_after_first_usage"),
        "nb_mpo_orders": "orders_count",
        "marketplace": "marketplace.id",
        "price_range": Nested("price_range", RANGE),
        "images": Nested("images", BOX_IMAGE),
        "allowed_partners": Nested("allowed_partners", ALLOWED_PARTNER),
        "products": Nested("products", PRODUCT),
    },
    example={
        "id": 3,
        "name_en": "Spa day for two",
        "name_fr": "Journée spa pour deux",
        "short_description_en": "A day of calm in one of forty spas.",
        "long_description_en": "Choose the spa when you like: each of them welcomes you for a day.",
        "is_active": True,
        "is_highlight": False,
        "price": 120.0,
        "weight": 350,
        "price_scope": 2,
        "max_usages": 1,
        "max_days_after_first_usage": 0,
        "nb_mpo_orders": 18,
        "marketplace": 1,
    },
)
OFFER = ResourceShape(
    "Offer",
    Offer,
    {
        **same("id"),
        **per_language("name"),
        **per_language("description"),
        **per_language("terms_of_use"),
        "edition_date": "edited_on",
        "rejection_date": "rejected_on",
        **same("is_active", "status", "ranking"),
        "box": "box_id",
        "product": "product_id",
        "partner": "partner.id",
    },
    example={
        "id": 12,
        "name_en": "A massage for two",
        "name_fr": "Un massage en duo",
        "description_en": "Fifty minutes, side by side.",
        "terms_of_use_en": "From Monday to Thursday, by appointment.",
        "rejection_date": "",
        "is_active": True,
        "status": "ACCEPTED",
        "ranking": 1,
        "box": 3,
        "product": 7,
        "partner": 41,
    },
)
ROUTES: Sequence[RestRoute] = (
    RestRoute("GET", "/api/boxes/", boxes, BOX, ResponseEnvelope.ARRAY),
    RestRoute("GET", "/api/boxes/{id}/", box, BOX),
    RestRoute("GET", "/api/boxes/{id}/offers/", offers, OFFER, ResponseEnvelope.ARRAY, rows_of=RowsOf(box, "box_id")),
)
