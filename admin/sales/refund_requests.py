"""The approval of a buyer's request: what it refunds is shown first, and only that is confirmed."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.core.titles import title_of, url_of
from admin.forms.form_keys import KEY, form_key_of, new_form_key
from admin.forms.local_values import parse_decimal
from admin.forms.typed import YES
from admin.graph.schema_types import access_of, mutations
from admin.graph.selections import value_selection
from admin.pages.details import DONE
from admin.pages.resolving import read_object
from admin.resources.registry import resources
from admin.sales.refunds import (
    BY_CARD,
    BY_GIFT_CARD,
    CHANGED,
    MONEY,
    PREVIEW,
    STEP,
    preview_values,
    run_change,
)
from admin.sales.sold import SoldLine, is_some, money_text, sold_line, sold_selection
from funnel.core.messages import N_
from schema.core.errors import MalformedBody

APPROVE, PREVIEW_REFUND = "approveRefundRequest", "previewOrderRefund"
SLUG = "approve-refund-request"
NOTHING_LEFT = N_("Nothing of it is left to refund.")
SELECTION = (
    "state kind reason customerName includesDelivery lines { quantity line { id } } "
    f"order {{ id deliveryTotal {MONEY} deliveryRefunded {MONEY} %s }}"
)
BOXES: Mapping[str, str] = {"includeDelivery": "delivery", "includeUsed": "used", "restock": "restock"}
"""The boxes of the form by the fields of the input."""


async def show(request: AdminRequest) -> Response:
    """Show what a buyer asks for, and how it can be refunded."""
    values = await _read(request)
    if values["state"] != "PENDING":
        return request.redirect(url_of(resources()["refund-requests"], values))
    return _choose(request, values, {"delivery": YES} if _gives_delivery(values) else {})


async def submit(request: AdminRequest) -> Response:
    """Preview the refund, or approve the request."""
    values, form = await _read(request), request.form
    if form.get(STEP) == "choose":
        return _choose(request, values, form)
    if form.get(STEP) != "confirm":
        return await _preview(request, values)
    if values["state"] == "PENDING" and (changed := await _preview_again(request, values)) is not None:
        return changed
    payload, refused = await run_change(
        request, APPROVE, "refundRequest { id }", _approval(values, form), form_key_of(form)
    )
    if payload is not None:
        return request.redirect(f"{url_of(resources()['refund-requests'], values)}?{DONE}={SLUG}")
    messages = [*refused.others, *refused.by_field.values()]
    if refused.is_open:
        return await _preview(request, values, messages, key=form.get(KEY))
    return _choose(request, values, form, messages)


async def _read(request: AdminRequest) -> dict[str, Any]:
    resource = resources()["refund-requests"]
    request.context.require(access_of(mutations()[APPROVE]))
    request.context.require(resource.access)
    titles = " ".join(value_selection(resource.type, path) for path in (resource.key, *resource.title))
    return await read_object(request, resource, f"{titles} {SELECTION % sold_selection()}")


async def _preview_again(request: AdminRequest, values: Mapping[str, Any]) -> Response | None:
    """The preview once more if it is no longer what the form has shown; None if it still is."""
    shown = {name: _part_in(request.form, name) for name in (BY_CARD, BY_GIFT_CARD)}
    payload, _ = await run_change(
        request, PREVIEW_REFUND, f"refundPreview {{ {PREVIEW} }}", _wish(values, request.form)
    )
    now = payload["refundPreview"] if payload is not None else None
    if now is not None and shown == {
        BY_CARD: Decimal(now["byCard"]["amount"]),
        BY_GIFT_CARD: Decimal(now["byGiftCard"]["amount"]),
    }:
        return None
    return await _preview(request, values, [request.translate(CHANGED)])


def _part_in(form: Mapping[str, str], name: str) -> Decimal:
    """A part of the refund that the preview has shown. Raises MalformedBody if it is missing."""
    try:
        return Decimal(parse_decimal(form.get(name, "")))
    except ValueError as error:
        raise MalformedBody(reason="it was changed on its way") from error


# ---- what is asked for


def _left(values: Mapping[str, Any]) -> Mapping[int, int]:
    """How many of the lines can still be refunded for the request, by their ids; without those of which nothing is left."""
    sold = {each["id"]: each["quantity"] - each["refundedQuantity"] for each in values["order"]["products"]}
    asked = {each["line"]["id"]: each["quantity"] for each in values["lines"]}
    return {id: left for id, quantity in asked.items() if (left := min(quantity, sold[id]))}


def _gives_delivery(values: Mapping[str, Any]) -> bool:
    """Whether the price of delivery goes back unless staff decide otherwise."""
    left = _left(values)
    lines = values["order"]["products"]
    is_rest = all(each["quantity"] - each["refundedQuantity"] <= left.get(each["id"], 0) for each in lines)
    return bool(values["includesDelivery"] or (values["kind"] == "WITHDRAWAL" and is_rest))


def _switches(form: Mapping[str, str]) -> Mapping[str, bool]:
    return {name: form.get(box) == YES for name, box in BOXES.items()}


def _wish(values: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """The refund that the approval makes, as the input of its preview."""
    lines = [{"id": id, "quantity": quantity} for id, quantity in _left(values).items()]
    return {"id": values["order"]["id"], "lines": lines, **_switches(form)}


def _approval(values: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    return {"id": values["id"], "message": form.get("message", "").strip(), **_switches(form)}


# ---- the pages


def _head(request: AdminRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What both pages have."""
    resource = resources()["refund-requests"]
    own, title = url_of(resource, values), title_of(resource, values, request.reader)
    return {"here": resource.slug, "title": title, "back": own, "action": f"{own}{SLUG}/"}


def _lines_to_refund(request: AdminRequest, values: Mapping[str, Any]) -> Sequence[tuple[SoldLine, int]]:
    """The lines of the request of which something is left, with how many."""
    left = _left(values)
    return [(sold_line(request, each), left[each["id"]]) for each in values["order"]["products"] if each["id"] in left]


def _choose(
    request: AdminRequest, values: Mapping[str, Any], form: Mapping[str, str], problems: Sequence[str] = ()
) -> Response:
    """The page with what is asked for, and what staff decide about it."""
    order, lines = values["order"], _lines_to_refund(request, values)
    delivery = Decimal(order["deliveryTotal"]["amount"]) - Decimal(order["deliveryRefunded"]["amount"])
    total = {"amount": str(delivery), "currency": order["deliveryTotal"]["currency"]}
    return request.render(
        "refund_request.html",
        400 if problems else 200,
        **_head(request, values),
        lines=lines,
        reason=values["reason"],
        delivery=money_text(request, total) if is_some(total) else "",
        has_goods=any(line.issued.kind == "empty" for line, _ in lines),
        form=form,
        problems=[*problems] or ([] if lines else [request.translate(NOTHING_LEFT)]),
    )


async def _preview(
    request: AdminRequest, values: Mapping[str, Any], notices: Sequence[str] = (), *, key: str | None = None
) -> Response:
    """The page with what the approval would refund. If it is not possible, the page before it."""
    form = request.form
    payload, refused = await run_change(request, PREVIEW_REFUND, f"refundPreview {{ {PREVIEW} }}", _wish(values, form))
    if payload is None:
        return _choose(request, values, form, [*notices, *refused.others, *refused.by_field.values()])
    return request.render(
        "refund_preview.html",
        400 if notices else 200,
        **_head(request, values),
        **preview_values(request, values["order"]["products"], payload["refundPreview"]),
        confirm=N_("Approve and refund %(amount)s"),
        notices=notices,
        key=key or new_form_key(),
    )
