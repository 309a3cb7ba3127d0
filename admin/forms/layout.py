"""How long forms are laid out: in sections with headings, in the order in which people fill them in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from admin.forms.form_fields import FormField
from admin.forms.kinds import Kind
from funnel.core.messages import N_

REST = N_("Further details")
"""The heading of the fields that no section names."""
PARTNER = "partnerUuid"
"""The field on which the choices of others depend."""


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields of a form that belong together. The only section of a short form has no heading."""

    heading: str
    fields: Sequence[FormField]


Layout = tuple[tuple[str, tuple[str, ...]], ...]
"""Headings, and the names of the fields below them."""

PERSONS: Layout = (
    (N_("Buyer and recipient"), ("gifterDetails", "gifteeDetails", "selfGifted", "language")),
    (N_("Message and delivery"), ("message", "toGiftee", "fromGifter", "receptionMode")),
)
COMPANY: Layout = (
    (N_("Names"), ("marketplaceUuid", "commercialName", "shortName", "name", "status", "website", "language")),
    (N_("Contact"), ("agencyEmail", "agencyPhone", "legalRepresentative")),
    (N_("Company"), ("companyType", "registration", "headOffice")),
    (N_("Payments and refunds"), ("paymentMethods", "refundPolicy", "payoutSettings", "bankAccount")),
    (N_("Look"), ("accentColour", "logoUrl", "theme", "startPage")),
    (N_("Orders from another site"), ("returnHosts", "returnWithOrderNumber", "thirdPartySalesOnly")),
    (N_("Network and statistics"), ("tags", "networkLinks", "sourceId", "referrer", "hideFromStats")),
)
LAYOUTS: Mapping[str, Layout] = {
    "VoucherPrototype": (
        (N_("Name and place in the shop"), ("partnerUuid", "name", "universeId", "environmentId", "type", "isActive")),
        (N_("Description"), ("description", "longDescription")),
        (N_("Pictures"), ("imageIds", "coverImage")),
        (N_("Price"), ("stayPrice", "vatRate", "adultsPrice", "childrenPrice", "babyPrice")),
        (N_("People and nights"), ("priceScope", "nbNights", "minCapacity", "maxCapacity")),
        (N_("Validity"), ("validityMonths", "lastActiveDay")),
        (N_("Booking and conditions"), ("howToBookHtml", "rentConditions", "pdfDescription")),
        (N_("Position and address"), ("isHighlight", "ranking", "slug")),
    ),
    "Product": (
        (N_("Name and description"), ("partnerUuid", "name", "description", "isActive")),
        (N_("Picture"), ("pictureUrl",)),
        (N_("Price and stock"), ("price", "vatRate", "stock", "isPhysical", "weightGrams")),
        (N_("Position and numbers"), ("ranking", "sku", "sourceId")),
    ),
    "VoucherOption": (
        (N_("Name and description"), ("partnerUuid", "name", "description", "categoryId", "isActive")),
        (N_("Price"), ("sellingPrice", "countable")),
        (N_("Where it is offered"), ("isGlobal", "voucherPrototypeIds", "services", "ranking", "sourceId")),
    ),
    "Box": (
        (N_("Name and description"), ("marketplaceUuid", "name", "shortDescription", "longDescription", "isActive")),
        (N_("Pictures"), ("imageIds", "coverImage")),
        (N_("Price"), ("price", "priceRangeId", "priceScope")),
        (N_("Usage"), ("maxUsages", "maxDaysAfterFirstUsage", "partnerUuids")),
        (N_("Position and weight"), ("isHighlight", "ranking", "weightGrams")),
    ),
    "Offer": (
        (N_("Name and description"), ("partnerUuid", "boxId", "name", "description", "termsOfUse")),
        (N_("Sale"), ("productId", "isActive", "ranking")),
    ),
    "GiftCardDesign": (
        (N_("Name and description"), ("partnerUuid", "marketplaceUuid", "name", "occasion", "isActive")),
        (N_("Picture and colour"), ("pictureUrl", "accentColour")),
        (N_("Texts"), ("shortDescription", "description", "ranking")),
    ),
    "Coupon": (
        (N_("Code and discount"), ("partnerUuid", "code", "type", "discount", "isActive")),
        (N_("When and how often"), ("startsOn", "endsOn", "maxUsages", "isCombinable")),
        (N_("What it is for"), ("targets", "limitedTo", "conditions")),
        (
            N_("What else it does"),
            ("newValidityPeriod", "increasesValue", "increasesValueRepeatedly", "freeClickAndCollect"),
        ),
    ),
    "Partner": COMPANY,
    "NetworkPartner": COMPANY,
    "Marketplace": (
        (N_("Name and contact"), ("name", "domain", "email", "currency", "timeZone")),
        (N_("Payment requests"), ("paymentRequestDays", "paymentRequestReminderDays")),
        (N_("Network"), ("giftCardSettings", "voucherSettings", "theme")),
        (N_("Money"), ("invoicing", "payoutSettings")),
    ),
    "Voucher": (
        (
            N_("Voucher"),
            (
                *("partnerUuid", "code", "voucherPrototypeId", "prototypeName", "state"),
                *("totalPrice", "purchasePrice", "paymentType", "options"),
            ),
        ),
        *PERSONS,
        (N_("People and nights"), ("nbNights", "nbAdults", "nbChildren", "nbBabies")),
    ),
    "GiftCard": (
        (N_("Gift card"), ("partnerUuid", "value", "status", "expiresOn", "designId")),
        *PERSONS,
    ),
    "NetworkVoucher": (
        (N_("Voucher"), ("code", "status", "price", "startsOn", "expiresOn")),
        *PERSONS,
    ),
    "NetworkGiftCard": (
        (
            N_("Gift card"),
            ("marketplaceUuid", "value", "status", "startsOn", "expiresOn", "code", "designId"),
        ),
        *PERSONS,
    ),
}
"""By what the name of an input has besides its verb: `VoucherPrototype` of `UpdateVoucherPrototypeInput`."""
VERBS = "Create", "Update", "Issue", "Import"


def layout_of(input_name: str) -> Layout:
    """The layout of an input type; empty if it has none."""
    stem = input_name.removesuffix("Input")
    return next((LAYOUTS[name] for verb in VERBS if (name := stem.removeprefix(verb)) != stem and name in LAYOUTS), ())


def sections_of(input_name: str, fields: Sequence[FormField]) -> Sequence[FormSection]:
    """The fields of a form in sections: those that have to be filled in come first."""
    layout = layout_of(input_name)
    by_name = {each.name: each for each in fields}
    sections = [
        FormSection(heading, _required_first([by_name.pop(name) for name in names if name in by_name]))
        for heading, names in layout
    ]
    shown = [section for section in sections if section.fields]
    rest = _required_first(_groups_last([by_name[each.name] for each in fields if each.name in by_name]))
    if rest:
        shown.append(FormSection(REST if shown else "", rest))
    return [FormSection("", shown[0].fields)] if len(shown) == 1 else shown


def _required_first(fields: Sequence[FormField]) -> Sequence[FormField]:
    """The required ones in their order, the partner before all others."""
    return sorted(fields, key=lambda each: (not each.is_required, each.name != PARTNER))


def _groups_last(fields: Sequence[FormField]) -> Sequence[FormField]:
    return sorted(fields, key=lambda each: each.kind in (Kind.GROUP, Kind.ROWS))
