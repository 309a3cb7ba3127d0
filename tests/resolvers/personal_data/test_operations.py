"""What staff read and erase of a person: everything is found, and nothing of it is left but what the law asks for."""

import json

import pytest

from resolvers.order.page import find_order_page
from resolvers.personal_data import operations
from resolvers.personal_data.operations import find_personal_data_file
from schema.checkout.basket import Giftee
from schema.checkout.checkout import ProductChoice
from schema.core.errors import NotFound
from schema.delivery.delivery import DeliveryKind
from schema.personal_data.errors import PersonalDataInUse
from schema.personal_data.export import PersonalData, PersonalDataErasure, PersonalGiftRole
from schema.personal_data.input import ErasePersonalData, ExportPersonalData
from tests.fixtures.basket import bought, card_of, columns, experiences, fill_basket, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.refund_request import asked, declined, token_of
from tests.fixtures.shop import Shop

ADA, GRACE = "ada@example.com", "grace@example.com"
TEXT_OF_ALL = """
    SELECT string_agg(row::text, E'\\n') FROM (
        SELECT to_jsonb(t)::text FROM shop_order t UNION ALL SELECT to_jsonb(t)::text FROM checkout_attempt t
        UNION ALL SELECT to_jsonb(t)::text FROM payment t UNION ALL SELECT to_jsonb(t)::text FROM voucher t
        UNION ALL SELECT to_jsonb(t)::text FROM gift_card t UNION ALL SELECT to_jsonb(t)::text FROM network_voucher t
        UNION ALL SELECT to_jsonb(t)::text FROM customer t UNION ALL SELECT to_jsonb(t)::text FROM refund_request t
        UNION ALL SELECT to_jsonb(t)::text FROM payment_request t UNION ALL SELECT to_jsonb(t)::text FROM mail t
        UNION ALL SELECT to_jsonb(t)::text FROM event t UNION ALL SELECT to_jsonb(t)::text FROM audit_entry t
        UNION ALL SELECT to_jsonb(t)::text FROM webhook_attempt t UNION ALL SELECT convert_from(payload, 'UTF8') FROM pgqueuer t
        UNION ALL SELECT convert_from(answer, 'UTF8') FROM kept_answer t
    ) AS all_of_it (row)
"""
BOOKS = """
    SELECT jsonb_agg(to_jsonb(e) ORDER BY e.position)::text FROM ledger_entry e
"""
KEPT = (
    "number",
    "created_on",
    "products_amount",
    "delivery_amount",
    "total_amount",
    "card_amount",
    "country",
    "attempt_id",
)


async def exported(shop: Shop, email: str = ADA) -> PersonalData:
    return await operations.export_personal_data(shop.manager, ExportPersonalData(email=email))


async def erased(shop: Shop, email: str = ADA) -> PersonalDataErasure:
    return await operations.erase_personal_data(shop.manager, ErasePersonalData(email=email))


async def whole(shop: Shop) -> str:
    """Every text of every table that names people."""
    await shop.services.audit_buffer.flush()
    return str(await shop.one(TEXT_OF_ALL)).lower()


async def delivered(shop: Shop) -> None:
    """The worker has sent all mail, and staff have handed over the goods."""
    await shop.execute("UPDATE mail SET state = 'sent', due_on = NULL")
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'sent' WHERE delivery_kind = 'home_delivery'")
    await shop.execute("UPDATE voucher SET expedition_status = 'sent' WHERE expedition_status = 'to_send'")


async def mixed_orders(shop: Shop) -> None:
    """Ada has bought goods that were sent to her, a voucher and a gift card for Grace, and asked for a refund."""
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    await declined(shop, await asked(shop, {0: 1}, reason="It smells of Ada's attic"), "No, dear Ada Martin")
    sold = await experiences(shop)
    giftee = Giftee(first_name="Grace", last_name="Hopper", email="Grace@Example.com")
    words = {"message": "Happy birthday, dear Grace!", "from_gifter": "Your Countess", "giftee": giftee}
    await bought(shop, for_two(sold, **words))
    await bought(shop, card_of("50.00", **words))
    await delivered(shop)


