"""Accounts of those who are paid, and the authentication of who acts for them."""

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import pytest

from store.providers.accounts import Account as Told
from store.providers.accounts import AccountStatus, Blocks, Enrolment, KycLevel, LegalKind
from store.providers.actions import ActionKind, UserAction
from store.providers.errors import ActionRequired, InvalidRequest, ProviderNotFound, TransientError
from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount
from tests.store.providers.mangopay.account import CREATED, Account, Answer, ok, refusal
from tests.store.providers.mangopay.payees.people import (
    BACK,
    ENCODED_BACK,
    MOMENT,
    PERSON,
    REQUEST,
    SCA,
    legal_user,
    natural_user,
)

LEGAL, NATURAL = "/sca/users/legal", "/sca/users/natural"


async def created(account: Account, **changes: Any) -> Told:
    """Create an account."""
    request = replace(REQUEST, **changes)
    return await account.adapter.create_account(
        request, return_url=BACK, key=new_idempotency_key(), sent_at=account.clock.now()
    )


async def test_a_business_is_an_owner_that_has_accepted_the_terms(account: Account) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    told = await created(account)
    assert json.loads(route.calls.last.request.content) == {
        "UserCategory": "OWNER",
        "TermsAndConditionsAccepted": True,
        "LegalPersonType": "BUSINESS",
        "Name": "Maison Soleil",
        "Email": "hello@soleil.example",
        "LegalRepresentative": {
            "FirstName": "Ana",
            "LastName": "Puig",
            "Email": "ana@example.com",
            "Birthday": -121219200,
            "Nationality": "ES",
            "CountryOfResidence": "FR",
            "PhoneNumber": "+33611223344",
            "PhoneNumberCountry": "FR",
        },
        "HeadquartersAddress": {
            "AddressLine1": "4 rue de la Paix",
            "City": "Paris",
            "PostalCode": "75002",
            "Country": "FR",
        },
        "CompanyNumber": "552100554",
        "Tag": "partner-7",
    }
    assert (told.id, told.status, told.kyc_level) == ("user_m_2", AccountStatus.ACTION_REQUIRED, KycLevel.LIGHT)
    assert (told.representative_email, told.reference) == ("ana@example.com", "partner-7")


@pytest.mark.parametrize(
    ("kind", "written"), [(LegalKind.ORGANIZATION, "ORGANIZATION"), (LegalKind.SOLE_TRADER, "SOLETRADER")]
)
async def test_others_are_legal_persons_too_and_may_lack_a_number(
    account: Account, kind: LegalKind, written: str
) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    await created(account, kind=kind, company_number="")
    body = json.loads(route.calls.last.request.content)
    assert body["LegalPersonType"] == written
    assert "CompanyNumber" not in body


async def test_an_individual_is_a_natural_person(account: Account) -> None:
    route = account.on("POST", NATURAL, ok(natural_user()))
    american = replace(REQUEST.headquarters, line_2="Floor 3", region="NY", country="US")
    told = await created(account, kind=LegalKind.INDIVIDUAL, headquarters=american)
    assert json.loads(route.calls.last.request.content) == {
        "UserCategory": "OWNER",
        "TermsAndConditionsAccepted": True,
        "FirstName": "Ana",
        "LastName": "Puig",
        "Email": "ana@example.com",
        "Birthday": -121219200,
        "Nationality": "ES",
        "CountryOfResidence": "FR",
        "PhoneNumber": "+33611223344",
        "PhoneNumberCountry": "FR",
        "Address": {
            "AddressLine1": "4 rue de la Paix",
            "AddressLine2": "Floor 3",
            "City": "Paris",
            "Region": "NY",
            "PostalCode": "75002",
            "Country": "US",
        },
        "Tag": "partner-7",
    }
    assert (told.id, told.representative_email) == ("user_m_3", "ana@example.com")


