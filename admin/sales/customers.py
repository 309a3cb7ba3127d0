"""The page of a customer: what was bought, given and received, paid and mailed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import title_of, titles_of, url_of
from admin.core.values import REFUNDED_ON, Cell, value_at
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at, list_filter_of, list_order_of
from admin.graph.selections import value_selection, whole_selection
from admin.pages.details import action_buttons, notice_of
from admin.pages.facts import facts_of, is_technical, parts_of
from admin.pages.resolving import read_object
from admin.resources.registry import resources
from admin.resources.resource import Resource
from funnel.core.messages import N_

MOST = 10
"""Rows of each list. The list itself has all."""


@dataclass(frozen=True, slots=True)
class OfCustomer:
    """A list of what a customer has to do with: the filter by the customer's id or address, and where its rows have the
    address. Filters by a part of an address find other people too.
    """

    label: str
    slug: str
    by: str
    email_at: str = ""
    columns: tuple[str, ...] = ()

    @property
    def resource(self) -> Resource:
        """The resource of the list."""
        return resources()[self.slug]


LISTS = (
    OfCustomer(
        N_("Orders"), "orders", "customerId", columns=("number", "createdOn", "status", "fulfilment.state", "total")
    ),
    OfCustomer(
        N_("Vouchers given"),
        "vouchers",
        "gifterId",
        columns=("maskedCode", "prototypeName", "state", "createdOn", "expiresOn"),
    ),
    OfCustomer(
        N_("Vouchers received"),
        "vouchers",
        "gifteeId",
        columns=("maskedCode", "prototypeName", "state", "createdOn", "expiresOn"),
    ),
    OfCustomer(
        N_("Gift cards given"),
        "gift-cards",
        "gifter",
        "gifterDetails.email",
        ("maskedCode", "status", "value", "remainingValue", "expiresOn"),
    ),
    OfCustomer(
        N_("Gift cards received"),
        "gift-cards",
        "giftee",
        "gifteeDetails.email",
        ("maskedCode", "status", "value", "remainingValue", "expiresOn"),
    ),
    OfCustomer(
        N_("Payments"),
        "payments",
        "customerEmail",
        "customer.email",
        ("createdOn", "product", "status", "refundStatus", "amount"),
    ),
    OfCustomer(N_("Mail"), "mails", "recipient", "recipient", ("createdOn", "kind", "subject", "state")),
)


@dataclass(frozen=True, slots=True)
class CustomerList:
    """A list on the page: its columns, its rows with the addresses they lead to, and the address of the whole list."""

    label: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    url: str
    has_more: bool


async def show(request: AdminRequest) -> Response:
    """Show a customer."""
    resource = resources()["customers"]
    request.context.require(resource.access)
    whole = whole_selection(resource.type, titles_of)
    values = await read_object(request, resource, f"{whole} partner {{ uuid }}")
    url = url_of(resource, values)
    facts = list(facts_of(resource.type, values, request.reader))
    buttons = action_buttons(request, resource, resource.actions, url, values) if values["email"] else []
    return request.render(
        "customer.html",
        here=resource.slug,
        resource=resource,
        title=title_of(resource, values, request.reader),
        facts=[fact for fact in facts if not is_technical(fact.name)],
        technical=[fact for fact in facts if is_technical(fact.name)],
        parts=list(parts_of(resource.type, values, request.reader, url)),
        buttons=buttons,
        lists=await _lists(request, values),
        notice=notice_of(request, resource),
    )


async def _lists(request: AdminRequest, customer: Mapping[str, Any]) -> Sequence[CustomerList]:
    """The lists that the user may see and that have something, read by one document."""
    email = customer["email"]
    shown = [each for each in LISTS if request.may(each.resource.access) and (email or each.by.endswith("Id"))]
    wanted = [
        {"partnerUuid": customer["partner"]["uuid"], each.by: customer["id"] if each.by.endswith("Id") else email}
        for each in shown
    ]
    if not shown:
        return ()
    declared = ", ".join(f"$f{n}: {list_filter_of(each.resource.query).name}" for n, each in enumerate(shown))
    parts = " ".join(_selection(n, each) for n, each in enumerate(shown))
    answer = await request.run(f"query({declared}) {{ {parts} }}", {f"f{n}": filter for n, filter in enumerate(wanted)})
    found = []
    for n, each in enumerate(shown):
        page = answer.only(f"l{n}")
        rows = [row for row in page["nodes"] if _is_of(row, each, email)]
        if rows:
            found.append(_list(request, each, rows, wanted[n], has_more=page["pageInfo"]["hasNextPage"]))
    return found


def _selection(number: int, each: OfCustomer) -> str:
    resource = each.resource
    also = (REFUNDED_ON,) if REFUNDED_ON in resource.type.fields else ()
    paths = dict.fromkeys((resource.key, *also, *each.columns, *([each.email_at] if each.email_at else [])))
    selected = " ".join(value_selection(resource.type, path) for path in paths)
    order = next(iter(list_order_of(resource.query).values))
    return (
        f"l{number}: {resource.query}(first: {MOST}, orderBy: {order}, filter: $f{number}) "
        f"{{ nodes {{ {selected} }} pageInfo {{ hasNextPage }} }}"
    )


def _is_of(row: Mapping[str, Any], each: OfCustomer, email: str) -> bool:
    """Whether a row is the customer's, and not of somebody with a longer address."""
    return not each.email_at or (value_at(row, each.email_at) or "").lower() == email.lower()


def _list(
    request: AdminRequest,
    each: OfCustomer,
    rows: Sequence[Mapping[str, Any]],
    filter: Mapping[str, Any],
    *,
    has_more: bool,
) -> CustomerList:
    return CustomerList(
        label=each.label,
        columns=[label_of(path.partition(".")[0]) for path in each.columns],
        rows=[(url_of(each.resource, row), [_cell(request, each, path, row) for path in each.columns]) for row in rows],
        url=f"{ROOT}{each.slug}/?{urlencode(filter)}",
        has_more=has_more,
    )


def _cell(request: AdminRequest, each: OfCustomer, path: str, row: Mapping[str, Any]) -> Cell:
    field = field_at(each.resource.type, path)
    return request.reader.cell(path.rsplit(".", 1)[-1], field, value_at(row, path))
