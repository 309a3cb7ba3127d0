"""Bank accounts: confirmed by the representative, replaced when the IBAN changes, one whoever asks and however often."""

import asyncio
import dataclasses
import datetime as dt
from typing import Any

import pytest
from sqlalchemy import text

from coffret.sandbox.payouts.recipients import STRANGER
from coffret.sandbox.users.sca import ScaOutcome
from resolvers.bank_account import (
    bank_requirements_of,
    check_bank_accounts,
    poll_bank_accounts,
    register_bank_account,
    registered_bank_accounts,
)
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.lists.listing import PageArguments
from resolvers.onboarding import provider_return
from schema.bank_account import BankAccountStatus, RegisterBankAccount
from schema.core.errors import (
    ActivationRequired,
    BankAccountRefused,
    Forbidden,
    IbanMissing,
    ProviderFailed,
    ProviderTimedOut,
)
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.kyc.capability import Requirement, RequirementCode
from schema.onboarding import ProviderReturnPurpose, ProviderReturnRetry, ProviderReturnStatus
from schema.partner.parts import CompanyType
from schema.payment.errors import PaymentsNotActive
from store.core.clock import clock
from store.core.retries import RunAgain
from store.providers.accounts import Destination
from store.providers.errors import NotAllowed, ProviderError
from tests.fixtures.activation import Newcomer
from tests.fixtures.kyc import IBAN, OTHER_IBAN, Payee

REFUSED_IBAN = "DE95000000000000000005"
ADD = "/users/*/recipients"


@pytest.fixture
async def payee(newcomer: Newcomer) -> Payee:
    """A partner that the provider knows."""
    return await Payee.of(newcomer)


async def needed(payee: Payee) -> list[Requirement]:
    """What is needed before it can be paid out."""
    async with payee.services.db.sessions() as db:
        return await bank_requirements_of(db, await payee.now())


async def statuses(payee: Payee) -> list[str]:
    """Of its bank accounts here, oldest first."""
    return [row[0] for row in await payee.services.db.rows(text("SELECT status FROM bank_account ORDER BY id"))]


async def at_provider(payee: Payee) -> list[str]:
    """The same at the provider."""
    return [row["status"] for row in await payee.at_the_provider("recipient")]


async def test_a_bank_account_is_confirmed_and_then_active(payee: Payee) -> None:
    assert [one.code for one in await needed(payee)] == [RequirementCode.BANK_ACCOUNT_MISSING]
    account = await payee.register()
    assert (account.status, account.iban_end, account.holder) == (BankAccountStatus.PENDING, IBAN[-4:], "Chez Ada SARL")
    assert account.redirect_url is not None
    (one,) = await needed(payee)
    assert (one.code, one.action, one.deadline) == (
        RequirementCode.BANK_ACCOUNT_AUTHENTICATION,
        account.redirect_url,
        account.redirect_expires_on,
    )
    await payee.confirm(account)
    await payee.follow()
    assert await statuses(payee) == ["active"]
    assert not await needed(payee)
    again = await payee.register()
    assert (again.id, again.status, again.redirect_url) == (account.id, BankAccountStatus.ACTIVE, None)


async def test_the_same_link_is_answered_while_it_can_be_used(payee: Payee) -> None:
    first = await payee.register()
    again = await payee.register()
    assert (again.id, again.redirect_url) == (first.id, first.redirect_url)
    clock.advance(dt.timedelta(minutes=10, seconds=1))
    later = await payee.register()
    assert later.id != first.id
    assert later.redirect_url != first.redirect_url
    assert await statuses(payee) == ["cancelled", "pending"]


async def test_what_was_not_confirmed_is_registered_again(payee: Payee) -> None:
    first = await payee.register()
    await payee.confirm(first, ScaOutcome.FAILED)
    await payee.follow()
    (one,) = await needed(payee)
    assert (one.code, one.action) == (RequirementCode.BANK_ACCOUNT_AUTHENTICATION, "registerBankAccount")
    second = await payee.register()
    await payee.confirm(second)
    await check_bank_accounts(payee.services, payee.partner.id)
    assert await statuses(payee) == ["cancelled", "active"]


