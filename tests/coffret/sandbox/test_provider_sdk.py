"""The provider's own published SDK for Python against the sandbox, over a real connection and without a change to it.

It knows nothing of us: whatever it can do here is what the provider's clients expect.
"""

import base64
import datetime as dt
import inspect
import re
import socket
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import mangopay
import pytest
import uvicorn
from mangopay import resources
from mangopay.exceptions import APIError
from mangopay.resources import (
    CardWebPayIn,
    Document,
    Event,
    ExtendedCardWebPayIn,
    IdempotencyResponse,
    IdentityVerification,
    LegalUserSca,
    NaturalUserSca,
    Notification,
    Page,
    PayIn,
    PayInRefund,
    Recipient,
    ScaStatus,
    User,
    Wallet,
)
from mangopay.utils import Address, BusinessRecipient, LegalRepresentative, Money
from starlette.applications import Starlette
from starlette.routing import Mount

from coffret.sandbox import SandboxSettings, close, sandbox_app
from coffret.sandbox.app import VERSIONS
from store.core.clock import Clock

BORN = 320_630_400
ADDRESS = Address("4 rue de la Paix", "2e étage", "Paris", "Île-de-France", "75002", "FR")
PDF = base64.b64encode(b"%PDF-1.4\n" + b"0" * 2000).decode()


