"""The picture of a document that is not paid for yet."""

from starlette.responses import Response

from funnel.checkout import basket_form
from funnel.checkout.request import CheckoutRequest
from funnel.core.pages import HEADERS
from resolvers.checkout.preview import preview_gift

KEPT = {name: HEADERS[name] for name in ("Referrer-Policy", "X-Content-Type-Options")} | {
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
}


async def show(request: CheckoutRequest) -> Response:
    """The document of the draft in the query, or of the line."""
    query = request.http_request.query_params
    line_id, draft = basket_form.line_id_of(query), query.get("draft", "")
    picture = await preview_gift(request.context, request.key, line_id, draft, request.language)
    return Response(picture, headers=KEPT, media_type="image/png")