async def test_another_iban_takes_the_place_of_the_one_before_when_it_is_active(payee: Payee) -> None:
    await payee.confirm(await payee.register())
    await check_bank_accounts(payee.services, payee.partner.id)
    await payee.change(iban=OTHER_IBAN)
    assert [one.action for one in await needed(payee)] == ["registerBankAccount"]
    second = await payee.register()
    await check_bank_accounts(payee.services, payee.partner.id)
    assert await at_provider(payee) == ["ACTIVE", "PENDING"]
    await payee.confirm(second)
    await payee.follow()
    assert await statuses(payee) == ["deactivated", "active"]
    assert await at_provider(payee) == ["DEACTIVATED", "ACTIVE"]
    await payee.change(iban=IBAN)
    assert (await payee.register()).id != second.id


async def test_an_iban_that_was_given_up_takes_no_place_when_it_is_confirmed_all_the_same(payee: Payee) -> None:
    first = await payee.register()
    await payee.confirm(first)
    await check_bank_accounts(payee.services, payee.partner.id)
    await payee.change(iban=OTHER_IBAN)
    second = await payee.register()
    await payee.change(iban=IBAN)
    assert (await payee.register()).id == first.id
    await payee.confirm(second)
    await payee.follow()
    assert await at_provider(payee) == ["ACTIVE", "DEACTIVATED"]
    assert await statuses(payee) == ["active", "deactivated"]
    assert not await needed(payee)


