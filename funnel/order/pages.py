"""The page of an order, its buttons, and its calendar files."""

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.languages import translations
from funnel.core.messages import PageMessage
from funnel.core.pages import HEADERS
from funnel.order.calendar import REMINDER, calendar_file
from funnel.order.fulfilment_texts import CANCELLED_NOTE, FULFILMENT_STEPS, FULFILMENT_TITLES
from funnel.order.gifts import GIFTS, NOTES, SENT, gift_error
from funnel.order.request import OrderRequest
from funnel.order.request_texts import REQUEST_STATES, REQUEST_TITLES
from funnel.order.requests import REQUESTS
from funnel.order.texts import ISSUED_NOTES, STATUS_NOTES
from resolvers.order.mailing import resend_order_link
from schema.core.errors import NotFound
from schema.order.fulfilment import FulfilmentState
from schema.order.page import FIND_PATH, IssuedState, OrderPage
from store.core.localization.formats import Formats

AGAIN = "again"
"""The place of the link's button."""


async def show(request: OrderRequest) -> Response:
    """The page. It changes nothing, so link scanners may open it."""
    again, gifts = await request.take_flash(AGAIN), await request.take_flash(GIFTS)
    arrived = await request.take_flash(REQUESTS)
    return request.render(
        "order/page.html",
        page=request.page,
        issued_notes=ISSUED_NOTES,
        fulfilment_titles=FULFILMENT_TITLES,
        fulfilment_steps=FULFILMENT_STEPS,
        request_titles=REQUEST_TITLES,
        request_states=REQUEST_STATES,
        has_arrived=bool(arrived.problems),
        status_note=_note_of(request.page),
        is_link_sent=bool(again.problems),
        gift_notes={place: code for place, code in gifts.problems if code in NOTES},
        errors=[gift_error(request, place, code) for place, code in gifts.problems if code not in NOTES],
        typed=gifts.fields,
    )


def _note_of(page: OrderPage) -> PageMessage | None:
    cancelled = page.fulfilment is not None and page.fulfilment.state is FulfilmentState.CANCELLED
    return STATUS_NOTES.get(page.status) or (CANCELLED_NOTE if cancelled else None)


async def send_again(request: OrderRequest) -> Response:
    """The button that sends the link to the page."""
    await resend_order_link(request.context, request.token)
    await request.put_flash(AGAIN, Flash(((AGAIN, SENT),)))
    return request.redirect_to_start()


async def calendar(request: OrderRequest) -> Response:
    """A calendar file with the last day of a voucher or gift card. Raises NotFound for what has none."""
    page, position = request.page, int(request.http_request.path_params["position"])
    item = page.lines[position].issued_item if position < len(page.lines) else None
    if item is None or item.expires_on is None or item.state is not IssuedState.USABLE:
        raise NotFound(thing="page")
    name = Formats(request.language).translate(page.lines[position].name) or page.brand.name
    title = translations(request.language).gettext(REMINDER) % {"name": name, "shop": page.brand.name}
    content = calendar_file(page, item, title, position=position, url=request.origin + FIND_PATH)
    headers = {name: HEADERS[name] for name in ("Cache-Control", "Referrer-Policy", "X-Content-Type-Options")}
    headers["Content-Disposition"] = f'attachment; filename="{page.number}-{position + 1}.ics"'
    return Response(content, headers=headers, media_type="text/calendar")
