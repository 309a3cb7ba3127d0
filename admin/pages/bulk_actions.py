"""The changes that can be made to many objects of a list at once: those of one object whose form is the same for all."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLInputObjectType

from admin.core.request import AdminRequest
from admin.forms.current import source_of
from admin.forms.kinds import Kind, fields_of
from admin.graph.labels import label_of, split
from admin.graph.schema_types import DECLARATION, input_of, mutations, result_of
from admin.graph.selections import leaf_selection
from admin.pages.changes import TENANTS
from admin.resources.consequences import AMOUNTS, PATHS
from admin.resources.resource import KEYS, Action, Resource
from schema.graph.fields import ORIGINS

MOST = 500
"""Objects that can be changed at once: a request does so many within ten seconds."""
SHEETS = "sheets"
"""Names, in addresses, the print of many objects in the place of a change."""
PER_OBJECT = frozenset({"amount", "code", "editedOn", "siteDomain", "trackingNumber", "trackingUrl"})
"""Fields of inputs whose values differ from object to object."""
SHARED_BY_UPDATES = frozenset(
    {"categoryId", "endsOn", "environmentId", "freeAbove", "freezePayoutDate", "isActive", "isHighlight", "isPhysical"}
    | {"lastActiveDay", "priceRangeId", "startsOn", "stock", "universeId", "validityMonths", "vatRate"}
)
"""Fields of updates that it makes sense to set for many."""
ONE_BY_ONE = frozenset(
    {
        "activateMarketplacePayments",
        "addVoucherRental",
        "contestDispute",
        "explainReconciliationFinding",
        "generatePayoutPdf",
        "generatePayoutXls",
        "resetSecondFactor",
    }
)
"""Changes that need a look at each object, or that take long."""
NEEDS_CONSENT = frozenset({"accept", "approve", "validate"})
"""First words of changes that give money away."""


@dataclass(frozen=True)
class BulkAction:
    """A change of many objects."""

    resource: Resource
    action: Action

    @property
    def label(self) -> str:
        """Its name: of an update of a single field with that."""
        name = self.resource.action_name(self.action)
        return f"{name}: {label_of(self.shown[0])}" if self.action.is_update and len(self.shown) == 1 else name

    @property
    def input(self) -> GraphQLInputObjectType:
        """The input of the change of each object."""
        return input_of(self.action.mutation)

    @property
    def needs_consent(self) -> bool:
        """Whether it takes something away, or gives money away: it has to be confirmed explicitly."""
        return self.action.is_dangerous or split(self.action.mutation)[0] in NEEDS_CONSENT

    @property
    def can_be_tried(self) -> bool:
        """Whether it can be run without an effect, so that it tells what it would do."""
        declared: Any = mutations()[self.action.mutation].extensions[DECLARATION].metadata[ORIGINS][0]
        return bool(declared.transaction)

    @functools.cached_property
    def hidden(self) -> frozenset[str]:
        """The fields of the input that the form for many does not have."""
        names = frozenset(self.input.fields)
        if self.action.is_update:
            return names - SHARED_BY_UPDATES
        return names & frozenset({*self.action.bound, *KEYS, *TENANTS, *PER_OBJECT})

    @property
    def shown(self) -> Sequence[str]:
        """The fields of the input that the form for many has."""
        return [name for name in self.input.fields if name not in self.hidden]

    @functools.cached_property
    def compared(self) -> Sequence[str]:
        """The values of an object that are compared: what the list shows, and what the form sets."""
        found = list(self.resource.columns)
        for each in fields_of(self.input):
            source = source_of(each, self.resource.type) if each.name in self.shown else None
            if source is not None and leaf_selection(source[1]) is not None:
                found.append(source[0])
            elif source is not None and each.target is not None:
                found.extend(f"{source[0]}.{path}" for path in each.target.title)
        return list(dict.fromkeys((*found, *PATHS.get(self.action.mutation, ()))))

    @property
    def result_values(self) -> Sequence[str]:
        """The values of a changed object that are told."""
        return [*self.compared, self.amount] if self.amount else self.compared

    @property
    def amount(self) -> str:
        """Where the changed object has the amount that the change moves; empty if it moves none."""
        return AMOUNTS.get(self.action.mutation, "")


def bulk_actions(resource: Resource) -> Sequence[BulkAction]:
    """All changes that can be made to many objects of a resource."""
    found = [BulkAction(resource, action) for action in resource.actions]
    return [each for each in found if _is_for_many(each)]


def allowed_bulk_actions(request: AdminRequest, resource: Resource) -> Sequence[BulkAction]:
    """Those that the user may make."""
    return [each for each in bulk_actions(resource) if request.may_change(each.action.access)]


def _is_for_many(each: BulkAction) -> bool:
    mutation, result = each.action.mutation, result_of(each.action.mutation)
    if mutation in ONE_BY_ONE or each.action.is_creation or result is None or result[1] is not each.resource.type:
        return False
    if each.action.is_update and not each.shown:
        return False
    fields = fields_of(each.input)
    if any(it.is_required and it.name in each.hidden and it.name not in each.action.bound for it in fields):
        return False
    return not any(it.kind in (Kind.FILE, Kind.ROWS) for it in fields if it.name not in each.hidden)
