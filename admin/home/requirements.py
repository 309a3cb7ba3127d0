"""What partners have to provide to receive payments, on the first page, with the next step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.graph.labels import label_of, split, value_label
from admin.pages.next_steps import ACTIVE, INCOMPLETE
from admin.resources.registry import resources

MOST_PARTNERS = 5
DOCUMENT = """
query($first: Int!, $filter: PartnerFilter) {
  partners(first: $first, filter: $filter) {
    nodes {
      uuid commercialName
      paymentCapability { status disabledReason requirements { code field person action deadline } }
    }
  }
}
"""
UNABLE = {"paymentsActive": False, "statuses": ["ACTIVE", "NEW"]}
"""The partners of which a marketplace is told."""
WEB = "https://", "http://"


@dataclass(frozen=True, slots=True)
class RequirementLine:
    """What a partner has to provide, and where."""

    label: str
    about: str
    """The person or the field that it is about; empty if neither."""
    deadline: str
    """Until when; empty if that is not known."""
    url: str
    """The next step."""


@dataclass(frozen=True, slots=True)
class PartnerRequirements:
    """What one partner has to provide."""

    name: str
    url: str
    state: str
    lines: Sequence[RequirementLine]


async def partner_requirements(request: AdminRequest) -> Sequence[PartnerRequirements]:
    """What the user's partner has to provide, or those of a marketplace that cannot receive payments."""
    if not request.may(resources()["partners"].access):
        return ()
    filter = None if request.is_partner else UNABLE
    answer = await request.run(DOCUMENT, {"first": MOST_PARTNERS, "filter": filter})
    return [
        _partner(request, each)
        for each in answer.only("partners")["nodes"]
        if each["paymentCapability"] and each["paymentCapability"]["requirements"]
    ]


def _partner(request: AdminRequest, partner: Mapping[str, Any]) -> PartnerRequirements:
    capability, page = partner["paymentCapability"], f"{ROOT}partners/{partner['uuid']}/"
    return PartnerRequirements(
        name=partner["commercialName"],
        url=page,
        state=INCOMPLETE if capability["status"] == ACTIVE else value_label(capability["status"]),
        lines=[_line(request, each, page) for each in capability["requirements"]],
    )


def _line(request: AdminRequest, requirement: Mapping[str, Any], page: str) -> RequirementLine:
    field, deadline = requirement["field"], requirement["deadline"]
    return RequirementLine(
        label=value_label(requirement["code"]),
        about=requirement["person"] or (request.translate(label_of(field.rpartition(".")[2])) if field else ""),
        deadline=request.reader.moment(deadline) if deadline else "",
        url=_next_step(request, requirement["action"], page),
    )


def _next_step(request: AdminRequest, step: str, page: str) -> str:
    """Where it is done: at the provider, in a form, or on the page of the partner."""
    if step.startswith(WEB):
        return step
    action = resources()["partners"].find_any_action("-".join(split(step)))
    return f"{page}{action.slug}/" if action is not None and request.may_change(action.access) else page
