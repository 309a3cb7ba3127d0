"""Activating payments: the same link while it can be used, one account however often it is asked, and the end of it."""

import asyncio
import datetime as dt
import itertools
from dataclasses import replace

import pytest

from coffret.sandbox.users.sca import ScaOutcome
from resolvers.activation import activation, polling
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.job import provider_notifications
from schema.activation import ActivatePayments, ActivationFailureReason, ActivationStatus
from schema.core.errors import Forbidden, NotFound, OnlyInSandbox
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.partner.partner import PartnerStatus
from store.core.clock import clock
from store.core.settings.provider import ProviderName
from store.database.db import Database
from store.providers.base import Subject
from tests.fixtures.activation import COMPLETE, Newcomer

TEN_MINUTES = dt.timedelta(minutes=10)


async def test_an_activation_goes_from_the_first_call_to_payments(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    assert begun.status is ActivationStatus.PENDING_USER_ACTION
    assert begun.pending_user_action is not None
    assert "returnUrl=" in begun.pending_user_action
    assert not (await newcomer.now()).payments_active
    await newcomer.authenticate(begun.pending_user_action)
    done = await newcomer.activate()
    assert (done.id, done.status, done.pending_user_action, done.failure) == (
        begun.id,
        ActivationStatus.COMPLETED,
        None,
        None,
    )
    partner = await newcomer.now()
    assert partner.payments_active
    assert [partner.provider_user_id] == await newcomer.accounts()
    assert partner.provider_wallet_id
    assert await newcomer.events() == ["partner.payments_activated"]
    again = await newcomer.activate()
    assert (again.id, again.status) == (begun.id, ActivationStatus.COMPLETED)
    assert await newcomer.wallets() == 1


async def test_the_provider_is_told_what_is_known(newcomer: Newcomer) -> None:
    await newcomer.activate()
    user = await newcomer.user()
    assert user["Name"] == COMPLETE["name"]
    assert user["CompanyNumber"] == COMPLETE["siret_number"]
    assert user["LegalRepresentative"]["Email"] == COMPLETE["legal_representative_email"]
    assert user["HeadquartersAddress"]["Country"] == "FR"


async def test_the_link_stays_for_ten_minutes_and_then_is_another_of_the_same_process(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    clock.advance(TEN_MINUTES - dt.timedelta(minutes=1))
    same = await newcomer.activate()
    assert same.pending_user_action == first.pending_user_action
    clock.advance(dt.timedelta(minutes=2))
    other = await newcomer.activate()
    assert other.id == first.id
    assert other.pending_user_action not in {None, first.pending_user_action}
    assert not await newcomer.authenticate(first.pending_user_action), "it was used after its time"
    assert (await newcomer.activate()).pending_user_action == other.pending_user_action
    await newcomer.authenticate(other.pending_user_action)
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    assert len(await newcomer.accounts()) == 1


async def test_twenty_at_once_make_one_account_and_one_link(newcomer: Newcomer) -> None:
    answers = await asyncio.gather(*(newcomer.activate() for _ in range(20)))
    assert len({answer.id for answer in answers}) == 1
    assert len({answer.pending_user_action for answer in answers}) == 1
    assert len(await newcomer.accounts()) == 1
    assert await newcomer.sessions() == 1
    await newcomer.authenticate(answers[0].pending_user_action)
    done = await asyncio.gather(*(newcomer.activate() for _ in range(20)))
    assert ActivationStatus.COMPLETED in {answer.status for answer in done}
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED
    assert await newcomer.wallets() == 1
    assert await newcomer.events() == ["partner.payments_activated"]


async def test_twenty_in_two_processes_make_one_account_and_one_link(newcomer: Newcomer, database_url: str) -> None:
    other = Database(database_url)
    beside = replace(newcomer, services=replace(newcomer.services, db=other))
    answers = await asyncio.gather(*(at.activate() for _ in range(10) for at in (newcomer, beside)))
    await other.aclose()
    assert len({(answer.id, answer.pending_user_action) for answer in answers}) == 1
    assert (len(await newcomer.accounts()), await newcomer.sessions()) == (1, 1)


async def test_twenty_after_the_link_has_ended_get_one_new_link(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    clock.advance(TEN_MINUTES)
    answers = await asyncio.gather(*(newcomer.activate() for _ in range(20)))
    assert len({answer.pending_user_action for answer in answers} | {first.pending_user_action}) == 2
    assert await newcomer.sessions() == 2


async def test_asking_again_and_again_reads_the_provider_once_in_a_while(newcomer: Newcomer) -> None:
    await newcomer.activate()
    await newcomer.activate()
    before = await newcomer.calls()
    for _ in range(5):
        await newcomer.activate()
    assert await newcomer.calls() == before
    clock.advance(activation.MIN_POLL_INTERVAL)
    await newcomer.activate()
    assert 0 < await newcomer.calls() - before <= 2


async def test_a_representative_that_needs_no_authentication_is_done_at_once(newcomer: Newcomer) -> None:
    await newcomer.change(legal_representative_email="accept@chez-ada.example")
    done = await newcomer.activate()
    assert done.status is ActivationStatus.COMPLETED
    assert done.pending_user_action is None
    assert (await newcomer.now()).payments_active


async def test_what_is_missing_is_asked_for_and_the_provider_is_not(newcomer: Newcomer) -> None:
    await newcomer.change(legal_representative_birthday=None, hq_country_code="")
    begun = await newcomer.activate()
    assert begun.status is ActivationStatus.PENDING_USER_ACTION
    assert begun.pending_user_action is not None
    assert "/onboarding/" in begun.pending_user_action
    assert await newcomer.accounts() == []
    assert (await newcomer.activate()) == begun
    await newcomer.change(legal_representative_birthday=COMPLETE["legal_representative_birthday"], hq_country_code="FR")
    complete = await newcomer.activate()
    assert complete.id == begun.id
    assert "token=" in str(complete.pending_user_action)


async def test_a_failed_session_fails_and_the_next_call_begins_another_process(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    await newcomer.authenticate(first.pending_user_action, ScaOutcome.FAILED)
    failed = await newcomer.activate()
    assert (failed.id, failed.status, failed.pending_user_action) == (first.id, ActivationStatus.FAILED, None)
    assert failed.failure is not None
    assert failed.failure.reason is ActivationFailureReason.NOT_AUTHENTICATED
    assert "/onboarding/" in failed.failure.action
    clock.advance(dt.timedelta(seconds=2))
    second = await newcomer.activate()
    assert second.id != first.id
    assert second.status is ActivationStatus.PENDING_USER_ACTION
    assert len(await newcomer.accounts()) == 1
    await newcomer.authenticate(second.pending_user_action)
    assert (await newcomer.activate()).status is ActivationStatus.COMPLETED


async def test_a_failure_that_nobody_was_told_of_is_told_first(newcomer: Newcomer) -> None:
    first = await newcomer.activate()
    await newcomer.authenticate(first.pending_user_action, ScaOutcome.FAILED)
    await polling.CHECKS.poll(newcomer.services, first.id)
    told = await newcomer.activate()
    assert (told.id, told.status) == (first.id, ActivationStatus.FAILED)
    assert (await newcomer.activate()).id != first.id


async def test_a_notification_completes_it_also_twice_and_late(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    (account,) = await newcomer.accounts()
    for _ in range(2):
        await provider_notifications.dispatch_notification(newcomer.services, Subject.ACCOUNT, account)
    assert (await newcomer.row()).status is ActivationStatus.COMPLETED
    clock.advance(dt.timedelta(days=2))
    await polling.handle_notification(newcomer.services, account)
    assert await newcomer.events() == ["partner.payments_activated"]
    assert await newcomer.wallets() == 1


async def test_the_sweep_completes_it_when_every_notification_is_lost(newcomer: Newcomer) -> None:
    begun = await newcomer.activate()
    await newcomer.authenticate(begun.pending_user_action)
    assert await polling.CHECKS.sweep(newcomer.services) == 0
    clock.advance(dt.timedelta(seconds=30))
    assert await polling.CHECKS.sweep(newcomer.services) == 1
    assert await polling.CHECKS.sweep(newcomer.services) == 0
    assert await newcomer.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'watch_activation'") == 1
    await polling.CHECKS.poll(newcomer.services, begun.id)
    assert (await newcomer.row()).status is ActivationStatus.COMPLETED


async def test_what_is_pending_is_looked_at_ever_more_rarely(newcomer: Newcomer) -> None:
    await newcomer.activate()
    looks = []
    for _ in range(400):
        row = await newcomer.row()
        assert row.check_on is not None
        looks.append(row.check_on)
        clock.advance(row.check_on - clock.now())
        await polling.CHECKS.sweep(newcomer.services)
        if clock.now() - looks[0] > dt.timedelta(days=10):
            break
    pauses = [later - earlier for earlier, later in itertools.pairwise(looks)]
    assert len(looks) < 250
    assert pauses[0] < dt.timedelta(minutes=1)
    assert pauses[-1] > dt.timedelta(hours=23)


async def test_a_test_partner_is_activated_in_the_sandbox_only(newcomer: Newcomer) -> None:
    await newcomer.change(status=PartnerStatus.TEST)
    assert (await newcomer.activate()).status is ActivationStatus.PENDING_USER_ACTION


async def test_only_whom_it_concerns_activates(newcomer: Newcomer) -> None:
    input = ActivatePayments(partner_uuid=newcomer.partner.uuid)
    strangers = Context(
        newcomer.services,
        Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=newcomer.partner.marketplace_id + 1),
    )
    with pytest.raises(NotFound):
        await activation.activate_payments(strangers, input)
    own = Caller(
        Role.PARTNER,
        GRANTABLE_PERMISSIONS - {Permission.CREATE_PARTNER, Permission.MANAGE_MASTERADMIN},
        partner_id=newcomer.partner.id,
        marketplace_id=newcomer.partner.marketplace_id,
    )
    with pytest.raises(Forbidden):
        await activation.activate_payments(Context(newcomer.services, own), input)
    assert await newcomer.one("SELECT count(*) FROM payment_activation") == 0
    assert await newcomer.accounts() == []


async def test_a_test_partner_never_meets_a_real_provider(newcomer: Newcomer) -> None:
    await newcomer.activate()
    before = await newcomer.calls()
    await newcomer.change(status=PartnerStatus.TEST)
    newcomer.services.settings.provider = ProviderName.MANGOPAY
    clock.advance(TEN_MINUTES)
    with pytest.raises(OnlyInSandbox):
        await newcomer.activate()
    await polling.CHECKS.poll(newcomer.services, (await newcomer.row()).id)
    assert await newcomer.calls() == before
    await newcomer.execute("DELETE FROM payment_activation")
    with pytest.raises(OnlyInSandbox):
        await newcomer.activate()
    assert await newcomer.one("SELECT count(*) FROM payment_activation") == 0


async def test_a_partner_that_is_paid_already_is_completed(newcomer: Newcomer) -> None:
    await newcomer.change(payments_active=True, provider_user_id="user", provider_wallet_id="wallet")
    done = await newcomer.activate()
    assert done.status is ActivationStatus.COMPLETED
    assert (await newcomer.activate()).id == done.id
    assert await newcomer.events() == []
    assert await newcomer.accounts() == []
