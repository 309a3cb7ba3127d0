"""An account that nobody knows the outcome of: a person says what there is, and the activation goes on."""

import datetime as dt
from uuid import uuid4

import pytest
from sqlalchemy import text

from coffret.sandbox.users import users
from resolvers.activation.resolution import settle_activation
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from schema.activation import ActivationFailureReason, ActivationStatus, PaymentActivation, SettleActivation
from schema.core.errors import Conflict, Forbidden, InvalidInput, NotFound, ProviderTimedOut
from schema.core.permission import GRANTABLE_PERMISSIONS
from store.core.clock import clock
from tests.fixtures.activation import Newcomer

CREATE = "/sca/users/legal"


async def settle(newcomer: Newcomer, account_id: str = "") -> PaymentActivation:
    """Say what the provider has."""
    master = Context(newcomer.services, Caller(Role.MASTER, GRANTABLE_PERMISSIONS))
    return await settle_activation(master, SettleActivation(partner_uuid=newcomer.partner.uuid, account_id=account_id))


async def stored(newcomer: Newcomer) -> list[tuple[object, ...]]:
    """All that is kept of partners and activations."""
    query = text("SELECT p.*, a.* FROM partner p LEFT JOIN payment_activation a ON a.partner_id = p.id")
    return [tuple(row) for row in await newcomer.services.db.rows(query)]


async def lost(newcomer: Newcomer, when: str) -> None:
    """The answer to the call that makes the account is lost, and nothing can be looked up for days."""
    await newcomer.fault(CREATE, kind="drop", when=when, times=50)
    await newcomer.fault("/responses/*", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await newcomer.activate()
    await newcomer.control("DELETE", "/faults")
    clock.advance(dt.timedelta(days=2))


async def forgotten(newcomer: Newcomer) -> str:
    """An account was made, whose event is lost as well; answers its id."""
    await lost(newcomer, "after")
    await newcomer.at_provider(lambda session: session.change("DELETE FROM event"))
    failed = await newcomer.activate()
    assert failed.failure is not None
    assert failed.failure.reason is ActivationFailureReason.OUTCOME_UNKNOWN
    assert failed.failure.action == "settleActivation"
    assert str((await newcomer.user())["Tag"]) in failed.failure.message
    (account,) = await newcomer.accounts()
    return account


async def test_the_account_that_somebody_found_is_gone_on_with(newcomer: Newcomer) -> None:
    account = await forgotten(newcomer)
    settled = await settle(newcomer, account)
    assert settled.status is ActivationStatus.FAILED
    begun = await newcomer.activate()
    assert begun.status is ActivationStatus.PENDING_USER_ACTION
    assert await newcomer.accounts() == [account]
    await newcomer.authenticate(begun.pending_user_action)
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    with pytest.raises(Conflict):
        await settle(newcomer)


async def test_where_there_is_none_another_is_asked_for(newcomer: Newcomer) -> None:
    await lost(newcomer, "before")
    assert (await newcomer.activate()).status is ActivationStatus.FAILED
    assert (await newcomer.activate()).status is ActivationStatus.FAILED
    await settle(newcomer)
    begun = await newcomer.activate()
    assert begun.status is ActivationStatus.PENDING_USER_ACTION
    assert len(await newcomer.accounts()) == 1


async def test_an_account_of_something_else_is_refused(newcomer: Newcomer) -> None:
    account = await forgotten(newcomer)
    await newcomer.at_provider(users.rewrite, account, {"Tag": str(uuid4())})
    before = await stored(newcomer)
    for other in (account, "user_m_nobody"):
        with pytest.raises(InvalidInput) as refused:
            await settle(newcomer, other)
        assert {problem.path for problem in refused.value.problems} == {("account_id",)}
    await newcomer.fault("/sca/users/*", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await settle(newcomer, account)
    assert await stored(newcomer) == before


async def test_what_is_known_is_not_settled(newcomer: Newcomer) -> None:
    with pytest.raises(Conflict):
        await settle(newcomer)
    await newcomer.activate()
    before = await stored(newcomer)
    with pytest.raises(Conflict):
        await settle(newcomer, (await newcomer.accounts())[0])
    with pytest.raises(Forbidden):
        await settle_activation(newcomer.representative, SettleActivation(partner_uuid=newcomer.partner.uuid))
    master = Context(newcomer.services, Caller(Role.MASTER, GRANTABLE_PERMISSIONS))
    with pytest.raises(NotFound):
        await settle_activation(master, SettleActivation(partner_uuid=uuid4()))
    assert await stored(newcomer) == before
