"""What is left of a voucher or gift card: of the shop's own, of its network's if it takes them, of nobody else's."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.order.balance import find_balance
from schema.core.errors import NotFound, TooManyRequests
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.order.balance import CodeBalance
from schema.order.page import IssuedState
from store.core.clock import clock
from store.core.codes import ALPHABET, generate_code
from tests.fixtures.gift_card import gift_card
from tests.fixtures.network import network_card
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants


def customer(tenants: Tenants, partner: str = "a1", address: str = "192.0.2.7") -> Context:
    of = tenants.partners[partner]
    return Context(tenants.services, Caller.customer(of.id, of.marketplace_id), address=address)


async def balance(tenants: Tenants, code: str, partner: str = "a1") -> CodeBalance:
    return await find_balance(customer(tenants, partner), code)


async def is_unknown(tenants: Tenants, code: str, partner: str) -> bool:
    try:
        await balance(tenants, code, partner)
    except NotFound:
        return True
    return False


@pytest.mark.parametrize(
    ("state", "values"),
    [
        (IssuedState.USABLE, {}),
        (IssuedState.USED, {"status": GiftCardStatus.USED}),
        (IssuedState.EXPIRED, {"expires_on": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}),
        (IssuedState.WITHDRAWN, {"status": GiftCardStatus.CANCELLED}),
        (IssuedState.PAUSED, {"frozen_on": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}),
    ],
)
async def test_a_card_says_what_is_left_and_whether_it_can_be_spent(
    tenants: Tenants, state: IssuedState, values: dict[str, Any]
) -> None:
    card = await gift_card(tenants, **values)
    found = await balance(tenants, f" {card.code.lower().replace('-', ' ')} ")
    assert (found.state, found.is_gift_card) == (state, True)
    assert (found.value, found.remaining, found.currency) == (Decimal("50.00"), Decimal("50.00"), "EUR")
    assert found.expires_on == card.expires_on
    assert found.usages_left is None


async def test_a_code_of_another_partner_is_unknown(tenants: Tenants) -> None:
    card = await gift_card(tenants)
    assert [await is_unknown(tenants, card.code, partner) for partner in ("a1", "a2", "b1")] == [False, True, True]
    assert await is_unknown(tenants, generate_code(), "a1")
    draft = await gift_card(tenants, status=GiftCardStatus.DRAFT)
    assert await is_unknown(tenants, draft.code, "a1")


async def test_the_codes_of_a_network_are_known_where_they_are_taken(tenants: Tenants) -> None:
    card, voucher = await network_card(tenants), await network_voucher(tenants, await offered_box(tenants))
    for column, code in (("linked_to_ngc_settings", card.code), ("linked_to_nv_settings", voucher.code)):
        await tenants.execute("UPDATE partner SET linked_to_ngc_settings = false, linked_to_nv_settings = false")
        assert await is_unknown(tenants, code, "a1")
        await tenants.execute(f"UPDATE partner SET {column} = true WHERE id <> :id", id=tenants.partners["a2"].id)  # noqa: S608
        known = [not await is_unknown(tenants, code, partner) for partner in ("a1", "a2", "b1")]
        assert known == [True, False, False], column
    await tenants.execute(
        "UPDATE partner SET is_network_shop = id = :id, linked_to_ngc_settings = false, linked_to_nv_settings = false",
        id=tenants.partners["a2"].id,
    )
    assert (await balance(tenants, card.code, "a2")).remaining == Decimal("100.00")


async def test_a_voucher_says_what_it_is_and_not_what_it_cost(tenants: Tenants) -> None:
    await tenants.execute("UPDATE partner SET linked_to_nv_settings = true")
    late = clock.now() - dt.timedelta(days=1)
    box = await offered_box(tenants, max_usages=3)
    voucher = await network_voucher(tenants, box)
    found = await balance(tenants, voucher.code)
    assert (found.state, found.is_gift_card, found.usages_left) == (IssuedState.USABLE, False, 3)
    assert (found.value, found.remaining) == (None, None)
    assert found.name.en == "Spa day for two"
    over = await network_voucher(tenants, box, usable_until=late)
    assert (await balance(tenants, over.code)).state is IssuedState.EXPIRED
    gone = await network_voucher(tenants, box, status=NetworkVoucherStatus.CANCELLED)
    assert (await balance(tenants, gone.code)).state is IssuedState.WITHDRAWN


async def test_guesses_are_limited_and_mistyped_codes_are_none(tenants: Tenants) -> None:
    card, mistyped = await gift_card(tenants), generate_code()
    mistyped = mistyped[:-1] + next(letter for letter in ALPHABET if letter != mistyped[-1])
    other = await gift_card(tenants, "a2")
    for _ in range(25):
        assert await is_unknown(tenants, mistyped, "a1")
    assert (await balance(tenants, card.code)).remaining == Decimal("50.00")
    for number in range(20):
        assert await is_unknown(tenants, generate_code() if number % 2 else other.code, "a1")
    with pytest.raises(TooManyRequests):
        await balance(tenants, card.code)
    assert (await find_balance(customer(tenants, address="192.0.2.8"), card.code)).remaining == Decimal("50.00")
