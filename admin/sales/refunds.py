"""Refunds in one flow: choose what goes back, see what that does, confirm exactly that.

What is confirmed is sent with the parts that the preview has shown, so that it is refused if it would be another refund now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.core.titles import title_of, url_of
from admin.forms.form_keys import KEY, form_key_of, new_form_key
from admin.forms.local_values import parse_decimal
from admin.forms.typed import YES
from admin.graph.execution import GraphAnswer
from admin.graph.schema_types import access_of, input_of, mutations
from admin.pages.actions import FormRefusal, refusal_of
from admin.pages.details import DONE
from admin.pages.resolving import read_object
from admin.resources.registry import resources
from admin.resources.resource import Resource
from admin.sales.sold import is_some, money_text, sold_line, sold_selection
from funnel.core.messages import N_
from schema.core.errors import MalformedBody

STEP, BY_CARD, BY_GIFT_CARD = "_step", "_card", "_gift"
"""Fields of the form itself: what its button asks for, and the parts of the refund that the preview has shown."""
CHANGED = N_("It would be another refund now, so nothing was refunded. Look at it again.")
NOTHING_CHOSEN = N_("Choose what is refunded.")
NUMBER, AMOUNT = N_("Enter a whole number."), N_("Enter a number.")
MONEY = "{ amount currency }"
PREVIEW = (
    f"amount {MONEY} byCard {MONEY} byGiftCard {MONEY} commissionBack {MONEY} left {MONEY} detail delivery {MONEY} "
    f"lines {{ id quantity amount {MONEY} }}"
)
PAYMENTS = f"id status amount {MONEY} refunded {MONEY} sources {{ kind }}"


@dataclass(frozen=True)
class RefundFlow:
    """How something is refunded: the mutations, and what is read of it before."""

    resource: Resource
    refund: str
    preview: str
    selection: str

    @property
    def slug(self) -> str:
        """The name of the refund in addresses."""
        return next(action.slug for action in self.resource.actions if action.mutation == self.refund)


@dataclass(frozen=True, slots=True)
class ChosenRefund:
    """What was chosen: the input of the refund, and what is wrong with the form."""

    input: dict[str, Any]
    line_ids: Sequence[int] = ()
    """The lines in the order in which they are sent."""
    problems: Mapping[str, str] = field(default_factory=dict)
    others: Sequence[str] = ()


def order_flow() -> RefundFlow:
    """The refund of lines of an order."""
    payments = f"payments {{ {PAYMENTS} }}"
    delivery = f"deliveryTotal {MONEY} deliveryRefunded {MONEY}"
    return RefundFlow(
        resources()["orders"], "refundOrder", "previewOrderRefund", f"status {sold_selection()} {delivery} {payments}"
    )


def payment_flow() -> RefundFlow:
    """The refund of an amount of a payment."""
    return RefundFlow(resources()["payments"], "refundPayment", "previewRefund", PAYMENTS)


async def show_order(request: AdminRequest) -> Response:
    """Show what of an order can be refunded."""
    return await _show(request, order_flow())


async def submit_order(request: AdminRequest) -> Response:
    """Preview the refund of lines of an order, or make it."""
    return await _submit(request, order_flow())


async def show_payment(request: AdminRequest) -> Response:
    """Show what of a payment can be refunded."""
    return await _show(request, payment_flow())


async def submit_payment(request: AdminRequest) -> Response:
    """Preview the refund of an amount, or make it."""
    return await _submit(request, payment_flow())


async def _show(request: AdminRequest, flow: RefundFlow) -> Response:
    values = await _read(request, flow)
    form = {"all": YES} if request.http_request.query_params.get("all") == YES else {}
    return _choose(request, flow, values, form, ChosenRefund({}))


async def _submit(request: AdminRequest, flow: RefundFlow) -> Response:
    values, form = await _read(request, flow), request.form
    chosen = _chosen_lines(values, form) if "products" in values else _chosen_amount(values, form)
    if form.get(STEP) == "choose":
        return _choose(request, flow, values, form, replace(chosen, problems={}, others=()))
    if chosen.problems or chosen.others:
        return _choose(request, flow, values, form, chosen, status=400)
    if form.get(STEP) != "confirm":
        return await _preview(request, flow, values, chosen)
    payload, refused = await run_change(
        request, flow.refund, "refund { id }", chosen.input | _split(form), form_key_of(form)
    )
    if payload is not None:
        return request.redirect(f"{url_of(flow.resource, values)}?{DONE}={flow.slug}")
    if refused.is_open:
        return await _preview(request, flow, values, chosen, refused.others, key=form.get(KEY))
    return await _preview(request, flow, values, chosen, (request.translate(CHANGED),), refused=refused)


async def _read(request: AdminRequest, flow: RefundFlow) -> dict[str, Any]:
    request.context.require(access_of(mutations()[flow.refund]))
    request.context.require(flow.resource.access)
    titles = " ".join(_path_selection(path) for path in flow.resource.title)
    return await read_object(request, flow.resource, f"{flow.resource.key} {titles} {flow.selection}")


def _path_selection(path: str) -> str:
    name, _, rest = path.partition(".")
    return f"{name} {{ {_path_selection(rest)} }}" if rest else name


async def run_change(
    request: AdminRequest, mutation: str, selection: str, input: Mapping[str, Any], key: str | None = None
) -> tuple[Mapping[str, Any] | None, FormRefusal]:
    """The payload of a mutation, or why it was refused."""
    document = (
        f"mutation($input: {input_of(mutation).name}!) "
        f"{{ {mutation}(input: $input) {{ {selection} userErrors {{ field code message }} }} }}"
    )
    answer: GraphAnswer = await request.run(document, {"input": input}, key=key)
    payload = answer.data.get(mutation) or {}
    refused = refusal_of(answer, payload)
    return (payload, FormRefusal({})) if refused is None else (None, refused)


# ---- what was chosen


def _chosen_lines(values: Mapping[str, Any], form: Mapping[str, str]) -> ChosenRefund:
    lines, problems, ids = [], dict[str, str](), []
    for line in values["products"]:
        id = line["id"]
        if form.get(f"line.{id}") != YES:
            continue
        ids.append(id)
        typed = form.get(f"quantity.{id}", "").strip()
        if typed and not (typed.isdecimal() and typed.isascii() and 0 < int(typed) < 2**31):
            problems[f"quantity.{id}"] = NUMBER
        else:
            lines.append({"id": id} | ({"quantity": int(typed)} if typed else {}))
    wishes = {"includeDelivery": "delivery", "includeUsed": "used", "restock": "restock"}
    switches = {name: form.get(box) == YES for name, box in wishes.items()}
    input = {"id": values["id"], "lines": lines, "reason": form.get("reason", "").strip(), **switches}
    others = [] if ids or switches["includeDelivery"] else [NOTHING_CHOSEN]
    split, split_problems = _typed_split(form)
    return ChosenRefund(input | split, ids, problems | split_problems, others)


def _chosen_amount(values: Mapping[str, Any], form: Mapping[str, str]) -> ChosenRefund:
    split, problems = _typed_split(form)
    amount = _amount_at(form, "amount", problems)
    input = {"id": values["id"], "amount": amount, "reason": form.get("reason", "").strip()}
    return ChosenRefund(input | split, (), problems)


def _amount_at(form: Mapping[str, str], name: str, problems: dict[str, str], default: str = "") -> str:
    """The amount in a field with a point, whose problem is added if it is none."""
    try:
        return parse_decimal(form.get(name, "").strip() or default)
    except ValueError:
        problems[name] = AMOUNT
        return ""


def _typed_split(form: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """How staff divide it; nothing by default, so that it is divided in proportion."""
    problems: dict[str, str] = {}
    if not any(form.get(f"split.{name}", "").strip() for name in ("card", "gift")):
        return {}, problems
    card, gift = (_amount_at(form, f"split.{name}", problems, default="0") for name in ("card", "gift"))
    return ({} if problems else _split_of(card, gift)), problems


def _split(form: Mapping[str, str]) -> dict[str, Any]:
    """The parts that the preview has shown. Raises MalformedBody if they are missing."""
    problems: dict[str, str] = {}
    parts = _split_of(_amount_at(form, BY_CARD, problems), _amount_at(form, BY_GIFT_CARD, problems))
    if problems:
        raise MalformedBody(reason="it was changed on its way")
    return parts


def _split_of(card: str, gift: str) -> dict[str, Any]:
    return {"split": {"additionalPayinAmount": card, "extraSourceAmount": gift}}


# ---- the pages


def _choose(
    request: AdminRequest,
    flow: RefundFlow,
    values: Mapping[str, Any],
    form: Mapping[str, str],
    chosen: ChosenRefund,
    *,
    status: int = 200,
) -> Response:
    """The page on which it is chosen, with what was chosen before."""
    lines = [line for each in values.get("products", ()) if (line := sold_line(request, each)).is_refundable]
    payments = [each for each in values.get("payments", (values,)) if each["status"] == "OK"]
    delivery = _left(values, "deliveryTotal", "deliveryRefunded") if "products" in values else Decimal()
    return request.render(
        "refund.html",
        status,
        **_head(request, flow, values),
        lines=lines,
        delivery=_money(request, delivery, values["deliveryTotal"]["currency"]) if delivery else "",
        has_goods=any(line.issued.kind == "empty" for line in lines),
        left=_left(values, "amount", "refunded") if "amount" in values else None,
        is_divisible=any(len({source["kind"] for source in each["sources"]}) > 1 for each in payments),
        payments=[f"/admin/payments/{each['id']}/{payment_flow().slug}/" for each in payments]
        if "products" in values and request.may(payment_flow().resource.access)
        else [],
        form=form,
        wrong=chosen.problems,
        problems=[*chosen.others, *_of_missing_lines(chosen, {line.id for line in lines})],
    )


def _of_missing_lines(chosen: ChosenRefund, shown: set[int]) -> Sequence[str]:
    """What is wrong with lines that the page does not have: nothing is left of them."""
    missing = [id for id in chosen.line_ids if id not in shown]
    return [
        text for id in missing for name in ("line", "quantity") if (text := chosen.problems.get(f"{name}.{id}", ""))
    ]


async def _preview(
    request: AdminRequest,
    flow: RefundFlow,
    values: Mapping[str, Any],
    chosen: ChosenRefund,
    notices: Sequence[str] = (),
    *,
    key: str | None = None,
    refused: FormRefusal | None = None,
) -> Response:
    """The page with what the refund would do. If it is not possible, that on which it is chosen again."""
    payload, problem = await run_change(request, flow.preview, f"refundPreview {{ {PREVIEW} }}", chosen.input)
    if payload is None:
        told = _at_fields(problem, chosen)
        return _choose(request, flow, values, request.form, told, status=400)
    return request.render(
        "refund_preview.html",
        400 if refused is not None or notices else 200,
        **_head(request, flow, values),
        **preview_values(request, values.get("products", ()), payload["refundPreview"]),
        confirm=N_("Refund %(amount)s"),
        notices=[*notices, *(refused.others if refused else ())],
        key=key or new_form_key(),
    )


def preview_values(
    request: AdminRequest, products: Sequence[Mapping[str, Any]], preview: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What a page tells of a refund before it is made, and what its form keeps."""
    amounts = {each["id"]: each for each in preview["lines"]}
    lines = [sold_line(request, each) for each in products if each["id"] in amounts]
    return {
        "amount": money_text(request, preview["amount"]),
        "rows": preview_rows(request, preview),
        "detail": preview["detail"],
        "lines": [
            (line, amounts[line.id]["quantity"], money_text(request, amounts[line.id]["amount"])) for line in lines
        ],
        "withdrawn": [line for line in lines if line.issued.kind != "empty"],
        "kept": [(name, value) for name, value in request.form.items() if not name.startswith("_") and name != "csrf"],
        "parts": {BY_CARD: preview["byCard"]["amount"], BY_GIFT_CARD: preview["byGiftCard"]["amount"]},
    }