async def test_what_the_provider_forbids_today_can_be_registered_tomorrow(
    payee: Payee, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forbidding(*_arguments: Any, **_more: Any) -> None:
        raise NotAllowed("The feature is not activated.")

    monkeypatch.setattr(payee.services.provider, "add_destination", forbidding)
    with pytest.raises(ProviderFailed):
        await payee.register()
    refused = await payee.one("SELECT key FROM bank_account")
    monkeypatch.undo()
    assert (await payee.register()).status is BankAccountStatus.PENDING
    assert await statuses(payee) == ["cancelled", "pending"]
    assert await payee.one("SELECT key FROM bank_account WHERE status = 'pending'") != refused


@pytest.mark.parametrize(
    ("columns", "refusal"),
    [({"iban": ""}, IbanMissing), ({"legal_representative_birthday": None}, BankAccountRefused)],
    ids=["no iban", "no birthday"],
)
async def test_what_lacks_something_meanwhile_is_not_tried_again(
    payee: Payee, columns: dict[str, Any], refusal: type[Exception]
) -> None:
    await payee.confirm(await payee.register(), ScaOutcome.FAILED)
    await payee.follow()
    await payee.change(**columns)
    path = await payee.one("SELECT path FROM bank_account")
    context = Context(payee.services, await provider_return.representative_at(payee.services, path))
    with pytest.raises(refusal):
        await provider_return.try_again(context, ProviderReturnRetry(path))
    assert await statuses(payee) == ["cancelled"]
    assert len(await at_provider(payee)) == 1


async def test_a_deactivation_that_fails_is_asked_for_again(payee: Payee) -> None:
    await payee.confirm(await payee.register())
    await payee.change(iban=OTHER_IBAN)
    await payee.confirm(await payee.register())
    await payee.fault("/recipients/*", method="PUT", kind="status", status=503, times=50)
    with pytest.raises(ProviderError):
        await check_bank_accounts(payee.services, payee.partner.id)
    await payee.control("DELETE", "/faults")
    assert not await check_bank_accounts(payee.services, payee.partner.id)
    assert await at_provider(payee) == ["DEACTIVATED", "ACTIVE"]


async def test_twenty_at_once_register_one(payee: Payee) -> None:
    accounts = await asyncio.gather(*(payee.register() for _ in range(20)))
    assert len({account.id for account in accounts}) == len({account.redirect_url for account in accounts}) == 1
    assert len(await at_provider(payee)) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_answer_that_is_lost_is_asked_for_again(payee: Payee, when: str) -> None:
    await payee.fault(ADD, method="POST", kind="status", status=503, when=when, times=50)
    await payee.fault("/responses/*", method="GET", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await payee.register()
    assert await statuses(payee) == ["created"]
    await payee.control("DELETE", "/faults")
    account = await payee.register()
    assert account.redirect_url is not None
    assert len(await at_provider(payee)) == 1
    assert await statuses(payee) == ["pending"]


class _KilledError(BaseException):
    """The process dies."""


async def test_a_process_that_dies_before_it_notes_the_answer_registers_no_second_one(
    payee: Payee, monkeypatch: pytest.MonkeyPatch
) -> None:
    adding = payee.services.provider.add_destination

    async def dying(*arguments: Any, **more: Any) -> None:
        await adding(*arguments, **more)
        raise _KilledError

    monkeypatch.setattr(payee.services.provider, "add_destination", dying)
    with pytest.raises(_KilledError):
        await payee.register()
    monkeypatch.undo()
    assert (await payee.register()).status is BankAccountStatus.PENDING
    assert len(await at_provider(payee)) == 1


async def test_an_iban_that_the_provider_refuses_is_told_with_its_reason(payee: Payee) -> None:
    await payee.change(iban=REFUSED_IBAN)
    with pytest.raises(BankAccountRefused, match="updatePartner"):
        await payee.register()
    assert await statuses(payee) == ["cancelled"]
    await payee.change(iban=IBAN)
    assert (await payee.register()).status is BankAccountStatus.PENDING


async def test_what_has_to_be_there_first_is_told(payee: Payee) -> None:
    await payee.change(iban="")
    with pytest.raises(IbanMissing):
        await payee.register()
    (one,) = await needed(payee)
    assert (one.code, one.field) == (RequirementCode.BANK_ACCOUNT_MISSING, "bankAccount.iban")
    await payee.change(payments_active=False)
    with pytest.raises(PaymentsNotActive):
        await payee.register()
    assert not await needed(payee)
    await payee.change(hq_city="", iban=IBAN, payments_active=True)
    with pytest.raises(BankAccountRefused, match="hq_city"):
        await payee.register()
    assert not await statuses(payee)
    assert not await at_provider(payee)


async def test_a_partner_that_the_provider_does_not_know_is_activated_first(newcomer: Newcomer) -> None:
    with pytest.raises(ActivationRequired):
        await register_bank_account(newcomer.manager, RegisterBankAccount(partner_uuid=newcomer.partner.uuid))


async def test_the_holder_of_a_persons_account_is_the_person(newcomer: Newcomer) -> None:
    await newcomer.change(company_type=CompanyType.INDIVIDUAL, name="", siret_number="")
    person = await Payee.of(newcomer)
    assert (await person.register()).holder == "Ada Martin"


async def test_the_job_looks_until_nothing_is_waited_for(payee: Payee) -> None:
    account = await payee.register()
    with pytest.raises(RunAgain):
        await poll_bank_accounts(payee.services, payee.partner.id)
    await payee.confirm(account)
    await poll_bank_accounts(payee.services, payee.partner.id)
    assert await statuses(payee) == ["active"]
    assert await payee.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'check_bank_accounts'") >= 1


async def test_what_the_bank_says_of_the_name_is_shown(payee: Payee) -> None:
    await payee.change(iban=STRANGER)
    account = await payee.register()
    assert account.payee_check == "NO_MATCH"


async def test_a_long_word_of_the_bank_is_cut_and_stops_nothing(payee: Payee, monkeypatch: pytest.MonkeyPatch) -> None:
    await payee.register()
    said = await payee.services.provider.get_destination(await payee.one("SELECT provider_id FROM bank_account"))

    async def wordy(_id: str) -> Destination:
        return dataclasses.replace(said, payee_check="A_NEW_WORD" * 50)

    monkeypatch.setattr(payee.services.provider, "get_destination", wordy)
    await check_bank_accounts(payee.services, payee.partner.id)
    assert await payee.one("SELECT payee_check FROM bank_account") == "A_NEW_WORD" * 10
    assert RequirementCode.PAYEE_MISMATCH not in {one.code for one in await needed(payee)}


async def test_that_the_bank_knows_another_holder_is_needed_to_be_put_right(payee: Payee) -> None:
    mismatch = Requirement(code=RequirementCode.PAYEE_MISMATCH, field="bankAccount.iban", action="updatePartner")
    await payee.change(iban=STRANGER)
    account = await payee.register()
    confirm, other_name = await needed(payee)
    assert (confirm.code, confirm.action) == (RequirementCode.BANK_ACCOUNT_AUTHENTICATION, account.redirect_url)
    assert other_name == mismatch
    await payee.confirm(account)
    await payee.follow()
    assert await needed(payee) == [mismatch]
    await payee.change(iban=IBAN)
    assert RequirementCode.PAYEE_MISMATCH not in {one.code for one in await needed(payee)}
    await payee.confirm(await payee.register())
    await payee.follow()
    assert not await needed(payee)


async def test_whoever_comes_back_from_confirming_is_told_how_it_stands(payee: Payee) -> None:
    account = await payee.register()
    path = await payee.one("SELECT path FROM bank_account")
    context = Context(payee.services, await provider_return.representative_at(payee.services, path))
    seen = await provider_return.get_provider_return(context, path)
    assert (seen.purpose, seen.status, seen.action_url) == (
        ProviderReturnPurpose.BANK_ACCOUNT,
        ProviderReturnStatus.OPEN,
        account.redirect_url,
    )
    await payee.confirm(account, ScaOutcome.FAILED)
    assert (await provider_return.get_provider_return(context, path)).status is ProviderReturnStatus.FAILED
    another = await provider_return.try_again(context, ProviderReturnRetry(path))
    assert (await provider_return.get_provider_return(context, another)).status is ProviderReturnStatus.OPEN


async def test_who_sees_partners_sees_their_bank_accounts(payee: Payee) -> None:
    account = await payee.register()

    async def visible_ids(caller: Caller) -> list[int]:
        found = await registered_bank_accounts(Context(payee.services, caller), PageArguments())
        return [row.id for row in await found.rows.objects()]

    own, of = payee.partner.id, payee.partner.marketplace_id
    assert await visible_ids(Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=of)) == [account.id]
    assert await visible_ids(Caller(Role.PARTNER, GRANTABLE_PERMISSIONS, partner_id=own, marketplace_id=of)) == [
        account.id
    ]
    assert await visible_ids(Caller(Role.MASTER, GRANTABLE_PERMISSIONS)) == [account.id]
    assert await visible_ids(Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=of + 1)) == []
    assert await visible_ids(Caller(Role.PARTNER, GRANTABLE_PERMISSIONS, partner_id=own + 1, marketplace_id=of)) == []
    with pytest.raises(Forbidden):
        await visible_ids(Caller(Role.PARTNER, frozenset(), partner_id=own, marketplace_id=of))


async def test_what_was_asked_earlier_and_answered_later_changes_nothing(
    payee: Payee, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = await payee.register()
    old = await payee.services.provider.get_destination(await payee.one("SELECT provider_id FROM bank_account"))
    await payee.confirm(account)
    await check_bank_accounts(payee.services, payee.partner.id)

    async def late(_id: str) -> Destination:
        return old

    monkeypatch.setattr(payee.services.provider, "get_destination", late)
    await check_bank_accounts(payee.services, payee.partner.id)
    assert await statuses(payee) == ["active"]
