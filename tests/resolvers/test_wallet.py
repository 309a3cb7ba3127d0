"""The own wallets of marketplaces at the provider: opened once whatever happens, seen by their owners, refused to others."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from typing import Any

import pytest

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.wallet import activate_marketplace_payments
from schema.core.errors import Forbidden, MarketplaceOnly, NotFound, OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.partner.marketplace_input import ActivateMarketplacePayments
from schema.payment.errors import PlatformUserUnknown
from store.core.clock import clock
from store.core.settings import Settings
from store.ledger.books import book_of_marketplace
from store.ledger.wallets import open_marketplace_wallet, wallet_of_partner
from store.providers.errors import InvalidRequest, NotAllowed, TransientError, UnknownOutcome
from store.providers.keys import new_idempotency_key
from tests.fixtures.gift_card import gift_card
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.payment.refill import activation, market, opened_wallet, own_wallets
from tests.fixtures.shop import Shop, open_shop
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder


class Calls:
    """Records the calls that open wallets, and what they answered; `after` decides what becomes of an answer."""

    def __init__(self, shop: Shop) -> None:
        provider: Any = shop.services.provider
        self.open = provider.open_wallet
        self.keys: list[str] = []
        self.ids: list[str] = []
        self.before: Exception | None = None
        self.after: Exception | None = None
        provider.open_wallet = self

    async def __call__(self, *arguments: Any, key: Any, **more: Any) -> str:
        self.keys.append(key)
        if self.before is not None:
            raise self.before
        self.ids.append(await self.open(*arguments, key=key, **more))
        if self.after is not None:
            raise self.after
        return self.ids[-1]


@pytest.fixture
def calls(shop: Shop) -> Calls:
    return Calls(shop)


async def test_a_marketplace_opens_its_wallet_once(shop: Shop, calls: Calls) -> None:
    first, again = await opened_wallet(shop), await opened_wallet(shop)
    assert first.id == again.id
    assert (first.is_live, first.partner_id, first.marketplace_id) == (True, None, shop.partner.marketplace_id)
    assert [first.provider_wallet_id] == calls.ids
    balance = await shop.services.provider.get_balance(calls.ids[0], return_url="https://shop.example/")
    assert (balance.minor, balance.currency) == (0, "EUR")


async def test_ten_activations_at_once_open_one_wallet(shop: Shop, calls: Calls) -> None:
    input = await activation(shop)
    await asyncio.gather(*[activate_marketplace_payments(market(shop), input) for _ in range(10)])
    (wallet,) = await own_wallets(shop)
    assert {wallet.provider_wallet_id} == set(calls.ids)
    assert len(set(calls.keys)) == 1


async def test_live_and_test_money_have_wallets_of_their_own(shop: Shop) -> None:
    live, test = await opened_wallet(shop), await opened_wallet(shop, is_live=False)
    assert (live.is_live, test.is_live) == (True, False)
    assert live.book_id != test.book_id
    assert live.provider_wallet_id != test.provider_wallet_id


async def test_a_lost_answer_is_asked_for_with_the_same_key(shop: Shop, calls: Calls) -> None:
    calls.after = TransientError("The answer is lost.")
    with pytest.raises(ProviderTimedOut):
        await opened_wallet(shop)
    assert await own_wallets(shop) == []
    calls.after = None
    wallet = await opened_wallet(shop)
    assert len(set(calls.keys)) == 1
    assert {wallet.provider_wallet_id} == set(calls.ids)


async def test_a_wallet_whose_key_is_forgotten_is_found_by_its_tag(shop: Shop, calls: Calls) -> None:
    calls.after = TransientError("The answer is lost.")
    with pytest.raises(ProviderTimedOut):
        await opened_wallet(shop)
    clock.advance(dt.timedelta(hours=25))
    calls.after, calls.before = None, UnknownOutcome(new_idempotency_key())
    wallet = await opened_wallet(shop)
    assert [wallet.provider_wallet_id] == calls.ids


async def test_a_wallet_that_was_never_opened_is_opened_with_another_key(shop: Shop, calls: Calls) -> None:
    calls.before = TransientError("The provider is away.")
    with pytest.raises(ProviderTimedOut):
        await opened_wallet(shop)
    calls.before = None
    clock.advance(dt.timedelta(hours=25))
    wallet = await opened_wallet(shop)
    assert [wallet.provider_wallet_id] == calls.ids
    assert len(set(calls.keys)) == 2


async def test_an_unknown_outcome_is_never_sent_with_another_key(shop: Shop, calls: Calls) -> None:
    calls.before = UnknownOutcome(new_idempotency_key())
    for _ in range(2):
        with pytest.raises(ProviderTimedOut):
            await opened_wallet(shop)
    assert len(set(calls.keys)) == 1
    assert await own_wallets(shop) == []


async def test_a_refused_look_up_leaves_the_outcome_unknown(shop: Shop, calls: Calls) -> None:
    """The wallet exists: whoever is refused to see it must not open a second one."""
    calls.after = TransientError("The answer is lost.")
    with pytest.raises(ProviderTimedOut):
        await opened_wallet(shop)
    clock.advance(dt.timedelta(hours=25))
    calls.after, calls.before = None, UnknownOutcome(new_idempotency_key())
    provider: Any = shop.services.provider
    find, provider.find_wallet = provider.find_wallet, refuse_look_up
    with pytest.raises(ProviderTimedOut):
        await opened_wallet(shop)
    provider.find_wallet, calls.before = find, None
    wallet = await opened_wallet(shop)
    assert {wallet.provider_wallet_id} == set(calls.ids)
    assert len(set(calls.keys)) == 1


async def refuse_look_up(*_: Any) -> str | None:
    """The provider wants its owner to authenticate first."""
    raise NotAllowed("Authenticate first.")


async def test_a_refusal_uses_the_key_up(shop: Shop, calls: Calls) -> None:
    calls.before = InvalidRequest("Not like this.", code="param_error")
    with pytest.raises(ProviderFailed):
        await opened_wallet(shop)
    assert await own_wallets(shop) == []
    calls.before = None
    await opened_wallet(shop)
    assert len(set(calls.keys)) == 2


def real(**more: Any) -> Settings:
    """The settings of an installation that takes real payments."""
    account = {"mangopay_client_id": "shop", "mangopay_api_key": "secret"}
    return Settings.model_validate({"provider": "mangopay", "funnel_scheme": "http", **account, **more})


async def test_without_the_platforms_user_nothing_is_opened(shop: Shop, calls: Calls) -> None:
    there = dataclasses.replace(shop, services=dataclasses.replace(shop.services, settings=real()))
    with pytest.raises(PlatformUserUnknown):
        await opened_wallet(there)
    with pytest.raises(OnlyInSandbox):
        await opened_wallet(there, is_live=False)
    assert (calls.keys, await own_wallets(shop), await shop.count("wallet_opening")) == ([], [], 0)
    known = real(mangopay_platform_user_id="platform")
    there = dataclasses.replace(shop, services=dataclasses.replace(shop.services, settings=known))
    assert [(await opened_wallet(there)).provider_wallet_id] == calls.ids


async def test_others_open_nothing(shop: Shop, calls: Calls) -> None:
    input, at = await activation(shop), shop.partner.marketplace_id
    without = Context(shop.services, Caller(Role.MARKETPLACE, frozenset({Permission.VIEW_WALLET}), marketplace_id=at))
    with pytest.raises(Forbidden):
        await activate_marketplace_payments(without, input)
    partners = Caller(Role.PARTNER, GRANTABLE_PERMISSIONS, partner_id=shop.partner.id, marketplace_id=at)
    with pytest.raises(MarketplaceOnly):
        await activate_marketplace_payments(Context(shop.services, partners), input)
    elsewhere = await open_shop(shop.services, shop.sandbox, "other.localhost")
    with pytest.raises(NotFound):
        await activate_marketplace_payments(market(elsewhere), input)
    with pytest.raises(NotFound):
        await activate_marketplace_payments(
            market(shop), ActivateMarketplacePayments.model_validate({"marketplace_uuid": uuid.uuid4()})
        )
    assert (calls.keys, await own_wallets(shop), await shop.count("wallet_opening")) == ([], [], 0)


# ---- who sees what, whichever field leads there

FIELDS = """
query Fields($payment: UUID!, $card: String!, $partner: UUID!) {
  payment(id: $payment) {
    id
    journal { id }
    wallet { uuid balance { amount } transfers { id } }
    sources { wallet { uuid balance { amount } transfers { id } } }
    extraWallet { uuid balance { amount } transfers { id } }
  }
  giftCard(code: $card) { code wallet { uuid balance { amount } transfers { id } } }
  partner(uuid: $partner) {
    uuid
    statement(from: "2000-01-01", to: "2100-01-01") { closing { amount } }
    marketplace { name wallet { uuid } testWallet { uuid } }
  }
  payments(first: 5) { edges { node { id journal { id } wallet { balance { amount } transfers { id } } } } }
}
"""
READER = (Permission.VIEW_PAYMENT, Permission.VIEW_GIFT_CARD, Permission.VIEW_PARTNER)


@dataclasses.dataclass(frozen=True)
class Money:
    """A payment of a partner that a gift card and a bank card have paid, and the marketplace's own wallet."""

    tenants: Tenants
    variables: dict[str, Any]

    async def ask(self, who: str) -> tuple[Any, set[tuple[str, str]]]:
        """The data that somebody gets, and the code and the last name of each refused field."""
        answer = await self.tenants.graphql(who, FIELDS, **self.variables)
        errors = answer.get("errors", [])
        return answer["data"], {(error["extensions"]["code"], error["path"][-1]) for error in errors}


