"""Vouchers of other systems: taken over as they stand there, all of a call or none, with every mistake told at its place."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from resolvers.voucher import imports, updates
from schema.core.errors import InvalidInput
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.voucher.issue_input import ImportedVoucher, ImportVoucher, ImportVouchers
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import generate_code, normalize
from tests.changes import OverGraphQL, Transport
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import Sold, holder, sell, voucher_events, voucher_of

S = VoucherState


def imported(sold: Sold, code: str = "Gîte n°7 α", **more: Any) -> dict[str, Any]:
    """A voucher of another system."""
    return {
        "code": code,
        "voucher_prototype_id": sold.stay.id,
        "imported_from": "Old shop",
        "total_price": "199.00",
        **more,
    }


def days(number: int) -> str:
    """A time so many days from now."""
    return (clock.now() + dt.timedelta(days=number)).isoformat()


async def test_a_voucher_is_taken_over_as_it_stands(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    made_on, used_on, ends_on = days(-300), days(-9), days(60)
    sent = imported(
        sold,
        state=S.USED,
        created_on=made_on,
        used_on=used_on,
        expires_on=ends_on,
        purchase_price="150.00",
        prototype_name={"fr": "Nuit romantique"},
        gifter_details={"first_name": "Ada", "email": "ada@example.com"},
        self_gifted=True,
        nb_adults=2,
    )
    assert (await ask.change("a1", imports.import_voucher, **sent)).done
    made = await tenants.newest("voucher")
    kept = {"code": "Gîte n°7 α", "normal_code": "GÎTEN°7Α", "kind": "imported", "state": "used", "nb_adults": 2}
    kept |= {"imported_from": "Old shop", "total_price_amount": 199, "purchase_price_amount": 150}
    kept |= {"prototype_name": {"fr": "Nuit romantique"}, "voucher_prototype_id": sold.stay.id, "currency": "EUR"}
    assert {key: made[key] for key in kept} == kept
    dates = {"created_on": made_on, "activated_on": made_on, "used_on": used_on, "expires_on": ends_on}
    assert {key: dt.datetime.fromisoformat(made[key]) for key in dates} == {
        key: dt.datetime.fromisoformat(text) for key, text in dates.items()
    }
    assert made["gifter_id"] == made["giftee_id"]
    assert (await tenants.row("voucher_prototype", sold.stay.id))["nb_orders"] == 0
    assert await voucher_events(tenants) == []
    spelling = "gîte N°7-α"
    assert (await ask.change("master", updates.update_voucher, code=spelling, state=S.PAID)).done


async def test_codes_of_any_shape_but_wrong_ones_of_ours(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    ours = generate_code()
    last = ours[-1]
    for code in ("abc", "A1-" * 13, "0" * 16, ours, "ÄÖ 2030 #1"):
        assert (await ask.change("a1", imports.import_voucher, **imported(sold, code))).done, code
    assert (await tenants.newest("voucher"))["activated_on"] is not None
    before = await tenants.snapshot()
    slip = ours[:-1] + ("2" if last != "2" else "3")
    wrong = {"ab", "x/y", "x" * 41, "a\tb-c", "- - -", "", slip, slip.lower().replace("-", "")}
    for code in wrong:
        outcome = await ask.change("a1", imports.import_voucher, **imported(sold, code))
        assert outcome.wrong == {("code", "INVALID" if len(code) < 41 else "TOO_LONG")}, code
    for code in ("ABC", "a b c"):
        outcome = await ask.change("a1", imports.import_voucher, **imported(sold, code))
        assert outcome.wrong == {("code", "ALREADY_TAKEN")}
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"state": S.USED}, "used_on"),
        ({"state": S.USED, "used_on": 1}, "used_on"),
        ({"state": S.USED, "used_on": -1}, "used_on"),
        ({"state": S.USED, "created_on": -5, "used_on": -6}, "used_on"),
        ({"state": S.USING, "used_on": -1}, "used_on"),
        ({"state": S.EXPIRED}, "expires_on"),
        ({"state": S.EXPIRED, "created_on": -9, "expires_on": 9}, "expires_on"),
        ({"state": S.DRAFT, "activated_on": -1}, "activated_on"),
        ({"created_on": 1}, "created_on"),
        ({"created_on": -5, "expires_on": -6}, "expires_on"),
        ({"created_on": -5, "activated_on": 5, "expires_on": 4}, "expires_on"),
        ({"total_price": "-1"}, "total_price"),
        ({"voucher_prototype_id": 2**31 - 1}, "voucher_prototype_id"),
        ({"imported_from": ""}, "imported_from"),
        ({"language": "xx"}, "language"),
    ],
)
async def test_what_cannot_be_of_a_voucher_is_refused(
    tenants: Tenants, ask: Transport, more: dict[str, Any], field: str
) -> None:
    sold = await sell(tenants, "a1")
    before = await tenants.snapshot()
    sent = {key: days(value) if key.endswith("_on") else value for key, value in more.items()}
    outcome = await ask.change("a1", imports.import_voucher, **imported(sold, **sent))
    assert {at for at, _ in outcome.wrong} == {field}
    assert await tenants.snapshot() == before


MANY = """mutation ($input: ImportVouchersInput!) { importVouchers(input: $input) {
    vouchers { code state } userErrors { field code } } }"""


def _graphql_input(*vouchers: dict[str, Any]) -> dict[str, Any]:
    names = {"voucher_prototype_id": "voucherPrototypeId", "imported_from": "importedFrom", "total_price": "totalPrice"}
    return {"vouchers": [{names.get(key, key): value for key, value in each.items()} for each in vouchers]}


async def test_many_are_taken_over_at_once_or_none(tenants: Tenants) -> None:
    sold, other = await sell(tenants, "a1"), await sell(tenants, "a2")
    foreign = await tenants.add(voucher_of(other))
    before = await tenants.snapshot()
    good = [imported(sold, f"CODE {number}") for number in range(500)]
    bad = [*good]
    bad[3] = imported(sold, "CODE-4")
    bad[7] = imported(sold, "a/b", voucher_prototype_id=other.stay.id)
    bad[499] = imported(sold, foreign.code.lower())
    body = await tenants.graphql("a1", MANY, input=_graphql_input(*bad))
    told_wrong = body["data"]["importVouchers"]["userErrors"]
    assert {(".".join(error["field"]), error["code"]) for error in told_wrong} == {
        ("vouchers.3.code", "ALREADY_TAKEN"),
        ("vouchers.4.code", "ALREADY_TAKEN"),
        ("vouchers.7.code", "INVALID"),
        ("vouchers.7.voucherPrototypeId", "INVALID"),
    }, "of what others have nothing is told while something else is wrong"
    taken = [*good[:499], imported(sold, foreign.code.lower())]
    body = await tenants.graphql("a1", MANY, input=_graphql_input(*taken))
    refused = body["data"]["importVouchers"]["userErrors"]
    assert refused == [{"field": ["vouchers"], "code": "ALREADY_TAKEN"}], "nor which it is"
    body = await tenants.graphql("a1", MANY, input=_graphql_input(*good, imported(sold, "ONE TOO MANY")))
    assert [error["field"] for error in body["data"]["importVouchers"]["userErrors"]] == [["vouchers"]]
    assert await tenants.snapshot() == before
    body = await tenants.graphql("a1", MANY, input=_graphql_input(*good))
    assert body["data"]["importVouchers"]["userErrors"] == []
    assert [each["code"] for each in body["data"]["importVouchers"]["vouchers"]] == [each["code"] for each in good]
    assert await tenants.one("SELECT count(*) FROM voucher WHERE kind = 'imported'") == 500


async def test_for_whom_they_are_taken_over(tenants: Tenants, ask: Transport) -> None:
    sold = await sell(tenants, "a1")
    a1, b1 = tenants.partners["a1"], tenants.partners["b1"]
    without = await holder(
        tenants, "a1", *sorted(GRANTABLE_PERMISSIONS - {Permission.UPDATE_VOUCHER, Permission.MANAGE_MASTERADMIN})
    )
    before = await tenants.snapshot()
    refused = {
        "market a": {},
        "a2": {"partner_uuid": str(a1.uuid)},
        "market b": {"partner_uuid": str(a1.uuid)},
        "master": {},
    }
    for who, sent in refused.items():
        outcome = await ask.change(who, imports.import_voucher, **imported(sold), **sent)
        assert outcome.wrong == {("partner_uuid", "INVALID")}, who
    outcome = await ask.change("b1", imports.import_voucher, **imported(sold))
    assert outcome.wrong == {("voucher_prototype_id", "INVALID")}
    outcome = await ask.change("master", imports.import_voucher, **imported(sold), partner_uuid=str(b1.uuid))
    assert outcome.wrong == {("voucher_prototype_id", "INVALID")}
    assert (await ask.change(without, imports.import_voucher, **imported(sold))).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before
    of = {"partner_uuid": str(a1.uuid)}
    assert (await ask.change("market a", imports.import_voucher, **imported(sold), **of)).done
    assert (await tenants.newest("voucher"))["partner_id"] == a1.id


async def test_whoever_imports_to_find_codes_of_others_is_stopped(tenants: Tenants) -> None:
    theirs = await tenants.add(voucher_of(await sell(tenants, "a2")))
    sold, ask, seen = await sell(tenants, "a1"), OverGraphQL(tenants), set[tuple[str, str]]()
    for _ in range(1000):
        outcome = await ask.change("a1", imports.import_voucher, **imported(sold, theirs.code))
        seen |= outcome.wrong
        if outcome.wrong != {("code", "ALREADY_TAKEN")}:
            break
    assert seen == {("code", "ALREADY_TAKEN"), ("", "TOO_MANY_REQUESTS")}


SPOILT = (
    {"total_price": "-1.00"},
    {"state": "USED"},
    {"voucher_prototype_id": 999_999},
    {"code": "a/b"},
    {"code": "OWN"},
)
"""What makes a list that is not meant to be taken over."""


@pytest.mark.parametrize("spoilt", SPOILT)
async def test_a_list_that_is_not_meant_to_be_taken_over_tells_nothing(
    tenants: Tenants, spoilt: dict[str, Any]
) -> None:
    """The answers to a list with a code that somebody has, and to one with a code that nobody has, are alike."""
    sold, theirs = await sell(tenants, "a1"), await tenants.add(voucher_of(await sell(tenants, "a2")))
    await tenants.add(voucher_of(sold, code="OWN", normal_code="OWN"))
    pill = imported(sold, "PILL") | spoilt
    answers = [
        await tenants.graphql("a1", MANY, input=_graphql_input(imported(sold, code), pill))
        for code in (theirs.code, "NOBODYS")
    ]
    assert answers[0] == answers[1]
    assert answers[0]["data"]["importVouchers"]["userErrors"]


async def test_lists_tell_no_more_codes_than_look_ups_do(tenants: Tenants) -> None:
    """Each refusal says that there is one, and counts; own codes are told at their places, and never count."""
    theirs = await tenants.add(voucher_of(await sell(tenants, "a2")))
    sold = await sell(tenants, "a1")
    await tenants.add(voucher_of(sold, code="OWN", normal_code="OWN"))
    tenants.services.settings.guesses_per_user = "5/hour"
    own, foreign = (
        _graphql_input(imported(sold, "OWN")),
        _graphql_input(imported(sold, "FREE 1"), imported(sold, theirs.code)),
    )

    async def error_codes(who: str, values: dict[str, Any], **more: str) -> Any:
        body = await tenants.graphql(who, MANY, input={**values, **more})
        if body.get("errors"):
            return [("", error["extensions"]["code"]) for error in body["errors"]]
        return [(".".join(error["field"]), error["code"]) for error in body["data"]["importVouchers"]["userErrors"]]

    before = await tenants.snapshot()
    for _ in range(10):
        assert await error_codes("a1", own) == [("vouchers.0.code", "ALREADY_TAKEN")]
    for _ in range(5):
        assert await error_codes("a1", foreign) == [("vouchers", "ALREADY_TAKEN")]
    assert [code for _, code in await error_codes("a1", foreign)] == ["TOO_MANY_REQUESTS"]
    assert [code for _, code in await error_codes("a1", _graphql_input(imported(sold, "NEW")))] == ["TOO_MANY_REQUESTS"]
    for _ in range(10):  # who sees them may know
        seen = await error_codes("market a", foreign, partnerUuid=str(tenants.partners["a1"].uuid))
        assert seen == [("vouchers.1.code", "ALREADY_TAKEN")]
    assert await tenants.snapshot() == before
    clock.advance(dt.timedelta(hours=1))
    assert await error_codes("a1", _graphql_input(imported(sold, "NEW"))) == []


async def test_a_wrong_field_beside_a_code_tells_nothing_of_it_and_costs_no_guess(
    tenants: Tenants, ask: Transport
) -> None:
    theirs = await tenants.add(voucher_of(await sell(tenants, "a2")))
    sold = await sell(tenants, "a1")
    tenants.services.settings.guesses_per_user = "1/hour"
    before = await tenants.snapshot()
    for wrong in ({"total_price": "-1"}, {"message": "x" * 10_000}):
        for code in (theirs.code, "NOBODYS", theirs.code):
            outcome = await ask.change("a1", imports.import_voucher, **{**imported(sold, code), **wrong})
            assert {at for at, _ in outcome.wrong} == set(wrong)
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", imports.import_voucher, **imported(sold, theirs.code))).wrong == {
        ("code", "ALREADY_TAKEN")
    }


async def test_of_two_imports_of_one_code_at_once_one_is_taken(tenants: Tenants) -> None:
    sold = await sell(tenants, "a1")

    async def once() -> bool:
        given = ImportVoucher(**imported(sold))
        try:
            await imports.import_voucher(await tenants.context("a1"), given)
        except InvalidInput as error:
            refused.extend((problem.path, problem.code) for problem in error.problems)
            return False
        return True

    refused: list[Any] = []
    assert sum(await asyncio.gather(*(once() for _ in range(6)))) == 1
    assert refused == [(("code",), "ALREADY_TAKEN")] * 5
    assert normalize("Gîte n°7 α") == await tenants.one("SELECT normal_code FROM voucher")


async def test_a_code_that_is_lost_to_somebody_else_is_told_at_its_row(tenants: Tenants) -> None:
    """Two import the same list, one from its end: neither waits for the other for ever, and who loses learns of every code."""
    sold = await sell(tenants, "a1")
    listed = [ImportedVoucher(**imported(sold, f"LOST {number}")) for number in range(6)]
    more = ImportedVoucher(**imported(sold, "MINE"))

    async def once(*vouchers: ImportedVoucher) -> set[Any]:
        try:
            await imports.import_vouchers(await tenants.context("a1"), ImportVouchers(vouchers=[*vouchers]))
        except InvalidInput as error:
            return {(problem.path, problem.code) for problem in error.problems}
        return set()

    async with tenants.services.db.sessions() as rival, rival.begin():
        rival.add(voucher_of(sold, code="LOST 4", normal_code="LOST4"))
        await rival.flush()
        waiting = [asyncio.create_task(once(more, *listed)), asyncio.create_task(once(*reversed(listed), more))]
        waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        async with asyncio.timeout(60):
            while await tenants.one(waits) < 1:
                await asyncio.sleep(0.05)
    told_first, told_last = await asyncio.gather(*waiting)
    assert told_first == {(("vouchers", 5, "code"), "ALREADY_TAKEN")}
    assert told_last == {(("vouchers", 1, "code"), "ALREADY_TAKEN")}
    assert await tenants.one("SELECT count(*) FROM voucher") == 1
    assert await once(more, *listed[:4], listed[5]) == set()


async def test_a_dry_run_tells_every_line_and_changes_nothing(tenants: Tenants) -> None:
    sold, theirs = await sell(tenants, "a1"), await tenants.add(voucher_of(await sell(tenants, "a2")))
    before = await tenants.snapshot()
    good = [imported(sold, f"CODE {number}") for number in range(3)]
    wrong = [*good, imported(sold, "CODE-1"), imported(sold, "a/b"), imported(sold, "LESS", total_price="-1")]
    cases: list[tuple[list[dict[str, Any]], set[tuple[str, str]]]] = [
        (good, set()),
        (
            wrong,
            {
                ("vouchers.1.code", "ALREADY_TAKEN"),
                ("vouchers.3.code", "ALREADY_TAKEN"),
                ("vouchers.4.code", "INVALID"),
                ("vouchers.5.totalPrice", "OUT_OF_RANGE"),
            },
        ),
        ([*good, imported(sold, theirs.code)], {("vouchers", "ALREADY_TAKEN")}),
    ]
    for vouchers, expected in cases:
        answer = await tenants.graphql("a1", MANY, input={**_graphql_input(*vouchers), "dryRun": True})
        payload = answer["data"]["importVouchers"]
        assert {(".".join(error["field"]), error["code"]) for error in payload["userErrors"]} == expected
        assert not payload["vouchers"]
    assert await tenants.snapshot() == before
