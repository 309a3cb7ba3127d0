"""What an erasure leaves behind is erased later, and what is paid after all is given back."""

import datetime as dt

import pytest

from resolvers.payment.checkout.polling import handle_notification
from resolvers.personal_data.retention import erase_old_data
from schema.checkout.basket import Giftee
from schema.checkout.checkout import StartedPayment
from schema.personal_data.errors import PersonalDataInUse
from store.core.clock import clock
from tests.fixtures.basket import bought, card_of, columns, fill_basket
from tests.fixtures.shop import Shop
from tests.resolvers.personal_data.test_operations import ADA, GRACE, delivered, erased, exported
from tests.resolvers.personal_data.test_retention import grown_old

GIVEN = card_of("50.00", message="For you", giftee=Giftee(first_name="Grace", last_name="Hopper", email=GRACE))


async def sold(shop: Shop) -> None:
    await bought(shop, GIVEN)
    await delivered(shop)


async def test_the_giftee_goes_with_the_order_at_last(shop: Shop) -> None:
    await sold(shop)
    shop.services.settings.personal_data_days = 100
    await erased(shop, ADA)
    assert await columns(shop, "gift_card", "giftee_email") == [(GRACE,)]
    await grown_old(shop, "shop_order", 101)
    await erase_old_data(shop.services)
    assert await columns(shop, "gift_card", "giftee_email", "giftee_first_name") == [(None, None)]
    assert "grace" not in str(await columns(shop, "checkout_attempt", "lines", "buyer")).lower()
    await shop.execute("UPDATE gift_card SET giftee_email = 'late@example.com'")
    await erase_old_data(shop.services)
    assert await columns(shop, "gift_card", "giftee_email") == [(None,)]
    told = [entry for entry in await columns(shop, "audit_entry", "operation", "input") if "old" in entry[0]]
    assert [input["orders"] for _, input in told] == [1, 1]
    await erase_old_data(shop.services)
    assert [entry for entry in await columns(shop, "audit_entry", "operation", "input") if "old" in entry[0]] == told


async def test_a_corrected_giftee_goes_from_the_checkout_too(shop: Shop) -> None:
    await sold(shop)
    await shop.execute("UPDATE gift_card SET giftee_email = 'lovelace@example.com', giftee_first_name = 'Augusta'")
    assert (await exported(shop, "lovelace@example.com")).checkouts == []
    result = await erased(shop, "lovelace@example.com")
    assert (result.gifts, result.checkouts) == (1, 1)
    line = (await columns(shop, "checkout_attempt", "lines->0"))[0][0]
    assert (line["gift_card"]["message"], line["gift_card"]["giftee"]["email"]) == ("", "")
    assert await columns(shop, "checkout_attempt", "buyer->>'email'") == [(ADA,)]


async def failed(shop: Shop) -> StartedPayment:
    """A checkout that was given up as failed while the provider may still be paid."""
    key, seen = await fill_basket(shop, GIVEN)
    started = await shop.start(key, seen)
    await shop.execute("UPDATE checkout_attempt SET state = 'failed', check_on = NULL, held = false")
    return started


async def test_a_payment_that_has_just_failed_may_still_be_paid(shop: Shop) -> None:
    await failed(shop)
    with pytest.raises(PersonalDataInUse, match="a payment is running"):
        await erased(shop)
    await grown_old(shop, "checkout_attempt", 3)
    assert (await erased(shop)).checkouts == 1
    assert "grace" not in str(await columns(shop, "checkout_attempt", "lines")).lower()
    assert (await columns(shop, "checkout_attempt", "personal_data_erased_on"))[0][0] is not None


async def test_what_is_paid_after_the_erasure_is_given_back(shop: Shop) -> None:
    started = await failed(shop)
    await grown_old(shop, "checkout_attempt", 3)
    await erased(shop)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    await handle_notification(shop.services, payin)
    await handle_notification(shop.services, payin)
    assert await shop.one("SELECT state FROM checkout_attempt") in {"refunding", "refunded"}
    assert (await shop.count("shop_order"), await shop.count("refund"), await shop.count("mail")) == (0, 1, 0)


async def test_the_payment_of_a_refunded_checkout_is_forgotten_too(shop: Shop) -> None:
    await sold(shop)
    await shop.execute("UPDATE gift_card SET order_id = NULL, gifter_email = '', giftee_email = NULL")
    await shop.execute("UPDATE payment SET order_id = NULL")
    await shop.execute("UPDATE checkout_attempt SET state = 'refunded'")
    assert (await columns(shop, "payment", "customer_email")) == [(ADA,)]
    await grown_old(shop, "checkout_attempt", 31)
    await erase_old_data(shop.services)
    assert await columns(shop, "payment", "customer_email", "customer_first_name") == [("", "")]
    assert await columns(shop, "checkout_attempt", "buyer->>'email'") == [("",)]
    assert (ADA,) not in await columns(shop, "customer", "email")
    assert clock.now() - (await columns(shop, "checkout_attempt", "personal_data_erased_on"))[0][0] < dt.timedelta(
        hours=1
    )