@pytest.fixture
async def money(tenants: Tenants) -> Money:
    card = await gift_card(tenants, "a1", "50.00")
    async with tenants.services.db.sessions() as db, db.begin():
        wallet = await wallet_of_partner(db, tenants.partners["a1"].id, "wallet-of-a1")
        book_id = await book_of_marketplace(db, tenants.marketplaces["a"].id, is_live=True)
        await open_marketplace_wallet(db, book_id, "wallet-of-a")
    payment = await stored_payment(tenants, "a1", extra="25.00", card=card, wallet_id=wallet.id)
    variables = {"payment": payment.id, "card": card.code, "partner": tenants.partners["a1"].uuid}
    return Money(tenants, variables)


async def test_without_the_permission_no_path_shows_money(money: Money) -> None:
    data, refused = await money.ask(await holder(money.tenants, "a1", *READER))
    assert refused == {
        ("FORBIDDEN", name) for name in ("journal", "balance", "transfers", "statement", "wallet", "testWallet")
    }
    payment, marketplace = data["payment"], data["partner"]["marketplace"]
    wallets = [payment["wallet"], payment["extraWallet"], data["giftCard"]["wallet"]]
    wallets += [source["wallet"] for source in payment["sources"] if source["wallet"]]
    assert len(wallets) == 4
    assert [(each["balance"], each["transfers"]) for each in wallets] == [(None, None)] * 4
    assert all(each["uuid"] for each in wallets)
    assert (payment["journal"], data["partner"]["statement"]) == (None, None)
    assert marketplace == {"name": "a", "wallet": None, "testWallet": None}
    (listed,) = data["payments"]["edges"]
    assert (listed["node"]["journal"], listed["node"]["wallet"]) == (None, {"balance": None, "transfers": None})


