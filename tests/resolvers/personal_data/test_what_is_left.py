"""What an erasure leaves behind is erased later, and what is paid after all is given back."""

import datetime as dt
from typing import Any

import pytest

from resolvers.core.operation import Call
from resolvers.core.transaction import open_transaction
from resolvers.payment.checkout.polling import handle_notification
from resolvers.personal_data.operations import erase_personal_data
from resolvers.personal_data.retention import erase_old_data
from resolvers.voucher import updates
from schema.account.user import UserRole
from schema.checkout.basket import Giftee
from schema.checkout.checkout import StartedPayment
from schema.export import ExportFormat, ExportState
from schema.personal_data.errors import PersonalDataInUse
from schema.personal_data.input import ErasePersonalData
from schema.voucher.input import AddVoucherRental
from store.account.users import UserRow
from store.core.clock import clock
from store.document.addresses import DocumentKind, document_key
from store.export.exports import ExportRow
from store.export.saved_filters import SavedFilterRow
from tests.fixtures.basket import bought, card_of, columns, experiences, fill_basket, for_two
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
    await shop.execute(
        "UPDATE payment SET order_id = NULL, customer_id = (SELECT id FROM customer WHERE email = :ada)", ada=ADA
    )
    await shop.execute("UPDATE shop_order SET buyer_email = ''")
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


async def test_what_staff_have_noted_goes_from_the_log_too(shop: Shop) -> None:
    sold_here = await experiences(shop)
    await bought(shop, for_two(sold_here, giftee=Giftee(first_name="Grace", email=GRACE)))
    await delivered(shop)
    booking = AddVoucherRental(
        code=await shop.one("SELECT code FROM voucher"), starts_on=clock.now().date(), comment="Vegetarian, with a dog"
    )
    await updates.add_voucher_rental(shop.manager, booking)
    await shop.services.audit_buffer.flush()
    said = "SELECT count(*) FROM audit_entry t WHERE to_jsonb(t)::text LIKE '%dog%'"
    assert await shop.one(said) == 1
    await erased(shop, GRACE)
    assert await columns(shop, "voucher_rental", "comment") == [("",)]
    assert await shop.one(said) == 0
    assert await shop.one("SELECT input->>'starts_on' FROM audit_entry WHERE operation = 'add_voucher_rental'")


async def test_a_present_whose_mail_failed_is_not_delivered(shop: Shop) -> None:
    await bought(shop, GIVEN)
    await delivered(shop)
    await shop.execute("UPDATE mail SET state = 'failed' WHERE kind = 'gift_card'")
    with pytest.raises(PersonalDataInUse, match="a present is not delivered"):
        await erased(shop, GRACE)
    await shop.execute(
        "INSERT INTO mail (uuid, kind, recipient, language, subject, state, tries, last_error, created_on, partner_id, "
        "content, message_id) SELECT gen_random_uuid(), kind, recipient, language, subject, 'sent', 1, '', created_on, "
        "partner_id, content, '' FROM mail WHERE kind = 'gift_card'"
    )
    assert (await erased(shop, GRACE)).gifts == 1


async def test_filters_with_the_address_go(shop: Shop) -> None:
    await sold(shop)
    of_partner: dict[str, Any] = {"role": UserRole.PARTNER, "partner_id": shop.partner.id}
    of_market: dict[str, Any] = {"role": UserRole.MARKETPLACE, "marketplace_id": shop.partner.marketplace_id}
    users = [
        await shop.add(UserRow(username=f"{at}@staff.example", **of)) for at, of in enumerate((of_partner, of_market))
    ]
    told, other = {"customerEmail": ADA.upper()}, {"search": f"n{ADA}"}
    for at, user in enumerate(users):
        for filter in (told, {"search": f"order of {ADA} "}, other):
            await shop.add(SavedFilterRow(user_id=user.id, list="orders", name=str(filter), filter=filter))
        export: dict[str, Any] = {
            "user_id": user.id,
            "role": user.role,
            "list": "orders",
            "order_by": "NEWEST",
            "columns": [],
        }
        export |= {"format": ExportFormat.CSV, "state": ExportState.EXPIRED, "ended_on": clock.now()}
        await shop.add_all(*(ExportRow(**export, filter=filter) for filter in (told, other)))
        queued = {"state": ExportState.QUEUED, "ended_on": None, "check_on": clock.now()}
        await shop.add(ExportRow(**(export | queued), filter={"customerEmail": f"{at}{ADA}"}))
    await erased(shop)
    assert await columns(shop, "saved_filter", "filter") == [(other,)] * 2
    assert [row[0] for row in await columns(shop, "export", "filter")][:3] == [{}, other, {"customerEmail": f"0{ADA}"}]
    assert [row[0] for row in await columns(shop, "export", "filter")][3:5] == [{}, other]


async def rolled_back(shop: Shop) -> None:
    async with open_transaction(shop.services.db) as db:
        await erase_personal_data.function(Call(shop.manager, db), ErasePersonalData(email=ADA))
        raise ZeroDivisionError


async def test_files_stay_if_the_erasure_does_not(shop: Shop) -> None:
    await sold(shop)
    key = document_key(DocumentKind.GIFT_CARD, await shop.one("SELECT id FROM gift_card"))
    await shop.services.files.put(key, b"For Grace", "application/octet-stream")
    with pytest.raises(ZeroDivisionError):
        await rolled_back(shop)
    assert await shop.services.files.get(key) is not None
    assert (await erased(shop, ADA)).orders == 1
    assert await shop.services.files.get(key) is None