async def test_all_that_is_kept_is_exported(shop: Shop) -> None:
    await mixed_orders(shop)
    data = await exported(shop, " ADA@example.com ")
    assert [(order.number, order.buyer.email) for order in data.orders] == [(1, ADA), (2, ADA), (3, ADA)]
    first = data.orders[0]
    assert first.address is not None
    assert (first.address.line_1, first.address.city, first.lines[0].quantity) == ("1 rue des Lilas", "Paris", 2)
    assert [checkout.buyer and checkout.buyer.last_name for checkout in data.checkouts] == ["Martin"] * 3
    assert {checkout.gifts[0].message for checkout in data.checkouts if checkout.gifts} == {
        "Happy birthday, dear Grace!"
    }
    assert len(data.payments) == 3
    assert (data.refund_requests[0].reason, data.refund_requests[0].answer) == (
        "It smells of Ada's attic",
        "No, dear Ada Martin",
    )
    assert [gift.roles for gift in data.gifts] == [[PersonalGiftRole.GIFTER]] * 2
    assert data.gifts[0].giftee.last_name == "Hopper"
    assert data.customers[0].contact.first_name == "Ada"
    assert {mail.recipient for mail in data.mails} == {ADA}
    assert "order.created" in {event.name for event in data.events}
    token = data.file_url.rpartition("/")[2].removesuffix(".json")
    name, content = await find_personal_data_file(shop.context, token)
    assert name.startswith("personal-data-")
    assert json.loads(content)["orders"][0]["address"]["line_1"] == "1 rue des Lilas"
    assert ADA not in data.file_url
    with pytest.raises(NotFound):
        await find_personal_data_file(shop.context, token[:-1])


async def test_a_giftee_sees_what_is_about_the_giftee(shop: Shop) -> None:
    await mixed_orders(shop)
    data = await exported(shop, GRACE)
    assert (data.orders, data.payments) == ([], [])
    assert [gift.roles for gift in data.gifts] == [[PersonalGiftRole.GIFTEE]] * 2
    assert [gift.gifter for gift in data.gifts] == [None, None]
    assert [(gift.from_gifter, gift.message) for gift in data.gifts] == [
        ("Your Countess", "Happy birthday, dear Grace!")
    ] * 2
    assert [checkout.buyer for checkout in data.checkouts] == [None, None]


async def test_nothing_is_left_of_a_buyer_but_the_books(shop: Shop) -> None:
    await mixed_orders(shop)
    await refunded(shop, 0)  # of the newest order; its mail is sent below
    await shop.becomes("SELECT count(*) FROM refund WHERE state = 'pending'", 1)
    await shop.execute("UPDATE refund SET state = 'done'")
    await delivered(shop)
    kept, books = await columns(shop, "shop_order", *KEPT), await shop.one(BOOKS)
    lines = await columns(shop, "order_product", "name", "quantity", "total_amount", "vat_rate")
    codes = await columns(shop, "voucher", "code", "state", "total_price_amount", "expires_on")
    result = await erased(shop)
    assert (result.orders, result.checkouts, result.payments, result.refund_requests, result.gifts) == (3, 3, 3, 1, 2)
    left = await whole(shop)
    for gone in ('"ada"', ADA, "martin", "rue des lilas", "75011", "happy birthday", "countess", "attic"):
        assert gone not in left, gone
    assert "grace" in left  # who is another person
    assert await columns(shop, "shop_order", *KEPT) == kept
    assert await shop.one(BOOKS) == books
    assert await columns(shop, "order_product", "name", "quantity", "total_amount", "vat_rate") == lines
    assert await columns(shop, "voucher", "code", "state", "total_price_amount", "expires_on") == codes
    assert (await find_order_page(shop.context, await token_of(shop))).email == ""


async def test_nothing_is_left_of_a_giftee(shop: Shop) -> None:
    await mixed_orders(shop)
    result = await erased(shop, GRACE)
    assert (result.orders, result.gifts, result.checkouts) == (0, 2, 2)
    left = await whole(shop)
    for gone in ("grace", "hopper", "happy birthday"):
        assert gone not in left, gone
    assert "your countess" in left
    assert "1 rue des lilas" in left


async def test_erasing_again_changes_nothing(shop: Shop) -> None:
    await mixed_orders(shop)
    await erased(shop)
    before = await columns(shop, "shop_order", "*"), await columns(shop, "checkout_attempt", "*")
    again = await erased(shop)
    counts = {name: value for name, value in vars(again).items() if name not in {"partner_id", "erased_on"}}
    assert set(counts.values()) == {0}
    assert (await columns(shop, "shop_order", "*"), await columns(shop, "checkout_attempt", "*")) == before
    data = await exported(shop)
    assert (data.orders, data.gifts, data.mails, data.events, data.audit_entries) == ([], [], [], [], [])


