"""What is about other people stays as it is when a person is erased, however much it looks like it."""

import dataclasses
import json
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.checkout import steps
from schema.checkout.basket import Giftee
from schema.checkout.checkout import ProductChoice
from schema.mail import MailKind
from schema.personal_data.errors import PersonalDataInUse
from tests.fixtures.basket import bought, card_of, columns, experiences, for_two
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.shop import BUYER, Shop
from tests.resolvers.personal_data.test_operations import ADA, GRACE, delivered, erased, exported

BOB = "bob@example.com"
WISH = "Happy birthday!"
BOBS = dataclasses.replace(BUYER, first_name="Bob", last_name="Hopper", email=BOB, phone="+33612345678", message=WISH)


def present(name: str, email: str) -> dict[str, Any]:
    return {
        "message": WISH,
        "from_gifter": "Your Countess",
        "giftee": Giftee(first_name=name, last_name="Hopper", email=email),
    }


async def records_of(shop: Shop, who: str) -> list[str]:
    """All rows that have an address, as text, without the checkout, which the people of an order have in common."""
    await shop.services.audit_buffer.flush()
    tables = ("shop_order", "gift_card", "voucher", "payment", "mail", "event", "audit_entry", "customer")
    union = " UNION ALL ".join(
        f"SELECT '{table}' AS name, to_jsonb(t)::text AS row FROM {table} t"  # noqa: S608 - of names in this file
        for table in tables
    )
    query = text(f"SELECT name || row FROM ({union}) AS found WHERE strpos(lower(row), :who) > 0 ORDER BY 1")  # noqa: S608 - of names in this file
    return [row[0] for row in await shop.services.db.rows(query, {"who": who})]


