"""For each mutation with several checks: an input that fails at least two of them, and all the fields that are then told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlmodel import col, select

from resolvers import coupon as coupons
from resolvers import delivery, legal
from resolvers import product as products
from resolvers.account import links as account_links
from resolvers.account import users
from resolvers.cart import carts, multi_product_carts
from resolvers.catalogue import option_categories, option_links, prototypes, taxonomy
from resolvers.catalogue import options as catalogue_options
from resolvers.gift_card import holds, issuing, offers, spending
from resolvers.gift_card import imports as card_imports
from resolvers.network import boxes as network_boxes
from resolvers.network import designs, gift_card_issuing, gift_card_usages
from resolvers.network import offers as network_offers
from resolvers.network import voucher_issuing as network_voucher_issuing
from resolvers.network import voucher_usages as network_voucher_usages
from resolvers.partner import marketplaces, network_partners, partners
from resolvers.payment import fees
from resolvers.payment.payouts import adjustments
from resolvers.payment.requests import payment_requests
from resolvers.voucher import imports, updates
from resolvers.voucher import issuing as voucher_issuing
from resolvers.webhook import endpoints
from schema.account.user import UserRole
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.permission import Permission
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardStatus
from schema.legal.legal_document import LegalDocumentKind
from schema.network.gift_card import NetworkGiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.partner.partner import PartnerStatus
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, UniverseRow, VoucherOptionLinkRow
from store.gift_card.designs import GiftCardDesignRow
from store.gift_card.gift_cards import GiftCardRow
from tests.changes import Direct
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.network import network_card
from tests.fixtures.network_voucher import network_voucher
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import sell, voucher_of

UNKNOWN = "00000000-0000-4000-8000-000000000000"
NAME = {"en": "X"}
NAMELESS: dict[str, Any] = {"en": " ", "fr": None}
UNNAMED: dict[str, Any] = {"name": {"en": None, "fr": None}}
PICTURE = f"/media/{UNKNOWN}/card.webp"
TEXTS = dict.fromkeys(("name", "description", "long_description"), NAME)
PROTOTYPE = {**TEXTS, "type": VoucherPrototypeType.STAY, "stay_price": "10.00", "universe_id": 4711}
PARTNER = {
    **dict.fromkeys(("name", "commercial_name", "short_name"), "X"),
    "agency_email": "office@partner.example",
    "agency_phone": "+33 1 40 00 00 00",
    "website": "https://partner.example",
    "legal_representative": {"first_name": "Ada", "last_name": "Byron", "email": "ada@partner.example"},
}
PAYER = {"first_name": "Ada", "last_name": "Byron", "email": "ada@partner.example"}
OFFICE = {"address_line_1": "1 rue X", "postal_code": "75001", "city": "Paris", "country": "FR"}
NUMBERS = {"siret_number": "1", "rcs": "Paris", "ape": "5510Z", "vat_id": "FR1"}
IMPORTED = {"imported_from": "Y", "voucher_prototype_id": 4711, "total_price": "1.00"}
LONG = "x" * 5_000
TAKEN = "TAKEN"
"""The SKU of another product."""


@dataclass(frozen=True)
class Case:
    """Who sends what, and which fields are told."""

    operation: Any
    who: str
    values: Mapping[str, Any]
    wrong_fields: str


def rows_of_markets(tenants: Tenants) -> Mapping[str, Any]:
    of: dict[str, Any] = {"marketplace_id": tenants.marketplaces["a"].id, "name": Text(en="X", fr="X")}
    return {
        "universe": UniverseRow(**of),
        "environment": EnvironmentRow(**of),
        "design": GiftCardDesignRow(**of, short_description=Text(), description=Text()),
        "range": PriceRangeRow(**of, minimum_amount=Decimal(1), currency="EUR"),
    }


async def cases(tenants: Tenants) -> list[Case]:
    """All of them, with the rows that they are about."""
    rows = rows_of_markets(tenants)
    for row in rows.values():
        await tenants.add(row)
    sold = await sell(tenants, "a1")
    voucher = await tenants.add(voucher_of(sold))
    assert (await Direct(tenants).change("a1", products.create_product, name=NAME, price="1", sku=TAKEN)).done
    async with tenants.services.db.sessions() as db:
        links = select(VoucherOptionLinkRow.id).where(col(VoucherOptionLinkRow.voucher_prototype_id) == sold.stay.id)
        link = (await db.exec(links.limit(1))).one()
    return [
        *_of_shops(tenants),
        *_of_markets(tenants, {name: row.id for name, row in rows.items()}),
        *_of_accounts(tenants),
        *_of_options(tenants, link),
        *_of_prototypes(sold.stay.id),
        *_of_vouchers(sold.stay.id, voucher.code),
        *_of_gift_cards(tenants),
        *_of_networks(await network_card(tenants)),
        *await _of_boxes(tenants),
        *await _of_network_vouchers(tenants),
        *_of_webhooks(tenants),
    ]


def _of_shops(tenants: Tenants) -> Iterator[Case]:
    own, of_nobody = tenants.owned["a1"], {"partner_uuid": UNKNOWN}
    product = {"name": NAMELESS, "price": "-1", "picture_url": PICTURE, "stock": -1}
    yield Case(products.create_product, "a1", {**product, "price": "1", "stock": 1}, "name picture_url")
    yield Case(products.create_product, "a1", product, "name price picture_url stock")
    yield Case(products.create_product, "market a", {**product, **of_nobody}, "partner_uuid name price stock")
    changed = {"id": own.product, **UNNAMED, "picture_url": PICTURE, "stock": -1}
    yield Case(products.update_product, "a1", changed, "name picture_url stock")
    yield Case(products.update_product, "a1", {"id": own.product, "sku": TAKEN, "stock": -1}, "sku stock")
    variant = {"product_id": own.product, "name": NAMELESS, "price": "-1"}
    yield Case(products.create_product_variant, "a1", variant, "name price")
    yield Case(products.update_product_variant, "a1", {"id": own.variant, **UNNAMED, "price": "-1"}, "name price")
    values = {"values": [{"value": "a"}, {"value": ""}, {"value": "a"}], "ranking": -1}
    told = "name ranking values.1.value values.2.value"
    attribute = {"product_id": own.product, "name": NAMELESS, **values}
    yield Case(products.create_product_attribute, "a1", attribute, told)
    yield Case(products.update_product_attribute, "a1", {"id": own.attribute, **UNNAMED, **values}, told)
    coupon = {"code": "!", "discount": {"percentage": "5", "amount": "5"}}
    never = {"starts_on": "2031-01-01T00:00:00Z", "ends_on": "2030-01-01T00:00:00Z"}
    yield Case(coupons.create_coupon, "a1", {**coupon, **never}, "code discount ends_on")
    yield Case(
        coupons.create_coupon, "market a", {**coupon, **never, **of_nobody}, "partner_uuid code discount ends_on"
    )
    yield Case(coupons.create_coupon, "a1", {**coupon, "max_usages": -1}, "code max_usages")
    nothing = {"id": own.coupon, "discount": {"percentage": "0"}, "max_usages": -1}
    yield Case(coupons.update_coupon, "a1", nothing, "discount.percentage max_usages")
    mode = {"kind": DeliveryKind.HOME_DELIVERY, "name": NAMELESS, "ranking": -1}
    yield Case(delivery.create_delivery_mode, "market a", {**mode, **of_nobody}, "partner_uuid name ranking")
    unnamed = {"id": own.delivery_mode, **UNNAMED, "ranking": -1}
    yield Case(delivery.update_delivery_mode, "a1", unnamed, "name ranking")
    twice = {"content": NAME, "website": {"en": "https://shop.example/terms"}}
    terms = {"kind": LegalDocumentKind.TERMS, **twice, **of_nobody}
    yield Case(legal.publish_legal_document, "market a", terms, "partner_uuid website.en")
    lines = [{"sku": "nothing", "quantity": 1}, {"product_id": own.product, "quantity": -1}]
    cart = {"items": lines, "return_url": "ftp://shop.example"}
    yield Case(carts.save_ecommerce_cart, "a1", cart, "items.0.sku items.1.quantity return_url")
    network = {
        "partner_uuid": UNKNOWN,
        "items": {"gift_cards": [{"amount": "0.00"}], "boxes": [{"box_id": 1, "quantity": 0}]},
    }
    told = "partner_uuid items.gift_cards.0.amount items.boxes.0.quantity"
    yield Case(multi_product_carts.create_multi_product_cart, "market a", network, told)


def _of_markets(tenants: Tenants, ids: Mapping[str, int]) -> Iterator[Case]:
    made = {"marketplace_uuid": UNKNOWN, "name": NAMELESS, "ranking": -1}
    for create in (taxonomy.create_universe, taxonomy.create_environment):
        yield Case(create, "master", made, "marketplace_uuid name ranking")
    for update, id in (
        (taxonomy.update_universe, ids["universe"]),
        (taxonomy.update_environment, ids["environment"]),
    ):
        yield Case(update, "market a", {"id": id, **UNNAMED, "ranking": -1}, "name ranking")
    empty = {"minimum": "5.00", "maximum": "4.00", "ranking": -1}
    yield Case(taxonomy.create_price_range, "master", {**made, **empty}, "marketplace_uuid name maximum ranking")
    changed = {"id": ids["range"], **UNNAMED, **empty}
    yield Case(taxonomy.update_price_range, "market a", changed, "name maximum ranking")
    fits_what_is_wrong = {"id": ids["range"], "name": NAME, "minimum": "-1", "maximum": "0.50", "ranking": -1}
    yield Case(taxonomy.update_price_range, "market a", fits_what_is_wrong, "minimum ranking")
    look = {"picture_url": PICTURE, "accent_colour": "red", "ranking": -1}
    told = "name picture_url accent_colour ranking"
    yield Case(designs.create_gift_card_design, "market a", {"name": NAMELESS, **look}, told)
    design = {**made, "accent_colour": "red"}
    yield Case(designs.create_gift_card_design, "master", design, "marketplace_uuid name accent_colour ranking")
    yield Case(designs.update_gift_card_design, "market a", {"id": ids["design"], **UNNAMED, **look}, told)
    fee = {"partner_uuid": UNKNOWN, "percentage": "101", "fixed": "-1"}
    yield Case(fees.create_fee_rule, "market a", fee, "partner_uuid percentage fixed")
    nowhere = {**fee, "marketplace_uuid": UNKNOWN}
    yield Case(fees.create_fee_rule, "master", nowhere, "marketplace_uuid percentage fixed")
    adjusted = {"partner_uuid": UNKNOWN, "amount": "0", "reason": ""}
    yield Case(adjustments.create_payout_adjustment, "market a", adjusted, "partner_uuid amount reason")
    market = {"name": "M", "currency": "EUX", "time_zone": "UTC", "domain": "a/b"}
    yield Case(marketplaces.create_marketplace, "master", market, "currency domain")
    moved = {"id": tenants.marketplaces["a"].id, "domain": "a/b", "time_zone": "Nowhere"}
    asked = {
        "partner_uuid": UNKNOWN,
        "amount": "1.00",
        "customer": PAYER,
        "language": "xx",
        "invoicing_marketplace_id": 4711,
    }
    wrong = "partner_uuid language invoicing_marketplace_id"
    yield Case(payment_requests.create_payment_request, "a1", asked, wrong)
    yield Case(marketplaces.update_marketplace, "market a", moved, "domain time_zone")


def _of_accounts(tenants: Tenants) -> Iterator[Case]:
    nowhere, told = (
        {"marketplace_uuid": UNKNOWN, **PARTNER},
        "marketplace_uuid registration.siret_number registration.vat_id",
    )
    yield Case(
        partners.create_partner, "master", {**nowhere, "status": PartnerStatus.ACTIVE, "registration": NUMBERS}, told
    )
    abroad = {"registration": {"siret_number": "DE123456"}, "head_office": {"country": "Nowhere"}}
    there = {"uuid": str(tenants.partners["a1"].uuid), **abroad, "accent_colour": "red"}
    yield Case(partners.update_partner, "market a", there, "head_office.country accent_colour")
    listed = {**nowhere, "registration": NUMBERS, "head_office": OFFICE}
    yield Case(network_partners.create_network_partner, "master", listed, told)
    looks = {"uuid": str(tenants.partners["a1"].uuid), "logo_url": PICTURE, "accent_colour": "red"}
    yield Case(partners.update_partner, "market a", looks, "logo_url accent_colour")
    more = {"permissions": [Permission.MANAGE_MASTERADMIN], "password": "short", "email": "nobody"}
    user = {"username": "A1@users.example", "role": UserRole.PARTNER, "partner_uuid": UNKNOWN, **more}
    yield Case(users.create_user, "market a", user, "username partner_uuid permissions password email")
    invited = {name: value for name, value in user.items() if name != "password"} | {"language": "xx"}
    yield Case(account_links.invite_user, "market a", invited, "username partner_uuid permissions email language")
    above = {"role": UserRole.MASTER, "marketplace_uuid": UNKNOWN, "password": LONG[:12], "email": ""}
    yield Case(
        users.create_user, "market a", {**user, **above}, "username role partner_uuid marketplace_uuid permissions"
    )
    changed = {"id": tenants.users["a1"].id, **more}
    yield Case(users.update_user, "market a", changed, "permissions password email")


def _of_options(tenants: Tenants, link: int) -> Iterator[Case]:
    own, wrong = tenants.owned["a1"], {"category_id": 4711, "voucher_prototype_ids": [4711, 0, 4712], "ranking": -1}
    told = "name category_id ranking voucher_prototype_ids.0 voucher_prototype_ids.1 voucher_prototype_ids.2"
    option = {"name": NAMELESS, "selling_price": "1.00", **wrong}
    yield Case(catalogue_options.create_voucher_option, "a1", option, told)
    yield Case(
        catalogue_options.create_voucher_option,
        "market a",
        {**option, "partner_uuid": UNKNOWN},
        "partner_uuid name ranking voucher_prototype_ids.1",
    )
    yield Case(catalogue_options.update_voucher_option, "a1", {"id": own.voucher_option, **UNNAMED, **wrong}, told)
    range = {"min_number_options": 3, "max_number_options": 2, "ranking": -1}
    told = "name max_number_options ranking"
    category = {"name": NAMELESS, **range}
    yield Case(option_categories.create_voucher_option_category, "a1", category, told)
    changed = {"id": own.voucher_option_category, **UNNAMED, **range}
    yield Case(option_categories.update_voucher_option_category, "a1", changed, told)
    within = {"id": link, "option": {"category_id": 4711, "voucher_prototype_ids": [4711]}, "count": -1}
    told = "count option.category_id option.voucher_prototype_ids option.voucher_prototype_ids.0"
    yield Case(option_links.update_voucher_option_link, "a1", within, told)


def _of_prototypes(stay: int) -> Iterator[Case]:
    create = prototypes.create_voucher_prototype
    pictures = {"environment_id": 4711, "image_ids": [4711, 4712, 4711], "cover_image": 4}
    capacity = {"min_capacity": 4, "max_capacity": 2}
    told = "name universe_id environment_id image_ids.0 image_ids.1 image_ids.2 cover_image max_capacity"
    yield Case(create, "a1", {**PROTOTYPE, "name": NAMELESS, **pictures, **capacity}, told)
    shapes = {"image_ids": [4711, 0], "cover_image": 2, "stay_price": "-1", "ranking": -1}
    told = "name universe_id image_ids.0 image_ids.1 stay_price ranking"
    yield Case(create, "a1", {**PROTOTYPE, "name": NAMELESS, **shapes}, told)
    of_nobody = {**PROTOTYPE, "name": NAMELESS, "partner_uuid": UNKNOWN, **capacity}
    yield Case(create, "market a", of_nobody, "partner_uuid name max_capacity")
    sizes = {"id": stay, "long_description": NAME, "min_capacity": -1, "max_capacity": 1, "ranking": -1}
    yield Case(prototypes.update_voucher_prototype, "a1", sizes, "min_capacity ranking")
    changed = {"id": stay, **UNNAMED, "long_description": NAME, "universe_id": 4711, **shapes}
    yield Case(prototypes.update_voucher_prototype, "a1", changed, told)


def _of_vouchers(stay: int, code: str) -> Iterator[Case]:
    issue = voucher_issuing.issue_voucher
    by_mail = {"reception_mode": ReceptionMode.GIFTEE_EMAIL, "gifter_details": {"country": "Atlantis"}}
    voucher = {"state": VoucherState.USED, "nb_adults": -1, **by_mail}
    told = "state nb_adults gifter_details.country giftee_details.email"
    yield Case(issue, "a1", {"voucher_prototype_id": 4711, **voucher}, f"voucher_prototype_id {told}")
    options = {"options": [{"option_id": 0}, {"option_id": 4711}]}
    told = "state options.0.option_id options.1.option_id"
    yield Case(issue, "a1", {"voucher_prototype_id": stay, "state": VoucherState.USED, **options}, told)
    taken, free = {**IMPORTED, "code": "a/b"}, {**IMPORTED, "code": "ABC-DEF", "total_price": "-1"}
    told = "code voucher_prototype_id total_price"
    yield Case(imports.import_voucher, "a1", {**free, "code": "a/b"}, told)
    of_nobody = {**taken, "partner_uuid": UNKNOWN}
    yield Case(imports.import_voucher, "market a", of_nobody, "partner_uuid code")
    told = "vouchers.0.total_price vouchers.1.code vouchers.1.voucher_prototype_id"
    yield Case(imports.import_vouchers, "a1", {"vouchers": [free, taken]}, told)
    cards = [{"code": "ABC-DEF", "value": "-1"}, {"code": "a/b", "value": "5"}]
    yield Case(card_imports.import_gift_cards, "a1", {"gift_cards": cards}, "gift_cards.0.value gift_cards.1.code")
    booking = {"starts_on": "2030-01-02", "ends_on": "2030-01-01"}
    noted = {"code": code, **booking, "reference": LONG}
    yield Case(updates.add_voucher_rental, "a1", noted, "ends_on reference")
    moved = {"code": code, "state": VoucherState.DRAFT, "rental": booking, "remove_rental_ids": [0]}
    yield Case(updates.update_voucher, "a1", moved, "rental remove_rental_ids.0")


def _of_networks(card: GiftCardRow) -> Iterator[Case]:
    period = {"starts_on": "2030-01-02T00:00:00Z", "expires_on": "2030-01-01T00:00:00Z"}
    new = {"gifter_details": PAYER, "message": "", **period, "value": "0.00", "status": NetworkGiftCardStatus.USED}
    yield Case(gift_card_issuing.create_network_gift_card, "market a", new, "expires_on status value")
    elsewhere = {**new, "marketplace_uuid": UNKNOWN, "code": "A/B"}
    told = "marketplace_uuid status value code"
    yield Case(gift_card_issuing.create_network_gift_card, "market a", elsewhere, told)
    used = {"code": card.code, "value": "0.00", "partner_id": 4711, "used_on": "2020-01-01T00:00:00Z", "comment": LONG}
    yield Case(gift_card_usages.use_network_gift_card, "market a", used, "value partner_id used_on comment")
    changed = {"id": card.id, "message": LONG, "is_active": None}
    yield Case(gift_card_issuing.update_network_gift_card, "market a", changed, "message is_active")


def _of_gift_cards(tenants: Tenants) -> Iterator[Case]:
    own = tenants.owned["a1"]
    card = {"status": GiftCardStatus.USED, "value": "0.00", "language": "xx", "expires_on": "2020-01-01T00:00:00Z"}
    by_post = {"partner_uuid": UNKNOWN, "reception_mode": ReceptionMode.EXPEDITION}
    told = "partner_uuid status value language expires_on giftee_details.address"
    yield Case(issuing.issue_gift_card, "market a", {**card, **by_post}, told)
    nothing = {"id": own.gift_card, "amount": "0.00", "reference": LONG}
    yield Case(holds.hold_gift_card, "a1", nothing, "amount reference")
    yield Case(spending.spend_gift_card, "a1", nothing, "amount reference")
    offer = {"suggested": ["0.01", "0"], "validity_months": 0}
    yield Case(offers.update_gift_card_offer, "a1", offer, "suggested.0 suggested.1 validity_months")


async def _of_boxes(tenants: Tenants) -> list[Case]:
    box = await new_box(tenants)
    offer = await new_offer(tenants, box, "a1")
    parts = {"price_range_id": 4711, "image_ids": [4711], "cover_image": 3, "partner_uuids": [UNKNOWN], "ranking": -1}
    told = "name price price_range_id image_ids.0 cover_image partner_uuids.0 ranking"
    nowhere = {"marketplace_uuid": UNKNOWN, "name": NAMELESS, "price": "-1", "cover_image": 3}
    draft = {"name": NAMELESS, "product_id": 4711, "ranking": -1}
    return [
        Case(network_boxes.create_box, "market a", {"name": NAMELESS, "price": "0", **parts}, told),
        Case(network_boxes.create_box, "master", nowhere, "marketplace_uuid name price cover_image"),
        Case(network_boxes.update_box, "market a", {"id": box.id, **UNNAMED, "price": "0", **parts}, told),
        Case(network_offers.create_offer, "a1", {"box_id": 4711, **draft}, "box_id name product_id ranking"),
        Case(
            network_offers.create_offer,
            "market a",
            {"box_id": 4711, **draft, "partner_uuid": UNKNOWN},
            "partner_uuid name ranking",
        ),
        Case(
            network_offers.update_offer, "a1", {"id": offer.id, **draft, "name": {"en": " "}}, "name product_id ranking"
        ),
    ]


async def _of_network_vouchers(tenants: Tenants) -> list[Case]:
    voucher = await network_voucher(tenants, await new_box(tenants))
    box, period = voucher.box_id, {"starts_on": "2030-01-02T00:00:00Z", "expires_on": "2030-01-01T00:00:00Z"}
    new = {"box_id": box, **period, "status": NetworkVoucherStatus.USED, "language": "xx"}
    old = {
        "box_id": box,
        **period,
        "code": "A/B",
        "price": "0.00",
        "usage_count": 3,
        "first_used_on": "2999-01-01T00:00:00Z",
    }
    used = {"code": voucher.code, "partner_id": 4711, "used_on": "2999-01-01T00:00:00Z", "comment": LONG}
    return [
        Case(network_voucher_issuing.issue_network_voucher, "market a", new, "expires_on status language"),
        Case(
            network_voucher_issuing.issue_network_voucher,
            "market a",
            {**new, "box_id": 4711},
            "box_id status language",
        ),
        Case(
            network_voucher_issuing.import_network_voucher,
            "market a",
            old,
            "expires_on code price usage_count first_used_on",
        ),
        Case(
            network_voucher_issuing.import_network_voucher,
            "market a",
            {**old, "box_id": 4711},
            "box_id code price",
        ),
        Case(
            network_voucher_issuing.update_network_voucher,
            "market a",
            {"id": voucher.id, "message": LONG, "is_active": None},
            "message is_active",
        ),
        Case(network_voucher_usages.use_network_voucher, "market a", used, "partner_id used_on comment"),
    ]


def _of_webhooks(tenants: Tenants) -> Iterator[Case]:
    endpoint = tenants.owned["a1"].webhook_endpoint
    sent = {"url": "https://127.0.0.1/", "event_types": [EventType.WEBHOOK_TEST], "description": LONG}
    told = "url event_types description"
    of_nobody = {**sent, "partner_uuid": UNKNOWN}
    yield Case(endpoints.create_webhook_endpoint, "market a", of_nobody, f"partner_uuid {told}")
    yield Case(endpoints.update_webhook_endpoint, "a1", {"id": endpoint, **sent}, told)
    yield Case(endpoints.replay_webhooks, "a1", {"id": endpoint, "until": "2030-01-01T00:00:00Z"}, "since until")


ONE = "One field besides the row that it is about can be wrong, or none."
SHAPES = "Only the shapes of its fields are checked, which are told together anyway."
STATE = "What its shapes leave is refused for the state of things, which is told when the fields are right."
BY_TOKEN = "Its problems are told together, for an order: see tests/resolvers/order/test_by_token.py."
NOT_COVERED: Mapping[str, str] = {
    **dict.fromkeys(("activate_marketplace_payments", "activate_payments", "open_identity_verification"), ONE),
    **dict.fromkeys(("activate_gift_card", "cancel_gift_card", "extend_gift_card", "extend_voucher"), ONE),
    **dict.fromkeys(("cancel_payment_request", "resend_payment_request"), ONE),
    **dict.fromkeys(("cancel_payout_request", "create_payout_request", "validate_payout_request"), ONE),
    **dict.fromkeys(("approve_payout_adjustment", "reject_payout_adjustment"), ONE),
    **dict.fromkeys(("generate_payout_pdf", "generate_payout_xls"), ONE),
    **dict.fromkeys(("issue_partner_invoices", "explain_reconciliation_finding"), ONE),
    "create_credit_note": "Its problems are told together: see tests/resolvers/invoice/test_crediting.py.",
    **dict.fromkeys(("cancel_payment", "retry_refund", "update_payment"), ONE),
    **dict.fromkeys(("preview_order_refund", "preview_refund", "refund_order", "refund_payment"), STATE),
    **dict.fromkeys(("approve_refund_request", "decline_refund_request"), ONE),
    **dict.fromkeys(("create_export", "save_filter"), "Its problems are told together: see tests/resolvers/export."),
    **dict.fromkeys(("cancel_export", "delete_saved_filter"), ONE),
    "create_payment": "Its problems are told together: see tests/resolvers/payment/test_api_payments.py.",
    **dict.fromkeys(("archive_media", "update_media", "change_site_domain"), ONE),
    **dict.fromkeys(("revoke_token", "revoke_user_token"), ONE),
    **dict.fromkeys(("create_token", "create_user_token"), "A wrong password counts as a try: see test_api_tokens.py."),
    **dict.fromkeys(("activate_network_gift_card", "cancel_network_gift_card", "extend_network_gift_card"), ONE),
    **dict.fromkeys(("cancel_network_gift_card_usage", "update_network_gift_card_usage"), ONE),
    **dict.fromkeys(("activate_network_voucher", "cancel_network_voucher", "extend_network_voucher"), ONE),
    **dict.fromkeys(("cancel_network_voucher_usage", "update_network_voucher_usage"), ONE),
    **dict.fromkeys(("capture_gift_card", "release_gift_card", "reverse_gift_card_capture"), ONE),
    **dict.fromkeys(("delete_product_attribute", "delete_voucher_option_link", "delete_webhook_endpoint"), ONE),
    **dict.fromkeys(
        ("discard_job", "retry_job", "resend_mail", "renew_voucher_document", "retire_legal_document"), ONE
    ),
    **dict.fromkeys(("send_onboarding_link", "send_order_link"), ONE),
    **dict.fromkeys(("export_personal_data", "erase_personal_data"), ONE),
    **dict.fromkeys(("mark_order_ready", "mark_order_collected", "mark_order_delivered"), STATE),
    **dict.fromkeys(("cancel_order_fulfilment", "reopen_order_fulfilment"), STATE),
    **dict.fromkeys(("mark_order_sent", "update_order_details"), SHAPES),
    **dict.fromkeys(("resend_gift_by_token", "send_gift_now_by_token", "cancel_refund_request_by_token"), ONE),
    **dict.fromkeys(("reschedule_gift_by_token", "request_refund_by_token"), BY_TOKEN),
    **dict.fromkeys(("remove_voucher_rental", "rotate_return_secret", "rotate_webhook_secret"), ONE),
    **dict.fromkeys(("test_webhook_endpoint", "update_fee_rule", "update_voucher_details"), SHAPES),
    **dict.fromkeys(("update_network_partner", "settle_activation"), STATE),
    "create_voucher_option_link": "Rows that are not there are told first, and one check is left.",
    "create_media": "A picture is decoded only for an input that can be used: decoding costs much.",
    "accept_dispute": ONE,
    **dict.fromkeys(("accept_offer", "reject_offer", "submit_offer"), ONE),
    "register_bank_account": ONE,
    "contest_dispute": STATE,
    "push_dispute_document": "A file is read, and shown to the provider, only for a dispute that can be answered.",
    "push_kyc_document": "A file is read, and shown to the provider, only for an input that can be used.",
    **dict.fromkeys(
        ("set_up_second_factor", "confirm_second_factor", "renew_recovery_codes", "reset_second_factor"), ONE
    ),
    **dict.fromkeys(("impersonate_partner", "end_impersonation"), ONE),
    **dict.fromkeys(("resend_invitation", "revoke_other_sessions"), ONE),
    **dict.fromkeys(("reveal_gift_card_code", "reveal_network_gift_card_code", "reveal_network_voucher_code"), ONE),
    **dict.fromkeys(("reveal_order_page", "reveal_voucher_code"), ONE),
    **dict.fromkeys(("begin_passkey", "delete_passkey", "rename_passkey"), ONE),
    **dict.fromkeys(("obtain_token_with_passkey", "register_passkey"), SHAPES),
    "disable_second_factor": "A wrong password counts as a try, and a code is used up only after a right one.",
    "request_password_reset": SHAPES,
    "reset_password": "Who has no link that works learns nothing of what else is wrong.",
    "change_password": "A wrong password counts as a try, so it is tried only with a new one that can be used.",
    "obtain_token": "Who is not logged in learns nothing about a user's name beside what is wrong with the input.",
}
"""Mutations without a case, and why."""
