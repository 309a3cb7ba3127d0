"""Partners, and partners of a network."""

from collections.abc import Mapping
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from rest_compat.shapes.keys import FieldKey, or_null, same
from rest_compat.shapes.shape import ResourceShape, Spec, path_of
from rest_compat.shapes.writers import DATE_AS_MOMENT, ValueWriter
from schema.activation import PaymentActivation
from schema.core.resource import SchemaModel
from schema.partner.input import Tag
from schema.partner.network_input import CreateNetworkPartner
from schema.partner.partner import Partner

ACTIVATION_URI = ValueWriter(
    "activation address",
    (UUID,),
    {
        "type": "string",
        "examples": ["/api/payment_hub/partner/0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11/activate-payments/"],
    },
    "/api/payment_hub/partner/{}/activate-payments/".format,
)
ACTIVATION_METHOD = ValueWriter(
    "activation method", (UUID,), {"type": "string", "enum": ["POST"]}, lambda _uuid: "POST"
)

REPRESENTATIVE: Mapping[str, Spec] = {
    "legal_representative_first_name": "legal_representative.first_name",
    "legal_representative_last_name": "legal_representative.last_name",
    "legal_representative_birthday": FieldKey(
        "legal_representative.birthday", DATE_AS_MOMENT, description="Date of birth; empty if unknown."
    ),
    "legal_representative_email": "legal_representative.email",
}
HEAD_OFFICE = {
    "hq_address_line_1": "head_office.address_line_1",
    "hq_address_line_2": "head_office.address_line_2",
    "hq_postal_code": "head_office.postal_code",
    "hq_city": "head_office.city",
    "hq_country": "head_office.country",
}
COMPANY: Mapping[str, Spec] = {
    **same("name", "commercial_name", "short_name"),
    "company_type": FieldKey("company_type", description="Legal form; empty if unknown."),
    "siret_number": "registration.siret_number",
    **REPRESENTATIVE,
    **HEAD_OFFICE,
    "rcs": "registration.rcs",
    "ape": "registration.ape",
    "vat_id": "registration.vat_id",
    **same("agency_email", "agency_phone", "website"),
}
"""Keys of partners and of network partners."""
PAYOUT: Mapping[str, Spec] = {
    "payout_frequency": FieldKey("payout_settings.frequency", description="Frequency of payouts; empty if not set."),
    "auto_validate_payout": "payout_settings.auto_validate",
    "freeze_payout": "payout_settings.may_freeze",
    "block_payout_validation": "payout_settings.block_validation",
    "iban": "bank_account.iban",
    "bic": "bank_account.bic",
}
SETTINGS: Mapping[str, Spec] = {
    **same("hide_from_stats", "third_party_sales_only", "referrer"),
}

COMPANY_EXAMPLE = {
    "id": 57,
    "name": "La Tisane SARL",
    "commercial_name": "La Tisane",
    "short_name": "Tisane",
    "company_type": "bus",
    "siret_number": "73282932000074",
    "legal_representative_first_name": "Ada",
    "legal_representative_last_name": "Martin",
    "legal_representative_birthday": "1980-04-12T00:00:00.000000Z",
    "legal_representative_email": "ada@shop.example",
    "hq_address_line_1": "4 rue des Herbes",
    "hq_address_line_2": "",
    "hq_postal_code": "69002",
    "hq_city": "Lyon",
    "hq_country": "France",
    "rcs": "Lyon B 732 829 320",
    "ape": "4729Z",
    "vat_id": "FR44732829320",
    "agency_email": "bonjour@shop.example",
    "agency_phone": "+33 4 72 00 00 00",
    "website": "https://shop.example",
    "hide_from_stats": False,
    "third_party_sales_only": False,
    "referrer": None,
}
PARTNER_EXAMPLE = {
    **COMPANY_EXAMPLE,
    "status": "a",
    "payout_frequency": "month",
    "auto_validate_payout": True,
    "freeze_payout": False,
    "block_payout_validation": False,
    "iban": "FR1420041010050500013M02606",
    "bic": "PSSTFRPPPAR",
}

