"""Bank accounts that money is paid out to."""

import datetime as dt
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from coffret.sandbox import app as sandbox_app
from store.core.clock import clock
from store.providers.accounts import Destination, DestinationStatus
from store.providers.actions import ActionKind
from store.providers.errors import InvalidRequest, NotAllowed, ProviderNotFound
from store.providers.keys import new_idempotency_key
from tests.fixtures.shop import Shop
from tests.store.providers.mangopay.account import Account, ok, refusal
from tests.store.providers.mangopay.payees.people import BACK, BANK, ENCODED_BACK, SCA, recipient

PATH = "/users/user_m_2/recipients"


async def added(account: Account, **changes: Any) -> Destination:
    """Add a bank account."""
    return await account.adapter.add_destination(
        replace(BANK, **changes), return_url=BACK, key=new_idempotency_key(), sent_at=account.clock.now()
    )


ADDRESS = {"AddressLine1": "4 rue de la Paix", "City": "Paris", "PostalCode": "75002", "Country": "FR"}


async def test_a_business_is_paid_out_to_its_bank_account(account: Account) -> None:
    route = account.on("POST", PATH, ok(recipient()))
    before = account.clock.now()
    told = await added(account)
    assert json.loads(route.calls.last.request.content) == {
        "DisplayName": "Main account",
        "PayoutMethodType": "LocalBankTransfer",
        "RecipientType": "Business",
        "Currency": "EUR",
        "Country": "FR",
        "RecipientScope": "PAYOUT",
        "LocalBankTransfer": {"EUR": {"IBAN": "FR7630004000031234567890143"}},
        "BusinessRecipient": {"BusinessName": "Maison Soleil", "Address": ADDRESS},
    }
    assert (told.id, told.account_id, told.status, told.label) == (
        "rec_1",
        "user_m_2",
        DestinationStatus.PENDING,
        "Main account",
    )
    assert told.action
    assert (told.action.kind, told.action.url) == (ActionKind.AUTHENTICATION, f"{SCA}&returnUrl={ENCODED_BACK}")
    assert told.action.expires_at
    assert before <= told.action.expires_at - dt.timedelta(minutes=10) <= account.clock.now()


async def test_a_person_is_paid_out_by_name(account: Account) -> None:
    route = account.on("POST", PATH, ok(recipient(RecipientType="Individual")))
    await added(account, holder_is_business=False, first_name="Ana", last_name="Puig", iban="DE09000000000000000001")
    body = json.loads(route.calls.last.request.content)
    assert (body["RecipientType"], body["Country"]) == ("Individual", "DE")
    assert body["IndividualRecipient"] == {"FirstName": "Ana", "LastName": "Puig", "Address": ADDRESS}
    assert "BusinessRecipient" not in body


@pytest.mark.parametrize(
    ("label", "display_name"),
    [
        ("Dupont & Fils, 'Paris' / Lyon", "Dupont Fils Paris Lyon"),
        ("x" * 60, "x" * 50),
        ("y" * 49 + " z", "y" * 49),
        ("&&&", "Maison Soleil"),
        ("", "Maison Soleil"),
    ],
)
async def test_the_name_of_a_bank_account_is_one_that_the_provider_takes(
    account: Account, label: str, display_name: str
) -> None:
    route = account.on("POST", PATH, ok(recipient()))
    await added(account, label=label)
    assert json.loads(route.calls.last.request.content)["DisplayName"] == display_name


async def test_a_bank_account_that_needs_no_authentication_is_active(account: Account) -> None:
    account.on("POST", PATH, ok(recipient(Status="ACTIVE", PendingUserAction=None)))
    told = await added(account)
    assert (told.status, told.action) == (DestinationStatus.ACTIVE, None)


@pytest.mark.parametrize(
    ("answer", "error"),
    [(refusal(400, "param_error", errors={"IBAN": "wrong"}), InvalidRequest), (refusal(403), NotAllowed)],
)
async def test_a_bank_account_may_be_refused(account: Account, answer: httpx.Response, error: type[Exception]) -> None:
    route = account.on("POST", PATH, answer)
    with pytest.raises(error):
        await added(account)
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("PENDING", DestinationStatus.PENDING),
        ("ACTIVE", DestinationStatus.ACTIVE),
        ("CANCELED", DestinationStatus.CANCELLED),
        ("DEACTIVATED", DestinationStatus.DEACTIVATED),
        ("SLEEPING", DestinationStatus.UNKNOWN),
    ],
)
async def test_a_bank_account_is_told_as_it_is_now(account: Account, status: str, meaning: DestinationStatus) -> None:
    account.on("GET", "/recipients/rec_1", ok(recipient(Status=status)))
    told = await account.adapter.get_destination("rec_1")
    assert told == Destination("rec_1", "user_m_2", meaning, label="Main account", provider_status=status)


