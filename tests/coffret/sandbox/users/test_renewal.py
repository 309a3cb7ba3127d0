"""Identifications that must be renewed by a deadline."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import MangopayApi, running
from tests.coffret.sandbox.owners import level, list_events, owner

EVENTS = ("USER_KYC_RENEWAL_REQUIRED", "USER_KYC_RENEWED", "USER_KYC_LIGHT")


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def verify(api: MangopayApi, user: str) -> None:
    made = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": "https://shop.example/k/1"})
    await api.control("POST", f"/identity-verifications/{made['Id']}", {"outcome": "validate"})


async def due_in(api: MangopayApi, days: int) -> tuple[str, dt.date]:
    """A REGULAR owner that must be verified again in so many days."""
    user = await owner(api)
    await verify(api, user)
    deadline = api.clock.now().date() + dt.timedelta(days=days)
    await api.control("POST", f"/users/{user}", {"renewal_deadline": deadline.isoformat()})
    return user, deadline


async def event_types(api: MangopayApi) -> list[str]:
    return [type for type, _ in await list_events(api, *EVENTS)]


async def test_told_ninety_days_before_and_downgraded_the_day_after(api: MangopayApi) -> None:
    user, deadline = await due_in(api, 100)
    read = await api.read(f"/users/{user}/Regulatory")
    today = api.clock.now().date().isoformat()
    assert read["KycInformation"] == {"LastKycDate": today, "KycRenewalDeadline": deadline.isoformat()}
    assert await event_types(api) == []
    await api.later(11)
    assert await event_types(api) == ["USER_KYC_RENEWAL_REQUIRED"]
    await api.later(88)
    assert await level(api, user) == "REGULAR"
    await api.later(2)
    assert (await level(api, user), await event_types(api)) == ("LIGHT", ["USER_KYC_LIGHT"])


async def test_renewed_in_time(api: MangopayApi) -> None:
    user, _ = await due_in(api, 30)
    assert await event_types(api) == ["USER_KYC_RENEWAL_REQUIRED"]
    await verify(api, user)
    assert await event_types(api) == ["USER_KYC_RENEWAL_REQUIRED", "USER_KYC_RENEWED"]
    next_one = api.clock.now().date() + dt.timedelta(days=365)
    assert (await api.control("GET", f"/users/{user}"))["renewal"]["KycRenewalDeadline"] == next_one.isoformat()
    await api.later(40)
    assert await level(api, user) == "REGULAR"


async def test_renewed_too_late(api: MangopayApi) -> None:
    user, _ = await due_in(api, 1)
    await api.later(3)
    assert await level(api, user) == "LIGHT"
    await verify(api, user)
    assert await level(api, user) == "REGULAR"
    assert "USER_KYC_RENEWED" not in await event_types(api)


async def test_without_a_deadline_nothing_falls_due(api: MangopayApi) -> None:
    user = await owner(api)
    await verify(api, user)
    await api.later(800)
    assert (await level(api, user), await event_types(api)) == ("REGULAR", [])
