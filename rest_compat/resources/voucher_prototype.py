"""Voucher prototypes."""

from collections.abc import Mapping

from rest_compat.resources.voucher_option import PARTNER_UUID
from rest_compat.shapes.keys import FieldKey, ScalarList, number, per_language, same
from rest_compat.shapes.shape import ResourceShape, Spec
from schema.catalogue.prototype import VoucherPrototype

RENAMED_KEYS = {"universe": "universe_id", "environment": "environment_id", "images": "image_ids"}
"""REST key -> input field, where they differ."""
GRAPHQL_ONLY = ("slug",)
REQUIRED = ("name", "type", "stay_price", "description", "long_description", "universe_id")

TEXTS: Mapping[str, Mapping[str, str]] = {
    "name": {
        "en": "A night by the sea",
        "fr": "Une nuit au bord de la mer",
        "es": "Una noche junto al mar",
        "it": "Una notte in riva al mare",
        "de": "Eine Nacht am Meer",
        "nl": "Een nacht aan zee",
        "ca": "Una nit vora el mar",
        "pt": "Uma noite junto ao mar",
    },
    "description": {
        "en": "A room with a view, breakfast included.",
        "fr": "Une chambre avec vue, petit-déjeuner compris.",
        "es": "Una habitación con vistas, desayuno incluido.",
        "it": "Una camera con vista, colazione inclusa.",
        "de": "Ein Zimmer mit Aussicht, Frühstück inbegriffen.",
        "nl": "Een kamer met uitzicht, ontbijt inbegrepen.",
        "ca": "Una habitació amb vistes, esmorzar inclòs.",
        "pt": "Um quarto com vista, pequeno-almoço incluído.",
    },
    "long_description": {
        "en": "Arrive at four, leave at noon, and hear the waves in between.",
        "fr": "Arrivez à seize heures, partez à midi, et entre les deux, écoutez les vagues.",
        "es": "Llegue a las cuatro, váyase a mediodía y, entre tanto, escuche las olas.",
        "it": "Arrivate alle sedici, ripartite a mezzogiorno e nel mezzo ascoltate le onde.",
        "de": "Kommen Sie um vier, gehen Sie um zwölf, und hören Sie dazwischen die Wellen.",
        "nl": "Kom om vier uur, vertrek om twaalf uur, en luister ertussen naar de golven.",
        "ca": "Arribeu a les quatre, marxeu al migdia i, entremig, escolteu les onades.",
        "pt": "Chegue às quatro, parta ao meio-dia e, entretanto, ouça as ondas.",
    },
}


def _flat(name: str) -> dict[str, str]:
    return {f"{name}_{language}": text for language, text in TEXTS[name].items()}


NEW_PROTOTYPE = {
    **_flat("name"),
    "is_active": True,
    "type": "stay",
    "is_highlight": False,
    "price_scope": 2,
    "max_capacity": 4,
    "min_capacity": 1,
    "stay_price": 180.0,
    "adults_price": 45.0,
    "children_price": 20.0,
    "baby_price": None,
    **_flat("description"),
    **_flat("long_description"),
    "rent_conditions_en": "Not on public holidays.",
    "how_to_book_html_en": "<p>Write to <b>reception</b>, with the code of your voucher.</p>",
    "pdf_description_en": "A night for two, breakfast included.",
    "partner_uuid": PARTNER_UUID,
    "universe": 2,
    "environment": 1,
    "last_active_day": "2031-12-31",
    "ranking": 1,
    "images": [12, 15],
    "cover_image": 1,
}
"""An example request for the documentation."""

PROTOTYPE_KEYS: Mapping[str, Spec] = {
    **same("id"),
    **per_language("name"),
    **same("is_active", "type", "is_highlight", "price_scope", "max_capacity", "min_capacity"),
    "stay_price": number("stay_price.amount"),
    "adults_price": number("adults_price.amount"),
    "children_price": number("children_price.amount"),
    "baby_price": number("baby_price.amount"),
    **per_language("description"),
    **per_language("long_description"),
    **per_language("rent_conditions"),
    **per_language("how_to_book_html"),
    **per_language("pdf_description"),
    "partner": "partner.id",
    "partner_uuid": "partner.uuid",
    "universe": "universe_id",
    "environment": "environment_id",
    "last_active_day": FieldKey("last_active_day", nullable=True),
    **same("ranking"),
    "images": ScalarList("images.media_id", description="Ids of the pictures, in order."),
    **same("cover_image", "nb_orders"),
}
PROTOTYPE = ResourceShape(
    "VoucherPrototype",
    VoucherPrototype,
    PROTOTYPE_KEYS,
    example={"id": 7, **NEW_PROTOTYPE, "partner": 41, "nb_orders": 12},
)