@dataclass
class Provider:
    """A sandbox that is served, and the address of it."""

    root: str
    notified: list[str] = field(default_factory=list)

    def control(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """A call of the control plane that works."""
        answer = httpx.post(f"{self.root}/_sb{path}", json=body, timeout=60)
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def authenticate(self, redirect_url: str) -> None:
        """Do what the person does at the hosted page, which opens with the address to come back to."""
        assert redirect_url.startswith(self.root)
        page = httpx.get(f"{redirect_url}&returnUrl={quote('https://shop.example/back', safe='')}", timeout=60)
        assert page.status_code == 200
        self.control(f"/sca/{parse_qs(urlsplit(redirect_url).query)['token'][0]}", {"outcome": "succeed"})


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """The SDK keeps one connection for the whole program, so that there is one sandbox for all of its tests."""
    listening = socket.create_server(("127.0.0.1", 0))
    provider = Provider(f"http://127.0.0.1:{listening.getsockname()[1]}/_provider")

    async def deliver(url: str) -> int:
        provider.notified.append(parse_qs(urlsplit(url).query)["EventType"][0])
        return 200

    app = sandbox_app(SandboxSettings(public_url=provider.root, path=None, clock=Clock(), deliver=deliver))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await close(app)

    host = Starlette(routes=[Mount("/_provider", app)], lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(host, log_level="error", lifespan="on"))
    serving = threading.Thread(target=server.run, args=([listening],))
    serving.start()
    mangopay.client_id, mangopay.apikey = "sandbox", "sandbox"
    mangopay.api_sandbox_url = f"{provider.root}/v2.01/"
    try:
        yield provider
    finally:
        mangopay.get_default_handler()._session.close()
        server.should_exit = True
        serving.join()
        listening.close()


@pytest.fixture(scope="module")
def payer(provider: Provider) -> NaturalUserSca:
    """Somebody who pays."""
    return saved(
        NaturalUserSca(
            first_name="Ana",
            last_name="Puig",
            email="ana@example.com",
            user_category="PAYER",
            terms_and_conditions_accepted=False,
        )
    )


@pytest.fixture(scope="module")
def owner(provider: Provider) -> LegalUserSca:
    """A business whose representative has enrolled."""
    owner = business("maison@example.com")
    provider.authenticate(owner.pending_user_action.redirect_url)
    return owner


@pytest.fixture(scope="module")
def wallet(owner: LegalUserSca) -> Wallet:
    """The business's wallet."""
    return saved(Wallet(owners=[owner], description="Maison Soleil", currency="EUR"))


def saved(thing: Any) -> Any:
    """A new object, made at the provider under a key."""
    thing.save(idempotency_key=str(uuid.uuid4()))
    return thing


def business(email: str, **more: object) -> LegalUserSca:
    """A new owner."""
    person = LegalRepresentative("Ana", "Puig", BORN, "FR", "FR", email, "+33611223344", "FR")
    return saved(
        LegalUserSca(
            name="Maison Soleil",
            email="maison@example.com",
            legal_person_type="BUSINESS",
            user_category="OWNER",
            terms_and_conditions_accepted=True,
            legal_representative=person,
            headquarters_address=ADDRESS,
            **({"company_number": "552100554"} | more),
        )
    )


def soon(true: Callable[[], bool]) -> bool:
    """Whether something becomes true within ten seconds: notifications come when they come."""
    until = time.monotonic() + 10
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return true()


def test_a_payer_and_an_owner(provider: Provider, payer: NaturalUserSca) -> None:
    assert (payer.person_type, payer.user_status, payer.kyc_level) == ("NATURAL", "ACTIVE", "LIGHT")
    assert payer.pending_user_action is None
    owner = business("maison@example.com")
    assert (owner.person_type, owner.user_status) == ("LEGAL", "PENDING_USER_ACTION")
    first = owner.pending_user_action.redirect_url
    second = User.enroll_sca(owner.id).pending_user_action.redirect_url
    assert first != second
    provider.authenticate(second)
    found = User.get_sca(owner.id)
    assert isinstance(found, LegalUserSca)
    assert (found.user_status, found.name, found.company_number) == ("ACTIVE", "Maison Soleil", "552100554")
    assert (found.legal_representative.first_name, found.headquarters_address.city) == ("Ana", "Paris")
    enrolled = ScaStatus.get(owner.id)
    assert (enrolled.user_status, enrolled.is_enrolled) == ("ACTIVE", True)
    assert isinstance(enrolled.last_enrollment_date, dt.datetime)
    with pytest.raises(ScaStatus.DoesNotExist):
        ScaStatus.get(payer.id)


def test_an_owner_changes(owner: LegalUserSca) -> None:
    owner.name = "Maison Lune"
    owner.save()
    assert User.get_sca(owner.id).name == "Maison Lune"
    blocks = owner.get_regulatory()
    assert (blocks.scope_blocked.inflows, blocks.scope_blocked.outflows) == (False, False)


def test_wallets(payer: NaturalUserSca, wallet: Wallet) -> None:
    assert (wallet.currency, wallet.description) == ("EUR", "Maison Soleil")
    own = saved(Wallet(owners=[payer], description="Ana", currency="EUR"))
    assert Wallet.get(own.id).balance == Money(0, "EUR")
    assert [each.id for each in Wallet.get_all_for_user(payer.id)] == [own.id]


def test_the_wallet_of_an_owner_is_looked_at_after_authentication(provider: Provider, wallet: Wallet) -> None:
    with pytest.raises(APIError) as refused:
        Wallet.get(wallet.id)
    assert refused.value.code == 401
    challenge = refused.value.headers["WWW-Authenticate"]
    assert challenge.startswith("PendingUserAction RedirectUrl=")
    provider.authenticate(challenge.partition("RedirectUrl=")[2])
    assert Wallet.get(wallet.id).id == wallet.id


def test_documents(provider: Provider, owner: LegalUserSca) -> None:
    document = saved(Document(type="REGISTRATION_PROOF", user=owner))
    assert document.status == "CREATED"
    saved(Page(document=document, user=owner, file=PDF))
    document.status = "VALIDATION_ASKED"
    document.save()
    assert Document.get(document.id).status == "VALIDATION_ASKED"
    provider.control(f"/kyc/{document.id}", {"outcome": "refuse", "reason": "DOCUMENT_HAS_EXPIRED"})
    refused = Document.get(document.id)
    assert (refused.status, refused.refused_reason_type) == ("REFUSED", "DOCUMENT_HAS_EXPIRED")
    assert isinstance(refused.processed_date, dt.datetime)
    assert [each.id for each in User(id=owner.id).documents.all()] == [document.id]


def test_an_identity(provider: Provider, owner: LegalUserSca) -> None:
    made = IdentityVerification(return_url="https://shop.example/k/abcdefgh").create(owner.id)
    assert made["status"] == "PENDING"
    assert made["hosted_url"].startswith(provider.root)
    assert httpx.get(made["hosted_url"], timeout=60).status_code == 200
    provider.control(f"/identity-verifications/{made['id']}", {"outcome": "validate"})
    checked = IdentityVerification.get(made["id"])
    assert checked.status == "VALIDATED"
    assert {check["CheckStatus"] for check in checked.checks} == {"VALIDATED"}
    assert [each.id for each in IdentityVerification.get_all(owner.id)] == [made["id"]]
    assert User.get_sca(owner.id).kyc_level == "REGULAR"


def test_a_recipient(provider: Provider, owner: LegalUserSca) -> None:
    asked = Recipient(
        display_name="Main account",
        payout_method_type="LocalBankTransfer",
        recipient_type="Business",
        currency="EUR",
        country="FR",
        recipient_scope="PAYOUT",
        business_recipient=BusinessRecipient("Maison Soleil", ADDRESS),
        local_bank_transfer={"EUR": {"IBAN": "FR7630004000031234567890143"}},
    )
    asked.validate(owner.id)
    made = asked.create(owner.id, idempotency_key=str(uuid.uuid4()))
    assert made["status"] == "PENDING"
    provider.authenticate(made["pending_user_action"].redirect_url)
    assert Recipient.get(made["id"]).status == "ACTIVE"
    assert [each.id for each in Recipient.get_user_recipients(owner.id)] == [made["id"]]
    assert Recipient.deactivate(made["id"], status="DEACTIVATED")["status"] == "DEACTIVATED"


def test_a_payment_and_its_refund(provider: Provider, payer: NaturalUserSca, wallet: Wallet) -> None:
    saved(Notification(event_type="PAYIN_NORMAL_SUCCEEDED", url="https://shop.example/hooks/secret"))
    payment = saved(
        CardWebPayIn(
            author=payer,
            credited_wallet=wallet,
            debited_funds=Money(2500, "EUR"),
            fees=Money(250, "EUR"),
            return_url="https://shop.example/back",
            card_type="CB_VISA_MASTERCARD",
            culture="FR",
            tag="order-1",
        )
    )
    assert (payment.status, payment.result_code) == ("CREATED", None)
    assert httpx.get(payment.redirect_url, timeout=60).status_code == 200
    provider.control(f"/payins/{payment.id}/pay", {"card": "4970107111111119"})
    paid = PayIn.get(payment.id)
    assert isinstance(paid, CardWebPayIn)
    assert (paid.status, paid.result_code, paid.tag) == ("SUCCEEDED", "000000", "order-1")
    assert paid.credited_funds == Money(2250, "EUR")
    assert ExtendedCardWebPayIn.get(payment.id).alias.endswith("1119")
    refund = saved(
        PayInRefund(author=payer, payin=paid, debited_funds=Money(900, "EUR"), fees=Money(-100, "EUR"), tag="refund-1")
    )
    assert (refund.status, refund.nature, refund.initial_transaction_id) == ("SUCCEEDED", "REFUND", payment.id)
    assert refund.credited_funds == Money(1000, "EUR")
    assert [each.id for each in paid.get_refunds()] == [refund.id]
    assert soon(lambda: provider.notified == ["PAYIN_NORMAL_SUCCEEDED"])


def test_hooks_and_events(owner: LegalUserSca) -> None:
    hook = saved(Notification(event_type="KYC_SUCCEEDED", url="https://shop.example/hooks/1", email="ops@example.com"))
    assert (hook.status, hook.validity) == ("ENABLED", "UNKNOWN")
    hook.url = "https://shop.example/hooks/2"
    hook.save()
    assert Notification.get(hook.id).url == "https://shop.example/hooks/2"
    assert hook.id in [each.id for each in Notification.all(page=1, per_page=100)]
    found = [event for event in Event.all(EventType="USER_ACCOUNT_ACTIVATED") if event.resource_id == owner.id]
    assert [event.event_type for event in found] == ["USER_ACCOUNT_ACTIVATED"]
    assert isinstance(found[0].date, dt.datetime)


def test_what_is_wrong_is_the_sdks_own_error(provider: Provider) -> None:
    with pytest.raises(APIError) as refused:
        business("maison@example.com", company_number=None)
    assert refused.value.code == 400
    assert refused.value.content["Type"] == "param_error"
    assert list(refused.value.content["errors"]) == ["CompanyNumber"]
    with pytest.raises(PayIn.DoesNotExist):
        PayIn.get("payin_m_none")


def test_a_key_works_once_and_its_answer_is_kept(payer: NaturalUserSca) -> None:
    key = str(uuid.uuid4())
    wallet = Wallet(owners=[payer], description="Once", currency="EUR")
    wallet.save(idempotency_key=key)
    with pytest.raises(APIError) as refused:
        Wallet(owners=[payer], description="Once", currency="EUR").save(idempotency_key=key)
    assert (refused.value.code, refused.value.content["Type"]) == (409, "idempotent_creation_conflict")
    kept = IdempotencyResponse.get(key)
    assert (kept.status, kept.get_resource(Wallet).id) == ("200", wallet.id)


def test_the_limits_of_calls_are_told(provider: Provider, payer: NaturalUserSca) -> None:
    User.get_sca(payer.id)
    limits = mangopay.get_default_handler().get_rate_limits()
    assert [limit.interval_minutes for limit in limits] == [15, 30, 60, 1440]
    assert all(limit.calls_made > 0 and limit.calls_remaining > 0 for limit in limits)


def templates() -> list[str]:
    """The addresses that the SDK's classes name, without their queries."""
    options = [getattr(each, "_meta", None) for _, each in inspect.getmembers(resources, inspect.isclass)]
    declared = [getattr(each, "url", None) for each in options]
    listed = [[url] if isinstance(url, str) else list(url.values()) for url in declared if url]
    return sorted({"/" + url.partition("?")[0].strip("/") for urls in listed for url in urls})


@pytest.mark.parametrize("template", templates())
def test_every_address_of_the_sdk_is_modelled_or_refused_with_501(template: str) -> None:
    address = re.sub(r"%\(\w+\)s", "1", template)
    known = [pattern for interface in VERSIONS.values() for pattern, _ in interface._patterns]
    assert any(pattern.fullmatch(tried) for pattern in known for tried in (address, f"{address}/1"))
