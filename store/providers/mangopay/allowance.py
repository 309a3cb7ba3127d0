"""What a response reports of the calls that are left to the account."""

import datetime as dt
from collections.abc import Sequence

import httpx
from prometheus_client import Gauge

from store.providers.call_budget import CallAllowance, CallBudget
from store.providers.mangopay.errors import numbers, retry_after

PERIODS = (15, 30, 60, 24 * 60)
"""Minutes: the order of the values in each header."""
CALLS_LEFT = Gauge(
    "coffret_provider_calls_left",
    "Calls that the payment provider allows to the account in a period, as of its last response.",
    ["minutes"],
    multiprocess_mode="mostrecent",
)


async def record_allowances(budget: CallBudget | None, response: httpx.Response, now: dt.datetime) -> None:
    """Publish what a response reports, and tell the budget."""
    allowances = allowances_in(response.headers, now)
    for minutes, allowance in zip(PERIODS, allowances, strict=False):
        CALLS_LEFT.labels(minutes).set(allowance.left)
    refused = response.status_code == httpx.codes.TOO_MANY_REQUESTS
    if budget is not None and (allowances or refused):
        await budget.record(allowances, retry_after(response.headers, now) if refused else None)


def allowances_in(headers: httpx.Headers, now: dt.datetime) -> Sequence[CallAllowance]:
    """The allowance of each period; empty if the headers are missing or do not fit each other."""
    used, left, resets = (numbers(headers.get(f"x-ratelimit{part}", "")) for part in ("", "-remaining", "-reset"))
    if not len(used) == len(left) == len(resets):
        return []
    return [
        CallAllowance(remaining, remaining + calls, reset - now.timestamp())
        for calls, remaining, reset in zip(used, left, resets, strict=True)
    ]
