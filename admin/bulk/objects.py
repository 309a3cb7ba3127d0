"""The objects of a bulk action: reading them, telling what would change, changing them one by one."""

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from admin.core.request import AdminRequest
from admin.core.titles import title_of, url_of
from admin.core.values import Cell, value_at
from admin.graph.execution import GraphAnswer
from admin.graph.labels import label_of
from admin.graph.schema_types import field_at, result_of
from admin.graph.selections import values_selection
from admin.pages.bulk_actions import BulkAction
from admin.pages.lists import column_label
from admin.pages.resolving import deciding_paths, is_possible, key_type, key_value
from admin.resources.resource import Resource
from admin.sales.sold import money_text
from funnel.core.messages import N_

UNKNOWN = N_("It does not exist, or you may not see it.")
OUT_OF_STATE = N_("Its present state does not allow this.")
READ_AT_ONCE = 100
PATIENCE = 20.0
"""Seconds after which a page answers with what is done so far; proxies give up after 30 or 60."""
FAILED = N_("Something went wrong")
CHANGED = N_("It has changed since the preview. Look at it again.")
AMOUNT = "amount"
"""Names the amount among the values that a preview has told."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A value of an object before and after."""

    label: str
    before: Cell
    after: Cell


@dataclass(frozen=True, slots=True)
class ObjectOutcome:
    """What would become of an object, or what has become of it."""

    key: str
    title: str
    url: str = ""
    changes: Sequence[ValueChange] = ()
    problem: str = ""
    """Why nothing changes; empty if it does."""
    amount: Mapping[str, str] | None = None
    """The amount that moves; None if none does."""
    amount_text: str = ""
    by_field: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the fields of the form."""
    basis: Mapping[str, str] = field(default_factory=dict)
    """What a confirmation is bound to: the values as read, and the amount."""


@dataclass(frozen=True)
class BulkObjects:
    """The chosen objects as the user sees them; None for one that the user does not see."""

    request: AdminRequest
    bulk: BulkAction
    by_key: Mapping[str, Mapping[str, Any] | None]

    def names(self) -> Sequence[ObjectOutcome]:
        """The objects without what becomes of them."""
        return [self._outcome(key, values) for key, values in self.by_key.items()]

    async def preview(self, variables: Mapping[str, Any]) -> Sequence[ObjectOutcome]:
        """What a change would do to each object. Changes nothing."""
        return [await self._try(key, values, variables) for key, values in self.by_key.items()]

    async def change(
        self, variables: Mapping[str, Any], form_key: str, basis: Mapping[str, Mapping[str, str]]
    ) -> Sequence[ObjectOutcome]:
        """Change each object by its own operation, once for the key of a form, however often that is sent. One that is not
        any more as its preview has told is refused. Those that are not reached in good time have no outcome.
        """
        outcomes, until = list[ObjectOutcome](), time.monotonic() + PATIENCE
        for key, values in self.by_key.items():
            if outcomes and time.monotonic() > until:
                break
            outcomes.append(await self._change(key, values, variables, f"{form_key}-{key}", basis.get(key, {})))
        return outcomes

    def sums(self, outcomes: Sequence[ObjectOutcome]) -> Sequence[str]:
        """The sums of the amounts that move, one for each currency."""
        sums = defaultdict[str, Decimal](Decimal)
        for each in outcomes:
            if each.amount is not None:
                sums[each.amount["currency"]] += Decimal(each.amount["amount"])
        return [self.request.reader.formats.money(sums[currency], currency) for currency in sorted(sums)]

    async def _try(self, key: str, values: Mapping[str, Any] | None, variables: Mapping[str, Any]) -> ObjectOutcome:
        if values is None:
            return self._outcome(key, None)
        if not is_possible(self.request, self.bulk.resource, self.bulk.action, values):
            return self._outcome(key, values, problem=OUT_OF_STATE)
        if not self.bulk.can_be_tried:
            return self._outcome(key, values)
        return self._read_answer(
            key, values, await self.request.try_out(self._document(), self._input(values, variables))
        )

    async def _change(
        self,
        key: str,
        values: Mapping[str, Any] | None,
        variables: Mapping[str, Any],
        request_key: str,
        basis: Mapping[str, str],
    ) -> ObjectOutcome:
        if values is None:
            return self._outcome(key, None)
        as_read = {name: basis.get(name) for name in self.bulk.action.as_read}
        if None in as_read.values() or await self._has_other_amount(key, values, {**variables, **as_read}, basis):
            return self._outcome(key, values, problem=CHANGED)
        variables = self._input(values, {**variables, **as_read})
        return self._read_answer(key, values, await self.request.run(self._document(), variables, key=request_key))

    async def _has_other_amount(
        self, key: str, values: Mapping[str, Any], variables: Mapping[str, Any], basis: Mapping[str, str]
    ) -> bool:
        """Whether a change would now move another amount than its preview has told. What is refused moves none."""
        if not self.bulk.amount:
            return False
        outcome = await self._try(key, values, variables)
        return not outcome.problem and outcome.basis.get(AMOUNT) != basis.get(AMOUNT)

    def _input(self, values: Mapping[str, Any], variables: Mapping[str, Any]) -> dict[str, Any]:
        bound = {name: value_at(values, path) for name, path in self.bulk.action.bound.items()}
        return {"input": {**variables, **bound}}

    def _document(self) -> str:
        mutation, result = self.bulk.action.mutation, result_of(self.bulk.action.mutation)
        assert result is not None
        deciding = deciding_paths(self.bulk.resource, self.bulk.action)
        paths = dict.fromkeys((self.bulk.resource.key, *self.bulk.result_values, *deciding))
        selected = values_selection(self.bulk.resource.type, paths)
        return (
            f"mutation($input: {self.bulk.input.name}!) {{ {mutation}(input: $input) "
            f"{{ {result[0]} {{ {selected} }} userErrors {{ field code message }} }} }}"
        )

    def _read_answer(self, key: str, values: Mapping[str, Any], answer: GraphAnswer) -> ObjectOutcome:
        """What the answer of the mutation says about an object."""
        payload = answer.data.get(self.bulk.action.mutation) or {}
        wrong = [*payload.get("userErrors", ()), *(each for error in answer.errors for each in error.problems)]
        if wrong:
            by_field = {".".join(each["field"]): each["message"] for each in reversed(wrong)}
            return self._outcome(key, values, " ".join(dict.fromkeys(each["message"] for each in wrong)), by_field)
        if answer.errors:
            error = answer.errors[0]
            return self._outcome(key, values, FAILED if error.code == "INTERNAL_ERROR" else error.message)
        result = result_of(self.bulk.action.mutation)
        assert result is not None
        changed = payload[result[0]]
        amount = self._moved(changed)
        return ObjectOutcome(
            key,
            self._title(values),
            url_of(self.bulk.resource, values),
            list(self._compare(values, changed)),
            amount=amount,
            amount_text="" if amount is None else money_text(self.request, amount),
            basis=self._basis(values, amount),
        )

    def _moved(self, changed: Mapping[str, Any]) -> Mapping[str, str] | None:
        """The amount that the change has moved; None if it can be made once more, as by the second user of two."""
        if not self.bulk.amount or is_possible(self.request, self.bulk.resource, self.bulk.action, changed):
            return None
        amount: Mapping[str, str] | None = value_at(changed, self.bulk.amount)
        return amount

    def _basis(self, values: Mapping[str, Any], amount: Mapping[str, str] | None = None) -> Mapping[str, str]:
        as_read = {name: str(value_at(values, name)) for name in self.bulk.action.as_read}
        return as_read if amount is None else {**as_read, AMOUNT: f"{amount['amount']} {amount['currency']}"}

    def _compare(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ValueChange]:
        reader = self.request.reader
        for path in self.bulk.compared:
            old, new = value_at(before, path), value_at(after, path)
            if old != new:
                name, of = path.rsplit(".", 1)[-1], field_at(self.bulk.resource.type, path)
                yield ValueChange(column_label(path), reader.cell(name, of, old), reader.cell(name, of, new))

    def _outcome(
        self,
        key: str,
        values: Mapping[str, Any] | None,
        problem: str = "",
        by_field: Mapping[str, str] | None = None,
    ) -> ObjectOutcome:
        if values is None:
            thing = self.request.translate(label_of(self.bulk.resource.type.name))
            return ObjectOutcome(key, f"{thing} {key}", problem=UNKNOWN)
        title, url = self._title(values), url_of(self.bulk.resource, values)
        return ObjectOutcome(key, title, url, problem=problem, by_field=by_field or {}, basis=self._basis(values))

    def _title(self, values: Mapping[str, Any]) -> str:
        return title_of(self.bulk.resource, values, self.request.reader)


async def read_objects(request: AdminRequest, bulk: BulkAction, keys: Sequence[str]) -> BulkObjects:
    """The objects with these keys. Raises NotFound for a text that cannot be a key."""
    resource = bulk.resource
    deciding = deciding_paths(resource, bulk.action)
    paths = (
        resource.key,
        *resource.title,
        *bulk.action.bound.values(),
        *bulk.action.as_read,
        *deciding,
        *bulk.compared,
    )
    selected = values_selection(resource.type, dict.fromkeys(paths))
    by_key: dict[str, Mapping[str, Any] | None] = {}
    for start in range(0, len(keys), READ_AT_ONCE):
        by_key |= await _read_some(request, resource, selected, keys[start : start + READ_AT_ONCE])
    return BulkObjects(request, bulk, by_key)


async def _read_some(
    request: AdminRequest, resource: Resource, selected: str, keys: Sequence[str]
) -> Mapping[str, Mapping[str, Any] | None]:
    kind = key_type(resource)
    declared = ", ".join(f"$k{number}: {kind}" for number in range(len(keys)))
    parts = " ".join(
        f"o{number}: {resource.finds}({resource.key}: $k{number}) {{ {selected} }}" for number in range(len(keys))
    )
    answer = await request.run(
        f"query({declared}) {{ {parts} }}", {f"k{number}": key_value(resource, key) for number, key in enumerate(keys)}
    )
    answer.check()
    return {key: answer.data.get(f"o{number}") for number, key in enumerate(keys)}
