"""The first page: today's sales, what waits for the user, sales by day and product, what is owed for gift cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.graph.schema_types import access_of, list_filter_of, mutations
from admin.home.liability_boards import liability_boards
from admin.home.requirements import partner_requirements
from admin.home.sales_boards import PERIODS, chosen_period, sales_boards
from admin.resources.money import PAYOUT_ADJUSTMENTS
from admin.resources.registry import resources
from funnel.core.messages import N_


@dataclass(frozen=True)
class Waiting:
    """What waits for somebody: a list with a filter."""

    label: str
    slug: str
    filter: Mapping[str, Any] = field(default_factory=dict)
    mutation: str = ""
    """What is done about it: it waits only for whoever may do this."""
    asked_by: str = ""
    """The field with the id of the user who has asked for it: it waits for others."""


TILES = (
    Waiting(N_("Orders to prepare"), "orders", {"fulfilmentState": "TO_PREPARE"}, "markOrderReady"),
    Waiting(N_("Orders ready to collect"), "orders", {"fulfilmentState": "READY_TO_COLLECT"}, "markOrderCollected"),
    Waiting(N_("Requests of buyers to answer"), "refund-requests", {"state": "PENDING"}, "approveRefundRequest"),
    Waiting(N_("Refunds to see to"), "refunds", {"states": ["NEEDS_ACTION"]}, "retryRefund"),
    Waiting(N_("Disputes to answer"), "disputes", {"states": ["NEEDS_RESPONSE"]}, "contestDispute"),
    Waiting(N_("Payouts to validate"), "payout-requests", {"statuses": ["TO_BE_VALIDATED"]}, "validatePayoutRequest"),
    Waiting(
        N_("Adjustments to approve"),
        "payout-adjustments",
        {"status": "PENDING"},
        "approvePayoutAdjustment",
        PAYOUT_ADJUSTMENTS.asked_by,
    ),
    Waiting(N_("Offers to accept"), "offers", {"statuses": ["SUBMITTED"]}, "acceptOffer"),
    Waiting(N_("New partners to admit"), "partners", {"statuses": ["NEW"]}, "updatePartner"),
    Waiting(N_("Failed jobs"), "jobs", {"state": "FAILED"}, "retryJob"),
    Waiting(N_("Webhooks not delivered"), "webhook-deliveries", {"states": ["FAILED"]}),
    Waiting(N_("Mail not delivered"), "mails", {"state": "FAILED"}),
    Waiting(N_("Reconciliation findings"), "reconciliation-findings", {"state": "OPEN"}),
)


MOST_OWN = 100
"""Objects that are looked at to leave out what the user has asked for."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How much waits, and the list with it."""

    label: str
    count: int
    url: str


async def show(request: AdminRequest) -> Response:
    """Show the figures of the user's shops, and what waits for the user."""
    tiles, period = await _tiles(request), chosen_period(request)
    return request.render(
        "home.html",
        here="home",
        tiles=tiles,
        waiting=sum(tile.count for tile in tiles),
        requirements=await partner_requirements(request),
        periods=PERIODS,
        period=period,
        boards=await sales_boards(request, period),
        liabilities=await liability_boards(request),
    )


def _may(request: AdminRequest, each: Waiting) -> bool:
    """Whether the user may see what waits, and do something about it. Who looks as a partner sees what waits for it."""
    can_act = request.view is not None or not each.mutation or request.may(access_of(mutations()[each.mutation]))
    return can_act and request.may(resources()[each.slug].access)


async def _tiles(request: AdminRequest) -> Sequence[Tile]:
    shown = [each for each in TILES if _may(request, each)]
    if not shown:
        return ()
    lists = [resources()[each.slug].query for each in shown]
    declared = ", ".join(f"$f{n}: {list_filter_of(name).name}" for n, name in enumerate(lists))
    parts = " ".join(
        f"c{n}: {resources()[each.slug].query}(first: {MOST_OWN}, filter: $f{n}) {{ totalCount {_own_selection(each)} }}"
        for n, each in enumerate(shown)
    )
    answer = await request.run(
        f"query({declared}) {{ {parts} }}", {f"f{n}": each.filter for n, each in enumerate(shown)}
    )
    return [
        Tile(
            each.label,
            _count(request, each, answer.only(f"c{n}")),
            f"{ROOT}{each.slug}/?{urlencode(each.filter, doseq=True)}",
        )
        for n, each in enumerate(shown)
    ]


def _own_selection(each: Waiting) -> str:
    return f"nodes {{ {each.asked_by} }}" if each.asked_by else ""


def _count(request: AdminRequest, each: Waiting, page: Mapping[str, Any]) -> int:
    """How many wait, without those that the user has asked for."""
    own = [it for it in page.get("nodes", ()) if it[each.asked_by] == request.required_caller.user_id]
    return int(page["totalCount"]) - len(own)