@pytest.mark.parametrize(
    ("birthday", "stamp"),
    [(dt.date(1970, 1, 1), 0), (dt.date(2000, 2, 29), 951782400), (dt.date(1900, 1, 1), -2208988800)],
)
async def test_a_birthday_is_midnight_in_universal_time(account: Account, birthday: dt.date, stamp: int) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    await created(account, representative=replace(PERSON, birthday=birthday))
    assert json.loads(route.calls.last.request.content)["LegalRepresentative"]["Birthday"] == stamp


@pytest.mark.parametrize(
    ("phone", "country"), [("+34612345678", "ES"), ("+12125550123", "US"), ("+80012345678", None), ("0612", None)]
)
async def test_a_telephone_number_says_its_country_where_it_has_one(
    account: Account, phone: str, country: str | None
) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    await created(account, representative=replace(PERSON, phone=phone))
    person = json.loads(route.calls.last.request.content)["LegalRepresentative"]
    assert person["PhoneNumber"] == phone
    assert person.get("PhoneNumberCountry") == country


async def test_without_a_telephone_number_none_is_sent(account: Account) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    await created(account, representative=replace(PERSON, phone=""))
    assert not {"PhoneNumber", "PhoneNumberCountry"} & set(
        json.loads(route.calls.last.request.content)["LegalRepresentative"]
    )


async def test_the_link_leads_back_and_lasts_ten_minutes_from_before_the_call(account: Account) -> None:
    account.on("POST", LEGAL, ok(legal_user()))
    before = account.clock.now()
    action = (await created(account)).action
    assert action
    assert (action.kind, action.url) == (ActionKind.AUTHENTICATION, f"{SCA}&returnUrl={ENCODED_BACK}")
    assert action.expires_at
    assert before <= action.expires_at - dt.timedelta(minutes=10) <= account.clock.now()


async def test_a_link_without_a_query_gets_one(account: Account) -> None:
    account.on("POST", LEGAL, ok(legal_user(PendingUserAction={"RedirectUrl": "https://sca.provider.test/abc"})))
    action = (await created(account)).action
    assert action
    assert action.url == f"https://sca.provider.test/abc?returnUrl={ENCODED_BACK}"


async def test_a_return_url_that_leaves_no_room_for_the_link_is_not_sent(account: Account) -> None:
    longest = "https://shop.example/" + "x" * (1000 - len("returnUrl=https%3A%2F%2Fshop.example%2F"))
    account.on("POST", LEGAL, ok(legal_user()))
    for url in (longest, longest + "x"):
        sent_at = account.clock.now()
        made = account.adapter.create_account(REQUEST, return_url=url, key=new_idempotency_key(), sent_at=sent_at)
        if url == longest:
            action = (await made).action
            assert action
            assert len(action.url) < 2000
        else:
            with pytest.raises(ValueError, match="return URL"):
                await made
    assert len([call for call in account.routes.calls if call.request.url.path.endswith("/legal")]) == 1


@pytest.mark.parametrize("length", [255, 256])
async def test_a_reference_is_kept_whole_or_not_taken(account: Account, length: int) -> None:
    route = account.on("POST", LEGAL, ok(legal_user()))
    if length > 255:
        with pytest.raises(ValueError, match="255"):
            await created(account, reference="r" * length)
        assert not route.called
    else:
        await created(account, reference="r" * length)
        assert json.loads(route.calls.last.request.content)["Tag"] == "r" * length


async def test_somebody_who_need_not_authenticate_is_active_at_once(account: Account) -> None:
    account.on("POST", LEGAL, ok(legal_user(UserStatus="ACTIVE", PendingUserAction=None)))
    told = await created(account)
    assert (told.status, told.action) == (AccountStatus.ACTIVE, None)


