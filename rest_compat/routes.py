"""The route table of the REST interface: one entry per route."""

from collections.abc import Mapping, Sequence

from resolvers.account.tokens import me, obtain_token
from resolvers.activation.activation import activate_payments
from resolvers.cart.carts import ecommerce_cart, save_ecommerce_cart
from resolvers.cart.multi_product_carts import create_multi_product_cart
from resolvers.catalogue.option_categories import (
    create_voucher_option_category,
    update_voucher_option_category,
    voucher_option_categories,
    voucher_option_category,
)
from resolvers.catalogue.option_links import update_voucher_option_link
from resolvers.catalogue.options import create_voucher_option, voucher_option, voucher_options
from resolvers.catalogue.prototypes import (
    create_voucher_prototype,
    update_voucher_prototype,
    voucher_prototype,
    voucher_prototypes,
)
from resolvers.gift_card.gift_cards import gift_card, gift_card_with_code, gift_cards
from resolvers.kyc.documents import push_kyc_document
from resolvers.kyc.identity import open_identity_verification
from resolvers.kyc.levels import kyc_level
from resolvers.media.media import create_media, media, media_by_id, update_media
from resolvers.partner.network_partners import create_network_partner, update_network_partner
from resolvers.partner.partners import create_partner, partner_by_company_number, update_partner
from resolvers.partner.partners import partner as partner_with_uuid
from resolvers.payment.creation import create_payment, update_payment
from resolvers.payment.payments import payment, payments
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.payment.transfers import transfers
from resolvers.voucher.updates import update_voucher
from resolvers.voucher.vouchers import voucher as voucher_with_code
from resolvers.voucher.vouchers import vouchers
from resolvers.wallet import wallet
from rest_compat.http.body import Accepts
from rest_compat.http.route import DEFAULT_SERVICE, ConditionalStatus, ResponseEnvelope, RestRoute, RowsOf
from rest_compat.resources import auth, cart, kyc, network_box, partner, payment_changes
from rest_compat.resources import gift_card as gift_card_shapes
from rest_compat.resources import invoice as invoice_shapes
from rest_compat.resources import network_gift_card as network_gift_cards
from rest_compat.resources import network_voucher as network_vouchers
from rest_compat.resources import payment as payment_shapes
from rest_compat.resources import payment_request as payment_requests
from rest_compat.resources import payout as payouts
from rest_compat.resources import transfer as transfer_shapes
from rest_compat.resources import voucher as voucher_shapes
from rest_compat.resources import voucher_option as option
from rest_compat.resources import voucher_prototype as prototype
from rest_compat.resources.media import MEDIA, MEDIA_CHANGE
from rest_compat.resources.payment import PAYMENT_LINK
from schema.core.errors import CartNotFound

CREATED_OR_REPLACED = ConditionalStatus(
    lambda saved: 201 if saved.created else 200, ((201, "The cart was created."), (200, "The cart was replaced."))
)

