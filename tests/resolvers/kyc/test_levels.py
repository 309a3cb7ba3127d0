"""How far a partner is identified: every end of a document and of an identity check, told once, whatever order it comes in."""

import datetime as dt
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coffret.sandbox.kyc.documents import DocumentRefusalReason
from coffret.sandbox.users import users
from resolvers.job import provider_notifications
from resolvers.kyc import levels
from resolvers.kyc.levels import kyc_level, sweep_kyc
from resolvers.kyc.view import REQUIRED, kyc_requirements
from schema.core.errors import ProviderFailed, ProviderTimedOut
from schema.kyc.capability import RequirementCode
from schema.kyc.kyc import KycCheckKind, KycCheckStatus, KycDocumentType, KycRefusalReason, KycStatus
from schema.partner.parts import CompanyType
from store.core.clock import clock
from store.partner.partners import PartnerRow
from store.providers.accounts import Account
from store.providers.base import Subject
from tests.fixtures.activation import Newcomer
from tests.fixtures.kyc import Payee, pdf

T = KycDocumentType
OURS = {
    "DOCUMENT_UNREADABLE": KycRefusalReason.UNREADABLE,
    "DOCUMENT_NOT_ACCEPTED": KycRefusalReason.NOT_ACCEPTED,
    "DOCUMENT_HAS_EXPIRED": KycRefusalReason.HAS_EXPIRED,
    "DOCUMENT_INCOMPLETE": KycRefusalReason.INCOMPLETE,
    "DOCUMENT_MISSING": KycRefusalReason.MISSING,
    "DOCUMENT_DO_NOT_MATCH_USER_DATA": KycRefusalReason.USER_DATA_MISMATCH,
    "DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA": KycRefusalReason.ACCOUNT_DATA_MISMATCH,
    "DOCUMENT_FALSIFIED": KycRefusalReason.FALSIFIED,
    "UNDERAGE_PERSON": KycRefusalReason.UNDERAGE,
    "SPECIFIC_CASE": KycRefusalReason.SPECIFIC_CASE,
}


@pytest.fixture
async def payee(newcomer: Newcomer) -> Payee:
    """A partner that the provider knows."""
    return await Payee.of(newcomer)


async def test_of_a_partner_that_the_provider_does_not_know_the_way_out_is_told(newcomer: Newcomer) -> None:
    told = await kyc_level(newcomer.manager, newcomer.partner.uuid)
    assert (told.status, told.errors, told.checked_on) == (KycStatus.ERROR, [], None)
    assert "activate its payments first" in told.detail


async def test_what_was_never_handed_in_is_missing(payee: Payee) -> None:
    told = await payee.level()
    assert told.status is KycStatus.ERROR
    assert [error.document_type for error in told.errors] == list(REQUIRED[CompanyType.BUSINESS])
    assert {(error.id, error.status, error.refused_reason) for error in told.errors} == {
        (None, None, "DOCUMENT_MISSING")
    }
    await payee.push(kind=T.REGISTRATION_PROOF)
    told = await payee.level()
    assert T.REGISTRATION_PROOF not in [error.document_type for error in told.errors]
    assert "Being examined: REGISTRATION_PROOF" in told.detail


async def test_a_partner_whose_documents_are_all_validated_is_identified(payee: Payee) -> None:
    for kind in REQUIRED[CompanyType.BUSINESS]:
        await payee.decide(await payee.push(kind=kind))
    told = await payee.level()
    assert (told.status, told.errors) == (KycStatus.OK, [])
    assert told.detail == "The payment provider has validated this partner."
    assert {check.status for check in told.checks} == {KycCheckStatus.VALIDATED}
    assert not kyc_requirements(await payee.rows())
    (change,) = await payee.changes()
    assert change["status"] == "ok"
    assert [what["kind"] for what in change["changed"]] == ["level", *["document"] * 4]


@pytest.mark.parametrize("reason", DocumentRefusalReason)
async def test_every_reason_for_a_refusal_is_told(payee: Payee, reason: DocumentRefusalReason) -> None:
    document = await payee.push()
    await payee.decide(document, "refuse", reason=reason.value, message="Look again.")
    told = await payee.level()
    error = next(error for error in told.errors if error.id == document.id)
    assert (error.status, error.refused_reason, error.kind) == (
        KycCheckStatus.REFUSED,
        reason.value,
        KycCheckKind.DOCUMENT,
    )
    (refusal,) = error.refusals
    assert (refusal.reason, refusal.code, refusal.message) == (OURS[reason.value], reason.value, "Look again.")
    assert f"Refused: IDENTITY_PROOF ({reason.value})." in told.detail
    (change,) = await payee.changes()
    assert change["changed"] == [
        {
            "kind": "document",
            "id": document.id,
            "document_type": "IDENTITY_PROOF",
            "status": "REFUSED",
            "refused_reason": reason.value,
        }
    ]
    (needed,) = kyc_requirements(await payee.rows())
    assert needed.code is RequirementCode.DOCUMENT_REFUSED


