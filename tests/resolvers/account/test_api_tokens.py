"""API tokens for programs: who creates them, for whom, and what they are worth; and who revokes those of others."""

import asyncio
import contextlib
import dataclasses
import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import pytest

from resolvers.account import api_tokens, verification
from resolvers.account.tokens import LIVE_TOKENS, issue_token
from resolvers.core.caller import Transport as Way
from resolvers.core.context import Context
from resolvers.core.operation import Operation
from schema.account.token import CreateToken, CreateUserToken, RevokeUserToken
from schema.core.errors import InvalidInput, ReadOnlySession, TooManyRequests
from schema.core.permission import Permission
from store.core.clock import clock
from tests.changes import Direct
from tests.changes import Transport as Ask
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.account.second_factors import with_second_factor
from tests.resolvers.account.test_impersonation import context_of_view

FIELDS = "newToken { secret token { id label hint kind expiresOn } } userErrors { field code message }"
CREATE = f"mutation($i: CreateTokenInput!) {{ createToken(input: $i) {{ {FIELDS} }} }}"
CREATE_FOR = f"mutation($i: CreateUserTokenInput!) {{ createUserToken(input: $i) {{ {FIELDS} }} }}"
OWN: dict[str, Any] = {"label": "Till", "currentPassword": PASSWORD}


@pytest.fixture(autouse=True)
async def passwords(tenants: Tenants) -> None:
    """Everybody who asks has a password."""
    for who in ("a1", "market a", "master"):
        await tenants.with_password(who, PASSWORD)


async def create(tenants: Tenants, who: str | None, document: str = CREATE, **input: Any) -> Any:
    """The payload of a request for a token."""
    answer = await tenants.graphql(who, document, i=OWN | input)
    if "errors" in answer:
        return {"newToken": None, "userErrors": [{"field": [], "code": answer["errors"][0]["extensions"]["code"]}]}
    return next(iter(answer["data"].values()))


def problems(payload: Any) -> list[tuple[str, str]]:
    """What is wrong: places and codes."""
    return [(".".join(each["field"]), each["code"]) for each in payload["userErrors"]]


async def create_for(tenants: Tenants, who: str, whom: str, **input: Any) -> Any:
    return await create(tenants, who, CREATE_FOR, id=tenants.users[whom].id, **input)


async def number(tenants: Tenants) -> int:
    """The number of all tokens."""
    return int(await tenants.one("SELECT count(*) FROM token"))


async def issue(tenants: Tenants, count: int) -> None:
    async with tenants.services.db.sessions() as db, db.begin():
        for n in range(count):
            await issue_token(db, tenants.users["a1"], f"t{n}", clock)


# ---- one's own


async def test_a_token_of_ones_own_works_as_oneself(tenants: Tenants) -> None:
    until = clock.now() + dt.timedelta(days=30)
    payload = await create(tenants, "a1", label="  Till ", expiresOn=until.isoformat())
    secret, token = payload["newToken"]["secret"], payload["newToken"]["token"]
    assert (token["label"], token["kind"], token["hint"]) == ("Till", "API", secret[:12])
    assert dt.datetime.fromisoformat(token["expiresOn"]) == until
    caller, own = [await tenants.services.authenticator.authenticate(each) for each in (secret, tenants.tokens["a1"])]
    assert (caller.user_id, caller.role, caller.permissions) == (own.user_id, own.role, own.permissions)
    assert caller.token_id == token["id"]
    clock.advance(dt.timedelta(days=30, seconds=1))
    assert await tenants.refuses(secret)
    assert not await tenants.refuses(tenants.tokens["a1"])


async def test_a_token_from_a_page_is_for_a_program_all_the_same(tenants: Tenants) -> None:
    context = Context(tenants.services, (await tenants.context("a1")).caller, transport=Way.BACK_OFFICE)
    created = await api_tokens.create_token(context, CreateToken(label="Till", current_password=PASSWORD))
    row = await tenants.row("token", created.token.id)
    assert (row["kind"], row["expires_on"], row["revoked_on"]) == ("api", None, None)


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"label": " "}, "label"),
        ({"label": "x" * 81}, "label"),
        ({"expiresOn": "2020-01-01T00:00:00Z"}, "expiresOn"),
        ({"currentPassword": ""}, "currentPassword"),
        ({"currentPassword": "wrong horse battery"}, "currentPassword"),
        ({"otp": "9" * 41}, "otp"),
    ],
)
async def test_what_no_token_is_created_for(tenants: Tenants, wrong: dict[str, Any], place: str) -> None:
    before = await number(tenants)
    payload = await create(tenants, "a1", **wrong)
    assert ([at for at, _ in problems(payload)], payload["newToken"]) == ([place], None)
    assert await number(tenants) == before