PARTNER_KEYS: Mapping[str, Spec] = {**same("id", "uuid", "status"), **COMPANY, **PAYOUT, **SETTINGS}
PARTNER = ResourceShape("Partner", Partner, PARTNER_KEYS, example=PARTNER_EXAMPLE)
CREATED_PARTNER = ResourceShape(
    "CreatedPartner",
    Partner,
    {
        **PARTNER_KEYS,
        "pending_payment_activation_uri": FieldKey(
            "uuid", ACTIVATION_URI, description="Path of the request that activates the partner's payments."
        ),
        "pending_payment_activation_method": FieldKey(
            "uuid", ACTIVATION_METHOD, description="HTTP method of the request that activates the partner's payments."
        ),
    },
    example=PARTNER_EXAMPLE,
)
UPDATED_PARTNER = ResourceShape(
    "UpdatedPartner",
    Partner,
    {
        "block_payout_validation": PAYOUT["block_payout_validation"],
        **SETTINGS,
        "legal_representative_birthday": REPRESENTATIVE["legal_representative_birthday"],
        "legal_representative_email": REPRESENTATIVE["legal_representative_email"],
    },
    example={
        "block_payout_validation": False,
        "hide_from_stats": False,
        "third_party_sales_only": False,
        "referrer": None,
        "legal_representative_birthday": "1980-04-12T00:00:00.000000Z",
        "legal_representative_email": "ada@shop.example",
    },
)
NETWORK_PARTNER = ResourceShape(
    "NetworkPartner",
    Partner,
    {
        **same("id", "uuid", "status", "source_id"),
        **COMPANY,
        **SETTINGS,
        "link_to_nv_settings": "network_links.vouchers",
        "link_to_ngc_settings": "network_links.gift_cards",
        "partner_tags": "tags",
    },
    example={**COMPANY_EXAMPLE, "status": "n", "source_id": "57", "partner_tags": ["south", "spa"]},
)
UPDATED_NETWORK_PARTNER = ResourceShape(
    "UpdatedNetworkPartner",
    Partner,
    {
        **same("id", "status"),
        **SETTINGS,
        **same("name"),
        "linked_to_nv_settings": "network_links.vouchers",
        "linked_to_ngc_settings": "network_links.gift_cards",
    },
    example={"id": 57, "status": "n", "hide_from_stats": False, "referrer": None, "name": "La Tisane SARL"},
)
FOUND_PARTNER = ResourceShape("FoundPartner", Partner, same("id"), example={"id": 57})


def _nested_keys(keys: Mapping[str, Spec]) -> dict[str, str]:
    """REST key -> field path, for the fields inside groups."""
    paths = {key: path_of(spec) for key, spec in keys.items()}
    return {key: path for key, path in paths.items() if "." in path}


RENAMED_PARTNER_KEYS = {
    **_nested_keys({**COMPANY, **PAYOUT}),
    "legal_representative_nationality": "legal_representative.nationality",
    "legal_representative_country_of_residence": "legal_representative.country_of_residence",
    "hq_region": "head_office.region",
}
GRAPHQL_ONLY = ("accent_colour", "language", "return_hosts", "return_with_order_number", "tags")
"""Input fields of a partner that have no REST key."""
RENAMED_NETWORK_PARTNER_KEYS = {
    **_nested_keys(COMPANY),
    "link_to_nv_settings": "network_links.vouchers",
    "link_to_ngc_settings": "network_links.gift_cards",
    "partner_tags": "tags",
}
RENAMED_LINK_KEYS = {
    "link_to_nv_settings": "network_links.vouchers",
    "link_to_ngc_settings": "network_links.gift_cards",
}


class TagBody(SchemaModel):
    """A tag that a network gives a partner."""

    tag: Tag


class NetworkPartnerBody(CreateNetworkPartner):
    """A network partner to create. Its first status is `n`."""

    tags: Annotated[list[TagBody], AfterValidator(lambda sent: [each.tag for each in sent])] = Field(  # type: ignore[assignment]
        default_factory=list, max_length=100, description="Tags by which the network groups its partners."
    )


NEW_PARTNER = {
    "status": "a",
    "commercial_name": "La Tisane",
    "short_name": "Tisane",
    "legal_representative_email": "ada@shop.example",
    "agency_email": "bonjour@shop.example",
}
"""An example request for the documentation."""
CHANGE = {"block_payout_validation": True, "legal_representative_birthday": "1980-04-12"}
NEW_NETWORK_PARTNER = {
    key: value
    for key, value in COMPANY_EXAMPLE.items()
    if key not in {"id", "hide_from_stats", "third_party_sales_only", "referrer", "legal_representative_email"}
} | {
    "legal_representative_birthday": "1980-04-12",
    "link_to_ngc_settings": True,
    "partner_tags": [{"tag": "south"}, {"tag": "spa"}],
}
NETWORK_CHANGE = {"source_id": "57", "status": "i", "link_to_nv_settings": True}

PAYMENT_ACTIVATION = ResourceShape(
    "PaymentActivation",
    PaymentActivation,
    {**same("status", "id"), "pending_user_action": or_null("pending_user_action")},
    example={
        "status": "PENDING_USER_ACTION",
        "id": "3c1d9c56-6a55-4f0e-9d0d-0d4f4f7a3b52",
        "pending_user_action": "https://provider.example/sca?token=…&returnUrl=…",
    },
)
