"""The state of a voucher, over both transports: who may change it, what answers, in which order refusals come."""

import asyncio
import datetime as dt
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from schema.core.permission import Permission
from schema.voucher.voucher import VoucherState
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import Sold, holder, sell, voucher_events, voucher_of
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
CHANGE = """mutation ($input: UpdateVoucherInput!) { updateVoucher(input: $input) {
    voucher { id code state activatedOn usedOn } userErrors { field code message } } }"""
RENAMED = {"activatedOn": "activation_date", "usedOn": "usage_date"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sold(tenants: Tenants) -> Sold:
    """What the first partner sells."""
    return await sell(tenants, "a1")


async def update(
    transport: Transport, who: str, code: str, state: Any, *, method: str = "PATCH", key: str | None = None
) -> Answer:
    """Change a state; answers in the words of REST."""
    if isinstance(transport, OverRest):
        path = f"/api/vouchers/{code}/"
        said = json.dumps({"state": state, "unknown": 1})
        response = await transport.tenants.client.request(
            method, path, content=said, headers=transport.headers(who, key)
        )
        return transport.to_answer(response)
    assert isinstance(transport, OverGraphQL)
    named = VoucherState(state).name if state in set(VoucherState) else state
    answer = await transport.changed(CHANGE, who, {"code": code, "state": named}, key)
    if not answer.done:
        return answer
    found: dict[str, Any] = {RENAMED.get(name, name): value for name, value in answer.result.items()}
    found["state"] = VoucherState[found["state"]].value
    return Answer(200, found, replayed=answer.replayed)


def moment(text: str | None) -> dt.datetime | None:
    return dt.datetime.fromisoformat(text) if text else None


async def test_the_answer_is_the_voucher(transport: Transport, tenants: Tenants, sold: Sold) -> None:
    row = await tenants.add(voucher_of(sold))
    written = row.code.lower().replace("-", "")
    for method, state in (("PATCH", "using"), ("PUT", "used"), ("PATCH", "used")):
        answer = await update(transport, "a1", written, state, method=method)
        assert answer.done, answer
        assert (answer.result["id"], answer.result["code"], answer.result["state"]) == (row.id, row.code, state)
        assert moment(answer.result["activation_date"]) == row.activated_on
        assert (moment(answer.result["usage_date"]) is not None) is (state == "used")
    assert [data["state"] for _, data in await voucher_events(tenants, row.id)] == ["using", "used"]
    back = await update(transport, "market a", row.code, "paid")
    assert moment(back.result["usage_date"]) is None


async def test_where_it_was_seen_is_no_key_of_rest(tenants: Tenants, sold: Sold) -> None:
    row = await tenants.add(voucher_of(sold))
    over = OverRest(tenants)
    for state, seen in (("using", "used"), ("used", "nowhere")):
        said = json.dumps({"state": state, "from_state": seen})
        path = f"/api/vouchers/{row.code}/"
        response = await tenants.client.request("PATCH", path, content=said, headers=over.headers("a1", None))
        assert (response.status_code, response.json()["state"]) == (200, state)


async def test_where_it_was_seen_counts_over_graphql(tenants: Tenants, sold: Sold) -> None:
    row = await tenants.add(voucher_of(sold))
    over = OverGraphQL(tenants)
    for seen, code, left in (("USED", "state_changed", "paid"), ("PAID", "", "using")):
        answer = await over.changed(CHANGE, "a1", {"code": row.code, "state": "USING", "fromState": seen}, None)
        assert (answer.code.lower(), set(answer.wrong)) == (code, {"from_state"} if code else set())
        assert (await tenants.row("voucher", row.id))["state"] == left


REFUSED = {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403}


@pytest.mark.parametrize("who", REFUSED)
async def test_who_may_not(transport: Transport, tenants: Tenants, sold: Sold, stored: Stored, who: str) -> None:
    row = await tenants.add(voucher_of(sold))
    before = await stored()
    for code in (row.code, "NO-SUCH"):
        assert (await update(transport, who, code, "using")).status == REFUSED[who]
    assert await stored() == before


async def test_refusals_come_in_their_order(transport: Transport, tenants: Tenants, sold: Sold, stored: Stored) -> None:
    used = await tenants.add(voucher_of(sold, VoucherState.USED))
    draft = await tenants.add(voucher_of(sold, VoucherState.DRAFT))
    user = await holder(tenants, "a1", Permission.USE_VOUCHER)
    before = await stored()
    for who in ("a2", "b1"):
        unknown, foreign = [await update(transport, who, code, "paid") for code in ("NO-SUCH", used.code)]
        assert (unknown.status, foreign.status) == (404, 404)
        assert unknown.message == foreign.message
        if not isinstance(transport, OverRest):
            assert unknown.fields == foreign.fields == {"code"}
    assert (await update(transport, "a1", used.code, "nonsense")).status == 400
    if isinstance(transport, OverRest):
        assert (await update(transport, "a2", used.code, "nonsense")).status == 404
        assert (await update(transport, "a1", used.code, None)).fields == {"state"}
    assert (await update(transport, user, used.code, "paid")).status == 403
    assert (await update(transport, "a1", used.code, "paid")).status == 403
    assert (await update(transport, user, draft.code, "paid")).status == 403
    wrong = await update(transport, user, draft.code, "used")
    assert (wrong.status, wrong.code) == (409, "INVALID_TRANSITION")
    assert ("draft" if isinstance(transport, OverRest) else "DRAFT") in wrong.message
    assert await stored() == before


async def test_a_request_that_is_repeated_moves_once(transport: Transport, tenants: Tenants, sold: Sold) -> None:
    row = await tenants.add(voucher_of(sold))
    key = f"{transport.name}-{row.id}"
    first = await update(transport, "market a", row.code, "used", key=key)
    assert (await update(transport, "market a", row.code, "paid")).done
    again = await update(transport, "market a", row.code, "used", key=key)
    assert again.replayed
    assert again.result == first.result
    assert (await tenants.row("voucher", row.id))["state"] == "paid"


async def test_two_at_once_use_it_once(transport: Transport, tenants: Tenants, sold: Sold) -> None:
    row = await tenants.add(voucher_of(sold))
    answers = await asyncio.gather(*(update(transport, "a1", row.code, "used") for _ in range(5)))
    assert all(answer.done for answer in answers)
    assert len({answer.result["usage_date"] for answer in answers}) == 1
    assert len(await voucher_events(tenants, row.id)) == 1