async def test_with_the_permission_all_of_ones_own_is_seen(money: Money) -> None:
    data, refused = await money.ask(await holder(money.tenants, "a1", *READER, Permission.VIEW_WALLET))
    assert refused == set()
    assert data["payment"]["wallet"]["balance"] == {"amount": "0.00"}
    assert data["payment"]["extraWallet"]["balance"] == {"amount": "50.00"}
    assert data["giftCard"]["wallet"]["transfers"] == []
    assert (data["payment"]["journal"], data["partner"]["statement"]["closing"]) == ([], {"amount": "0.00"})
    assert data["partner"]["marketplace"]["wallet"] is None


async def test_a_marketplace_sees_its_wallet_and_a_partner_does_not(money: Money) -> None:
    data, refused = await money.ask("market a")
    assert refused == set()
    assert data["partner"]["marketplace"]["wallet"]["uuid"]
    assert data["partner"]["marketplace"]["testWallet"] is None
    assert data["payment"]["wallet"]["balance"] == {"amount": "0.00"}


async def test_a_wallet_of_others_shows_no_money(money: Money) -> None:
    """A partner reaches the marketplace's wallet through a refill."""
    tenants = money.tenants
    own = await tenants.one("SELECT id FROM wallet WHERE kind = 'marketplace'")
    await tenants.execute(f"UPDATE payment SET wallet_id = {own}")  # noqa: S608 - from this test
    data, refused = await money.ask("a1")
    assert refused == set()
    assert (data["payment"]["wallet"]["balance"], data["payment"]["wallet"]["transfers"]) == (None, None)
    data, _ = await money.ask("market a")
    assert data["payment"]["wallet"]["balance"] == {"amount": "0.00"}
