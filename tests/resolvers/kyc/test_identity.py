"""Identity verification: one session while it is good, whoever asks and however often; and what comes of it."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from resolvers.bank_account import check_bank_accounts
from resolvers.core.context import Context
from resolvers.kyc.identity import OPENING, open_identity_verification
from resolvers.onboarding import provider_return
from schema.core.errors import ActivationRequired, NotFound, OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.kyc.identity import OpenIdentityVerification
from schema.kyc.kyc import KycCheckKind, KycCheckStatus, KycStatus
from schema.onboarding import ProviderReturnPurpose, ProviderReturnRetry, ProviderReturnStatus
from schema.partner.partner import PartnerStatus
from store.core.clock import clock
from store.core.provider_process import KEY_LIFE
from store.core.return_paths import MAX_LENGTH, provider_return_url
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.kyc import IdentityCheckRow
from tests.fixtures.activation import Newcomer
from tests.fixtures.kyc import Payee

WEEK = dt.timedelta(days=7)
OPEN = "/users/*/identity-verifications"
TABLE = "identity_verification"


@pytest.fixture
async def payee(newcomer: Newcomer) -> Payee:
    """A partner that the provider knows."""
    return await Payee.of(newcomer)


async def test_a_session_is_opened_and_used_again(payee: Payee) -> None:
    first = await payee.open_identity()
    assert first.status is KycCheckStatus.PENDING
    assert first.redirect_url.startswith("http")
    (at_provider,) = await payee.at_the_provider(TABLE)
    assert len(at_provider["return_url"]) <= MAX_LENGTH
    again = await payee.open_identity()
    assert (again.id, again.redirect_url, again.expires_on) == (first.id, first.redirect_url, first.expires_on)
    assert len(await payee.at_the_provider(TABLE)) == 1


async def test_a_session_is_used_again_for_seven_days(payee: Payee) -> None:
    first = await payee.open_identity()
    clock.advance(WEEK - dt.timedelta(minutes=1))
    assert (await payee.open_identity()).id == first.id
    clock.advance(dt.timedelta(minutes=1, seconds=1))
    assert (await payee.open_identity()).id != first.id


@pytest.mark.parametrize("outcome", ["validate", "refuse", "review"])
async def test_after_its_end_another_session_is_opened(payee: Payee, outcome: str) -> None:
    first = await payee.open_identity()
    await payee.verify(first, outcome, **({"reason": "DOCUMENT_UNREADABLE"} if outcome == "refuse" else {}))
    second = await payee.open_identity()
    assert second.id != first.id
    assert second.redirect_url != first.redirect_url


async def test_twenty_at_once_open_one_session(payee: Payee) -> None:
    opened = await asyncio.gather(*(payee.open_identity() for _ in range(20)))
    assert len({one.redirect_url for one in opened}) == len({one.id for one in opened}) == 1
    assert len(await payee.at_the_provider(TABLE)) == 1


async def test_a_session_that_was_opened_elsewhere_is_used(payee: Payee) -> None:
    first = await payee.open_identity()
    await payee.execute("DELETE FROM identity_check")
    again = await payee.open_identity()
    assert again.redirect_url == first.redirect_url
    assert len(await payee.at_the_provider(TABLE)) == 1


async def test_a_session_is_recorded_once_though_the_account_changes_meanwhile(payee: Payee) -> None:
    opened = await payee.open_identity()
    async with payee.services.db.sessions() as db:
        row = await db.get_one(IdentityCheckRow, opened.id)
    session = await payee.services.provider.get_identity_check(row.provider_id)
    await payee.execute("UPDATE partner SET provider_user_id = 'another'")
    assert (await OPENING.save(payee.services, row, session)).id == row.id
    assert await payee.one("SELECT count(*) FROM identity_check") == 1


async def test_a_partner_that_the_provider_does_not_know_is_activated_first(newcomer: Newcomer) -> None:
    with pytest.raises(ActivationRequired):
        await open_identity_verification(newcomer.manager, OpenIdentityVerification(partner_uuid=newcomer.partner.uuid))
    assert await newcomer.one("SELECT count(*) FROM identity_check") == 0


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_answer_that_is_lost_is_asked_for_again(payee: Payee, when: str) -> None:
    await payee.fault(OPEN, method="POST", kind="status", status=502, when=when, times=50)
    await payee.fault("/responses/*", method="GET", kind="status", status=502, times=50)
    with pytest.raises(ProviderTimedOut):
        await payee.open_identity()
    await payee.control("DELETE", "/faults")
    await payee.open_identity()
    assert len(await payee.at_the_provider(TABLE)) == 1
    assert await payee.one("SELECT count(*) FROM identity_check") == 1


async def test_a_session_whose_answer_was_lost_for_a_day_is_left_to_expire(payee: Payee) -> None:
    await payee.fault(OPEN, method="POST", kind="status", status=502, when="after", times=50)
    await payee.fault("/responses/*", method="GET", kind="status", status=502, times=50)
    with pytest.raises(ProviderTimedOut):
        await payee.open_identity()
    await payee.control("DELETE", "/faults")
    clock.advance(KEY_LIFE)
    await payee.open_identity()
    assert len(await payee.at_the_provider(TABLE)) == 2
    assert await payee.one("SELECT count(*) FROM identity_check") == 1


class _KilledError(BaseException):
    """The process dies."""


async def test_a_process_that_dies_before_it_notes_the_answer_opens_no_second_session(
    payee: Payee, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = payee.services.provider.open_identity_check

    async def dying(*arguments: Any, **more: Any) -> None:
        await opening(*arguments, **more)
        raise _KilledError

    monkeypatch.setattr(payee.services.provider, "open_identity_check", dying)
    with pytest.raises(_KilledError):
        await payee.open_identity()
    monkeypatch.undo()
    await payee.open_identity()
    assert len(await payee.at_the_provider(TABLE)) == 1
    assert await payee.one("SELECT count(*) FROM identity_check") == 1


async def test_a_provider_that_forbids_it_says_so_and_nothing_is_open(payee: Payee) -> None:
    await payee.control("POST", "/switches", {"identity_verification": False})
    with pytest.raises(ProviderFailed):
        await payee.open_identity()
    assert not await payee.at_the_provider(TABLE)
    await payee.control("POST", "/switches", {"identity_verification": True})
    opened = await payee.open_identity()  # with another key: the provider repeats a refusal for the one it refused
    assert (await payee.open_identity()).id == opened.id
    assert len(await payee.at_the_provider(TABLE)) == 1


# ---- what comes of it


async def test_a_validated_identity_identifies_the_partner(payee: Payee) -> None:
    await payee.verify(await payee.open_identity())
    told = await payee.level()
    assert (told.status, told.errors) == (KycStatus.OK, [])
    (change,) = await payee.changes()
    assert [what["kind"] for what in change["changed"]] == ["level", "identity_check"]


@pytest.mark.parametrize(
    "reason",
    ["DOCUMENT_NOT_ACCEPTED", "FACE_MATCH_FAIL", "DOCUMENT_FALSIFIED", "DOCUMENT_UNREADABLE", "DOCUMENT_HAS_EXPIRED"],
)
async def test_a_refused_identity_is_told_with_its_reason(payee: Payee, reason: str) -> None:
    opened = await payee.open_identity()
    await payee.verify(opened, "refuse", reason=reason)
    told = await payee.level()
    error = next(error for error in told.errors if error.kind is KycCheckKind.IDENTITY_CHECK)
    assert (error.id, error.status, error.refused_reason) == (opened.id, KycCheckStatus.REFUSED, reason)
    assert f"identity verification ({reason})" in told.detail


async def test_an_identity_that_is_reviewed_is_waited_for(payee: Payee) -> None:
    opened = await payee.open_identity()
    await payee.verify(opened, "review")
    told = await payee.level()
    assert not told.errors
    assert "Being examined: identity verification." in told.detail
    await payee.verify(opened)
    assert (await payee.level()).status is KycStatus.OK
    assert [change["changed"][-1]["status"] for change in await payee.changes()] == ["REVIEW", "VALIDATED"]


async def test_a_session_that_nobody_used_expires(payee: Payee) -> None:
    await payee.open_identity()
    clock.advance(WEEK + dt.timedelta(seconds=1))
    told = await payee.level()
    (check,) = told.checks
    assert check.status is KycCheckStatus.EXPIRED
    assert KycCheckKind.IDENTITY_CHECK not in {error.kind for error in told.errors}


# ---- coming back


async def _context(payee: Payee, path: str) -> Context:
    return Context(payee.services, await provider_return.representative_at(payee.services, path))


async def test_whoever_comes_back_is_told_how_it_stands(payee: Payee) -> None:
    opened = await payee.open_identity()
    path = await payee.one("SELECT path FROM identity_check")
    context = await _context(payee, path)
    seen = await provider_return.get_provider_return(context, path)
    assert (seen.purpose, seen.status, seen.action_url) == (
        ProviderReturnPurpose.IDENTITY,
        ProviderReturnStatus.OPEN,
        opened.redirect_url,
    )
    await payee.verify(opened, "refuse", reason="DOCUMENT_UNREADABLE")
    assert (await provider_return.get_provider_return(context, path)).status is ProviderReturnStatus.FAILED
    another = await provider_return.try_again(context, ProviderReturnRetry(path))
    assert another != path
    assert (await provider_return.get_provider_return(context, another)).status is ProviderReturnStatus.OPEN
    assert await provider_return.try_again(context, ProviderReturnRetry(path)) == another
    assert len(await payee.at_the_provider(TABLE)) == 2


async def test_coming_back_while_the_provider_is_down_tells_what_was_known(payee: Payee) -> None:
    await payee.open_identity()
    path = await payee.one("SELECT path FROM identity_check")
    await payee.fault("*", method="GET", kind="status", status=503, times=200)
    await payee.fault("/identity-verifications/*", method="GET", kind="status", status=503, times=200)
    await payee.fault("/users/*/kyc/documents", method="GET", kind="status", status=503, times=200)
    seen = await provider_return.get_provider_return(await _context(payee, path), path)
    assert (seen.status, seen.action_url) == (ProviderReturnStatus.OPEN, None)


async def test_an_address_leads_to_its_own_page_only(payee: Payee) -> None:
    await payee.open_identity()
    path = await payee.one("SELECT path FROM identity_check")
    for wrong in ("", path[:-1], path.swapcase(), "aaaaaaaa", "\x00aaaaaaa", "\ud800aaaaaaa", "éééééééé", "a" * 9000):
        with pytest.raises(NotFound):
            await provider_return.representative_at(payee.services, wrong)
    context = await _context(payee, path)
    assert context.caller is not None
    context.caller = type(context.caller).representative(payee.partner.id + 1, payee.partner.marketplace_id)
    for call in (
        provider_return.get_provider_return(context, path),
        provider_return.try_again(context, ProviderReturnRetry(path)),
    ):
        with pytest.raises(NotFound):
            await call


async def test_what_is_validated_is_not_begun_anew(payee: Payee) -> None:
    await payee.verify(await payee.open_identity())
    await payee.level()
    path = await payee.one("SELECT path FROM identity_check")
    assert await provider_return.try_again(await _context(payee, path), ProviderReturnRetry(path)) == path
    assert len(await payee.at_the_provider(TABLE)) == 1


async def test_of_a_test_partner_no_real_provider_hears(payee: Payee) -> None:
    await payee.open_identity()
    await payee.register()
    path = await payee.one("SELECT path FROM identity_check")
    context = await _context(payee, path)
    await payee.change(status=PartnerStatus.TEST)
    assert (await payee.open_identity()).redirect_url  # the sandbox is for trying things out
    payee.services.settings.provider = ProviderName.MANGOPAY
    before = await payee.calls()
    for refused in (
        payee.push(),
        payee.open_identity(),
        payee.register(),
        provider_return.try_again(context, ProviderReturnRetry(path)),
    ):
        with pytest.raises(OnlyInSandbox):
            await refused
    assert (await payee.level()).status is KycStatus.ERROR
    assert (await provider_return.get_provider_return(context, path)).action_url is None
    assert not await check_bank_accounts(payee.services, payee.partner.id)
    assert await payee.calls() == before
    assert not await payee.at_the_provider("kyc_document")


def test_the_return_address_fits_where_the_service_has_a_short_one() -> None:
    assert len(provider_return_url(Settings(base_url="https://pay.example.com"), "a1B2c3D4")) <= MAX_LENGTH