@pytest.fixture
async def presents(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ada has bought presents for Grace and Bob with the same words; Bob has bought something with them, too."""
    await bought(shop, card_of("50.00", **present("Grace", GRACE)), card_of("30.00", **present("Bob", BOB)))
    await bought(shop, for_two(await experiences(shop), **present("Bob", BOB)))
    identify = steps.identify_buyer
    monkeypatch.setattr(steps, "identify_buyer", lambda call, key, _buyer: identify(call, key, BOBS))
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    await bought(shop, card_of("20.00", message=WISH, giftee=Giftee(first_name="Eve", email="eve@example.com")))
    monkeypatch.undo()
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'collected' WHERE fulfilment_state IS NOT NULL")
    await delivered(shop)


async def test_another_giftee_of_an_order_is_kept_whole(shop: Shop, presents: None) -> None:
    before = await records_of(shop, BOB)
    assert {row.split("{")[0] for row in before} >= {"shop_order", "gift_card", "mail", "event", "customer"}
    result = await erased(shop, GRACE)
    assert (result.gifts, result.checkouts) == (1, 1)
    assert await records_of(shop, BOB) == before
    lines = await shop.one("SELECT lines FROM checkout_attempt WHERE jsonb_array_length(to_jsonb(lines)) = 2")
    people = {line["gift_card"]["giftee"]["email"]: line["gift_card"]["message"] for line in lines}
    assert people == {"": "", BOB: WISH}
    assert await records_of(shop, GRACE) == []


async def test_a_buyer_with_common_words_changes_nobody_elses_records(shop: Shop, presents: None) -> None:
    before = await records_of(shop, ADA)
    result = await erased(shop, BOB)
    assert (result.orders, result.gifts) == (2, 3)
    after = await records_of(shop, ADA)
    changed = [row for row in before if row not in after]
    assert [row for row in changed if "bob" not in row.lower()] == []
    words = await columns(shop, "gift_card", "giftee_email", "message")
    assert words == [(GRACE, WISH), (None, None), ("eve@example.com", None)]
    mails = [content for (content,) in await columns(shop, "mail", "content")]
    words = [(item["to"], item["message"]) for content in mails for item in content.get("items", ())]
    assert ("Grace Hopper", WISH) in words
    assert ("Bob Hopper", WISH) not in words


async def test_a_mail_to_somebody_else_that_is_not_sent_refuses_it(shop: Shop, presents: None) -> None:
    await shop.execute(
        "UPDATE mail SET state = 'queued' WHERE kind = 'new_order' AND content->>'email' = 'bob@example.com'"
    )
    before = await columns(shop, "mail", "*")
    with pytest.raises(PersonalDataInUse, match="a mail about it is not sent"):
        await erased(shop, BOB)
    assert await columns(shop, "mail", "*") == before
    assert (await erased(shop, GRACE)).gifts == 1


async def test_a_mail_to_the_partner_stays_if_it_has_the_same_address(shop: Shop, presents: None) -> None:
    await shop.execute("UPDATE mail SET recipient = :ada WHERE kind = 'new_order'", ada="Ada@Example.com")
    kinds = [mail.kind for mail in (await exported(shop, ADA)).mails]
    assert MailKind.ORDER_CONFIRMATION in kinds
    assert MailKind.NEW_ORDER not in kinds
    number = await shop.one("SELECT count(*) FROM mail WHERE kind = 'new_order'")
    await erased(shop, ADA)
    left = await columns(shop, "mail", "kind", "content")
    assert [kind for kind, _ in left].count("new_order") == number
    assert "order_confirmation" in [kind for kind, content in left]  # Bob's
    assert ADA not in str([content for _, content in left])


async def test_what_a_buyer_changed_at_the_page_of_an_order_is_read_by_its_buyer(shop: Shop, presents: None) -> None:
    """With the network address, which the recipient of the present does not get."""
    await shop.execute(
        "INSERT INTO audit_entry (occurred_on, operation, actor, username, token_hint, address, request_id, subject_type, "
        "subject_id, partner_id, marketplace_id, input, changes) SELECT now(), 'resend_gift_by_token', 'customer', '', '', "
        "'192.0.2.7', '', 'Order', min(id)::text, :partner, :network, CAST(:input AS jsonb), '[]' FROM shop_order",
        partner=shop.partner.id,
        network=shop.partner.marketplace_id,
        input=json.dumps({"position": 0, "email": GRACE}),
    )
    of_ada, of_grace, of_bob = [
        [entry.data for entry in (await exported(shop, who)).audit_entries if entry.name == "resend_gift_by_token"]
        for who in (ADA, GRACE, BOB)
    ]
    assert [(data["input"]["email"], data["address"]) for data in of_ada] == [("***", "192.0.2.7")]
    assert [(data["input"]["email"], "address" in data) for data in of_grace] == [(GRACE, False)]
    assert of_bob == []


async def test_a_giftee_reads_nothing_of_the_buyer_in_the_log(shop: Shop, presents: None) -> None:
    """As staff issue a present, and as the buyer has bought one."""
    people = {"buyer": {"first_name": "Ada", "email": ADA}, "giftee_details": {"first_name": "Grace", "email": GRACE}}
    await shop.execute(
        "INSERT INTO audit_entry (occurred_on, operation, actor, username, token_hint, address, request_id, subject_type, "
        "subject_id, partner_id, marketplace_id, input, changes) SELECT now(), 'issue_present', a, '', '', '192.0.2.7', '', "
        "'', '', :partner, :network, CAST(:input AS jsonb), '[]' FROM unnest(ARRAY['partner', 'customer']) AS a",
        partner=shop.partner.id,
        network=shop.partner.marketplace_id,
        input=json.dumps({**people, "comment": "For Ada's friend", "price": 40, "paid": True}),
    )
    of_grace, of_ada = [
        [entry.data for entry in (await exported(shop, who)).audit_entries if entry.name == "issue_present"]
        for who in (GRACE, ADA)
    ]
    masked = {"first_name": "***", "email": "***"}
    said = {"comment": "***", "price": "***", "paid": True}
    assert (
        of_grace
        == [{"input": {"buyer": masked, "giftee_details": people["giftee_details"], **said}, "changes": []}] * 2
    )
    own = {"input": {"buyer": people["buyer"], "giftee_details": masked, **said}, "changes": []}
    assert of_ada == [own, {**own, "address": "192.0.2.7"}]
    created = [event.data for event in (await exported(shop, ADA)).events if event.name == "order.created"]
    assert {event["buyer"]["email"] for event in created} == {ADA}
    assert {event["number"] for event in created} == {"***"}
