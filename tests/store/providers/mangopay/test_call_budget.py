"""The adapter asks the budget before each request, and tells it what each response reports."""

from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY

from store.providers.call_budget import CallAllowance, CallClass, call_class, calling_as
from store.providers.errors import CallHeldBack, TransientError, UnknownOutcome
from store.providers.keys import new_idempotency_key
from store.providers.transactions import TransactionKind
from tests.coffret.sandbox.mangopay_api import running
from tests.store.providers.mangopay.account import PAYMENT, Account, ok, payin, refusal
from tests.store.providers.mangopay.connected_provider import adapter_of

PAYIN = "/payins/payin_m_1"
LIMITS = {
    "x_ratelimit": "300, 310, 400, 5600",
    "x_ratelimit_remaining": "2000, 4190, 8400, 100000",
}


class Recorder:
    """A budget that admits until told otherwise."""

    def __init__(self) -> None:
        self.asked: list[CallClass] = []
        self.recorded: list[tuple[Sequence[CallAllowance], float | None]] = []
        self.holds_back = False

    async def admit(self) -> None:
        """See `CallBudget`."""
        self.asked.append(call_class())
        if self.holds_back:
            raise CallHeldBack(call_class(), 60)

    async def record(self, allowances: Sequence[CallAllowance], refused_for: float | None = None) -> None:
        """See `CallBudget`."""
        self.recorded.append((allowances, refused_for))


@pytest.fixture
def budget() -> Recorder:
    """What the adapter asks and tells."""
    return Recorder()


@pytest.fixture
def account(budget: Recorder) -> Account:
    """An adapter with a budget."""
    made = Account()
    made.adapter._client._budget = budget
    return made


def resets_of(account: Account, *seconds: int) -> str:
    """The header with moments so far ahead."""
    return ", ".join(str(int(account.clock.now().timestamp()) + each) for each in seconds)


async def test_each_response_tells_what_is_left(account: Account, budget: Recorder) -> None:
    resets = resets_of(account, 900, 1800, 3600, 86400)
    account.on("GET", PAYIN, ok(payin(), **LIMITS, x_ratelimit_reset=resets))
    await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    ((allowances, refused_for),) = budget.recorded
    assert [(each.left, each.limit) for each in allowances] == [
        (2000, 2300),
        (4190, 4500),
        (8400, 8800),
        (100000, 105600),
    ]
    assert 890 < allowances[0].resets_in <= 900
    assert refused_for is None
    assert REGISTRY.get_sample_value("coffret_provider_calls_left", {"minutes": "15"}) == 2000
    assert REGISTRY.get_sample_value("coffret_provider_calls_left", {"minutes": "1440"}) == 100_000


@pytest.mark.parametrize(
    "headers", [{}, {"x_ratelimit_remaining": "5"}, LIMITS | {"x_ratelimit_reset": "soon"}], ids=str
)
async def test_headers_that_do_not_fit_are_ignored(account: Account, budget: Recorder, headers: dict[str, str]) -> None:
    account.on("GET", PAYIN, ok(payin(), **headers))
    await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert budget.recorded == []


async def test_a_refusal_tells_until_when(account: Account, budget: Recorder) -> None:
    answer = refusal(429, "rate_limit")
    answer.headers["x-ratelimit"] = "2300, 2300"
    answer.headers["x-ratelimit-remaining"] = "0, 2200"
    answer.headers["x-ratelimit-reset"] = resets_of(account, 240, 1800)
    account.on("GET", PAYIN, answer)
    with pytest.raises(TransientError):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    ((allowances, refused_for),) = budget.recorded
    assert [each.share for each in allowances] == [0, 2200 / 4500]
    assert refused_for is not None
    assert 230 < refused_for <= 240


async def test_a_refusal_without_headers_holds_for_a_minute(account: Account, budget: Recorder) -> None:
    account.on("GET", PAYIN, refusal(429, "rate_limit"))
    with pytest.raises(TransientError):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert budget.recorded == [([], 60.0)]


@pytest.mark.parametrize("kind", CallClass)
async def test_a_call_knows_what_it_is_for(account: Account, budget: Recorder, kind: CallClass) -> None:
    account.on("GET", PAYIN, ok(payin()))
    with calling_as(kind):
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert budget.asked == [kind, CallClass.CUSTOMER]


async def test_a_held_back_call_is_not_sent_nor_tried_again(account: Account, budget: Recorder) -> None:
    read = account.on("GET", PAYIN, ok(payin()))
    made = account.on("POST", "/payins/card/web", ok(payin()))
    budget.holds_back = True
    with pytest.raises(CallHeldBack) as held:
        await account.adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
    assert held.value.retry_after == 60
    with pytest.raises(CallHeldBack):
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())
    assert (read.call_count, made.call_count, account.slept) == (0, 0, [])


async def test_a_call_that_may_have_been_made_is_not_called_unsent(account: Account, budget: Recorder) -> None:
    def lose(_request: httpx.Request) -> httpx.Response:
        budget.holds_back = True
        raise httpx.ReadTimeout("lost")

    account.on("POST", "/payins/card/web", lose)
    with pytest.raises(UnknownOutcome):
        await account.adapter.create_payment(PAYMENT, key=new_idempotency_key(), sent_at=account.clock.now())


async def test_the_sandbox_tells_what_is_left(budget: Recorder) -> None:
    async with running() as api:
        adapter: Any = adapter_of(api, budget=budget)
        for _ in range(2):
            assert [hint async for hint in adapter.events_since(api.clock.now())] == []
        first, last = budget.recorded[0][0], budget.recorded[-1][0]
        assert [each.limit for each in first] == [2300, 4500, 8800, 105_600]
        assert last[0].left < first[0].left
        await api.control("POST", "/faults", {"kind": "rate_limit"})
        with pytest.raises(TransientError):
            await adapter.get_transaction(TransactionKind.PAYIN, "payin_m_1")
        assert budget.recorded[-1][1] is not None
        await adapter.aclose()
