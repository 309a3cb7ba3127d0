"""The whole interface against the list of documented operations, and each shape against its documented keys."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from rest_compat.http.body import Accepts
from rest_compat.http.paths import PathTable
from rest_compat.http.route import ConditionalStatus, ResponseEnvelope, RestRoute
from rest_compat.openapi.reference import OPERATIONS
from rest_compat.resources import (
    auth,
    cart,
    coupon,
    gift_card,
    invoice,
    kyc,
    network_gift_card,
    network_voucher,
    partner,
    payment,
    payment_changes,
    payment_request,
    payout,
    transfer,
    voucher,
)
from rest_compat.resources import network_box as box
from rest_compat.resources import voucher_option as option
from rest_compat.resources import voucher_prototype as prototype
from rest_compat.resources.media import MEDIA
from rest_compat.routes import ROUTES
from rest_compat.shapes.shape import ResourceShape
from schema.core.permission import required_access

COMPANY = (
    "name commercial_name short_name company_type siret_number legal_representative_first_name "
    "legal_representative_last_name legal_representative_birthday legal_representative_email hq_address_line_1 "
    "hq_address_line_2 hq_postal_code hq_city hq_country rcs ape vat_id agency_email agency_phone website"
)
PARTNER = (
    f"id uuid status {COMPANY} payout_frequency auto_validate_payout freeze_payout block_payout_validation iban bic "
    "hide_from_stats third_party_sales_only referrer"
)

LANGUAGES = ("en", "fr", "es", "it", "de", "nl", "ca", "pt")


def in_each(*texts: str) -> str:
    """The keys of translated texts."""
    return " ".join(f"{text}_{language}" for text in texts for language in LANGUAGES)


OPTION = (
    f"id {in_each('name', 'description')} selling_price is_active countable is_global ranking partner partner_uuid "
    "voucher_prototypes_ids category_id"
)

DOCUMENTED: Mapping[ResourceShape, str] = {
    auth.TOKEN: "token uuid user",
    auth.USER: "id first_name username email",
    auth.PERMISSIONS: "permissions",
    partner.PARTNER: PARTNER,
    partner.CREATED_PARTNER: f"{PARTNER} pending_payment_activation_uri pending_payment_activation_method",
    partner.UPDATED_PARTNER: "block_payout_validation hide_from_stats third_party_sales_only referrer "
    "legal_representative_birthday legal_representative_email",
    partner.NETWORK_PARTNER: f"id uuid status source_id {COMPANY} hide_from_stats third_party_sales_only referrer "
    "link_to_nv_settings link_to_ngc_settings partner_tags",
    partner.UPDATED_NETWORK_PARTNER: "id status hide_from_stats third_party_sales_only referrer name "
    "linked_to_nv_settings linked_to_ngc_settings",
    partner.FOUND_PARTNER: "id",
    payment_changes.CREATED_PAYMENT: "id customer partner_uuid partner amount discount product type origin "
    "payment_receipt_description freeze_payout_date",
    payment_changes.UPDATED_PAYMENT: "id freeze_payout_date",
    payment_changes.REFUND: "status detail",
    partner.PAYMENT_ACTIVATION: "status id pending_user_action",
    kyc.KYC_DOCUMENT: "id partner partner_uuid comment document_type",
    kyc.KYC_LEVEL: "status detail partner partner_uuid errors",
    kyc.KYC_CHECK: "id partner partner_uuid refused_reason document_type status",
    kyc.IDENTITY_VERIFICATION: "redirect_url",
    prototype.PROTOTYPE: f"id {in_each('name')} is_active type is_highlight price_scope max_capacity min_capacity stay_price "
    "adults_price children_price baby_price "
    f"{in_each('description', 'long_description', 'rent_conditions', 'how_to_book_html', 'pdf_description')} "
    "partner partner_uuid universe environment last_active_day ranking images cover_image nb_orders",
    option.LINK: "id count included option",
    option.OPTION: OPTION,
    option.CATEGORY: f"id {in_each('name', 'description')} is_active ranking min_number_options max_number_options partner "
    "partner_uuid",
    voucher.VOUCHER: f"id code summary origin voucher_prototype voucher_prototype_name {in_each('voucher_prototype_name')} "
    f"{in_each('voucher_prototype_description')} {in_each('voucher_prototype_rent_conditions')} voucher_prototype_type "
    "nb_nights nb_babies nb_children nb_adults options voucher_prototype_included_options reception_mode "
    "reception_mode_display gifter_civility gifter_first_name gifter_last_name gifter_fullname gifter_address gifter_email "
    "gifter_city gifter_country gifter_zipcode gifter_wired_phone gifter_mobile_phone self_gifted giftee_first_name "
    "giftee_last_name giftee_email giftee_phone_number recipient_address message total_price purchase_price rent_price "
    "bought_rent_price creation_date activation_date usage_date expiration_date expiration_date_display gifter giftee state "
    "rentals printable_pdf_file coupon coupon_details coupon_for_email_details api_version type to_giftee from_gifter "
    "expedition_status expedition_date cover_letter_url language is_group_payment is_usable is_extendable is_refundable "
    "payment_type imported_from",
    box.BOX: f"id {in_each('name')} {in_each('short_description', 'long_description')} creation_date is_active is_highlight "
    "price weight price_scope max_usages max_days_after_first_usage nb_mpo_orders marketplace price_range images "
    "allowed_partners products",
    box.RANGE: f"id {in_each('name')} partner",
    box.BOX_IMAGE: "id image",
    box.PICTURE: "id uuid name created_on archived_on size readable writable updated_on cover",
    box.ALLOWED_PARTNER: "id source_id agency_name",
    box.PRODUCT: f"id {in_each('name')} price_range",
    box.OFFER: f"id {in_each('name', 'description', 'terms_of_use')} edition_date rejection_date is_active status ranking "
    "box product partner",
    voucher.CHOSEN_OPTION: "option count total_price",
    option.ORDERED_OPTION: f"{OPTION} has_been_ordered services_info price category voucher_prototypes",
    option.SERVICE: "service_cost service_buying_vat service_selling_vat service_price",
    option.OPTION_PROTOTYPE: f"id {in_each('name')}",
    voucher.INCLUDED_OPTION: "option count",
    voucher.INCLUDED_OPTION_ITSELF: f"{in_each('name')} source_id",
    voucher.RENTAL: "id start_date end_date reference comment creation_date",
    coupon.COUPON: "id valid discount_text number_of_usage new_validity_period booking_engine_id is_activated code type start "
    "end discount discount_type is_value_increased is_value_increased_multiple_times max_usage voucher_prototypes_ids "
    "cnc_offers_ids eshop_products_ids experience_offers_ids workshops_ids workshop_categories_ids events_ids "
    "flashsales_offers_ids payment_amount_condition_minimum giftcode email_condition price_condition_min_amount "
    "product_condition_min_amount activate_for_vouchers activate_for_giftcards activate_for_clickandcollect "
    "activate_for_ecommerce activate_for_experiences activate_for_tickets_events activate_for_workshops "
    "activate_for_flashsales activate_for_moneypot activate_for_network_giftcards activate_for_network_vouchers "
    "offer_delivery_cost_clickandcollect print_at_home_reception_mode expedition_reception_mode "
    "giftee_email_reception_mode postal_mail_to_beneficiary_reception_mode on_site_expedition_mode partner",
    gift_card.GIFT_CARD: "id code status created_on expires_on value remaining_value gifter_first_name gifter_last_name",
    network_gift_card.NETWORK_GIFT_CARD: "id code status value remaining_value creation_date activation_date expiration_date "
    "is_active is_splittable gifter giftee from_gifter marketplace_uuid",
    network_gift_card.GIFTER: "first_name last_name email",
    network_gift_card.GIFTEE: "first_name last_name email",
    network_gift_card.FOUND_NETWORK_GIFT_CARD: "id uuid code status creation_date expiration_date value remaining_value "
    "order_uuid order_creation_date description short_description theme",
    network_gift_card.NETWORK_GIFT_CARD_USAGE: "id network_giftcard partner value is_active comment reservation_id "
    "partner_source_id freeze_payout_date",
    network_voucher.NETWORK_VOUCHER: "id uuid code status creation_date expiration_date max_usages usage_count box box_name "
    "box_price is_box_active description short_description universes tags",
    network_voucher.NETWORK_VOUCHER_USAGE: "id creation_date network_voucher partner partner_agency_name partner_source_id "
    "is_active comment management_fees commission_rate",
    payment.PAYMENT: "id status currency payment_receipt_pdf_file customer origin payout_request_id payout_request_status "
    "payout_request_creation_date payout_request_validation_date partner partner_uuid created_on modified_on amount discount "
    "commission net_amount refunded_amount type product extra_source_amount extra_source_wallet extra_source_wallet_uuid "
    "payin_result_code payin_result_message payment_request_id",
    payment.CUSTOMER: "first_name last_name email",
    payment.TRANSACTION: "id created_on type payment_method status amount commission net_amount currency currency_symbol "
    "partner payment_id customer",
    transfer.TRANSFER: "created_on amount currency status type payment_uuid debited_wallet_uuid credited_wallet_uuid",
    payment_request.PAYMENT_REQUEST: "id code status amount created_on modified_on reference description customer "
    "partner_uuid origin product",
    invoice.INVOICE: "id number partner_customer partner_uuid partner_agency_name marketplace_customer_id marketplace_invoicer_id "
    "provider_invoicer_id customer_company_name invoicer_company_name creation_date invoicing_date total_amount_without_vat "
    "total_amount_of_vat total_amount_with_vat payins_pdf_file",
    payout.PAYOUT_REQUEST: "id creation_date validation_date partner partner_uuid partner_agency_name partner_is_kyc_validated "
    "partner_block_payout_validation invoicer_marketplace amount status currency currency_symbol bank_account_bic "
    "bank_account_iban pdf_file xls_file",
    payment_request.REQUEST_CUSTOMER: "first_name last_name email",
    MEDIA: "id uuid name created_on archived_on",
    cart.CART: "id items return_url funnel_url last_modified",
    cart.CART_ITEM: "product_id quantity variant_id attribute_values",
    cart.MULTI_PRODUCT_CART: "id partner_uuid data",
    cart.MULTI_PRODUCT_DATA: "network_giftcards network_vouchers",
    cart.MULTI_PRODUCT_GIFT_CARD: "amount quantity themed_pdf_id",
    cart.MULTI_PRODUCT_VOUCHER: "id quantity",
}
"""The documented keys of every shape, in order."""


TOLD_OF: Mapping[ResourceShape, str] = {option.LINK: " option link", voucher.VOUCHER: " voucher"}
"""What the list calls the answer of a change, where it is not what the path names."""
READ_AS: Mapping[ResourceShape, str] = {network_gift_card.FOUND_NETWORK_GIFT_CARD: " lookup shape"}
"""What the list calls the answer of a look-up that has another shape than the creation."""


@dataclass(frozen=True)
class Documented:
    """A row of the list of operations."""

    id: str
    methods: list[str]
    path: str
    success: str
    permission: str


def documented() -> list[Documented]:
    """Every documented operation."""
    with OPERATIONS.open(newline="") as file:
        return [
            Documented(
                row["id"], row["rest_method"].split("|"), row["rest_path"], row["rest_success"], row["permission"]
            )
            for row in csv.DictReader(file)
        ]


def table() -> PathTable[RestRoute]:
    """The routes by path."""
    return PathTable((route.verbs, route.path, route) for route in ROUTES)


def documented_path(route: RestRoute) -> str:
    """The path of a route in the list."""
    return route.documented_path or route.path


def route_of(operation: Documented) -> RestRoute | None:
    """The route that answers an operation."""
    return next(
        (r for r in ROUTES if documented_path(r) == operation.path and set(operation.methods) <= set(r.verbs)), None
    )


@pytest.mark.parametrize("operation", documented(), ids=lambda o: o.id)
def test_an_operation_is_served_as_documented(operation: Documented) -> None:
    route = route_of(operation)
    assert route is not None, f"{operation.methods} {operation.path} is not served."
    assert route.verbs == operation.methods
    assert route.operation.permission is required_access(operation.permission)
    assert success_of(route) == operation.success


def success_of(route: RestRoute) -> str:
    """What a success looks like, in the words of the list."""
    if isinstance(route.status, ConditionalStatus):
        words = {201: "201 created", 200: "200 replaced"}
        return " / ".join(words[status] for status, _ in route.status.documented)
    if route.deprecated is not None:
        return f"{route.status} create shape (Deprecation header)"
    read = " object (latest usage)" if route.through else READ_AS.get(route.shape, "")
    envelope = {
        ResponseEnvelope.OBJECT: TOLD_OF.get(route.shape, "") if route.writes else read,
        ResponseEnvelope.PAGE: " page",
        ResponseEnvelope.ARRAY: " array",
        ResponseEnvelope.ARRAY_OF_ONE: " array of one",
        ResponseEnvelope.FILE: f" {route.file.words}" if route.file else "",
    }
    return f"{route.status}{envelope[route.envelope]}"


@pytest.mark.parametrize("operation", documented(), ids=lambda o: o.id)
def test_no_two_operations_share_a_path_and_a_method(operation: Documented) -> None:
    """The documented paths fit into one table: none hides another."""
    routes = PathTable((each.methods, each.path, each.id) for each in documented())
    for path in (operation.path, operation.path.rstrip("/")):
        found = routes.find(path.replace("{id}", "1").replace("{code}", "A B").replace("{email}", "a@b.example"))
        assert found is not None
        assert {found[0][method] for method in operation.methods} == {operation.id}
        assert ("HEAD" in found[0]) is ("GET" in found[0])


def test_nothing_is_served_that_is_not_documented() -> None:
    paths = {operation.path for operation in documented()}
    assert {documented_path(route) for route in ROUTES} <= paths


def test_every_shape_has_its_documented_keys_in_order() -> None:
    shapes = set(all_shapes())
    assert shapes == set(DOCUMENTED), "List the documented keys of a new shape here."
    for shape, keys in DOCUMENTED.items():
        assert list(shape.keys) == keys.split(), f"{shape.name}: change its keys in DOCUMENTED too"
        assert list(shape.properties) == keys.split()


def all_shapes() -> Iterator[ResourceShape]:
    """Every shape that is served, nested ones included."""
    todo = [route.shape for route in ROUTES]
    while todo:
        shape = todo.pop()
        yield shape
        todo.extend(inner for _, inner in shape.inner)


def test_every_write_but_the_log_in_takes_an_idempotency_key() -> None:
    assert [route.path for route in ROUTES if route.writes and not route.repeatable] == ["/api-token-auth/"]


def test_only_the_log_in_takes_forms() -> None:
    assert [route.path for route in ROUTES if route.accepts is Accepts.FORM] == ["/api-token-auth/"]


def test_every_route_answers_on_both_forms_of_its_path() -> None:
    routes = table()
    for route in ROUTES:
        for path in (route.path, route.path.rstrip("/")):
            found = routes.find(path)
            assert found is not None
            assert all(found[0][verb] is route for verb in route.verbs)
