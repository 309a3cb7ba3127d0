"""What is told of identities, documents and bank accounts reaches its address late, twice, wrong or not at all."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import MangopayApi, running
from tests.coffret.sandbox.owners import BANK_ACCOUNT, list_events, owner

WATCHED = (
    "IDENTITY_VERIFICATION_PENDING",
    "IDENTITY_VERIFICATION_VALIDATED",
    "IDENTITY_VERIFICATION_FAILED",
    "USER_KYC_REGULAR",
    "USER_KYC_LIGHT",
)


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.hook(*WATCHED)
        yield api


async def validated(api: MangopayApi) -> tuple[str, str]:
    """A session that was validated, and its user."""
    user = await owner(api)
    made = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": "https://shop.example/k/1"})
    await api.control("POST", f"/identity-verifications/{made['Id']}", {"outcome": "validate"})
    return made["Id"], user


async def test_in_order(api: MangopayApi) -> None:
    id, user = await validated(api)
    assert await api.notices() == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_REGULAR", user),
    ]


async def test_twice(api: MangopayApi) -> None:
    await api.control("POST", "/hooks/policy", {"kind": "duplicated"})
    id, user = await validated(api)
    heard = await api.notices()
    assert len(heard) == 6
    assert heard.count(("IDENTITY_VERIFICATION_VALIDATED", id)) == heard.count(("USER_KYC_REGULAR", user)) == 2


async def test_the_beginning_last(api: MangopayApi) -> None:
    await api.control("POST", "/hooks/policy", {"kind": "out_of_order", "seconds": 30})
    id, user = await validated(api)
    ends = [("IDENTITY_VERIFICATION_VALIDATED", id), ("USER_KYC_REGULAR", user)]
    assert await api.notices() == ends
    await api.advance(61)
    assert await api.notices() == [*ends, ("IDENTITY_VERIFICATION_PENDING", id)]


async def test_the_opposite_of_what_is(api: MangopayApi) -> None:
    await api.control("POST", "/hooks/policy", {"kind": "stale"})
    id, user = await validated(api)
    assert await api.notices() == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_FAILED", id),
        ("USER_KYC_LIGHT", user),
    ]
    assert (await api.read(f"/identity-verifications/{id}"))["Status"] == "VALIDATED"
    assert (await api.read(f"/sca/users/{user}"))["KYCLevel"] == "REGULAR"


async def test_by_strangers_first(api: MangopayApi) -> None:
    await api.control("POST", "/hooks/policy", {"kind": "forged"})
    id, user = await validated(api)
    heard = await api.notices()
    of_ours = [notice for notice in heard if notice[1] in {id, user}]
    assert of_ours[1:] == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_FAILED", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_LIGHT", user),
        ("USER_KYC_REGULAR", user),
    ]
    assert len(heard) - len(of_ours) == 3


async def test_never_but_on_the_list(api: MangopayApi) -> None:
    await api.control("POST", "/hooks/policy", {"kind": "dropped"})
    id, user = await validated(api)
    assert await api.notices() == []
    assert await list_events(api, *WATCHED) == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_REGULAR", user),
    ]


async def test_bank_accounts_that_are_cancelled_and_told_active(api: MangopayApi) -> None:
    await api.hook("RECIPIENT_ACTIVE", "RECIPIENT_CANCELED")
    user = await owner(api, email="joana@example.com")
    (enrolment,) = (await api.control("GET", "/sca"))["sessions"]
    await api.control("POST", f"/sca/{enrolment['token']}", {"outcome": "succeed"})
    await api.control("POST", "/hooks/policy", {"kind": "stale"})
    recipient = await api.create(f"/users/{user}/recipients", BANK_ACCOUNT)
    await api.advance(601)
    assert await api.notices() == [("RECIPIENT_ACTIVE", recipient["Id"])]
    assert (await api.read(f"/recipients/{recipient['Id']}"))["Status"] == "CANCELED"