async def test_a_second_factor_is_asked_for_as_well(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    for otp in ("", app.wrong_code()):
        assert problems(await create(tenants, "a1", otp=otp)) == [("otp", "INVALID")]
    code = app.code()
    assert (await create(tenants, "a1", otp=code))["newToken"] is not None
    assert problems(await create(tenants, "a1", otp=code)) == [("otp", "INVALID")], "a code works once"


async def test_wrong_passwords_are_slowed_down_and_recorded(tenants: Tenants) -> None:
    context, sent = await tenants.context("a1"), CreateToken(label="Till", current_password="wrong horse battery")
    context = dataclasses.replace(context, address="192.0.2.1")
    for _ in range(10):
        with contextlib.suppress(InvalidInput, TooManyRequests):
            await api_tokens.create_token(context, sent)
    with pytest.raises(TooManyRequests):
        await api_tokens.create_token(context, CreateToken(label="Till", current_password=PASSWORD))
    await tenants.services.audit_buffer.flush()
    refused = await tenants.rows("SELECT refused FROM audit_entry WHERE operation = 'create_token'")
    assert len(refused) >= 5
    assert all(row[0] is not None for row in refused)


async def test_the_audit_log_has_no_secret(tenants: Tenants) -> None:
    secret = (await create(tenants, "a1"))["newToken"]["secret"]
    (entry,) = await tenants.rows("SELECT to_jsonb(e)::text FROM audit_entry e WHERE operation = 'create_token'")
    assert "Till" in entry[0]
    assert secret[12:] not in entry[0]
    assert PASSWORD not in entry[0]


async def test_a_full_list_refuses_and_ends_nothing(tenants: Tenants) -> None:
    await issue(tenants, LIVE_TOKENS - 2)
    assert (await create(tenants, "a1"))["newToken"] is not None
    payload = await create(tenants, "a1")
    assert problems(payload) == [("", "TOO_MANY_TOKENS")]
    assert payload["userErrors"][0]["message"] == (
        "There are 100 valid tokens and log-ins of this user already. Revoke one first."
    )
    assert await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL") == 0
    await tenants.execute("UPDATE token SET expires_on = :now WHERE label = 't7'", now=clock.now())
    assert (await create(tenants, "a1"))["newToken"] is not None


async def test_of_two_at_once_only_one_finds_the_last_place(tenants: Tenants) -> None:
    await issue(tenants, LIVE_TOKENS - 2)
    payloads = await asyncio.gather(create(tenants, "a1"), create(tenants, "a1"))
    assert sorted(len(problems(each)) for each in payloads) == [0, 1]


async def test_nobody_creates_one_without_a_token_or_looking_as_a_partner(tenants: Tenants) -> None:
    context = await context_of_view(tenants)
    before = await number(tenants)
    assert problems(await create(tenants, None)) == [("", "UNAUTHENTICATED")]
    refusals: Sequence[tuple[Operation[Any, Any], Any]] = (
        (api_tokens.create_token, CreateToken(label="Till", current_password=PASSWORD)),
        (api_tokens.create_user_token, CreateUserToken(id=1, label="Till", current_password=PASSWORD)),
        (api_tokens.revoke_user_token, RevokeUserToken(id=1)),
    )
    for operation, sent in refusals:
        with pytest.raises(ReadOnlySession):
            await operation(context, sent)
    assert await number(tenants) == before


async def test_a_repeated_request_creates_one_token_and_has_no_secret(tenants: Tenants) -> None:
    headers = {"Authorization": f"Token {tenants.tokens['a1']}", "Idempotency-Key": "once"}
    said = json.dumps({"query": CREATE, "variables": {"i": OWN}})
    before = await number(tenants)
    first, again = [
        await tenants.client.post("/graphql/", content=said, headers={**headers, "Content-Type": "application/json"})
        for _ in range(2)
    ]
    created, repeated = (each.json()["data"]["createToken"]["newToken"] for each in (first, again))
    assert again.headers["idempotent-replayed"] == "true"
    assert repeated["token"] == created["token"]
    assert repeated["secret"] is None
    assert not await tenants.refuses(created["secret"])
    assert await number(tenants) == before + 1
    (stored,) = await tenants.rows("SELECT encode(answer, 'escape') FROM kept_answer")
    assert created["secret"][12:] not in stored[0]


# ---- those of users whom one manages


async def test_a_manager_creates_a_token_for_a_program(tenants: Tenants) -> None:
    payload = await create_for(tenants, "market a", "a1")
    caller = await tenants.services.authenticator.authenticate(payload["newToken"]["secret"])
    assert (caller.user_id, caller.partner_id) == (tenants.users["a1"].id, tenants.partners["a1"].id)
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["user_id"]) == ("create_user_token", tenants.users["market a"].id)
    assert (entry["subject_id"], entry["partner_id"]) == (str(tenants.users["a1"].id), tenants.partners["a1"].id)
    id = payload["newToken"]["token"]["id"]
    assert entry["changes"] == [{"resource": "Token", "id": str(id), "change": "created"}]
    assert (await tenants.row("token", id))["created_by_id"] == tenants.users["market a"].id


