"""Options, their categories, and their links to prototypes."""

from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

import strawberry
from pydantic import Field

from rest_compat.http.inputs import Renamed
from rest_compat.shapes.keys import FieldKey, ScalarList, number, per_language, same
from rest_compat.shapes.shape import Nested, ResourceShape, Spec
from rest_compat.shapes.writers import STORED_NUMBER
from schema.catalogue.option import OptionService, VoucherOption, VoucherOptionCategory, VoucherOptionLink
from schema.catalogue.option_input import (
    CreateVoucherOptionCategory,
    UpdateVoucherOptionLink,
    VoucherOptionChangesInput,
)

PARTNER: Mapping[str, Spec] = {"partner": "partner.id", "partner_uuid": "partner.uuid"}
PARTNER_UUID = "dd783a87-8351-4578-ad2a-16c698e86acb"
OPTION_TEXTS = {
    "name_en": "Massage for two",
    "name_fr": "Massage en duo",
    "name_es": "Masaje para dos",
    "name_it": "Massaggio di coppia",
    "name_de": "Paarmassage",
    "name_nl": "Duomassage",
    "name_ca": "Massatge per a dos",
    "name_pt": "Massagem para dois",
    "description_en": "Fifty minutes, side by side.",
    "description_fr": "Cinquante minutes, côte à côte.",
    "description_es": "Cincuenta minutos, uno al lado del otro.",
    "description_it": "Cinquanta minuti, fianco a fianco.",
    "description_de": "Fünfzig Minuten, Seite an Seite.",
    "description_nl": "Vijftig minuten, zij aan zij.",
    "description_ca": "Cinquanta minuts, de costat.",
    "description_pt": "Cinquenta minutos, lado a lado.",
}
CATEGORY_TEXTS = {
    "name_en": "Wellness",
    "name_fr": "Bien-être",
    "name_es": "Bienestar",
    "name_it": "Benessere",
    "name_de": "Wohlbefinden",
    "name_nl": "Wellness",
    "name_ca": "Benestar",
    "name_pt": "Bem-estar",
    "description_en": "What does good after a long walk.",
    "description_fr": "Ce qui fait du bien après une longue marche.",
    "description_es": "Lo que sienta bien tras una larga caminata.",
    "description_it": "Ciò che fa bene dopo una lunga camminata.",
    "description_de": "Was nach einer langen Wanderung guttut.",
    "description_nl": "Wat goed doet na een lange wandeling.",
    "description_ca": "El que va bé després d'una llarga caminada.",
    "description_pt": "O que faz bem depois de uma longa caminhada.",
}

OPTION_KEYS: Mapping[str, Spec] = {
    **same("id"),
    **per_language("name"),
    **per_language("description"),
    "selling_price": number("selling_price.amount"),
    **same("is_active", "countable", "is_global", "ranking"),
    **PARTNER,
    "voucher_prototypes_ids": ScalarList(
        "prototype_links.voucher_prototype_id", description="Ids of the prototypes that offer the option."
    ),
    **same("category_id"),
}
NEW_OPTION = {
    **OPTION_TEXTS,
    "selling_price": 90.0,
    "is_active": True,
    "countable": False,
    "is_global": False,
    "ranking": 1,
    "partner_uuid": PARTNER_UUID,
    "voucher_prototypes_ids": [7, 9],
    "category_id": 3,
}
"""An example request for the documentation."""
RENAMED_OPTION_KEYS: Renamed = {"voucher_prototypes_ids": "voucher_prototype_ids"}
OPTION = ResourceShape("VoucherOption", VoucherOption, OPTION_KEYS, example={"id": 18, **NEW_OPTION, "partner": 41})

SERVICE = ResourceShape(
    "OptionService",
    OptionService,
    {
        "service_cost": FieldKey("cost.amount", STORED_NUMBER),
        "service_buying_vat": FieldKey("buying_vat", STORED_NUMBER),
        "service_selling_vat": FieldKey("selling_vat", STORED_NUMBER),
        "service_price": FieldKey("price.amount", STORED_NUMBER),
    },
    example={"service_cost": 40.0, "service_buying_vat": 20.0, "service_selling_vat": 10.0, "service_price": 90.0},
)
OPTION_PROTOTYPE = ResourceShape(
    "PrototypeOfOption",
    VoucherOptionLink,
    {"id": "voucher_prototype_id", **per_language("name", "prototype.name")},
    example={"id": 7, "name_en": "A night by the sea", "name_fr": "Une nuit au bord de la mer"},
)
ORDERED_OPTION = ResourceShape(
    "OrderedVoucherOption",
    VoucherOption,
    {
        **OPTION_KEYS,
        **same("has_been_ordered"),
        "services_info": Nested("services", SERVICE),
        "price": number("selling_price.amount"),
        "category": "category_id",
        "voucher_prototypes": Nested("prototype_links", OPTION_PROTOTYPE),
    },
    example={**OPTION.example, "has_been_ordered": True, "price": 90.0, "category": 3},
)
"""An option inside a voucher."""

LINK = ResourceShape(
    "VoucherOptionLink",
    VoucherOptionLink,
    {**same("id", "count", "included"), "option": Nested("option", OPTION)},
    example={"id": 64, "count": 1, "included": False},
)
NEW_CATEGORY = {
    **CATEGORY_TEXTS,
    "is_active": True,
    "ranking": 1,
    "min_number_options": None,
    "max_number_options": 2,
    "partner_uuid": PARTNER_UUID,
}
"""An example request for the documentation."""
CATEGORY = ResourceShape(
    "VoucherOptionCategory",
    VoucherOptionCategory,
    {
        **same("id"),
        **per_language("name"),
        **per_language("description"),
        **same("is_active", "ranking", "min_number_options", "max_number_options"),
        **PARTNER,
    },
    example={"id": 3, **NEW_CATEGORY, "partner": 41},
)


REQUIRED_OPTION = ("name", "description", "selling_price")
REQUIRED_LINK = ("count", "included", "option")
REQUIRED_CATEGORY = ("name", "description", "partner_uuid")


class CategoryBody(CreateVoucherOptionCategory):
    """A category of options of a partner."""

    partner_uuid: UUID = Field(description="UUID of the partner.")


class OptionBody(VoucherOptionChangesInput):
    """Changes of an option."""

    renamed: ClassVar[Renamed] = RENAMED_OPTION_KEYS


class LinkBody(UpdateVoucherOptionLink):
    """Changes of the link between an option and a prototype. Changes of the option itself apply to all prototypes."""

    option: strawberry.Maybe[OptionBody]  # type: ignore[assignment]  # narrower than in GraphQL


LINK_CHANGE = {"count": 2, "included": True, "option": {key: NEW_OPTION[key] for key in ("name_en", "selling_price")}}
"""An example request for the documentation."""
