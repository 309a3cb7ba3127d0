"""The whole REST interface on a page: one line a route."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from resolvers.account.tokens import me, obtain_token
from resolvers.activation.activation import activate_payments
from resolvers.cart.carts import ecommerce_cart, save_ecommerce_cart
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
from resolvers.core.listing import Listing, Lookup
from resolvers.gift_card.gift_cards import gift_card, gift_card_with_code, gift_cards
from resolvers.kyc.documents import push_kyc_document
from resolvers.kyc.identity import open_identity_verification
from resolvers.kyc.levels import kyc_level
from resolvers.media.media import create_media, media, media_by_id, update_media
from resolvers.partner.network_partners import create_network_partner, update_network_partner
from resolvers.partner.partners import create_partner, partner_by_company_number, update_partner
from resolvers.partner.partners import partner as partner_with_uuid
from resolvers.voucher.updates import update_voucher
from resolvers.voucher.vouchers import voucher as voucher_with_code
from resolvers.voucher.vouchers import vouchers
from rest_compat.docs import DocsOptions, documentation
from rest_compat.http.body import Accepts
from rest_compat.http.endpoint import ContextOf, Endpoint
from rest_compat.http.errors import method_not_allowed, not_found
from rest_compat.http.lists import ListEndpoint
from rest_compat.http.operations import LookupEndpoint, OperationEndpoint
from rest_compat.http.path_table import PathTable
from rest_compat.http.route import Envelope, Route, Status
from rest_compat.openapi.document import document
from rest_compat.openapi.reference import reference_of
from rest_compat.resources import auth, cart, kyc, partner
from rest_compat.resources import gift_card as gift_card_shapes
from rest_compat.resources import voucher as voucher_shapes
from rest_compat.resources import voucher_option as option
from rest_compat.resources import voucher_prototype as prototype
from rest_compat.resources.media import MEDIA, RENAMED
from schema.core.errors import CartNotFound

CREATED_OR_REPLACED = Status(
    lambda saved: 201 if saved.created else 200, ((201, "A new cart."), (200, "A cart in place of the one before."))
)

GROUPS: Mapping[str, Sequence[Route]] = {
    "Log-in": (
        Route(
            "POST",
            "/api-token-auth/",
            obtain_token,
            auth.TOKEN,
            accepts=Accepts.FORM,
            keyless=("label", "hours"),
            example=auth.LOG_IN,
        ),
        Route("GET", "/api/permissions/", me, auth.PERMISSIONS),
    ),
    "Partners": (
        Route(
            "POST",
            "/api/payment_hub/partner/create/",
            create_partner,
            partner.CREATED_PARTNER,
            status=201,
            renamed=partner.SENT_PARTNER,
            keyless=partner.KEYLESS,
            example=partner.NEW_PARTNER,
        ),
        Route(
            "PATCH|PUT",
            "/api/payment_hub/partner/{partner_uuid}/",
            update_partner,
            partner.UPDATED_PARTNER,
            renamed={**partner.SENT_PARTNER, "partner_uuid": "uuid"},
            keyless=("logo_url", *partner.KEYLESS),
            example=partner.CHANGE,
        ),
        Route(
            "POST",
            "/api/payment_hub/partner/{partner_uuid}/activate-payments/",
            activate_payments,
            partner.PAYMENT_ACTIVATION,
            example={},
        ),
        Route("GET", "/api/payment_hub/partner/{partner_uuid}/", partner_with_uuid, partner.PARTNER),
        Route("GET", "/api/payment_hub/partner/check/", partner_by_company_number, partner.FOUND_PARTNER),
        Route(
            "POST",
            "/api/payment_hub/network_partner/create/",
            create_network_partner,
            partner.NETWORK_PARTNER,
            status=201,
            body=partner.NetworkPartnerBody,
            renamed=partner.SENT_NETWORK_PARTNER,
            example=partner.NEW_NETWORK_PARTNER,
        ),
        Route(
            "PATCH|PUT",
            "/api/payment_hub/network_partner/update/",
            update_network_partner,
            partner.UPDATED_NETWORK_PARTNER,
            renamed=partner.SENT_LINKS,
            example=partner.NETWORK_CHANGE,
        ),
    ),
    "Identification": (
        Route(
            "POST",
            "/api/payment_hub/kyc_documents/",
            push_kyc_document,
            kyc.KYC_DOCUMENT,
            status=201,
            accepts=Accepts.UPLOAD,
        ),
        Route("GET", "/api/payment_hub/partner/{partner_uuid}/kyc_level/", kyc_level, kyc.KYC_LEVEL),
        Route(
            "POST|GET",
            "/api/payment_hub/partner/{partner_uuid}/identity_verification/",
            open_identity_verification,
            kyc.IDENTITY_VERIFICATION,
        ),
    ),
    "Carts": (
        Route(
            "POST",
            "/api/v2/ecommerce/cart/",
            save_ecommerce_cart,
            cart.CART,
            status=CREATED_OR_REPLACED,
            body=cart.CartBody,
            example=cart.NEW_CART,
        ),
        Route("GET", "/api/v2/ecommerce/cart/{id}/", ecommerce_cart, cart.CART, missing=CartNotFound),
    ),
    "Media": (
        Route("POST", "/api/medias/", create_media, MEDIA, status=201, accepts=Accepts.UPLOAD),
        Route("GET", "/api/medias/", media, MEDIA, Envelope.ARRAY),
        Route("GET", "/api/medias/{id}/", media_by_id, MEDIA),
        Route("PATCH|PUT", "/api/medias/{id}/", update_media, MEDIA, example=RENAMED),
    ),
    "Catalogue": (
        Route(
            "POST",
            "/api/voucher_prototypes/",
            create_voucher_prototype,
            prototype.PROTOTYPE,
            status=201,
            renamed=prototype.SENT,
            required=prototype.REQUIRED,
            example=prototype.NEW_PROTOTYPE,
        ),
        Route("GET", "/api/voucher_prototypes/", voucher_prototypes, prototype.PROTOTYPE, Envelope.PAGE),
        Route("GET", "/api/voucher_prototypes/{id}/", voucher_prototype, prototype.PROTOTYPE),
        Route(
            "PUT|PATCH",
            "/api/voucher_prototypes/{id}/",
            update_voucher_prototype,
            prototype.PROTOTYPE,
            renamed=prototype.SENT,
            required=prototype.REQUIRED,
            example=prototype.NEW_PROTOTYPE,
        ),
        Route(
            "GET",
            "/api/voucher_prototypes/{id}/options/",
            voucher_prototype,
            option.LINK,
            Envelope.ARRAY,
            through="option_links",
        ),
        Route(
            "POST",
            "/api/voucher_options/",
            create_voucher_option,
            option.OPTION,
            status=201,
            renamed=option.SENT_OPTION,
            required=option.REQUIRED_OPTION,
            example=option.NEW_OPTION,
        ),
        Route("GET", "/api/voucher_options/", voucher_options, option.OPTION, Envelope.PAGE),
        Route("GET", "/api/voucher_options/{id}/", voucher_option, option.OPTION),
        Route(
            "PUT|PATCH",
            "/api/voucher_option_links/{id}/",
            update_voucher_option_link,
            option.LINK,
            body=option.LinkBody,
            required=option.REQUIRED_LINK,
            example=option.LINK_CHANGE,
        ),
        Route(
            "POST",
            "/api/voucher_option_categories/",
            create_voucher_option_category,
            option.CATEGORY,
            status=201,
            body=option.CategoryBody,
            required=option.REQUIRED_CATEGORY,
            example=option.NEW_CATEGORY,
        ),
        Route("GET", "/api/voucher_option_categories/", voucher_option_categories, option.CATEGORY, Envelope.ARRAY),
        Route("GET", "/api/voucher_option_categories/{id}/", voucher_option_category, option.CATEGORY),
        Route(
            "PUT|PATCH",
            "/api/voucher_option_categories/{id}/",
            update_voucher_option_category,
            option.CATEGORY,
            required=option.REQUIRED_CATEGORY,
            example=option.NEW_CATEGORY,
        ),
    ),
    "Gift cards": (
        Route(
            "GET",
            "/api/giftcards/",
            gift_cards,
            gift_card_shapes.GIFT_CARD,
            Envelope.PAGE,
            query=gift_card_shapes.QUERY,
            ordering=gift_card_shapes.ORDERING,
        ),
        Route("GET", "/api/giftcards/{id}/", gift_card, gift_card_shapes.GIFT_CARD),
        Route("GET", "/api/giftcards_by_code/{code}/", gift_card_with_code, gift_card_shapes.GIFT_CARD),
    ),
    "Vouchers": (
        Route(
            "GET",
            "/api/vouchers/",
            vouchers,
            voucher_shapes.VOUCHER,
            Envelope.PAGE,
            query=voucher_shapes.QUERY,
            ordering=voucher_shapes.ORDERING,
        ),
        Route("GET", "/api/vouchers/{code}/", voucher_with_code, voucher_shapes.VOUCHER),
        Route(
            "PATCH|PUT",
            "/api/vouchers/{code}/",
            update_voucher,
            voucher_shapes.VOUCHER,
            keyless=("from_state", "rental", "rental_ids_off"),
            example=voucher_shapes.CHANGE,
        ),
    ),
}
ROUTES: Sequence[Route] = [route for routes in GROUPS.values() for route in routes]


DEFAULT_DOCS = DocsOptions()


class RestRoutes(BaseRoute):
    """All routes as one, so that finding the right one costs the same however many there are.

    Whatever is under `/api/` is answered here, paths that no route has included.
    """

    def __init__(self, routes: Iterable[tuple[Route, Endpoint]]) -> None:
        self.table: PathTable[Endpoint] = PathTable()
        for route, target in routes:
            self.table.add(route.verbs, route.path, target)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for one of the routes."""
        if scope["type"] != "http":
            return Match.NONE, {}
        path: str = scope["path"]
        root: str = scope.get("root_path", "")
        found = self.table.find(path.removeprefix(root))
        if found is None and not path.startswith(f"{root}/api/"):
            return Match.NONE, {}
        return Match.FULL, {"endpoint": self, "rest": found}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request."""
        found = scope["rest"]
        method: str = scope["method"]
        if found is None:
            await not_found().send(send, head=method == "HEAD")
            return
        methods, given = found
        target = methods.get(method)
        if target is None:
            await method_not_allowed(method, methods).send(send, head=method == "HEAD")
            return
        await target(scope, receive, send, given)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Routes have no names here."""
        raise NoMatchFound(name, path_params)


def endpoint(route: Route, context_of: ContextOf) -> Endpoint:
    """What answers a route."""
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    match route.operation:
        case Listing():
            return ListEndpoint(route, context_of, names)
        case Lookup():
            return LookupEndpoint(route, context_of, names)
        case _:
            return OperationEndpoint(route, context_of, names)


def rest_routes(context_of: ContextOf, options: DocsOptions = DEFAULT_DOCS) -> list[BaseRoute]:
    """All there is to mount: the API, then the pages of its documentation. `context_of` makes the context of a request; it
    refuses a token that is not good.
    """
    answering = {group: [(route, endpoint(route, context_of)) for route in routes] for group, routes in GROUPS.items()}
    rest = RestRoutes([pair for pairs in answering.values() for pair in pairs])
    return [rest, *documentation(lambda: document(answering, reference_of), GROUPS, reference_of, options)]
