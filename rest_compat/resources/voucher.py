"""Vouchers, their rentals and their options."""

from collections.abc import Mapping

import resolvers.voucher.vouchers  # noqa: F401 - registers the computed fields
from rest_compat.http.parameters import Ordering, between, exactly, since, until
from rest_compat.resources.coupon import COUPON, discount_text
from rest_compat.resources.voucher_option import ORDERED_OPTION
from rest_compat.shapes.keys import ComputedKey, FieldKey, decimal_string, number, or_null, per_language, same
from rest_compat.shapes.shape import Nested, ResourceShape, Spec
from rest_compat.shapes.writers import DIGITS, ValueWriter, enum_codes
from schema.catalogue.prototype import VoucherPrototypeType
from schema.coupon.coupon import ReceptionMode
from schema.validation.languages import LANGUAGES
from schema.voucher.voucher import Voucher, VoucherChosenOption, VoucherIncludedOption, VoucherKind, VoucherRental

API_VERSION = 1
TYPES = enum_codes(
    VoucherPrototypeType,
    {VoucherPrototypeType.STAY: 1, VoucherPrototypeType.STANDARD: 2, VoucherPrototypeType.FIXED_STAY: 3},
)
KINDS = enum_codes(VoucherKind, {VoucherKind.SOLD: 1, VoucherKind.IMPORTED: 2})
RECEPTION: Mapping[ReceptionMode, tuple[int, str]] = {
    ReceptionMode.PRINT_AT_HOME: (1, "Print at home"),
    ReceptionMode.EXPEDITION: (2, "Expedition to the buyer"),
    ReceptionMode.GIFTEE_EMAIL: (3, "E-mail to the giftee"),
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY: (4, "Post to the beneficiary"),
    ReceptionMode.ON_SITE: (5, "On site"),
}
"""The documented number and name of each reception mode."""
RECEPTION_NUMBER = enum_codes(ReceptionMode, {mode: code for mode, (code, _) in RECEPTION.items()})
RECEPTION_NAME = ValueWriter(
    "name of a reception mode",
    (ReceptionMode,),
    {"type": "string", "enum": [name for _, name in RECEPTION.values()]},
    {mode: name for mode, (_, name) in RECEPTION.items()}.__getitem__,
)
ALWAYS_ONE = ValueWriter("API version", (int,), {"type": "integer", "enum": [API_VERSION]}, lambda _id: API_VERSION)


def _in_language(language: str, *texts: str | None) -> str:
    """The text in a language; else in English, else in any language that has one."""
    said = dict(zip(LANGUAGES, texts, strict=True))
    return said.get(language) or said["en"] or next(filter(None, texts), "")