GROUPS: Mapping[str, Sequence[RestRoute]] = {
    "Log-in": (
        RestRoute(
            "POST",
            "/api-token-auth/",
            obtain_token,
            auth.TOKEN,
            accepts=Accepts.FORM,
            graphql_only=("label", "hours"),
            example=auth.LOG_IN,
        ),
        RestRoute("GET", "/api/permissions/", me, auth.PERMISSIONS),
    ),
    "Partners": (
        RestRoute(
            "POST",
            "/api/payment_hub/partner/create/",
            create_partner,
            partner.CREATED_PARTNER,
            status=201,
            renamed=partner.RENAMED_PARTNER_KEYS,
            graphql_only=partner.GRAPHQL_ONLY,
            example=partner.NEW_PARTNER,
        ),
        RestRoute(
            "PATCH|PUT",
            "/api/payment_hub/partner/{partner_uuid}/",
            update_partner,
            partner.UPDATED_PARTNER,
            renamed={**partner.RENAMED_PARTNER_KEYS, "partner_uuid": "uuid"},
            graphql_only=("logo_url", "payment_methods", "refund_policy", "start_page", "theme", *partner.GRAPHQL_ONLY),
            example=partner.CHANGE,
        ),
        RestRoute(
            "POST",
            "/api/payment_hub/partner/{partner_uuid}/activate-payments/",
            activate_payments,
            partner.PAYMENT_ACTIVATION,
            example={},
        ),
        RestRoute("GET", "/api/payment_hub/partner/{partner_uuid}/", partner_with_uuid, partner.PARTNER),
        RestRoute("GET", "/api/payment_hub/partner/check/", partner_by_company_number, partner.FOUND_PARTNER),
        RestRoute(
            "POST",
            "/api/payment_hub/network_partner/create/",
            create_network_partner,
            partner.NETWORK_PARTNER,
            status=201,
            body=partner.NetworkPartnerBody,
            renamed=partner.RENAMED_NETWORK_PARTNER_KEYS,
            example=partner.NEW_NETWORK_PARTNER,
        ),
        RestRoute(
            "PATCH|PUT",
            "/api/payment_hub/network_partner/update/",
            update_network_partner,
            partner.UPDATED_NETWORK_PARTNER,
            renamed=partner.RENAMED_LINK_KEYS,
            example=partner.NETWORK_CHANGE,
        ),
    ),
    "Identification": (
        RestRoute(
            "POST",
            "/api/payment_hub/kyc_documents/",
            push_kyc_document,
            kyc.KYC_DOCUMENT,
            status=201,
            accepts=Accepts.UPLOAD,
        ),
        RestRoute("GET", "/api/payment_hub/partner/{partner_uuid}/kyc_level/", kyc_level, kyc.KYC_LEVEL),
        RestRoute(
            "POST|GET",
            "/api/payment_hub/partner/{partner_uuid}/identity_verification/",
            open_identity_verification,
            kyc.IDENTITY_VERIFICATION,
        ),
    ),
    "Carts": (
        RestRoute(
            "POST",
            "/api/v2/ecommerce/cart/",
            save_ecommerce_cart,
            cart.CART,
            status=CREATED_OR_REPLACED,
            body=cart.CartBody,
            example=cart.NEW_CART,
        ),
        RestRoute("GET", "/api/v2/ecommerce/cart/{id}/", ecommerce_cart, cart.CART, missing=CartNotFound),
        RestRoute(
            "POST",
            "/api/multi_product_cart/",
            create_multi_product_cart,
            cart.MULTI_PRODUCT_CART,
            status=201,
            body=cart.MultiProductCartBody,
            renamed={"data": "items"},
            links=(cart.CHECKOUT_LINK,),
            example=cart.NEW_MULTI_PRODUCT_CART,
        ),
    ),
    "Media": (
        RestRoute("POST", "/api/medias/", create_media, MEDIA, status=201, accepts=Accepts.UPLOAD),
        RestRoute("GET", "/api/medias/", media, MEDIA, ResponseEnvelope.ARRAY),
        RestRoute("GET", "/api/medias/{id}/", media_by_id, MEDIA),
        RestRoute("PATCH|PUT", "/api/medias/{id}/", update_media, MEDIA, example=MEDIA_CHANGE),
    ),
    "Catalogue": (
        RestRoute(
            "POST",
            "/api/voucher_prototypes/",
            create_voucher_prototype,
            prototype.PROTOTYPE,
            status=201,
            renamed=prototype.RENAMED_KEYS,
            required=prototype.REQUIRED,
            graphql_only=prototype.GRAPHQL_ONLY,
            example=prototype.NEW_PROTOTYPE,
        ),
        RestRoute("GET", "/api/voucher_prototypes/", voucher_prototypes, prototype.PROTOTYPE, ResponseEnvelope.PAGE),
        RestRoute("GET", "/api/voucher_prototypes/{id}/", voucher_prototype, prototype.PROTOTYPE),
        RestRoute(
            "PUT|PATCH",
            "/api/voucher_prototypes/{id}/",
            update_voucher_prototype,
            prototype.PROTOTYPE,
            renamed=prototype.RENAMED_KEYS,
            required=prototype.REQUIRED,
            graphql_only=prototype.GRAPHQL_ONLY,
            example=prototype.NEW_PROTOTYPE,
        ),
        RestRoute(
            "GET",
            "/api/voucher_prototypes/{id}/options/",
            voucher_prototype,
            option.LINK,
            ResponseEnvelope.ARRAY,
            through="option_links",
        ),
        RestRoute(
            "POST",
            "/api/voucher_options/",
            create_voucher_option,
            option.OPTION,
            status=201,
            renamed=option.RENAMED_OPTION_KEYS,
            required=option.REQUIRED_OPTION,
            example=option.NEW_OPTION,
        ),
        RestRoute("GET", "/api/voucher_options/", voucher_options, option.OPTION, ResponseEnvelope.PAGE),
        RestRoute("GET", "/api/voucher_options/{id}/", voucher_option, option.OPTION),
        RestRoute(
            "PUT|PATCH",
            "/api/voucher_option_links/{id}/",
            update_voucher_option_link,
            option.LINK,
            body=option.LinkBody,
            required=option.REQUIRED_LINK,
            example=option.LINK_CHANGE,
        ),
        RestRoute(
            "POST",
            "/api/voucher_option_categories/",
            create_voucher_option_category,
            option.CATEGORY,
            status=201,
            body=option.CategoryBody,
            required=option.REQUIRED_CATEGORY,
            example=option.NEW_CATEGORY,
        ),
        RestRoute(
            "GET", "/api/voucher_option_categories/", voucher_option_categories, option.CATEGORY, ResponseEnvelope.ARRAY
        ),
        RestRoute("GET", "/api/voucher_option_categories/{id}/", voucher_option_category, option.CATEGORY),
        RestRoute(
            "PUT|PATCH",
            "/api/voucher_option_categories/{id}/",
            update_voucher_option_category,
            option.CATEGORY,
            required=option.REQUIRED_CATEGORY,
            example=option.NEW_CATEGORY,
        ),
    ),
    "Gift cards": (
        RestRoute(
            "GET",
            "/api/giftcards/",
            gift_cards,
            gift_card_shapes.GIFT_CARD,
            ResponseEnvelope.PAGE,
            query=gift_card_shapes.QUERY,
            ordering=gift_card_shapes.ORDERING,
        ),
        RestRoute(
            "GET", "/api/giftcards/{id}/", gift_card, gift_card_shapes.GIFT_CARD, links=(gift_card_shapes.WALLET_LINK,)
        ),
        RestRoute(
            "GET",
            "/api/giftcards_by_code/{code}/",
            gift_card_with_code,
            gift_card_shapes.GIFT_CARD,
            links=(gift_card_shapes.WALLET_LINK,),
        ),
    ),
    "Network gift cards": network_gift_cards.ROUTES,
    "Network vouchers": network_vouchers.ROUTES,
    "Vouchers": (
        RestRoute(
            "GET",
            "/api/vouchers/",
            vouchers,
            voucher_shapes.VOUCHER,
            ResponseEnvelope.PAGE,
            query=voucher_shapes.QUERY,
            ordering=voucher_shapes.ORDERING,
        ),
        RestRoute("GET", "/api/vouchers/{code}/", voucher_with_code, voucher_shapes.VOUCHER),
        RestRoute(
            "PATCH|PUT",
            "/api/vouchers/{code}/",
            update_voucher,
            voucher_shapes.VOUCHER,
            graphql_only=("from_state", "rental", "remove_rental_ids"),
            example=voucher_shapes.CHANGE,
        ),
    ),
    "Boxes": network_box.ROUTES,
    "Payments": (
        RestRoute(
            "GET",
            "/api/payments/",
            payments,
            payment_shapes.PAYMENT,
            ResponseEnvelope.PAGE,
            query=payment_shapes.QUERY,
            ordering=payment_shapes.ORDERING,
        ),
        RestRoute(
            "POST",
            "/api/payments/",
            create_payment,
            payment_changes.CREATED_PAYMENT,
            status=201,
            renamed=payment_changes.RENAMED_PAYMENT_KEYS,
            graphql_only=("language",),
            links=(PAYMENT_LINK,),
            example=payment_changes.NEW_PAYMENT,
        ),
        RestRoute(
            "PATCH|PUT",
            "/api/payments/{id}/",
            update_payment,
            payment_changes.UPDATED_PAYMENT,
            example=payment_changes.PAYMENT_CHANGE,
        ),
        RestRoute(
            "POST",
            "/api/payments/{id}/refund/",
            refund_payment,
            payment_changes.REFUND,
            graphql_only=("reason",),
            example=payment_changes.REFUND_REQUEST,
        ),
        RestRoute("GET", "/api/payments/{id}/", payment, payment_shapes.PAYMENT, links=(PAYMENT_LINK,)),
        RestRoute(
            "GET",
            "/api/payments/{id}/transactions/",
            payment,
            payment_shapes.TRANSACTION,
            ResponseEnvelope.ARRAY,
            through="transactions",
            newest_first=True,
        ),
    ),
    "Payment requests": payment_requests.ROUTES,
    "Payout requests": payouts.ROUTES,
    "Invoices": invoice_shapes.ROUTES,
    "Wallets": (
        RestRoute(
            "GET",
            "/api/wallets/{uuid}/transfers/",
            transfers,
            transfer_shapes.TRANSFER,
            ResponseEnvelope.PAGE,
            rows_of=RowsOf(wallet, "wallet_uuid"),
            query=transfer_shapes.QUERY,
            ordering=transfer_shapes.ORDERING,
        ),
    ),
}


def groups_of_service(name: str) -> Mapping[str, Sequence[RestRoute]]:
    """The groups of routes as a service with this name answers them."""
    return {group: [route.with_service(name) for route in routes] for group, routes in GROUPS.items()}


ROUTES: Sequence[RestRoute] = [route for routes in groups_of_service(DEFAULT_SERVICE).values() for route in routes]
"""The routes of a service with the default name."""
