"""What is told of identities, documents and bank accounts reaches its address late, twice, wrong or not at all."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.owners import BANK_ACCOUNT, owner, told
from tests.coffret.sandbox.world import World, running

WATCHED = (
    "IDENTITY_VERIFICATION_PENDING",
    "IDENTITY_VERIFICATION_VALIDATED",
    "IDENTITY_VERIFICATION_FAILED",
    "USER_KYC_REGULAR",
    "USER_KYC_LIGHT",
)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        await world.hook(*WATCHED)
        yield world


async def validated(world: World) -> tuple[str, str]:
    """A session that was validated, and its user."""
    user = await owner(world)
    made = await world.made(f"/users/{user}/identity-verifications", {"ReturnUrl": "https://shop.example/k/1"})
    await world.control("POST", f"/identity-verifications/{made['Id']}", {"outcome": "validate"})
    return made["Id"], user


async def test_in_order(world: World) -> None:
    id, user = await validated(world)
    assert await world.notices() == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_REGULAR", user),
    ]


async def test_twice(world: World) -> None:
    await world.control("POST", "/hooks/policy", {"kind": "duplicated"})
    id, user = await validated(world)
    heard = await world.notices()
    assert len(heard) == 6
    assert heard.count(("IDENTITY_VERIFICATION_VALIDATED", id)) == heard.count(("USER_KYC_REGULAR", user)) == 2


async def test_the_beginning_last(world: World) -> None:
    await world.control("POST", "/hooks/policy", {"kind": "out_of_order", "seconds": 30})
    id, user = await validated(world)
    ends = [("IDENTITY_VERIFICATION_VALIDATED", id), ("USER_KYC_REGULAR", user)]
    assert await world.notices() == ends
    await world.advance(61)
    assert await world.notices() == [*ends, ("IDENTITY_VERIFICATION_PENDING", id)]


async def test_the_opposite_of_what_is(world: World) -> None:
    await world.control("POST", "/hooks/policy", {"kind": "stale"})
    id, user = await validated(world)
    assert await world.notices() == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_FAILED", id),
        ("USER_KYC_LIGHT", user),
    ]
    assert (await world.read(f"/identity-verifications/{id}"))["Status"] == "VALIDATED"
    assert (await world.read(f"/sca/users/{user}"))["KYCLevel"] == "REGULAR"


async def test_by_strangers_first(world: World) -> None:
    await world.control("POST", "/hooks/policy", {"kind": "forged"})
    id, user = await validated(world)
    heard = await world.notices()
    of_ours = [notice for notice in heard if notice[1] in {id, user}]
    assert of_ours[1:] == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_FAILED", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_LIGHT", user),
        ("USER_KYC_REGULAR", user),
    ]
    assert len(heard) - len(of_ours) == 3


async def test_never_but_on_the_list(world: World) -> None:
    await world.control("POST", "/hooks/policy", {"kind": "dropped"})
    id, user = await validated(world)
    assert await world.notices() == []
    assert await told(world, *WATCHED) == [
        ("IDENTITY_VERIFICATION_PENDING", id),
        ("IDENTITY_VERIFICATION_VALIDATED", id),
        ("USER_KYC_REGULAR", user),
    ]


async def test_bank_accounts_that_are_cancelled_and_told_active(world: World) -> None:
    await world.hook("RECIPIENT_ACTIVE", "RECIPIENT_CANCELED")
    user = await owner(world, email="joana@example.com")
    (enrolment,) = (await world.control("GET", "/sca"))["sessions"]
    await world.control("POST", f"/sca/{enrolment['token']}", {"outcome": "succeed"})
    await world.control("POST", "/hooks/policy", {"kind": "stale"})
    recipient = await world.made(f"/users/{user}/recipients", BANK_ACCOUNT)
    await world.advance(601)
    assert await world.notices() == [("RECIPIENT_ACTIVE", recipient["Id"])]
    assert (await world.read(f"/recipients/{recipient['Id']}"))["Status"] == "CANCELED"