CHOSEN_OPTION = ResourceShape(
    "VoucherChosenOption",
    VoucherChosenOption,
    {"option": Nested("option", ORDERED_OPTION), **same("count"), "total_price": number("total_price.amount")},
    example={"count": 2, "total_price": 180.0},
)
INCLUDED_OPTION_ITSELF = ResourceShape(
    "IncludedOption",
    VoucherIncludedOption,
    {**per_language("name"), **same("source_id")},
    example={"name_en": "Breakfast", "name_fr": "Petit-déjeuner", "source_id": "BRK"},
)
INCLUDED_OPTION = ResourceShape(
    "VoucherIncludedOption",
    VoucherIncludedOption,
    {"option": Nested("", INCLUDED_OPTION_ITSELF), **same("count")},
    example={"count": 2},
)
RENTAL = ResourceShape(
    "VoucherRental",
    VoucherRental,
    {
        **same("id"),
        "start_date": "starts_on",
        "end_date": "ends_on",
        **same("reference", "comment"),
        "creation_date": "created_on",
    },
    example={
        "id": 5,
        "start_date": "2026-08-23",
        "end_date": "2026-08-24",
        "reference": "B-2231",
        "comment": "",
        "creation_date": "2026-05-02T09:30:00.000000Z",
    },
)
EXPERIENCE: Mapping[str, Spec] = {
    "voucher_prototype": "voucher_prototype_id",
    "voucher_prototype_name": ComputedKey(
        ("language", *(f"prototype_name.{at}" for at in LANGUAGES)),
        _in_language,
        {"type": "string"},
        "The prototype's name at the time of the purchase, in the language of the purchase.",
    ),
    **per_language("voucher_prototype_name", "prototype_name", nullable=True),
    **per_language("voucher_prototype_description", "prototype_description", nullable=True),
    **per_language("voucher_prototype_rent_conditions", "prototype_rent_conditions", nullable=True),
    "voucher_prototype_type": FieldKey("prototype_type", TYPES),
    **same("nb_nights", "nb_babies", "nb_children", "nb_adults"),
    "options": Nested("options", CHOSEN_OPTION),
    "voucher_prototype_included_options": Nested("included_options", INCLUDED_OPTION),
}
PEOPLE: Mapping[str, Spec] = {
    "reception_mode": FieldKey("reception_mode", RECEPTION_NUMBER),
    "reception_mode_display": FieldKey("reception_mode", RECEPTION_NAME, description="Name of the reception mode."),
    "gifter_civility": "gifter_details.civility",
    "gifter_first_name": "gifter_details.first_name",
    "gifter_last_name": "gifter_details.last_name",
    "gifter_fullname": ComputedKey(
        ("gifter_details.first_name", "gifter_details.last_name"),
        lambda first, last: f"{first} {last}".strip(),
        {"type": "string"},
        "First and last name.",
    ),
    "gifter_address": "gifter_details.address",
    "gifter_email": "gifter_details.email",
    "gifter_city": "gifter_details.city",
    "gifter_country": "gifter_details.country",
    "gifter_zipcode": FieldKey(
        "gifter_details.postal_code", DIGITS, description="Postal code if it consists of digits; otherwise null."
    ),
    "gifter_wired_phone": or_null("gifter_details.wired_phone"),
    "gifter_mobile_phone": or_null("gifter_details.mobile_phone"),
    **same("self_gifted"),
    "giftee_first_name": or_null("giftee_details.first_name"),
    "giftee_last_name": or_null("giftee_details.last_name"),
    "giftee_email": or_null("giftee_details.email"),
    "giftee_phone_number": or_null("giftee_details.phone_number"),
    "recipient_address": or_null("giftee_details.address"),
    "message": or_null("message"),
}
PRICES_AND_TIMES: Mapping[str, Spec] = {
    "total_price": decimal_string("total_price.amount"),
    "purchase_price": decimal_string("purchase_price.amount"),
    "rent_price": decimal_string("rent_price.amount"),
    "bought_rent_price": decimal_string("bought_rent_price.amount"),
    "creation_date": "created_on",
    "activation_date": FieldKey("activated_on", description="Start of validity; empty if not paid."),
    "usage_date": FieldKey("used_on", description="When the voucher was used; empty if unused."),
    "expiration_date": FieldKey("expires_on", description="When the voucher expires; empty: never."),
    "expiration_date_display": FieldKey(
        "last_day",
        description="Last day of validity, in the marketplace's time zone; empty if the voucher never expires.",
    ),
}
VOUCHER = ResourceShape(
    "Voucher",
    Voucher,
    {
        **same("id", "code"),
        "summary": or_null("summary"),
        **same("origin"),
        **EXPERIENCE,
        **PEOPLE,
        **PRICES_AND_TIMES,
        "gifter": FieldKey("gifter.id", description="Id of the gifter's customer; null if unknown."),
        "giftee": FieldKey("giftee.id", description="Id of the giftee's customer; null if unknown."),
        **same("state"),
        "rentals": Nested("rentals", RENTAL),
        "printable_pdf_file": FieldKey(
            "document_url", description="URL of the printable document; empty if there is none yet."
        ),
        "coupon": FieldKey("coupon.code", description="Code of the coupon used for the purchase; empty if none."),
        "coupon_details": discount_text("coupon."),
        "coupon_for_email_details": Nested("coupon", COUPON),
        "api_version": FieldKey("id", ALWAYS_ONE, description="Version of this format."),
        "type": FieldKey("kind", KINDS),
        **same("to_giftee", "from_gifter"),
        "expedition_status": "expedition.status",
        "expedition_date": FieldKey("expedition.sent_on", description="When the voucher was sent; empty if not sent."),
        "cover_letter_url": "expedition.cover_letter_url",
        **same(
            "language",
            "is_group_payment",
            "is_usable",
            "is_extendable",
            "is_refundable",
            "payment_type",
            "imported_from",
        ),
    },
    example={
        "id": 4711,
        "code": "7Q4C-KX9M-2H8R-TDWE",
        "summary": "A night by the sea for two",
        "origin": "https://shop.example/",
        "voucher_prototype": 7,
        "voucher_prototype_name": "Une nuit au bord de la mer",
        "voucher_prototype_name_en": "A night by the sea",
        "voucher_prototype_name_fr": "Une nuit au bord de la mer",
        "voucher_prototype_description_en": "A room with a view, and breakfast.",
        "voucher_prototype_rent_conditions_en": "Book two weeks before you come.",
        "voucher_prototype_type": 1,
        "nb_nights": 1,
        "nb_adults": 2,
        "nb_children": 0,
        "nb_babies": 0,
        "reception_mode": 3,
        "reception_mode_display": "E-mail to the giftee",
        "gifter_civility": "",
        "gifter_first_name": "Ada",
        "gifter_last_name": "Martin",
        "gifter_fullname": "Ada Martin",
        "gifter_address": "4 rue des Herbes",
        "gifter_email": "ada@shop.example",
        "gifter_city": "Lyon",
        "gifter_country": "FR",
        "gifter_zipcode": 69002,
        "gifter_wired_phone": None,
        "giftee_first_name": "Noé",
        "giftee_last_name": "Bernard",
        "giftee_email": "noe@mail.example",
        "message": "Bon anniversaire !",
        "total_price": "330.00",
        "purchase_price": "297.00",
        "rent_price": "150.00",
        "bought_rent_price": "135.00",
        "creation_date": "2026-05-02T09:29:41.204155Z",
        "activation_date": "2026-05-02T09:30:12.918233Z",
        "usage_date": "",
        "expiration_date": "2027-05-02T21:59:59.000000Z",
        "expiration_date_display": "2027-05-02",
        "gifter": 318,
        "giftee": 319,
        "state": "paid",
        "printable_pdf_file": "https://shop.example/documents/vouchers/pF3kZ0….pdf",
        "coupon": "SPRING10",
        "coupon_details": "10 %",
        "to_giftee": "Noé",
        "from_gifter": "Ada",
        "expedition_status": "none",
        "expedition_date": "",
        "cover_letter_url": "",
        "language": "fr",
        "is_usable": True,
        "is_extendable": True,
        "is_refundable": True,
        "payment_type": "credit_card",
        "imported_from": "",
    },
)
CHANGE = {"state": "used"}
"""An example request for the documentation."""

QUERY = (
    exactly("code", "code", "The code, with or without spaces and hyphens."),
    exactly("voucher_prototype_name", "prototype_name", "Part of the prototype's name in any language."),
    exactly("gifter", "gifter", "Part of the gifter's name or e-mail address."),
    exactly("giftee", "giftee", "Part of the giftee's name or e-mail address."),
    exactly("origin_url", "origin", "Part of `origin`, which says where the voucher was sold."),
    since("creation_date__gte", "created_from", "Created at this time or later."),
    until("creation_date__lte", "created_until", "Created at this time or earlier."),
    between("creation_date__range", "created_from", "created_until", "Created within this period."),
)
ORDERING = Ordering({"creation_date": "created_on", "expiration_date": "expires_on"})