async def test_a_manager_proves_who_it_is(tenants: Tenants) -> None:
    await tenants.with_password("a1", "the password of the user")
    before = await number(tenants)
    wrong = await create_for(tenants, "market a", "a1", currentPassword="the password of the user")
    assert problems(wrong) == [("currentPassword", "INVALID")]
    app = await with_second_factor(tenants, "market a")
    assert problems(await create_for(tenants, "market a", "a1")) == [("otp", "INVALID")]
    assert await number(tenants) == before
    assert (await create_for(tenants, "market a", "a1", otp=app.code()))["newToken"] is not None


async def test_for_whom_a_manager_creates_none(tenants: Tenants) -> None:
    await tenants.user("seller", "marketplace", [Permission.MANAGE_USER], marketplace_id=tenants.marketplaces["a"].id)
    await tenants.with_password("seller", PASSWORD)
    await tenants.execute("UPDATE app_user SET is_active = false WHERE id = :id", id=tenants.users["a2"].id)
    before = await number(tenants)
    for who, whom, wrong in (
        ("market a", "b1", ("id", "NOT_FOUND")),
        ("market a", "master", ("id", "NOT_FOUND")),
        ("market a", "a2", ("id", "INVALID")),
        ("seller", "a1", ("id", "INVALID")),
        ("seller", "market a", ("id", "INVALID")),
        ("a1", "a2", ("", "FORBIDDEN")),
        ("a1", "a1", ("", "FORBIDDEN")),
    ):
        assert problems(await create_for(tenants, who, whom)) == [wrong], (who, whom)
    unknown = await create(tenants, "market a", CREATE_FOR, id=999_999, label="")
    assert problems(unknown) == [("id", "NOT_FOUND")]
    assert await number(tenants) == before


async def test_a_manager_creates_ones_own_like_anybody(tenants: Tenants) -> None:
    assert (await create_for(tenants, "market a", "market a"))["newToken"] is not None


# ---- revoking


async def token_of(tenants: Tenants, who: str) -> int:
    token_id = (await tenants.context(who)).required_caller.token_id
    assert token_id is not None
    return token_id


async def test_a_manager_revokes_the_token_of_a_user(tenants: Tenants, ask: Ask) -> None:
    token = await token_of(tenants, "a1")
    assert (await ask.change("market a", api_tokens.revoke_user_token, id=token)).done
    assert await tenants.refuses(tenants.tokens["a1"])
    first = await tenants.row("token", token)
    clock.advance(dt.timedelta(hours=1))
    assert (await ask.change("market a", api_tokens.revoke_user_token, id=token)).done
    assert await tenants.row("token", token) == first
    entry = await tenants.newest("audit_entry")
    assert (entry["operation"], entry["partner_id"]) == ("revoke_user_token", tenants.partners["a1"].id)


async def test_whose_tokens_a_manager_does_not_revoke(tenants: Tenants, ask: Ask) -> None:
    await tenants.user("seller", "marketplace", [Permission.MANAGE_USER], marketplace_id=tenants.marketplaces["a"].id)
    for who, whom, wrong in (
        ("market a", "b1", ("", "NOT_FOUND")),
        ("market a", "master", ("", "NOT_FOUND")),
        ("seller", "a1", ("id", "INVALID")),
        ("a1", "a1", ("", "FORBIDDEN")),
    ):
        outcome = await ask.change(who, api_tokens.revoke_user_token, id=await token_of(tenants, whom))
        assert outcome.wrong == {wrong}, (who, whom)
    for unknown in (999_999, 0, -1):
        outcome = await ask.change("master", api_tokens.revoke_user_token, id=unknown)
        assert outcome.wrong == {("", "NOT_FOUND")}
    assert await tenants.one("SELECT count(*) FROM token WHERE revoked_on IS NOT NULL") == 0


async def test_a_manager_sees_the_valid_tokens_of_users(tenants: Tenants) -> None:
    await issue(tenants, 3)
    await tenants.execute("UPDATE token SET revoked_on = now() WHERE label = 't0'")
    await tenants.execute("UPDATE token SET expires_on = :now WHERE label = 't1'", now=clock.now())
    await tenants.execute("UPDATE token SET last_used_on = now() + interval '1 hour' WHERE label = 't2'")
    answer = await tenants.graphql("market a", "{ users { nodes { username sessions { label } } } }")
    by_name = {each["username"]: [it["label"] for it in each["sessions"]] for each in answer["data"]["users"]["nodes"]}
    assert by_name["a1@users.example"] == ["t2", "test"]
    assert by_name["a2@users.example"] == ["test"]
    answer = await tenants.graphql("a1", "{ users { nodes { sessions { label } } } }")
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_password_changed_meanwhile_creates_none(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    verify = verification.verify_self

    async def slowly(*args: Any) -> Any:
        row = await verify(*args)
        await tenants.with_password("a1", "another horse battery")
        return row

    monkeypatch.setattr(api_tokens, "verify_self", slowly)
    before = await number(tenants)
    outcome = await Direct(tenants).change("a1", api_tokens.create_token, label="Till", current_password=PASSWORD)
    assert outcome.wrong == {("current_password", "INVALID")}
    assert await number(tenants) == before