async def test_a_refusal_names_the_fields(account: Account) -> None:
    errors = {"LegalRepresentative.Birthday": "too young"}
    route = account.on("POST", LEGAL, refusal(400, "param_error", errors=errors))
    with pytest.raises(InvalidRequest) as told:
        await created(account)
    assert (told.value.fields, route.call_count) == (errors, 1)


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [(LegalKind.BUSINESS, LEGAL, legal_user()), (LegalKind.INDIVIDUAL, NATURAL, natural_user())],
)
async def test_an_update_tells_everything_and_changes_no_category(
    account: Account, kind: LegalKind, path: str, body: dict[str, Any]
) -> None:
    made = account.on("POST", path, ok(body))
    changed = account.on("PUT", f"{path}/{body['Id']}", ok(body | {"UserStatus": "ACTIVE"}))
    request = replace(REQUEST, kind=kind)
    await created(account, kind=kind)
    told = await account.adapter.update_account(body["Id"], request)
    sent = json.loads(made.calls.last.request.content)
    assert json.loads(changed.calls.last.request.content) == {
        name: value for name, value in sent.items() if name != "UserCategory"
    }
    assert (told.status, told.action) == (AccountStatus.ACTIVE, None)


async def test_an_update_is_sent_again_when_its_answer_is_lost(account: Account) -> None:
    route = account.on("PUT", f"{LEGAL}/user_m_2", refusal(502), ok(legal_user()))
    await account.adapter.update_account("user_m_2", REQUEST)
    assert route.call_count == 2
    assert "Idempotency-Key" not in route.calls.last.request.headers


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("PENDING_USER_ACTION", AccountStatus.ACTION_REQUIRED),
        ("ACTIVE", AccountStatus.ACTIVE),
        ("CLOSED", AccountStatus.CLOSED),
        ("ON_HOLIDAY", AccountStatus.UNKNOWN),
    ],
)
@pytest.mark.parametrize(
    ("level", "known"),
    [("LIGHT", KycLevel.LIGHT), ("REGULAR", KycLevel.REGULAR), ("GOLD", KycLevel.LIGHT), (None, KycLevel.LIGHT)],
)
async def test_an_account_is_told_as_it_is_now(
    account: Account, status: str, meaning: AccountStatus, level: str | None, known: KycLevel
) -> None:
    account.on("GET", "/sca/users/user_m_2", ok(legal_user(UserStatus=status, KYCLevel=level)))
    told = await account.adapter.get_account("user_m_2")
    assert told == Told("user_m_2", meaning, known, "ana@example.com", "partner-7")


async def test_an_account_that_is_not_there_is_not_found(account: Account) -> None:
    account.on("GET", "/sca/users/nobody", refusal(404, "ressource_not_found"))
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_account("nobody")


# Authentication


async def test_a_new_session_is_opened_without_a_body(account: Account) -> None:
    route = account.on("POST", "/sca/users/user_m_2/enrollment", ok({"PendingUserAction": {"RedirectUrl": SCA}}))
    before, key = account.clock.now(), new_idempotency_key()
    action = await account.adapter.open_enrolment("user_m_2", return_url=BACK, key=key, sent_at=before)
    request = route.calls.last.request
    assert (request.content, request.headers["Idempotency-Key"]) == (b"", key)
    assert action
    assert action.url == f"{SCA}&returnUrl={ENCODED_BACK}"
    assert action.expires_at
    assert before <= action.expires_at - dt.timedelta(minutes=10) <= account.clock.now()


async def test_whoever_has_nothing_to_do_gets_no_session(account: Account) -> None:
    account.on("POST", "/sca/users/user_m_2/enrollment", ok({"PendingUserAction": None}))
    key, now = new_idempotency_key(), account.clock.now()
    assert await account.adapter.open_enrolment("user_m_2", return_url=BACK, key=key, sent_at=now) is None


@pytest.mark.parametrize("enrolled", [True, False])
@pytest.mark.parametrize(("date", "on"), [(CREATED, MOMENT), (None, None)])
async def test_the_state_of_an_enrolment(
    account: Account, enrolled: bool, date: int | None, on: dt.datetime | None
) -> None:
    body = {"UserStatus": "ACTIVE", "IsEnrolled": enrolled, "LastEnrollmentDate": date, "ConsentScope": {}}
    account.on("GET", "/sca/users/user_m_2/sca-status", ok(body))
    assert await account.adapter.get_enrolment("user_m_2") == Enrolment(enrolled, on)


async def test_an_enrolment_that_was_never_asked_for_is_none(account: Account) -> None:
    account.on("GET", "/sca/users/user_m_2/sca-status", refusal(404, "ressource_not_found"))
    assert await account.adapter.get_enrolment("user_m_2") is None


