"""Gift cards of other systems: taken over with what is left of them, all of a call or none; the books stay balanced."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from resolvers.gift_card.imports import import_gift_cards
from resolvers.gift_card.issuing import extend_gift_card
from resolvers.gift_card.spending import spend_gift_card
from schema.core.errors import InvalidInput
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus as S
from schema.gift_card.import_input import ImportedGiftCard, ImportGiftCards
from store.core.clock import clock
from store.core.codes import generate_code
from tests.changes import Transport
from tests.fixtures.gift_card import adds_up, card_events, gift_card
from tests.fixtures.ledger import broken_rules
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

MANY = """mutation ($input: ImportGiftCardsInput!) { importGiftCards(input: $input) {
    giftCards { code status remainingValue { amount } movements { kind change { amount } balance { amount } } }
    userErrors { field code message } } }"""
SUMS = """SELECT a.role, sum(e.amount)::bigint AS amount FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
    GROUP BY a.role ORDER BY a.role"""


def card(code: str = "Carte n°7 α", value: str = "100.00", **more: Any) -> dict[str, Any]:
    """A gift card of another system."""
    return {"code": code, "value": value, **more}


def days(number: int) -> str:
    """A time so many days from now."""
    return (clock.now() + dt.timedelta(days=number)).isoformat()


async def sums(tenants: Tenants) -> dict[str, int]:
    """What is on the accounts of the ledger, in minor units, by role."""
    return {row[0]: row[1] for row in await tenants.rows(SUMS)}


async def test_what_is_left_is_owed_from_now_on(tenants: Tenants, ask: Transport) -> None:
    before, broken = await sums(tenants), await broken_rules(tenants.services.db)
    made_on, ends_on = days(-400), days(60)
    people = {"gifter_details": {"first_name": "Ada"}, "giftee_details": {"email": "noe@example.com"}}
    part = card(remaining_value="60.00", created_on=made_on, expires_on=ends_on, message="Bravo !", language="fr")
    whole, over = card("WHOLE 1", "5.50"), card("OVER 1", created_on=made_on, expires_on=days(-1))
    assert (await ask.change("a1", import_gift_cards, gift_cards=[part | people, whole, over])).done
    rows = await tenants.rows(
        "SELECT id, code, normal_code, status, value_amount, remaining_amount, used_elsewhere_amount, giftee_email, "
        "gifter_first_name, message, language, created_on, expires_on FROM gift_card WHERE normal_code = "
        "ANY(ARRAY['CARTEN°7Α', 'WHOLE1', 'OVER1']) ORDER BY value_amount, remaining_amount"
    )
    assert [(row.status, float(row.remaining_amount), float(row.used_elsewhere_amount)) for row in rows] == [
        ("paid", 5.5, 0),
        ("using", 60, 40),
        ("exprd", 100, 0),
    ]
    found = rows[1]
    assert (found.code, found.gifter_first_name, found.giftee_email) == ("Carte n°7 α", "Ada", "noe@example.com")
    assert (found.message, found.language) == ("Bravo !", "fr")
    assert (found.created_on, found.expires_on) == (
        dt.datetime.fromisoformat(made_on),
        dt.datetime.fromisoformat(ends_on),
    )
    after = await sums(tenants)
    changes = {role: amount - before.get(role, 0) for role, amount in after.items() if amount != before.get(role, 0)}
    assert changes == {"issued": 16550, "card": -16550}, "as if the partner had issued what is left"
    posted = "SELECT j.recorded_on FROM ledger_journal j WHERE j.source_kind = 'gift_card' AND j.source_id = :id"
    assert await tenants.one(posted, id=str(found.id)) > clock.now() - dt.timedelta(hours=1), "not in a closed period"
    for row in rows:
        assert [kind for kind, _ in await card_events(tenants, row.id)] == ["gift_card.issued"]
    assert await tenants.one("SELECT count(*) FROM mail") == 0
    await adds_up(tenants)
    assert await broken_rules(tenants.services.db) == broken


async def test_an_imported_card_is_spent_and_extended_like_others(tenants: Tenants, ask: Transport) -> None:
    part = card("PART 1", remaining_value="60.00", created_on=days(-9), expires_on=days(-1))
    assert (await ask.change("a1", import_gift_cards, gift_cards=[part])).done
    row = await tenants.newest("gift_card")
    assert (await ask.change("a1", extend_gift_card, code="part-1", expires_on=days(9))).done
    assert (await tenants.row("gift_card", row["id"]))["status"] == "using", "a part was used elsewhere"
    assert (await ask.change("a1", spend_gift_card, code="part-1", amount="60.01")).wrong
    assert (await ask.change("a1", spend_gift_card, code="part-1", amount="60.00")).done
    query = "query ($id: Int!) { giftCard(id: $id) { movements { kind change { amount } balance { amount } } } }"
    moved = (await tenants.graphql("a1", query, id=row["id"]))["data"]["giftCard"]["movements"]
    assert [(it["kind"], it["change"]["amount"], it["balance"]["amount"]) for it in moved] == [
        ("ISSUE", "60.00", "60.00"),
        ("HOLD", "-60.00", "0.00"),
        ("RELEASE", "60.00", "60.00"),
        ("CAPTURE", "-60.00", "0.00"),
    ]
    spent = await tenants.row("gift_card", row["id"])
    assert (spent["status"], spent["remaining_amount"]) == ("used", 0)
    await adds_up(tenants)


async def test_a_dry_run_tells_every_line_and_changes_nothing(tenants: Tenants) -> None:
    own, foreign = await gift_card(tenants), await gift_card(tenants, "b1")
    ours = generate_code()
    slip = ours[:-1] + ("2" if ours[-1] != "2" else "3")
    before = await tenants.snapshot()
    good = [card(f"CODE {number}", "10.00") for number in range(3)]
    wrong = [
        (card("CODE-0"), "code", "ALREADY_TAKEN"),
        (card(own.code.lower()), "code", "ALREADY_TAKEN"),
        (card("A1-TEN"), "code", "ALREADY_TAKEN"),
        (card("a/b"), "code", "INVALID"),
        (card(slip), "code", "INVALID"),
        (card("x" * 41), "code", "TOO_LONG"),
        (card("ZERO", "0.00"), "value", "OUT_OF_RANGE"),
        (card("NONE", remainingValue="0.00"), "remainingValue", "OUT_OF_RANGE"),
        (card("MORE", remainingValue="100.01"), "remainingValue", "OUT_OF_RANGE"),
        (card("SOON", createdOn=days(1)), "createdOn", "INVALID"),
        (card("ENDS", createdOn=days(-5), expiresOn=days(-6)), "expiresOn", "INVALID"),
    ]
    body = await tenants.graphql(
        "a1", MANY, input={"giftCards": [*good, *(each for each, *_ in wrong)], "dryRun": True}
    )
    answer = body["data"]["importGiftCards"]
    expected = {(("giftCards", "0", "code"), "ALREADY_TAKEN")} | {
        (("giftCards", str(3 + at), field), code) for at, (_, field, code) in enumerate(wrong)
    }
    assert {(tuple(error["field"]), error["code"]) for error in answer["userErrors"]} == expected
    assert not answer["giftCards"]
    for dry in (True, False):
        taken = {"giftCards": [*good, card(foreign.code)], "dryRun": dry}
        answer = (await tenants.graphql("a1", MANY, input=taken))["data"]["importGiftCards"]
        assert [(error["field"], error["code"]) for error in answer["userErrors"]] == [(["giftCards"], "ALREADY_TAKEN")]
    answer = (await tenants.graphql("a1", MANY, input={"giftCards": good, "dryRun": True}))["data"]["importGiftCards"]
    assert answer == {"giftCards": [], "userErrors": []}
    assert await tenants.snapshot() == before
    answer = (await tenants.graphql("a1", MANY, input={"giftCards": good}))["data"]["importGiftCards"]
    assert [each["code"] for each in answer["giftCards"]] == [each["code"] for each in good]
    assert answer["giftCards"][0]["movements"] == [
        {"kind": "ISSUE", "change": {"amount": "10.00"}, "balance": {"amount": "10.00"}}
    ]


async def test_for_whom_cards_are_imported(tenants: Tenants, ask: Transport) -> None:
    a1, reader = tenants.partners["a1"], await holder(tenants, "a1", Permission.VIEW_GIFT_CARD)
    before = await tenants.snapshot()
    of = {"partner_uuid": str(a1.uuid)}
    for who, more in (("market a", {}), ("a2", of), ("market b", of), ("master", {})):
        outcome = await ask.change(who, import_gift_cards, gift_cards=[card()], **more)
        assert outcome.wrong == {("partner_uuid", "INVALID")}, who
    assert (await ask.change(reader, import_gift_cards, gift_cards=[card()])).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", import_gift_cards, gift_cards=[card()], **of)).done
    assert (await tenants.newest("gift_card"))["partner_id"] == a1.id
    assert (await ask.change("b1", import_gift_cards, gift_cards=[card("SWISS", "7.50")])).done
    assert (await tenants.newest("gift_card"))["currency"] == "CHF"
    assert (
        await tenants.one("SELECT count(*) FROM audit_entry WHERE operation = 'import_gift_cards' AND refused IS NULL")
        == 2
    )
    masked = "SELECT count(*) FROM audit_entry WHERE operation = 'import_gift_cards' AND input::text LIKE '%SWISS%'"
    assert await tenants.one(masked) == 0, "codes are worth money"


@pytest.mark.parametrize("count", [0, 1001])
async def test_there_is_a_limit(tenants: Tenants, count: int) -> None:
    before = await tenants.snapshot()
    many = {"giftCards": [card(f"CODE {number}", "1.00") for number in range(count)]}
    answer = (await tenants.graphql("a1", MANY, input=many))["data"]["importGiftCards"]
    assert [error["field"] for error in answer["userErrors"]] == [["giftCards"]]
    assert await tenants.snapshot() == before


async def test_a_thousand_cards_are_imported_at_once(tenants: Tenants) -> None:
    many = {"giftCards": [card(f"CODE {number}", "1.00") for number in range(1000)]}
    answer = (await tenants.graphql("a1", MANY, input=many))["data"]["importGiftCards"]
    assert (len(answer["giftCards"]), answer["userErrors"]) == (1000, [])
    await adds_up(tenants)


async def test_of_two_imports_of_one_code_at_once_one_is_taken(tenants: Tenants) -> None:
    async def once(number: int) -> bool:
        codes = ["SAME", f"OTHER {number}"]
        given = ImportGiftCards(
            gift_cards=[ImportedGiftCard(**card(code)) for code in (codes if number % 2 else reversed(codes))]
        )
        try:
            await import_gift_cards(await tenants.context("a1"), given)
        except InvalidInput as error:
            refusals.update(problem.code for problem in error.problems)
            return False
        return True

    refusals = set[str]()
    assert sum(await asyncio.gather(*(once(number) for number in range(4)))) == 1
    assert refusals == {"ALREADY_TAKEN"}
    assert (
        await tenants.one("SELECT count(*) FROM gift_card WHERE normal_code = 'SAME' OR normal_code LIKE 'OTHER%'") == 2
    )
    await adds_up(tenants)


async def test_who_imports_to_find_codes_of_others_is_stopped(tenants: Tenants) -> None:
    foreign = await gift_card(tenants, "b1", status=S.CANCELLED)
    tenants.services.settings.guesses_per_user = "3/hour"
    guess = {"giftCards": [card(foreign.code)], "dryRun": True}
    for _ in range(3):
        answer = (await tenants.graphql("a1", MANY, input=guess))["data"]["importGiftCards"]
        assert [error["code"] for error in answer["userErrors"]] == ["ALREADY_TAKEN"]
    body = await tenants.graphql("a1", MANY, input=guess)
    assert [error["extensions"]["code"] for error in body["errors"]] == ["TOO_MANY_REQUESTS"]
    for code in (foreign.code, "NOBODYS"):  # beside something wrong nothing is told of it
        answer = (await tenants.graphql("a1", MANY, input={"giftCards": [card(code, "-1")]}))["data"]["importGiftCards"]
        assert [error["field"] for error in answer["userErrors"]] == [["giftCards", "0", "value"]]