async def test_of_several_documents_of_a_type_the_latest_counts(payee: Payee) -> None:
    first = await payee.push(pdf(salt="one"))
    await payee.decide(first, "refuse", reason="DOCUMENT_UNREADABLE")
    clock.advance(dt.timedelta(seconds=1))
    second = await payee.push(pdf(salt="two"))
    told = await payee.level()
    assert [check.id for check in told.checks] == [second.id]
    assert T.IDENTITY_PROOF not in [error.document_type for error in told.errors]


async def test_a_document_that_goes_out_of_date_takes_the_level_with_it(payee: Payee) -> None:
    documents = [await payee.push(kind=kind) for kind in REQUIRED[CompanyType.BUSINESS]]
    for document in documents:
        await payee.decide(document)
    assert (await payee.level()).status is KycStatus.OK
    await payee.decide(documents[0], "out_of_date")
    told = await payee.level()
    assert (told.status, [error.status for error in told.errors]) == (KycStatus.ERROR, [KycCheckStatus.OUT_OF_DATE])
    assert [change["status"] for change in await payee.changes()] == ["ok", "error"]
    (needed,) = kyc_requirements(await payee.rows())
    assert needed.code is RequirementCode.DOCUMENT_OUTDATED


async def test_a_document_that_was_handed_in_elsewhere_counts_as_well(payee: Payee) -> None:
    document = await payee.push()
    await payee.decide(document, "refuse", reason="DOCUMENT_UNREADABLE")
    await payee.execute("DELETE FROM kyc_document")
    told = await payee.level()
    (error,) = [error for error in told.errors if error.id is not None]
    assert (error.document_type, error.refused_reason) == (T.IDENTITY_PROOF, "DOCUMENT_UNREADABLE")


async def test_what_another_account_was_told_counts_for_nothing(payee: Payee) -> None:
    for kind in REQUIRED[CompanyType.BUSINESS]:
        await payee.decide(await payee.push(kind=kind))
    assert (await payee.level()).status is KycStatus.OK
    await payee.change(provider_user_id="user_m_another")
    payee.partner = await payee.now()
    with pytest.raises(ProviderFailed):
        await payee.level()
    rows = await payee.rows()
    assert (rows.validated, rows.documents, rows.current) == (False, [], None)


# ---- how fresh it is


async def test_the_provider_is_not_asked_twice_in_a_minute(payee: Payee) -> None:
    await payee.level()
    before = await payee.calls()
    await kyc_level(payee.manager, payee.partner.uuid)
    assert await payee.calls() == before
    clock.advance(levels.MAX_AGE)
    await kyc_level(payee.manager, payee.partner.uuid)
    assert await payee.calls() > before


async def test_while_the_provider_is_down_what_it_said_last_is_answered_with_its_age(payee: Payee) -> None:
    first = await payee.level()
    clock.advance(dt.timedelta(hours=2))
    await payee.fault("/**", method="GET", kind="status", status=503, times=100)
    await payee.fault("*", method="GET", kind="status", status=503, times=100)
    told = await kyc_level(payee.manager, payee.partner.uuid)
    assert told.checked_on == first.checked_on
    assert first.checked_on is not None
    assert f"this is of {first.checked_on:%Y-%m-%d %H:%M} UTC" in told.detail


async def test_a_provider_that_is_down_from_the_start_leaves_nothing_to_answer(payee: Payee) -> None:
    await payee.fault("/users/*/kyc/documents", method="GET", kind="status", status=503, times=100)
    with pytest.raises(ProviderTimedOut):
        await payee.level()
    assert (await payee.rows()).current is None


async def test_the_sweep_looks_at_each_partner_once_until_it_is_due_again(payee: Payee) -> None:
    assert await sweep_kyc(payee.services) == 1
    assert await sweep_kyc(payee.services) == 0
    document = await payee.push()
    await payee.decide(document, "refuse", reason="DOCUMENT_UNREADABLE")
    await levels.CHECKS.poll(payee.services, payee.partner.id)
    assert len(await payee.changes()) == 1
    clock.advance(dt.timedelta(days=6))
    assert await sweep_kyc(payee.services) == 0
    clock.advance(dt.timedelta(days=2))
    assert await sweep_kyc(payee.services) == 1