async def test_an_enrolment_that_cannot_be_asked_about_is_not_taken_for_none(account: Account) -> None:
    account.on("GET", "/sca/users/user_m_2/sca-status", refusal(503))
    with pytest.raises(TransientError):
        await account.adapter.get_enrolment("user_m_2")


@pytest.mark.parametrize(
    ("who", "after", "failed"),
    [("user_m_2", 1, True), ("user_m_2", 0, False), ("user_m_2", -60, False), ("user_m_9", 1, False)],
)
async def test_a_failed_enrolment_is_found_among_the_events(
    account: Account, who: str, after: int, failed: bool
) -> None:
    event = {"ResourceId": who, "EventType": "SCA_ENROLLMENT_FAILED", "Date": CREATED + after}
    route = account.on("GET", "/events", ok([event]), EventType="SCA_ENROLLMENT_FAILED")
    since = MOMENT + dt.timedelta(milliseconds=700)
    assert await account.adapter.enrolment_failed("user_m_2", since) is failed
    assert int(route.calls.last.request.url.params["AfterDate"]) < CREATED


async def test_without_events_no_enrolment_has_failed(account: Account) -> None:
    account.on("GET", "/events", ok([]))
    assert not await account.adapter.enrolment_failed("user_m_2", MOMENT)


# What is closed, and what is in a wallet


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ({"ActionCode": None, "ScopeBlocked": {"Inflows": False, "Outflows": False}}, Blocks("", False, False)),
        ({"ActionCode": "008701", "ScopeBlocked": {"Inflows": True, "Outflows": False}}, Blocks("008701", True, False)),
        ({"ActionCode": "x", "ScopeBlocked": {"Inflows": None, "Outflows": True}}, Blocks("x", False, True)),
        ({"ScopeBlocked": None}, Blocks("", False, False)),
    ],
)
async def test_what_the_provider_lets_neither_in_nor_out(
    account: Account, body: dict[str, Any], blocks: Blocks
) -> None:
    account.on("GET", "/users/user_m_2/Regulatory", ok(body))
    assert await account.adapter.get_blocks("user_m_2") == blocks


WALLET = {"Id": "wlt_m_1", "Owners": ["user_m_2"], "Balance": {"Currency": "EUR", "Amount": 1234}}
CHALLENGE = {"WWW-Authenticate": f"PendingUserAction RedirectUrl={SCA}"}


async def test_a_balance(account: Account) -> None:
    route = account.on("GET", "/wallets/wlt_m_1", ok(WALLET))
    assert await account.adapter.get_balance("wlt_m_1", return_url=BACK) == MinorAmount("EUR", 1234)
    assert dict(route.calls.last.request.url.params) == {"ScaContext": "USER_PRESENT"}


async def test_a_balance_that_its_owner_must_authenticate_for_says_where_and_leads_back(account: Account) -> None:
    answer = refusal(401, "unauthorized")
    answer.headers.update(CHALLENGE)
    route = account.on("GET", "/wallets/wlt_m_1", answer)
    before = account.clock.now()
    with pytest.raises(ActionRequired) as told:
        await account.adapter.get_balance("wlt_m_1", return_url=BACK)
    action = told.value.action
    assert action.expires_at
    assert before <= action.expires_at - dt.timedelta(minutes=10) <= account.clock.now()
    assert action == UserAction(ActionKind.AUTHENTICATION, f"{SCA}&returnUrl={ENCODED_BACK}", action.expires_at)
    assert (told.value.request_id, route.call_count, account.token.call_count) == ("5e83fbe8#1740580804", 1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        ok(WALLET | {"Balance": {"Currency": "EUR", "Amount": 12.34}}),
        ok(WALLET | {"Balance": None}),
        ok([]),
    ],
)
async def test_a_balance_that_cannot_be_read_is_none(account: Account, answer: Answer) -> None:
    account.on("GET", "/wallets/wlt_m_1", answer)
    with pytest.raises(TransientError):
        await account.adapter.get_balance("wlt_m_1", return_url=BACK)