async def test_the_log_tells_of_it_without_the_address(shop: Shop) -> None:
    await mixed_orders(shop)
    await exported(shop)
    await erased(shop)
    entries = await columns(shop, "audit_entry", "operation", "input", "subject_type", "subject_id", "changes")
    partner = "Partner", str(shop.partner.id)
    assert [entry for entry in entries if "personal_data" in entry[0]] == [
        ("export_personal_data", {"email": "***"}, *partner, []),
        ("erase_personal_data", {"email": "***"}, *partner, []),
    ]


async def refused(shop: Shop, reason: str) -> None:
    """It is refused for a reason, and nothing is changed."""
    before = await shop.one(TEXT_OF_ALL)
    with pytest.raises(PersonalDataInUse, match=reason):
        await erased(shop)
    assert await shop.one(TEXT_OF_ALL) == before


async def test_a_running_payment_refuses_it(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1))
    await shop.start(key, seen)
    await shop.services.audit_buffer.flush()
    await refused(shop, "a payment is running")


async def test_what_is_not_handed_over_refuses_it(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    await shop.services.audit_buffer.flush()
    await refused(shop, "an order is not handed over or sent")


async def test_a_present_that_is_not_sent_refuses_it(shop: Shop) -> None:
    await bought(shop, card_of("50.00", giftee=Giftee(first_name="Grace", email=GRACE)))
    await shop.services.audit_buffer.flush()
    await refused(shop, "a present is not delivered")


async def test_open_requests_refunds_and_disputes_refuse_it(shop: Shop) -> None:
    await mixed_orders(shop)
    await asked(shop, {0: 1})
    await shop.services.audit_buffer.flush()
    await refused(shop, "a withdrawal or a request for a refund is open")
    await shop.execute(
        "UPDATE refund_request SET state = 'cancelled', answered_on = requested_on WHERE state = 'pending'"
    )
    await refunded(shop, 0)
    await shop.services.audit_buffer.flush()
    await refused(shop, "a refund is on its way")


async def test_stored_responses_and_answers_of_endpoints_forget_too(shop: Shop) -> None:
    await mixed_orders(shop)
    await shop.execute(
        "INSERT INTO app_user (username, first_name, email, role, is_active, created_on, uuid, partner_id, password_hash) "
        "VALUES ('clerk', '', '', 'partner', true, now(), gen_random_uuid(), :partner, '')",
        partner=shop.partner.id,
    )
    await shop.execute(
        "INSERT INTO token (label, hint, created_on, user_id, digest) SELECT '', '', now(), id, 'x' FROM app_user"
    )
    body = b'[200,[]]\n{"buyer":{"email":"Ada@example.com","first_name":"ADA","total":"40.00"}}'
    await shop.execute(
        "INSERT INTO kept_answer (token_id, key, fingerprint, request, answer, created_on) "
        "SELECT id, 'k', '', gen_random_uuid(), :body, now() FROM token",
        body=body,
    )
    assert (await erased(shop)).stored_responses == 1
    assert await shop.one("SELECT convert_from(answer, 'UTF8') FROM kept_answer") == (
        '[200,[]]\n{"buyer":{"email":"","first_name":"","total":"40.00"}}'
    )
    assert '"ada"' not in await whole(shop)


async def test_unpaid_baskets_are_no_obstacle(shop: Shop) -> None:
    await fill_basket(shop, card_of("50.00"))
    assert (await erased(shop)).orders == 0


async def test_a_part_of_an_address_is_another_persons(shop: Shop) -> None:
    await mixed_orders(shop)
    before = await shop.one(TEXT_OF_ALL)
    for email in ("da@example.com", "a@example.com", "ada@example.co", "race@example.com"):
        result = await erased(shop, email)
        counts = {name: value for name, value in vars(result).items() if name not in {"partner_id", "erased_on"}}
        assert set(counts.values()) == {0}, email
        data = await exported(shop, email)
        assert (data.checkouts, data.events, data.mails, data.audit_entries) == ([], [], [], [])
    left = await shop.one(
        TEXT_OF_ALL.replace("FROM audit_entry t", "FROM audit_entry t WHERE operation !~ 'personal_data'")
    )
    assert left == before
