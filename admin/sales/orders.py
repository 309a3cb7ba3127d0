"""The page of an order, in the order of the work with it: the next step, the lines, delivery, buyer, money, history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.core.values import Cell, in_language
from admin.graph.labels import value_label
from admin.graph.schema_types import field_at
from admin.graph.selections import leaf_selection, value_selection, whole_selection
from admin.pages.details import ActionButton, action_buttons, notice_of
from admin.pages.facts import facts_of, is_technical, parts_of
from admin.pages.resolving import read_object
from admin.resources.registry import resources
from admin.resources.resource import Resource
from admin.sales.sold import field_type, is_some, money_text, sold_line, sold_selection, state_cell
from funnel.core.messages import N_

NEXT_STEPS = "markOrderReady", "markOrderSent", "markOrderCollected", "markOrderDelivered"
"""What is done next, the first that is possible."""
ELSEWHERE = frozenset(
    {"number", "status", "createdOn", "message", "packingSlipUrl", "pageUrl", "productsTotal", "discountTotal"}
    | {"deliveryTotal", "deliveryRefunded", "total", "giftCardTotal", "cardTotal", "language"}
)
"""Values that the parts of the page have."""
OTHER_PARTS = frozenset({"vat", "refundRequests", "billing"})
"""Parts that are shown as on any page."""


@dataclass(frozen=True, slots=True)
class OrderMoment:
    """An entry of the timeline: when, what, by whom, and what is known of it."""

    time: Cell
    what: Cell
    who: str
    words: Sequence[str]
    again_url: str
    """Where a message is sent again; empty if it is none, or waits to be sent."""


@dataclass(frozen=True, slots=True)
class RefundOfPayment:
    """A refund: what goes back, and to where."""

    link: Cell
    amount: str
    state: Cell
    day: Cell
    by_source: Sequence[tuple[str, str]]
    reason: str


@dataclass(frozen=True, slots=True)
class OrderPayment:
    """A payment: where its money came from, and what went back."""

    link: Cell
    amount: str
    state: Cell
    by_source: Sequence[tuple[str, str]]
    """Kinds of sources with their amounts."""
    refunds: Sequence[RefundOfPayment]
    receipt_url: str


def payments_selection() -> str:
    """The payments with their sources and refunds."""
    money = leaf_selection(field_at(resources()["orders"].type, "total"))
    refund = f"id amount{money} state createdOn reason transactions {{ paymentMethod amount{money} }}"
    return (
        f"payments {{ id amount{money} refunded{money} status receiptUrl sources {{ kind amount{money} }} refunds {{ {refund} }} "
        f"{' '.join(value_selection(resources()['payments'].type, path) for path in resources()['payments'].title)} }}"
    )


async def show(request: AdminRequest) -> Response:
    """Show an order."""
    resource = resources()["orders"]
    request.context.require(resource.access)
    whole = whole_selection(resource.type, titles_of, skipped=frozenset({"payments"}))
    values = await read_object(request, resource, f"{whole} {sold_selection()} {payments_selection()}")
    url = url_of(resource, values)
    step, actions = _actions(request, resource, url, values)
    facts = [fact for fact in facts_of(resource.type, values, request.reader) if fact.name not in ELSEWHERE]
    kept = values | dict.fromkeys(resource.type.fields.keys() - OTHER_PARTS)
    return request.render(
        "order.html",
        here=resource.slug,
        resource=resource,
        title=title_of(resource, values, request.reader),
        order=values,
        states=_states(request, values),
        created=request.reader.moment(values["createdOn"]),
        total=money_text(request, values["total"]),
        step=step,
        buttons=actions,
        lines=[sold_line(request, line) for line in values["products"]],
        totals=_totals(request, values),
        refunded=_refunded_totals(request, values),
        tracking=_tracking(request, values),
        customer_url=_customer_url(values["buyer"]["email"]),
        delivery_name=in_language(values["delivery"]["name"], request.language),
        story=[_moment(request, entry) for entry in values["timeline"] or ()],
        payments=[_payment(request, payment) for payment in values["payments"]],
        facts=[fact for fact in facts if not is_technical(fact.name)],
        technical=[fact for fact in facts if is_technical(fact.name)],
        parts=list(parts_of(resource.type, kept, request.reader, url)),
        notice=notice_of(request, resource),
    )


def _customer_url(email: str) -> str:
    """The customers with the address of a buyer; empty if there is none."""
    return f"{ROOT}customers/?{urlencode({'email': email})}" if email else ""


def _actions(
    request: AdminRequest, resource: Resource, url: str, values: Mapping[str, Any]
) -> tuple[ActionButton | None, Sequence[ActionButton]]:
    """The next step, and the other actions."""
    buttons = {
        action.mutation: button
        for action in resource.actions
        for button in action_buttons(request, resource, (action,), url, values)
    }
    step = next((each for each in NEXT_STEPS if each in buttons), None)
    if step is None:
        return None, list(buttons.values())
    first = buttons.pop(step)
    return first, list(buttons.values())


def _states(request: AdminRequest, values: Mapping[str, Any]) -> Sequence[Cell]:
    fulfilment = values["fulfilment"] or {}
    cells = [state_cell(request, each) for each in (values["status"], fulfilment.get("state")) if each]
    back, total = refunded_of(values), Decimal(values["total"]["amount"])
    if 0 < back < total:
        cells.append(Cell("chip", request.translate(N_("Partly refunded")), tone="waits"))
    return cells


def refunded_of(values: Mapping[str, Any]) -> Decimal:
    """What has gone back of an order: by lines and delivery, or as amounts of its payments."""
    return sum((Decimal(payment["refunded"]["amount"]) for payment in values["payments"]), Decimal())


def _refunded_totals(request: AdminRequest, values: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """What has gone back, and what remains of the total; nothing if nothing has."""
    back, total = refunded_of(values), values["total"]
    if not back:
        return ()
    money = request.reader.formats.money
    rest = money(Decimal(total["amount"]) - back, total["currency"])
    return (
        (request.translate(N_("Refunded")), f"−{money(back, total['currency'])}"),
        (request.translate(N_("Remaining")), rest),
    )


def _totals(request: AdminRequest, values: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """What the total is made of: each with its label."""
    coupons = ", ".join(discount["code"] for discount in values["discounts"])
    rows = [(N_("Products"), values["productsTotal"], "")]
    if is_some(values["discountTotal"]) or coupons:
        rows.append((N_("Coupon"), values["discountTotal"], coupons))
    rows.append((N_("Delivery"), values["deliveryTotal"], ""))
    texts = [(request.translate(label), money_text(request, money), extra) for label, money, extra in rows]
    return [(f"{label} {extra}".strip(), f"−{amount}" if extra else amount) for label, amount, extra in texts]


def _tracking(request: AdminRequest, values: Mapping[str, Any]) -> Sequence[tuple[str, Cell]]:
    """What is known of the fulfilment, but for its state."""
    fulfilment = values["fulfilment"]
    if fulfilment is None:
        return ()
    kind = field_type("fulfilment")
    return [(fact.label, fact.cell) for fact in facts_of(kind, fulfilment, request.reader) if fact.name != "state"]


def _payment(request: AdminRequest, payment: Mapping[str, Any]) -> OrderPayment:
    resource = resources()["payments"]
    return OrderPayment(
        link=_link(request, resource, payment),
        amount=money_text(request, payment["amount"]),
        state=state_cell(request, payment["status"]),
        by_source=_by_source(request, payment["sources"], "kind"),
        refunds=[_refund(request, refund) for refund in payment["refunds"]],
        receipt_url=payment["receiptUrl"] or "",
    )


def _refund(request: AdminRequest, refund: Mapping[str, Any]) -> RefundOfPayment:
    resource = resources()["refunds"]
    return RefundOfPayment(
        link=_link(request, resource, refund),
        amount=money_text(request, refund["amount"]),
        state=state_cell(request, refund["state"]),
        day=Cell("time", request.reader.moment(refund["createdOn"]), tone=refund["createdOn"]),
        by_source=_by_source(request, refund["transactions"], "paymentMethod"),
        reason=refund["reason"],
    )


def _moment(request: AdminRequest, entry: Mapping[str, Any]) -> OrderMoment:
    words = [request.translate(value_label(entry["mailKind"]))] if entry["mailKind"] else []
    words += [money_text(request, entry["amount"])] if entry["amount"] else []
    words += [text for text in (entry["recipient"], entry["text"]) if text]
    actor = entry["actor"]
    return OrderMoment(
        time=Cell("time", request.reader.moment(entry["occurredOn"]), tone=entry["occurredOn"]),
        what=state_cell(request, entry["kind"]),
        who=entry["username"] or (request.translate(value_label(actor)) if actor else ""),
        words=words,
        again_url=_again_url(request, entry),
    )


def _again_url(request: AdminRequest, entry: Mapping[str, Any]) -> str:
    mails = resources()["mails"]
    again = next(action for action in mails.actions if action.mutation == "resendMail")
    is_over = entry["mailId"] is not None and entry["kind"] != "MAIL_QUEUED"
    return f"{ROOT}{mails.slug}/{entry['mailId']}/{again.slug}/" if is_over and request.may_change(again.access) else ""


def _link(request: AdminRequest, resource: Resource, values: Mapping[str, Any]) -> Cell:
    title = title_of(resource, values, request.reader)
    return Cell("object", title, url_of(resource, values)) if request.may(resource.access) else Cell("text", title)


def _by_source(request: AdminRequest, sources: Sequence[Mapping[str, Any]], kind: str) -> Sequence[tuple[str, str]]:
    """The amounts by the kind of source, in words: "Gift card" and an amount."""
    return [(value_label(each[kind]), money_text(request, each["amount"])) for each in sources]