async def test_a_sweep_leaves_the_providers_calls_to_customers(payee: Payee) -> None:
    names: list[dict[str, Any]] = [
        {"source_id": str(n), "short_name": f"s{n}", "site_domain": f"s{n}.localhost"} for n in range(100, 150)
    ]
    async with payee.services.db.sessions() as db, db.begin():
        of = payee.partner.marketplace_id
        for name in names:
            known = f"user_{name['source_id']}"
            db.add(PartnerRow(marketplace_id=of, commercial_name="Shop", provider_user_id=known, **name))
    swept = [await sweep_kyc(payee.services) for _ in range(3)]
    assert swept == [40, 11, 0]
    before = await payee.calls()
    await levels.CHECKS.poll(payee.services, payee.partner.id)
    each_quarter = 3 * swept[0] * (await payee.calls() - before)
    assert each_quarter < 2300 / 4


async def test_a_look_that_fails_is_not_the_end(payee: Payee) -> None:
    await payee.fault("/users/*/kyc/documents", method="GET", kind="status", status=503, times=100)
    await levels.CHECKS.poll(payee.services, payee.partner.id)
    assert not await payee.changes()


# ---- what is told


async def test_a_hint_that_is_no_news_costs_one_call(payee: Payee) -> None:
    document = await payee.push()
    await payee.decide(document)
    await payee.follow()
    assert len(await payee.changes()) == 1
    id = await payee.one("SELECT provider_id FROM kyc_document")
    before = await payee.calls()
    await provider_notifications.dispatch_notification(payee.services, Subject.DOCUMENT, id)
    assert await payee.calls() == before + 1
    assert len(await payee.changes()) == 1


async def test_hints_of_what_is_not_there_are_left_alone(payee: Payee) -> None:
    for subject in (Subject.ACCOUNT, Subject.DOCUMENT, Subject.IDENTITY_CHECK, Subject.DESTINATION):
        await provider_notifications.dispatch_notification(payee.services, subject, "nothing_1")
    assert not await payee.changes()


async def test_what_was_read_before_another_wrote_is_read_again(payee: Payee, monkeypatch: pytest.MonkeyPatch) -> None:
    document = await payee.push()
    last_answer = payee.services.provider.get_account
    late: list[Account] = []

    async def slow(account_id: str) -> Account:
        told = await last_answer(account_id)
        if not late:
            late.append(told)
            await payee.decide(document)
            await levels.refresh_kyc(payee.services, payee.partner.id)
        return told

    monkeypatch.setattr(payee.services.provider, "get_account", slow)
    await levels.refresh_kyc(payee.services, payee.partner.id)
    assert [row.status for row in (await payee.rows()).documents] == [KycCheckStatus.VALIDATED]
    assert len(await payee.changes()) == 1


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), lost=st.integers(0, 10))
async def test_events_in_any_order_twice_or_lost_end_in_the_same(payee: Payee, seed: int, lost: int) -> None:
    chance = random.Random(seed)
    await _begin_again(payee)
    decided = {kind: chance.choice(["validate", "refuse", None]) for kind in REQUIRED[CompanyType.BUSINESS]}
    for kind, outcome in decided.items():
        document = await payee.push(pdf(salt=f"{seed}"), kind)
        if outcome is not None:
            await payee.decide(document, outcome, **({"reason": "SPECIFIC_CASE"} if outcome == "refuse" else {}))
        hints = [hint for hint in await payee.recent_events() if hint[0] in KYC] * 2
        for subject, id in chance.sample(hints, len(hints)):
            if chance.randrange(10) >= lost:
                await provider_notifications.dispatch_notification(payee.services, subject, id)
    await levels.CHECKS.poll(payee.services, payee.partner.id)
    ends = {
        "validate": KycCheckStatus.VALIDATED,
        "refuse": KycCheckStatus.REFUSED,
        None: KycCheckStatus.VALIDATION_ASKED,
    }
    rows = await payee.rows()
    assert {row.document_type: row.status for row in rows.documents} == {k: ends[o] for k, o in decided.items()}
    assert rows.validated is (set(decided.values()) == {"validate"})
    told = [what for change in await payee.changes() for what in change["changed"]]
    assert sorted(what["id"] for what in told if what["kind"] == "document") == sorted(
        row.id for row in rows.documents if decided[T(row.document_type)] is not None
    )
    assert [what["status"] for what in told if what["kind"] == "level"] == ["ok"] * rows.validated


KYC = {Subject.DOCUMENT, Subject.ACCOUNT}


async def _begin_again(payee: Payee) -> None:
    """As if nothing was ever handed in."""
    for table in ("event WHERE type = 'partner.kyc_changed'", "kyc_document", "partner_kyc"):
        await payee.execute(f"DELETE FROM {table}")  # noqa: S608 - a name from a test

    def forget(session: Any) -> None:
        session.change("DELETE FROM kyc_page")
        session.change("DELETE FROM kyc_document")
        session.change("DELETE FROM event")
        users.identify(session, payee.partner.provider_user_id, "LIGHT", session.now)

    await payee.at_provider(forget)