async def test_what_the_bank_says_of_the_name_is_told(account: Account) -> None:
    payee = {
        "RecipientVerificationId": "1",
        "RecipientVerificationCheck": "CLOSE_MATCH",
        "RecipientVerificationMessage": "The name is Maison du Soleil",
    }
    account.on("GET", "/recipients/rec_1", ok(recipient(RecipientVerificationOfPayee=payee)))
    told = await account.adapter.get_destination("rec_1")
    assert (told.payee_check, told.payee_message) == ("CLOSE_MATCH", "The name is Maison du Soleil")


async def test_all_bank_accounts_are_told_as_the_provider_orders_them(account: Account) -> None:
    route = account.on("GET", PATH, ok([recipient(Id="rec_2"), recipient(DisplayName=None)]))
    told = await account.adapter.list_destinations("user_m_2")
    assert [(each.id, each.label) for each in told] == [("rec_2", "Main account"), ("rec_1", "")]
    assert route.calls.last.request.url.params["Sort"] == "CreationDate:DESC"


async def test_a_bank_account_is_given_up(account: Account) -> None:
    route = account.on("PUT", "/recipients/rec_1", ok(recipient(Status="DEACTIVATED")))
    assert (await account.adapter.deactivate_destination("rec_1")).status is DestinationStatus.DEACTIVATED
    assert json.loads(route.calls.last.request.content) == {"Status": "DEACTIVATED"}


async def test_a_bank_account_is_given_up_once(account: Account) -> None:
    account.on("PUT", "/recipients/rec_1", httpx.ReadTimeout, refusal(400, "param_error"))
    account.on("GET", "/recipients/rec_1", ok(recipient(Status="DEACTIVATED")))
    assert (await account.adapter.deactivate_destination("rec_1")).status is DestinationStatus.DEACTIVATED


async def test_a_bank_account_that_cannot_be_given_up_says_so(account: Account) -> None:
    account.on("PUT", "/recipients/rec_1", refusal(400, "param_error", errors={"Status": "no"}))
    account.on("GET", "/recipients/rec_1", ok(recipient()))
    with pytest.raises(InvalidRequest) as told:
        await account.adapter.deactivate_destination("rec_1")
    assert told.value.fields == {"Status": "no"}


async def test_a_bank_account_that_is_not_there_is_not_found(account: Account) -> None:
    account.on("GET", "/recipients/none", refusal(404, "ressource_not_found"))
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_destination("none")


@pytest.mark.parametrize(
    ("iban", "currency", "method", "number"),
    [
        (
            "GB29NWBK60161331926819",
            "GBP",
            "LocalBankTransfer",
            {"GBP": {"SortCode": "601613", "AccountNumber": "31926819"}},
        ),
        (BANK.iban, "GBP", "InternationalBankTransfer", {"AccountNumber": BANK.iban}),
        ("GB29NWBK60161331926819", "EUR", "LocalBankTransfer", {"EUR": {"IBAN": "GB29NWBK60161331926819"}}),
        (BANK.iban, "CHF", "InternationalBankTransfer", {"AccountNumber": BANK.iban}),
    ],
)
async def test_an_account_is_named_as_its_country_and_currency_need(
    account: Account, iban: str, currency: str, method: str, number: dict[str, Any]
) -> None:
    route = account.on("POST", PATH, ok(recipient()))
    await added(account, iban=iban, currency=currency)
    sent = json.loads(route.calls.last.request.content)
    named = {key: value for key, value in sent.items() if key.endswith("BankTransfer")}
    assert (sent["PayoutMethodType"], named) == (method, {method: number})
    assert (sent["Currency"], sent["Country"]) == (currency, iban[:2])


@pytest.mark.parametrize("iban", ["GB29NWBK60161331926819", BANK.iban])
async def test_the_sandbox_takes_accounts_in_pounds(shop: Shop, iban: str) -> None:
    wanted = replace(BANK, account_id=shop.partner.provider_user_id, iban=iban, currency="GBP")
    once: Any = {"return_url": "https://shop.example/back", "key": new_idempotency_key(), "sent_at": clock.now()}
    added = await shop.services.provider.add_destination(wanted, **once)
    await sandbox_app.tick(shop.sandbox)
    assert (await shop.services.provider.get_destination(added.id)).status is DestinationStatus.ACTIVE
