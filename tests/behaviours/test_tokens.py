"""Tokens and permissions: who gets one, what it is good for, and what is told to whom."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers.core.authentication import DENIED_TO_PARTNERS
from schema.core.permission import Permission
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Transport, is_uuid

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
EVERY = frozenset(Permission)
MAY: dict[str, frozenset[Permission]] = {
    "a1": EVERY - DENIED_TO_PARTNERS,
    "a2": EVERY - DENIED_TO_PARTNERS,
    "b1": EVERY - DENIED_TO_PARTNERS,
    "powerless": frozenset(),
    "market a": EVERY - {Permission.MANAGE_MASTERADMIN},
    "market b": EVERY - {Permission.MANAGE_MASTERADMIN},
    "master": EVERY,
}
"""What each user may do."""


async def test_a_token_is_made_for_a_user_name_and_a_password(transport: Transport, tenants: Tenants) -> None:
    user = tenants.users["a1"]
    answer = await transport.obtain_token(user.username, PASSWORD)
    assert answer.done
    assert set(answer.result) == {"token", "uuid", "user"}
    assert answer.result["uuid"] == str(tenants.partners["a1"].uuid)
    assert is_uuid(answer.result["uuid"])
    assert answer.result["user"] == {
        "id": user.id,
        "first_name": user.first_name,
        "username": user.username,
        "email": user.email,
    }
    tenants.tokens["logged in"] = answer.result["token"]
    assert (await transport.permissions("logged in")).result == (await transport.permissions("a1")).result


async def test_every_log_in_makes_another_token(transport: Transport, tenants: Tenants) -> None:
    name = tenants.users["a1"].username
    answers = [await transport.obtain_token(name, PASSWORD) for _ in range(2)]
    assert len({answer.result["token"] for answer in answers}) == 2


@pytest.mark.parametrize("username", ["a1@users.example", "nobody@users.example", "powerless@users.example", ""])
async def test_all_that_keeps_somebody_out_has_one_answer(
    transport: Transport, tenants: Tenants, stored: Stored, username: str
) -> None:
    before = await stored(), await tenants.one("SELECT count(*) FROM token")
    answer = await transport.obtain_token(username, "wrong")
    assert (answer.status, answer.fields, answer.result) == (400, {""}, None)
    assert "Unable to log in with provided credentials." in answer.message
    assert (await stored(), await tenants.one("SELECT count(*) FROM token")) == before


@pytest.mark.parametrize("who", MAY)
async def test_a_caller_is_told_what_it_may_do(transport: Transport, who: str) -> None:
    answer = await transport.permissions(who)
    assert answer.done
    assert set(answer.result) == {"permissions"}
    listed = answer.result["permissions"]
    assert len(listed) == len(set(listed))
    assert set(listed) == {f"permissions.{permission.value}" for permission in MAY[who]}


@pytest.mark.parametrize("who", [NO_TOKEN, BAD_TOKEN])
async def test_without_a_good_token_nobody_may_do_anything(transport: Transport, stored: Stored, who: str) -> None:
    before = await stored()
    answer = await transport.permissions(who)
    assert (answer.status, answer.result) == (401, None)
    assert "Authorization: Token" in answer.message
    assert await stored() == before
