"""What payouts are the sum of, over GraphQL: what each line is made of, why it is where it is, and the pages of lines."""

import datetime as dt
from decimal import Decimal
from typing import Any

from resolvers.core.context import Context
from resolvers.payment.payouts.payouts import cancel_payout_request
from resolvers.payment.refunds.refunds import refund_payment
from schema.core.permission import Permission
from schema.payment.input import RefundPayment
from schema.payment.payout import CancelPayoutRequest
from schema.root import schema
from store.core.clock import clock
from store.payout.lines import PayoutContents
from store.payout.requests import PayoutRequestRow
from tests.fixtures.network import link, network_card
from tests.fixtures.payment.api_payment import fee_rule, paid, wallet_uuid
from tests.fixtures.payment.network_payment import card_of_network, take_fees, take_part
from tests.fixtures.payment.payout import can_be_paid_out, gathered, send, validated
from tests.fixtures.payment.refill import market, opened_wallet, refilled
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.payment.payouts.test_payouts import earn, opened

EXPLAIN = """
    query ($id: Int!, $first: Int, $after: String) { payoutExplain(id: $id) {
        amount { amount currency } firstDay lastDay
        sections { section lines gross { amount } fees { amount } vat { amount } amount { amount } }
        lines(first: $first, after: $after) {
            totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor }
            nodes { journalId section kind sourceKind sourceId payment { id } customer details codeEnd gross { amount }
                fees { amount } vat { amount } amount { amount } network { amount } payableOn reason former { id status } movedTo { id status } }
        } } }
"""


async def answer_of(context: Context, query: str = EXPLAIN, **variables: Any) -> Any:
    """The data of an answer without errors."""
    answer = await schema.execute(query, variable_values=variables, context_value=context)
    assert not answer.errors, answer.errors
    return answer.data


def amounts(line: Any, *names: str) -> tuple[str, ...]:
    return tuple(line[name]["amount"] for name in names)


async def test_it_tells_what_each_line_is_made_of(shop: Shop) -> None:
    await fee_rule(shop, "5.00")
    payment = await paid(shop, "100.00", product="Massage")
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("40.00")))
    payout = await gathered(shop)
    found = (await answer_of(market(shop), id=payout.id))["payoutExplain"]
    first, second = found["lines"]["nodes"]
    parts = ("gross", "fees", "vat", "amount", "network")
    assert amounts(first, *parts) == ("100.00", "6.00", "1.00", "94.00", "0.00")
    assert amounts(second, *parts) == ("-40.00", "-2.40", "-0.40", "-37.60", "0.00")
    assert (first["section"], first["kind"], first["sourceId"]) == ("PAYMENTS", "PAYMENT", str(payment.id))
    assert (second["section"], second["kind"], second["sourceKind"]) == ("REFUNDS", "REFUND", "refund")
    for line in (first, second):
        assert (line["payment"], line["details"], line["former"]) == ({"id": str(payment.id)}, "Massage", [])
        assert (line["reason"], line["codeEnd"]) == ("IN_PERIOD", "")
    assert [(each["section"], each["lines"], *amounts(each, *parts[:4])) for each in found["sections"]] == [
        ("PAYMENTS", 1, "100.00", "6.00", "1.00", "94.00"),
        ("REFUNDS", 1, "-40.00", "-2.40", "-0.40", "-37.60"),
    ]
    assert found["amount"] == {"amount": "56.40", "currency": "EUR"}
    assert payout.payout_amount == Decimal("56.40")


