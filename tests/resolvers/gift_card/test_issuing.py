"""Gift cards that a partner issues by itself, activates, extends and cancels: what is kept, what is told, what is refused."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from resolvers.gift_card.issuing import activate_gift_card, cancel_gift_card, extend_gift_card, issue_gift_card
from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus as S
from store.core.clock import clock
from store.core.codes import looks_valid
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import TRANSITIONS, transition
from tests.changes import Direct, Transport
from tests.fixtures.gift_card import adds_up, card_events, gift_card
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

DAY = dt.timedelta(days=1)


async def test_what_is_issued(tenants: Tenants, ask: Transport) -> None:
    sent: dict[str, Any] = {
        "value": "80.00",
        "gifter_details": {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"},
        "giftee_details": {"first_name": "Noé", "email": "noe@example.com"},
        "message": "Bravo !",
        "reception_mode": "giftee_email" if isinstance(ask, Direct) else "GIFTEE_EMAIL",
        "language": "fr",
    }
    assert (await ask.change("a1", issue_gift_card, **sent)).done
    row = await tenants.newest("gift_card")
    kept = {
        "partner_id": tenants.partners["a1"].id,
        "status": "paid",
        "value_amount": 80.0,
        "remaining_amount": 80.0,
        "currency": "EUR",
        "gifter_first_name": "Ada",
        "giftee_first_name": "Noé",
        "giftee_last_name": None,
        "giftee_email": "noe@example.com",
        "message": "Bravo !",
        "reception_mode": "giftee_email",
        "language": "fr",
        "order_id": None,
    }
    assert {name: row[name] for name in kept} == kept
    assert looks_valid(row["code"])
    ends = dt.datetime.fromisoformat(row["expires_on"]).astimezone(ZoneInfo("Europe/Paris"))
    assert (ends.hour, ends.minute, ends.second) == (23, 59, 59)
    assert dt.timedelta(days=363) < ends - clock.now() < dt.timedelta(days=368)
    ((kind, data),) = await card_events(tenants, row["id"])
    assert (kind, data["status"], data["order_id"]) == ("gift_card.issued", "paid", None)
    assert await tenants.one("SELECT count(*) FROM mail") == 0
    await adds_up(tenants)


async def test_a_card_is_issued_for_a_partner_and_in_its_currency(tenants: Tenants, ask: Transport) -> None:
    uuid = str(tenants.partners["a2"].uuid)
    assert (await ask.change("market a", issue_gift_card, value=5, partner_uuid=uuid, expires_on=None)).done
    row = await tenants.newest("gift_card")
    assert (row["partner_id"], row["expires_on"]) == (tenants.partners["a2"].id, None)
    assert (await ask.change("b1", issue_gift_card, value="7.50")).done
    assert (await tenants.newest("gift_card"))["currency"] == "CHF"
    await adds_up(tenants)


async def test_what_is_not_issued(tenants: Tenants, ask: Transport) -> None:
    name = (lambda value: value) if isinstance(ask, Direct) else str.upper
    reader = await holder(tenants, "a1", Permission.VIEW_GIFT_CARD)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"value": "0.00"}, "value"),
        ({"value": "1.234"}, "value"),
        ({"status": name("using")}, "status"),
        ({"expires_on": clock.now().isoformat()}, "expires_on"),
        ({"reception_mode": name("giftee_email")}, "giftee_details.email"),
        ({"reception_mode": name("expedition")}, "giftee_details.address"),
        ({"language": "xx"}, "language"),
        ({"message": "x" * 1001}, "message"),
        ({"partner_uuid": str(tenants.partners["b1"].uuid)}, "partner_uuid"),
    ]
    before = await tenants.snapshot()
    for sent, field in wrong:
        outcome = await ask.change("a1", issue_gift_card, **{"value": "10.00", **sent})
        assert {at for at, _ in outcome.wrong} == {field}, sent
    assert (await ask.change("market a", issue_gift_card, value="10.00")).wrong == {("partner_uuid", "INVALID")}
    assert (await ask.change(reader, issue_gift_card, value="10.00")).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before


async def test_a_draft_is_activated_once(tenants: Tenants, ask: Transport) -> None:
    status = "draft" if isinstance(ask, Direct) else "DRAFT"
    assert (await ask.change("a1", issue_gift_card, value="10.00", status=status)).done
    row = await tenants.newest("gift_card")
    assert row["status"] == "draft"
    for _ in range(2):
        assert (await ask.change("a1", activate_gift_card, code=row["code"])).done
        assert (await tenants.row("gift_card", row["id"]))["status"] == "paid"
    assert [kind for kind, _ in await card_events(tenants, row["id"])] == ["gift_card.issued", "gift_card.activated"]
    over = await gift_card(tenants, status=S.DRAFT, expires_on=clock.now())
    gone = await gift_card(tenants, status=S.CANCELLED)
    assert (await ask.change("a1", activate_gift_card, id=over.id)).wrong == {("", "GIFT_CARD_NOT_SPENDABLE")}
    assert (await ask.change("a1", activate_gift_card, id=gone.id)).wrong == {("", "INVALID_TRANSITION")}


async def test_more_time(tenants: Tenants, ask: Transport) -> None:
    later = (clock.now() + 800 * DAY).isoformat()
    for status, after in ((S.DRAFT, "draft"), (S.PAID, "paid"), (S.USING, "using"), (S.EXPIRED, "paid")):
        card = await gift_card(tenants, status=status, expires_on=clock.now() + DAY)
        assert (await ask.change("a1", extend_gift_card, id=card.id, expires_on=later)).done
        row = await tenants.row("gift_card", card.id)
        assert (row["status"], dt.datetime.fromisoformat(row["expires_on"])) == (
            after,
            dt.datetime.fromisoformat(later),
        )
        ((kind, data),) = await card_events(tenants, card.id)
        assert (kind, data["old_expires_on"] < data["expires_on"]) == ("gift_card.extended", True)
    never = await gift_card(tenants, expires_on=None)
    kept = [await gift_card(tenants, status=S.USED), await gift_card(tenants, status=S.CANCELLED), never]
    good, before = await gift_card(tenants), await tenants.snapshot()
    for card in kept:
        outcome = await ask.change("a1", extend_gift_card, id=card.id, expires_on=later)
        assert outcome.wrong == {("", "NOT_EXTENDABLE")}
    for sooner in (clock.now() - DAY, clock.now() + DAY):
        outcome = await ask.change("a1", extend_gift_card, id=good.id, expires_on=sooner.isoformat())
        assert outcome.wrong == {("expires_on", "INVALID")}
    assert await tenants.snapshot() == before


async def test_cancelling_keeps_what_was_left(tenants: Tenants, ask: Transport) -> None:
    for status in (S.DRAFT, S.PAID, S.USING, S.EXPIRED):
        card = await gift_card(tenants, status=status)
        assert (await ask.change("a1", cancel_gift_card, code=card.code.lower())).done
        row = await tenants.row("gift_card", card.id)
        assert (row["status"], row["remaining_amount"]) == ("cncld", 50.0)
    card = await gift_card(tenants)
    before = await tenants.snapshot()
    for operation, more in ((activate_gift_card, {}), (extend_gift_card, {"expires_on": clock.now().isoformat()}), (cancel_gift_card, {})):  # fmt: skip
        for who in ("a2", "b1"):
            for named in ({"id": card.id}, {"code": card.code}, {"id": 999_999}, {"code": "NO-SUCH"}):
                assert (await ask.change(who, operation, **named, **more)).wrong == {("", "NOT_FOUND")}
        twice = await ask.change("a1", operation, id=card.id, code=card.code, **more)
        assert twice.wrong == {("code", "INVALID")}
    assert await tenants.snapshot() == before


def test_there_is_no_other_move() -> None:
    for old in S:
        for new in S:
            card = GiftCardRow(partner_id=1, code="", normal_code="", status=old)
            try:
                changed = transition(card, new)
            except InvalidTransition:
                assert not TRANSITIONS.allows(old, new)
                assert old is not new
                assert card.status is old
            else:
                assert changed is (old is not new)
                assert card.status is new
