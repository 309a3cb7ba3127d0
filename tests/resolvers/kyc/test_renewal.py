"""Identifications that must be renewed, and owners of a business whose own check is missing."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest

from resolvers.kyc import levels
from resolvers.kyc.capability import capability_of, load_onboarding_rows
from resolvers.kyc.view import SEND_LINK
from schema.kyc.capability import Requirement, RequirementCode
from schema.kyc.kyc import KycStatus
from store.core.clock import clock
from store.providers.base import Subject
from tests.fixtures.activation import Newcomer
from tests.fixtures.kyc import Payee

OWNERS = [
    {"first_name": "Ana", "last_name": "Puig", "email": "a@x.example"},
    {"first_name": "Joan", "last_name": "Puig"},
]
KYC = {RequirementCode.IDENTITY_RENEWAL, RequirementCode.OWNER_NOT_VERIFIED, RequirementCode.IDENTITY_NOT_VERIFIED}


@pytest.fixture
async def payee(newcomer: Newcomer) -> Payee:
    """A partner that the provider knows."""
    return await Payee.of(newcomer)


@pytest.fixture
async def identified(payee: Payee) -> Payee:
    """A partner whose identity is verified."""
    await payee.verify(await payee.open_identity())
    assert (await payee.level()).status is KycStatus.OK
    return payee


async def due_in(payee: Payee, days: int) -> dt.date:
    """The provider sets a deadline, and we hear of it."""
    deadline = clock.now().date() + dt.timedelta(days=days)
    user = (await payee.now()).provider_user_id
    answer = await payee.control("POST", f"/users/{user}", {"renewal_deadline": deadline.isoformat()})
    assert answer.is_success, answer.text
    await payee.follow()
    return deadline


async def needed(payee: Payee, page: str = "https://shop.example/onboarding/x/") -> list[Requirement]:
    """What is needed for the identification."""
    async with payee.services.db.sessions() as db:
        stands = (await load_onboarding_rows(db, [payee.partner.id]))[payee.partner.id]
    return [need for need in capability_of(stands, page, sells=True).requirements if need.code in KYC]


async def mails(payee: Payee) -> list[Mapping[str, Any]]:
    """The mails about the renewal: their recipients and contents."""
    found = await payee.one(
        "SELECT coalesce(json_agg(json_build_object('to', recipient, 'about', content)), '[]') FROM mail"
    )
    return [mail for mail in found if "renew_by" in mail["about"]]


async def test_the_deadline_is_told_with_the_way_out(identified: Payee) -> None:
    deadline = await due_in(identified, 80)
    (need,) = await needed(identified)
    assert (need.code, need.action) == (RequirementCode.IDENTITY_RENEWAL, "openIdentityVerification")
    assert need.deadline == dt.datetime.combine(deadline, dt.time(23, 59, 59), dt.UTC)
    change = (await identified.changes())[-1]["changed"]
    assert [(what["kind"], what["status"], what["renew_by"]) for what in change] == [("renewal", "due", str(deadline))]
    (mail,) = await mails(identified)
    assert mail["to"] == (await identified.now()).legal_representative_email
    assert mail["about"]["renew_by"] == str(deadline)
    assert "/onboarding/" in mail["about"]["url"]


async def test_a_deadline_that_is_far_away_is_not_told(identified: Payee) -> None:
    await due_in(identified, 120)
    await levels.refresh_kyc(identified.services, identified.partner.id)
    assert await needed(identified) == []
    assert await mails(identified) == []
    clock.advance(dt.timedelta(days=31))
    assert [need.code for need in await needed(identified)] == [RequirementCode.IDENTITY_RENEWAL]


async def test_it_is_told_again_before_it_is_too_late(identified: Payee) -> None:
    await due_in(identified, 80)
    for days, count in ((0, 1), (40, 1), (20, 2), (15, 3), (1, 3)):
        clock.advance(dt.timedelta(days=days))
        await levels.refresh_kyc(identified.services, identified.partner.id)
        assert len(await mails(identified)) == count, days


async def test_renewed(identified: Payee) -> None:
    await due_in(identified, 30)
    clock.advance(dt.timedelta(days=1))
    await identified.verify(await identified.open_identity())
    await identified.follow()
    assert await needed(identified) == []
    renewal = [what for each in await identified.changes() for what in each["changed"] if what["kind"] == "renewal"]
    assert [what["status"] for what in renewal] == ["due", "ok"]
    assert len(await mails(identified)) == 1


async def test_too_late(identified: Payee) -> None:
    await due_in(identified, 1)
    clock.advance(dt.timedelta(days=3))
    assert (await identified.level()).status is KycStatus.ERROR
    assert [need.code for need in await needed(identified)] == [RequirementCode.IDENTITY_NOT_VERIFIED]


async def with_owners(payee: Payee) -> list[dict[str, Any]]:
    """The owners of a business that was validated with them, as the provider has them."""
    await payee.verify(await payee.open_identity(), owners=OWNERS)
    await payee.follow()
    return await payee.at_the_provider("owner_session")


async def test_every_owner_who_is_missing_is_named_with_their_page(payee: Payee) -> None:
    first, second = await with_owners(payee)
    needs = await needed(payee)
    assert [(need.code, need.person) for need in needs] == [
        (RequirementCode.OWNER_NOT_VERIFIED, "Ana Puig"),
        (RequirementCode.OWNER_NOT_VERIFIED, "Joan Puig"),
    ]
    assert [need.action.rpartition("/")[2] for need in needs] == [first["token"], second["token"]]
    assert all(need.deadline for need in needs)
    assert {need.action for need in await needed(payee, SEND_LINK)} == {SEND_LINK}
    told = [what for each in await payee.changes() for what in each["changed"] if what["kind"] == "owner"]
    assert [(what["person"], what["status"]) for what in told] == [("Ana Puig", "PENDING"), ("Joan Puig", "PENDING")]
    assert "a@x.example" not in str(await payee.one("SELECT owners FROM identity_check"))


async def test_identified_with_the_last_owner(payee: Payee) -> None:
    for left, session in ((1, (owners := await with_owners(payee))[0]), (0, owners[1])):
        answer = await payee.control("POST", f"/pscs/{session['id']}", {"outcome": "validate"})
        assert answer.is_success, answer.text
        await payee.follow()
        assert len(await needed(payee)) == left
    assert (await payee.level()).status is KycStatus.OK


async def test_an_owner_who_was_refused_gets_another_page(payee: Payee) -> None:
    first, _ = await with_owners(payee)
    await payee.control("POST", f"/pscs/{first['id']}", {"outcome": "reject"})
    await payee.follow()
    again, _ = await payee.at_the_provider("owner_session")
    assert (again["status"], again["token"] != first["token"]) == ("PENDING_VALIDATION", True)
    assert (await needed(payee))[0].action.endswith(again["token"])


async def test_a_page_that_ran_out_is_replaced_at_the_next_check(payee: Payee) -> None:
    first, _ = await with_owners(payee)
    clock.advance(dt.timedelta(days=8))
    await levels.CHECKS.poll(payee.services, payee.partner.id)
    again, _ = await payee.at_the_provider("owner_session")
    assert again["token"] != first["token"]
    assert (await needed(payee))[0].action.endswith(again["token"])


async def test_an_owner_of_somebody_else_is_nothing(payee: Payee) -> None:
    before = await payee.changes()
    await levels.handle_kyc_notification(payee.services, Subject.OWNER_CHECK, "psc_unknown")
    assert await payee.changes() == before
