"""What a partner still needs before it sells and is paid, with the way to each: at the top of its page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.core.titles import url_of
from admin.graph.labels import label_of, value_label
from admin.graph.schema_types import object_type
from admin.resources.administration import LEGAL_DOCUMENTS, USERS
from admin.resources.money import BANK_ACCOUNTS
from admin.resources.resource import Action, Resource
from funnel.core.messages import N_
from schema.legal.legal_document import LegalDocumentKind

LINKED = (
    (LEGAL_DOCUMENTS, N_("Legal texts")),
    (USERS, N_("Users and tokens")),
    (BANK_ACCOUNTS, N_("Bank accounts")),
)
"""Lists of what belongs to a partner, with what their links are called."""
STATUSES = {
    "INACTIVE": N_("The shop is closed: its status is inactive."),
    "NEW": N_("Whether the partner sells is not decided yet."),
    "TEST": N_("It is a test partner: it sells only where payments go to the sandbox."),
}
REASONS = {
    "NOT_STARTED": N_("Its payments were never activated."),
    "PROCESSING": N_("The payment provider looks at what was submitted: wait for its answer."),
    "BLOCKED": N_("The payment provider does not let it receive money: ask the provider."),
    "CLOSED": N_("Its account at the payment provider was closed."),
}
"""Why it cannot be paid. What it has to provide, what has failed and its own status are told by themselves."""
ACTIVE, INCOMPLETE = "ACTIVE", N_("Incomplete")
"""It can be paid; and what it is called while something is missing all the same."""
ACTIVATED_AGAIN = frozenset({"NOT_STARTED", "CLOSED"})
"""Reasons that an activation ends."""


@dataclass(frozen=True, slots=True)
class NextStep:
    """Something that is missing: what it is, more about it, and the link to where it is done."""

    text: str
    detail: str = ""
    url: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class PartnerState:
    """How far a partner is: what is missing, the most urgent first, and the lists of what belongs to it."""

    status: str
    tone: str
    steps: Sequence[NextStep]
    links: Sequence[tuple[str, str]]


async def partner_state(request: AdminRequest, resource: Resource, values: Mapping[str, Any]) -> PartnerState | None:
    """How far a partner is; None of any other object."""
    if resource.type is not object_type("Partner"):
        return None
    of = _Partner(request, resource, values)
    capability = values.get("paymentCapability") or {}
    status = capability.get("status", "DISABLED")
    tone = {"ACTIVE": "good", "PENDING": "waits"}.get(status, "bad")
    if status == ACTIVE and capability.get("requirements"):
        status, tone = INCOMPLETE, "waits"
    steps = [*of.shop_steps(), *of.payment_steps(capability), *await of.legal_steps()]
    return PartnerState(INCOMPLETE if status == INCOMPLETE else value_label(status), tone, steps, of.links())


@dataclass(frozen=True, slots=True)
class _Partner:
    request: AdminRequest
    resource: Resource
    values: Mapping[str, Any]

    def shop_steps(self) -> Iterator[NextStep]:
        """What keeps its shop closed."""
        if (text := STATUSES.get(self.values["status"])) is not None:
            yield self._step(text, "updatePartner")
        if not self.values["siteDomain"] and not self.values["thirdPartySalesOnly"]:
            yield self._step(N_("Its shop has no address."), "changeSiteDomain")

    def payment_steps(self, capability: Mapping[str, Any]) -> Iterator[NextStep]:
        """What keeps it from being paid."""
        reason = capability.get("disabledReason")
        if (text := REASONS.get(reason or "")) is not None:
            yield self._step(text, "activatePayments" if reason in ACTIVATED_AGAIN else "")
        for each in capability.get("requirements") or ():
            yield self._requirement(each)

    async def legal_steps(self) -> Sequence[NextStep]:
        """The kinds of legal texts that it lacks."""
        documents = LEGAL_DOCUMENTS
        if not self.request.may(documents.access):
            return []
        document = (
            f"query($partner: UUID!) {{ {documents.query}(first: 100, filter: {{partnerUuid: $partner, isReplaced: false}}) "
            "{ nodes { kind } } }"
        )
        answer = await self.request.run(document, {"partner": self.values["uuid"]})
        answer.check()
        published = {each["kind"] for each in answer.only(documents.query)["nodes"]}
        missing = [kind.name for kind in LegalDocumentKind if kind.name not in published]
        if not missing:
            return []
        detail = ", ".join(self.request.translate(value_label(name)) for name in missing)
        action = next((it for it in documents.new if self.request.may_change(it.access)), None)
        if action is None:
            return [NextStep(N_("Legal texts are missing."), detail)]
        url = f"{ROOT}{documents.slug}/new/{action.slug}/?{urlencode({'partnerUuid': self.values['uuid'], 'kind': missing[0]})}"
        return [NextStep(N_("Legal texts are missing."), detail, url, documents.action_name(action))]

    def links(self) -> Sequence[tuple[str, str]]:
        """The lists of what belongs to it: labels and addresses."""
        query = "" if self.request.is_partner else f"?{urlencode({'partnerUuid': self.values['uuid']})}"
        return [
            (label, f"{ROOT}{resource.slug}/{query}") for resource, label in LINKED if self.request.may(resource.access)
        ]

    def _requirement(self, of: Mapping[str, Any]) -> NextStep:
        reader = self.request.reader
        until = reader.moment(of["deadline"]) if of["deadline"] else ""
        field = self.request.translate(label_of(of["field"].rpartition(".")[2])) if of["field"] else ""
        detail = ", ".join(filter(None, (field, of["person"], until)))
        text, action = value_label(of["code"]), of["action"]
        if urlsplit(action).scheme in ("http", "https"):
            return NextStep(text, detail, action, N_("Open the page for it"))
        return self._step(text, action, detail)

    def _step(self, text: str, mutation: str, detail: str = "") -> NextStep:
        """A step with the link to its form, if there is one that the user may use."""
        action = self._action(mutation)
        if action is None:
            return NextStep(text, detail)
        url = f"{url_of(self.resource, self.values)}{action.slug}/"
        return NextStep(text, detail, url, self.resource.action_name(action))

    def _action(self, mutation: str) -> Action | None:
        found = (it for it in self.resource.actions if it.mutation == mutation and not it.only)
        return next((it for it in found if self.request.may_change(it.access)), None)
