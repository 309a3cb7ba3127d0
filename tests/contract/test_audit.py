"""Whatever changes something passes the one place that writes the audit log."""

from typing import Any

import pytest

import resolvers.core.operation
from resolvers.core.caller import WITHOUT_TOKEN, Caller, Role
from resolvers.core.context import Context
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.graph.fields import ORIGINS
from schema.root import Mutation
from tests.contract.declarations import declared, published
from tests.rest_compat.clients import services_with

CHANGING = [it for it in declared() if it.changes]


def test_every_mutation_is_an_operation_that_changes_something() -> None:
    changing = {id(it.source) for it in CHANGING}
    for field in published(Mutation):
        assert field.sources, f"{field.name} is not made with mutation_field ({ORIGINS})."
        assert all(id(source) in changing for source in field.sources), f"{field.name} takes no input."


@pytest.mark.parametrize("it", CHANGING, ids=lambda it: it.where)
async def test_it_is_recorded(it: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Begun(Exception):
        """An entry of the audit log was begun."""

    def begin(operation: str, *_: object) -> None:
        raise Begun(operation)

    monkeypatch.setattr(resolvers.core.operation, "AuditRecord", begin)
    role = WITHOUT_TOKEN.get(it.source.permission, Role.PARTNER)
    caller = Caller(role, GRANTABLE_PERMISSIONS, user_id=1, token_id=1, partner_id=1)
    with pytest.raises(Begun, match=f"^{it.source.name}$"):
        await it.source(Context(services_with(), caller), input=object())
