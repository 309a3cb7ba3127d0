"""The lines of orders as the pages of orders and refunds show them: names, amounts, and what was issued for them."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from graphql import GraphQLObjectType, get_named_type

from admin.core.request import AdminRequest
from admin.core.titles import titles_of
from admin.core.values import EMPTY, REFUNDED_ON, Cell, in_language, tone_of, value_at
from admin.graph.labels import value_label
from admin.graph.schema_types import field_at
from admin.graph.selections import value_selection
from admin.pages.facts import link_to
from admin.resources.registry import resources, resources_by_type

GOODS = "voucher", "giftCard", "networkGiftCard", "networkVoucher"
"""The fields of a line with what was issued for it."""
STATES = "state", "status"
PERSON = "firstName", "lastName", "email"
VALUES = (
    *("id", "name", "quantity", "unitPrice", "total", "discount", "refunded", "refundedQuantity", "pictureUrl"),
    *("variant.name", "variant.choices"),
)


@dataclass(frozen=True, slots=True)
class SoldLine:
    """A line of an order with what was issued for it."""

    id: int
    name: str
    options: Sequence[str]
    picture: str
    quantity: int
    left: int
    """How many are not refunded."""
    unit_price: str
    total: str
    discount: str
    refunded: str
    rest: str
    """What was paid for it and has not gone back."""
    is_refundable: bool
    """Whether something of it can still go back."""
    issued: Cell
    """What was issued for it, which leads to its page; its code is masked."""
    state: Cell
    giftee: str


def field_type(path: str) -> GraphQLObjectType:
    """The type of the objects at a path of orders."""
    named = get_named_type(field_at(resources()["orders"].type, path).type)
    assert isinstance(named, GraphQLObjectType)
    return named


@functools.cache
def sold_selection() -> str:
    """What is read of the lines of an order."""
    line = field_type("products")
    parts = [value_selection(line, path) for path in VALUES]
    for name in GOODS:
        kind = field_type(f"products.{name}")
        paths = [*titles_of(kind.name), *(each for each in (*STATES, REFUNDED_ON) if each in kind.fields)]
        if "gifteeDetails" in kind.fields:
            paths += [f"gifteeDetails.{each}" for each in PERSON]
        parts.append(f"{name} {{ {' '.join(value_selection(kind, path) for path in paths)} }}")
    return f"products {{ {' '.join(parts)} }}"


def sold_line(request: AdminRequest, line: Mapping[str, Any]) -> SoldLine:
    """A line in the reader's language."""
    variant = line["variant"] or {}
    issued, state, giftee = _good_of(request, line)
    paid, refunded = (Decimal(line[name]["amount"]) for name in ("total", "refunded"))
    return SoldLine(
        id=line["id"],
        name=in_language(line["name"], request.language),
        options=[in_language(variant[name], request.language) for name in ("name", "choices") if variant.get(name)],
        picture=line["pictureUrl"],
        quantity=line["quantity"],
        left=line["quantity"] - line["refundedQuantity"],
        unit_price=money_text(request, line["unitPrice"]),
        total=money_text(request, line["total"]),
        discount=money_text(request, line["discount"]) if is_some(line["discount"]) else "",
        refunded=money_text(request, line["refunded"]) if refunded else "",
        rest=request.reader.formats.money(
            paid - Decimal(line["discount"]["amount"]) - refunded, line["total"]["currency"]
        ),
        is_refundable=paid - Decimal(line["discount"]["amount"]) > refunded,
        issued=issued,
        state=state,
        giftee=giftee,
    )


def _good_of(request: AdminRequest, line: Mapping[str, Any]) -> tuple[Cell, Cell, str]:
    """What was issued for a line, its state and its giftee; nothing for goods, and for who may not see it."""
    for name in GOODS:
        if (found := line.get(name)) is not None:
            resource = resources_by_type()[field_type(f"products.{name}").name]
            state = next((value_at(found, each) for each in STATES if each in found), None)
            giftee = found.get("gifteeDetails") or {}
            person = " ".join(filter(None, (giftee.get("firstName"), giftee.get("lastName"))))
            return (
                link_to(resource, found, request.reader),
                state_cell(request, state),
                ", ".join(filter(None, (person, giftee.get("email")))),
            )
    return EMPTY, EMPTY, ""


def money_text(request: AdminRequest, money: Mapping[str, Any]) -> str:
    """An amount in the reader's language."""
    return request.reader.formats.money(Decimal(money["amount"]), money["currency"])


def is_some(money: Mapping[str, Any]) -> bool:
    """Whether an amount is not zero."""
    return bool(Decimal(money["amount"]))


def state_cell(request: AdminRequest, value: str | None) -> Cell:
    """A state as a chip."""
    return Cell("chip", request.translate(value_label(value)), tone=tone_of(value)) if value else EMPTY
