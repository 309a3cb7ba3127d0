"""The pages on which buyers withdraw from the contract or ask for a refund: a form, its review, and its confirmation."""

import re
from collections.abc import Mapping, Sequence
from uuid import UUID, uuid4

from starlette.responses import Response

from funnel.core.email_hints import is_hint_due, is_taken, with_suggestion
from funnel.core.flash import Flash
from funnel.core.page_request import PageLink
from funnel.order.request import OrderRequest
from funnel.order.request_texts import BACK_TO_ORDER, CLOSED, OBSTACLES
from resolvers.order.by_token import cancel_refund_request_by_token, request_refund_by_token
from resolvers.order.withdrawal import find_refund_form, find_seller, review_refund_request
from schema.core.errors import InvalidInput, NotFound, Problem
from schema.order.errors import RefundRequested, WithdrawalClosed
from schema.order.page_requests import BuyerWish, RefundForm
from schema.order.refund_request import LONGEST_EMAIL, LONGEST_NAME, LONGEST_REASON, RefundRequestKind
from schema.order.token_input import CancelRefundRequestByToken, RequestedLineInput, RequestRefundByToken
from schema.validation.mail_domains import suggested_email
from schema.validation.numbers import LARGEST_ID

FORM, REQUESTS = "request", "requests"
"""The places of the messages of the form, and of the page of the order."""
ARRIVED = "ARRIVED"
EMAIL = "email"
PIECE = "piece-"
"""The fields with the quantities, by the place of the line."""
LIMITS = {"name": LONGEST_NAME, "email": LONGEST_EMAIL, "reason": LONGEST_REASON}
MOST_PIECES = 9999
ID = re.compile(r"[0-9]{1,10}")


async def show_form(request: OrderRequest) -> Response:
    """The form. It changes nothing, so link scanners may open it."""
    form, told = await find_refund_form(request.context, request.token), await request.take_flash(FORM)
    if form.offer is None:
        return _closed(request)
    typed = dict(told.fields) or _prefilled(request, form)
    return _form(request, form, typed, told.problems, 200)


async def review(request: OrderRequest) -> Response:
    """The request as it would be sent, for the buyer to confirm; or the form once more, with a hint at a mistyped address
    too.
    """
    form = await find_refund_form(request.context, request.token)
    if form.offer is None:
        return _closed(request)
    if "change" in request.form or is_taken(request.form, EMAIL):
        return _form(request, form, with_suggestion(request.form, EMAIL), (), 200)
    try:
        wish = _wish_of(request)
        found = await review_refund_request(request.context, request.token, wish)
    except (InvalidInput, RefundRequested, WithdrawalClosed) as error:
        problems = [(place, code) for place, code in _places(error.problems)]
        return _form(request, form, request.form, problems, 422)
    if is_hint_due(request.form, EMAIL, form.country):
        return _form(request, form, request.form, (), 200)
    return request.render("order/review.html", page=request.page, offer=form.offer, review=found, piece=PIECE)


async def confirm(request: OrderRequest) -> Response:
    """The button that sends the request. Pressed twice, it sends one."""
    try:
        await request_refund_by_token(request.context, _input_of(request.token, _wish_of(request)))
    except (InvalidInput, RefundRequested, WithdrawalClosed) as error:
        await request.put_flash(FORM, Flash(tuple(_places(error.problems)), request.form))
        return request.redirect(request.path(FORM))
    await request.put_flash(REQUESTS, Flash(((REQUESTS, ARRIVED),)))
    return request.redirect(f"{request.start}#{REQUESTS}")


async def cancel(request: OrderRequest) -> Response:
    """The button that takes a request back. One that is answered meanwhile stays as it is: the page shows it."""
    digits = str(request.http_request.path_params["id"])
    if not ID.fullmatch(digits) or int(digits) > LARGEST_ID:
        raise NotFound(thing="request")
    await cancel_refund_request_by_token(
        request.context, CancelRefundRequestByToken(token=request.token, id=int(digits))
    )
    return request.redirect(f"{request.start}#{REQUESTS}")


async def model_form(request: OrderRequest) -> Response:
    """The model form of a withdrawal, to print, fill in and send by post."""
    seller = await find_seller(request.context, request.token)
    return request.render("order/model_form.html", page=request.page, seller=seller)


def _form(
    request: OrderRequest, form: RefundForm, typed: Mapping[str, str], problems: Sequence[tuple[str, str]], status: int
) -> Response:
    errors = [request.field_error(place, code) for place, code in problems]
    return request.render(
        "order/request.html",
        status,
        page=request.page,
        form=form,
        typed=typed,
        errors=errors,
        limits=LIMITS,
        piece=PIECE,
        obstacles=OBSTACLES,
        suggestion=suggested_email(typed.get(EMAIL, ""), form.country),
    )


def _closed(request: OrderRequest) -> Response:
    return request.render_message(CLOSED, [PageLink(request.start, BACK_TO_ORDER)], 409)


def _prefilled(request: OrderRequest, form: RefundForm) -> dict[str, str]:
    """The form as it is first: everything that can be asked for, from the buyer."""
    pieces = {f"{PIECE}{at}": str(line.quantity) for at, line in enumerate(form.lines) if line.quantity}
    return {"name": form.name, "email": request.page.email, **pieces}


def _wish_of(request: OrderRequest) -> BuyerWish:
    """What a form asks for. Quantities that are none are told as such by the review."""
    fields = request.form
    try:
        key = UUID(fields.get("key", ""))
    except ValueError:
        key = uuid4()
    withdraws = fields.get("kind") == RefundRequestKind.WITHDRAWAL.value
    return BuyerWish(
        key=key,
        kind=RefundRequestKind.WITHDRAWAL if withdraws else RefundRequestKind.REFUND,
        quantities={at: _quantity(fields.get(f"{PIECE}{at}", "")) for at in range(len(request.page.lines))},
        name=fields.get("name", ""),
        email=fields.get("email", ""),
        reason=fields.get("reason", ""),
    )


def _input_of(token: str, wish: BuyerWish) -> RequestRefundByToken:
    lines = [RequestedLineInput(position=at, quantity=count) for at, count in wish.quantities.items() if count]
    told = {"name": wish.name, "email": wish.email, "reason": wish.reason}
    return RequestRefundByToken(token=token, key=wish.key, kind=wish.kind, lines=lines, **told)


def _quantity(text: str) -> int:
    """The quantity of a field; 0 if it is empty, and more than any order has if it is none."""
    if not text.strip():
        return 0
    return int(text) if text.isascii() and text.isdigit() and len(text) < len(str(MOST_PIECES)) else MOST_PIECES


def _places(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """The fields of problems; those of the state of the order are at its lines."""
    return [(str(each.path[-1]) if each.path else "lines", each.code) for each in problems]