def _head(request: AdminRequest, flow: RefundFlow, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """What both pages have."""
    own = url_of(flow.resource, values)
    title = title_of(flow.resource, values, request.reader)
    return {"here": flow.resource.slug, "title": title, "back": own, "action": f"{own}{flow.slug}/"}


def preview_rows(request: AdminRequest, preview: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Where the money goes, and what the refund costs and leaves."""
    labels = {
        "byCard": N_("Back to the bank card"),
        "byGiftCard": N_("Back to gift cards"),
        "delivery": N_("Of it for delivery"),
        "commissionBack": N_("Commission that comes back"),
    }
    found = [(label, money_text(request, preview[name])) for name, label in labels.items() if is_some(preview[name])]
    return [*found, (N_("Still refundable afterwards"), money_text(request, preview["left"]))]


def _at_fields(refused: FormRefusal, chosen: ChosenRefund) -> ChosenRefund:
    """What the API says is wrong, at the fields of the form."""
    problems, others = dict[str, str](), list(refused.others)
    for path, message in refused.by_field.items():
        names = path.split(".")
        if names[0] == "lines" and len(names) == 3 and int(names[1]) < len(chosen.line_ids):
            problems[f"{'quantity' if names[2] == 'quantity' else 'line'}.{chosen.line_ids[int(names[1])]}"] = message
        elif path in ("amount", "reason"):
            problems[path] = message
        else:
            others.append(message)
    return replace(chosen, problems=problems, others=others)


def _left(values: Mapping[str, Any], whole: str, part: str) -> Decimal:
    return Decimal(values[whole]["amount"]) - Decimal(values[part]["amount"])


def _money(request: AdminRequest, amount: Decimal, currency: str) -> str:
    return request.reader.formats.money(amount, currency)
