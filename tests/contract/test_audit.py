"""Whatever changes something passes the one place that writes the audit log."""

from typing import Any

import pytest

import resolvers.core.operation
from resolvers.core.context import WITHOUT_TOKEN, Caller, Context, Role
from resolvers.core.operation import Operation
from schema.core.permission import NAMED
from schema.graph.fields import SOURCES
from schema.root import Mutation
from tests.contract.declarations import declared, published
from tests.rest_compat.served import services_with

CHANGING = [it for it in declared() if it.changes]


def test_every_mutation_is_an_operation_that_changes_something() -> None:
    changing = {id(it.source) for it in CHANGING}
    for field in published(Mutation):
        assert field.sources, f"{field.name} is not made with changed_by ({SOURCES})."
        assert all(id(source) in changing for source in field.sources), f"{field.name} takes no input."


@pytest.mark.parametrize("it", CHANGING, ids=lambda it: it.where)
async def test_it_is_written_down(it: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    passed: list[Operation[Any, Any]] = []

    async def audited(operation: Operation[Any, Any], *_: object, **__: object) -> None:
        passed.append(operation)

    monkeypatch.setattr(resolvers.core.operation, "audited", audited)
    role = WITHOUT_TOKEN.get(it.source.permission, Role.PARTNER)
    caller = Caller(role, NAMED, user_id=1, token_id=1, partner_id=1)
    await it.source(Context(services_with(), caller), input=object())
    assert passed == [it.source]