async def test_it_tells_why_a_line_is_here_and_where_it_was_before(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET freeze_payout = true")
    await paid(shop, "100.00")
    chosen = clock.now() + dt.timedelta(days=32)
    late = await paid(shop, "50.00", freeze_payout_date=chosen)
    first = await gathered(shop)
    before = (await answer_of(market(shop), id=first.id))["payoutExplain"]["lines"]["nodes"]
    assert [(amounts(line, "amount"), line["reason"]) for line in before] == [(("100.00",), "IN_PERIOD")]
    await cancel_payout_request(market(shop), CancelPayoutRequest(id=first.id))
    second = await gathered(shop)
    lines = (await answer_of(market(shop), id=second.id))["payoutExplain"]["lines"]["nodes"]
    assert [(amounts(line, "amount"), line["reason"], line["former"]) for line in lines] == [
        (("100.00",), "CARRIED_OVER", [{"id": first.id, "status": "CANCELLED"}]),
        (("50.00",), "DATE_CHOSEN", []),
    ]
    assert lines[1]["payment"] == {"id": str(late.id)}
    kept = (await answer_of(market(shop), id=first.id))["payoutExplain"]["lines"]["nodes"]
    now_in = {"id": second.id, "status": "TO_BE_VALIDATED"}
    assert [(line["reason"], line["former"], line["movedTo"]) for line in kept] == [("IN_PERIOD", [], now_in)]
    assert [line["movedTo"] for line in lines] == [None, None]


async def test_what_is_taken_back_of_a_later_period_says_so(tenants: Tenants) -> None:
    """A preview ends with the period; a reversal counts at once, whatever its day."""
    await earn(tenants)
    id = await opened(tenants)
    await tenants.execute(
        "UPDATE payable_item SET payable_on = '2198-01-01', network_amount = -100 WHERE id = (SELECT max(id) FROM payable_item)"
    )
    await tenants.execute("UPDATE payout_request SET last_day = '2190-01-01'")
    found = (await tenants.graphql("market a", EXPLAIN, id=id))["data"]["payoutExplain"]["lines"]["nodes"]
    assert [line["reason"] for line in found] == ["IN_PERIOD", "TAKEN_BACK"]


async def test_lines_come_in_pages(tenants: Tenants) -> None:
    for value in ("1.00", "2.00", "3.00", "4.00"):
        await earn(tenants, value=value)
    id = await opened(tenants, value="5.00")
    seen, after = [], None
    for rest in (True, True, False):
        answer = await tenants.graphql("a1", EXPLAIN, id=id, first=2, after=after)
        lines = answer["data"]["payoutExplain"]["lines"]
        info = lines["pageInfo"]
        assert (lines["totalCount"], info["hasNextPage"], info["hasPreviousPage"]) == (5, rest, after is not None)
        assert [each["cursor"] for each in lines["edges"]][:: len(lines["edges"]) - 1 or 1] == (
            [info["startCursor"], info["endCursor"]] if len(lines["edges"]) > 1 else [info["endCursor"]]
        )
        seen += [amounts(line, "gross", "network")[0] for line in lines["nodes"]]
        after = info["endCursor"]
    assert seen == ["1.00", "2.00", "3.00", "4.00", "5.00"]
    beyond = (await tenants.graphql("a1", EXPLAIN, id=id, after=after))["data"]["payoutExplain"]["lines"]
    assert (beyond["nodes"], beyond["pageInfo"]["endCursor"], beyond["totalCount"]) == ([], None, 5)
    of_payouts = "{ payoutRequests { pageInfo { endCursor } } }"
    other = (await tenants.graphql("a1", of_payouts))["data"]["payoutRequests"]["pageInfo"]["endCursor"]
    for wrong in ({"after": other}, {"after": "x"}, {"first": 0}, {"first": 101}):
        refused = await tenants.graphql("a1", EXPLAIN, id=id, **wrong)
        assert [error["extensions"]["code"] for error in refused["errors"]] == ["BAD_USER_INPUT"], wrong
        assert refused["data"] == {"payoutExplain": None}


async def test_only_who_sees_a_payout_has_it_explained(tenants: Tenants) -> None:
    id = await opened(tenants)
    for who in ("market b", "a2", "b1"):
        assert (await tenants.graphql(who, EXPLAIN, id=id))["data"] == {"payoutExplain": None}
    for unknown in (0, -1, id + 1):
        assert (await tenants.graphql("a1", EXPLAIN, id=unknown))["data"] == {"payoutExplain": None}
    assert (await tenants.graphql(None, EXPLAIN, id=id))["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    await tenants.user("without", "partner", [Permission.VIEW_PAYMENT], partner_id=tenants.partners["a1"].id)
    refused = await tenants.graphql("without", EXPLAIN, id=id)
    assert [error["extensions"]["code"] for error in refused["errors"]] == ["FORBIDDEN"]


async def test_usages_name_their_card(tenants: Tenants) -> None:
    await link(tenants, "a1", "a2")
    card = await network_card(tenants)
    id = await opened(tenants)
    (line,) = (await tenants.graphql("a1", EXPLAIN, id=id))["data"]["payoutExplain"]["lines"]["nodes"]
    assert (line["section"], line["sourceKind"], line["payment"]) == ("USAGES", "network_gift_card_usage", None)
    assert line["codeEnd"] == str(await tenants.one("SELECT right(code, 4) FROM gift_card ORDER BY id DESC LIMIT 1"))
    assert line["codeEnd"] != card.code[-4:]


async def test_all_of_them_are_the_amount(tenants: Tenants) -> None:
    id = await opened(tenants)
    async with tenants.services.db.sessions() as db:
        contents = PayoutContents.of_request(id)
        lines, sums, count = await contents.lines(db), await contents.sums(db), await contents.count(db)
        payout = await db.get_one(PayoutRequestRow, id)
    assert sum(line.net for line in lines) == sum(each.net for each in sums) == payout.payout_amount
    assert count == len(lines) == sum(each.lines for each in sums)


async def test_the_fees_of_a_usage_that_was_refunded_in_part_went_back(shop: Shop) -> None:
    await take_part(shop)
    await take_fees(shop)
    await card_pays(shop, "60.00")
    payment = await shop.one("SELECT id FROM payment WHERE extra_amount > 0")
    await refund_payment(shop.manager, RefundPayment(id=payment, amount=Decimal("20.00")))
    lines = await lines_of_next(shop)
    parts = ("gross", "fees", "vat", "amount")
    assert [(line["kind"], *amounts(line, *parts)) for line in lines] == [
        ("CAPTURE", "60.00", "8.40", "1.40", "51.60"),
        ("REVERSAL", "-20.00", "-2.80", "-0.47", "-17.20"),
    ]
    assert {(line["customer"], line["details"], line["payment"]["id"]) for line in lines} == {
        ("Ada Martin", "spa", str(payment))
    }


async def test_fees_that_the_marketplace_pays_are_none_of_the_partner(shop: Shop) -> None:
    await take_part(shop)
    await take_fees(shop, payer="marketplace")
    await card_pays(shop, "60.00")
    (line,) = await lines_of_next(shop)
    assert amounts(line, "gross", "fees", "vat", "amount") == ("60.00", "0.00", "0.00", "60.00")


async def test_what_earnings_do_not_cover_is_no_part_of_a_line(shop: Shop) -> None:
    """The usage was paid out before it was refunded: most of that is owed."""
    await take_part(shop)
    await take_fees(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    await refilled(shop, "100.00")
    await card_pays(shop, "60.00")
    await send(shop, await validated(shop))
    await paid(shop, "10.00")
    await card_pays(shop, "10.00")
    payment = await shop.one("SELECT id FROM payment WHERE extra_amount = 60")
    await refund_payment(shop.manager, RefundPayment(id=payment, amount=Decimal("60.00")))
    reversal = next(line for line in await lines_of_next(shop, due=True) if line["kind"] == "REVERSAL")
    gross, fees, vat, amount = (Decimal(each) for each in amounts(reversal, "gross", "fees", "vat", "amount"))
    assert gross - fees == amount
    assert Decimal("-51.60") < amount < 0
    share = amount / Decimal("-51.60")
    assert (abs(fees + Decimal("8.40") * share), abs(vat + Decimal("1.40") * share)) <= (
        Decimal("0.01"),
        Decimal("0.01"),
    )


async def test_a_date_that_had_gone_was_not_chosen(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET freeze_payout = true")
    payment = await paid(shop, "50.00", freeze_payout_date=clock.now() + dt.timedelta(days=1))
    clock.advance(dt.timedelta(days=5))
    await refund_payment(shop.manager, RefundPayment(id=payment.id, amount=Decimal("10.00")))
    payment_line, refund_line = await lines_of_next(shop, due=True)
    assert (payment_line["kind"], refund_line["kind"]) == ("PAYMENT", "REFUND")
    assert refund_line["reason"] == "IN_PERIOD"


async def card_pays(shop: Shop, amount: str) -> None:
    """A card of the network pays at the shop."""
    card = await card_of_network(shop)
    source = {"extra_source_wallet_uuid": await wallet_uuid(shop, card), "extra_source_amount": amount}
    await paid(shop, amount, **source)


async def lines_of_next(shop: Shop, *, due: bool = False) -> Any:
    """The lines of the newest payout, or with `due` those that the end of a far period would bring."""
    if not due:
        payout = await gathered(shop)
        return (await answer_of(market(shop), id=payout.id))["payoutExplain"]["lines"]["nodes"]
    fields = EXPLAIN.partition("nodes {")[2].partition("former")[0]
    query = f"query ($uuid: UUID!) {{ payoutPreview(partnerUuid: $uuid) {{ lines {{ nodes {{ {fields} }} }} }} }}"
    found = await answer_of(market(shop), query, uuid=str(shop.partner.uuid))
    return found["payoutPreview"]["lines"]["nodes"]
