"""Who may make and change users, and what for."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from resolvers.account import tokens, users
from resolvers.core.lists.listing import PageArguments
from schema.account.user import UserRole
from schema.core.permission import Permission
from store.account.users import UserRow
from tests.changes import Transport
from tests.fixtures.tenants import PASSWORD, Tenants

NEW: dict[str, Any] = {"username": " New@Users.example ", "password": PASSWORD, "role": UserRole.PARTNER}
MANAGES = [Permission.MANAGE_USER, Permission.VIEW_ORDER]


async def manager(tenants: Tenants, partner: str = "a1") -> str:
    """A partner's user who may manage users and see orders, and nothing else."""
    await tenants.user("manager", "partner", MANAGES, partner_id=tenants.partners[partner].id)
    return "manager"


def of(tenants: Tenants, partner: str) -> str:
    return str(tenants.partners[partner].uuid)


async def test_a_user_is_made_and_logs_in(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "first_name": " Ada ", "partner_uuid": of(tenants, "a2")}
    assert (await ask.change("market a", users.create_user, **sent)).done
    made = await tenants.newest("app_user")
    assert (made["username"], made["email"], made["first_name"]) == ("new@users.example", "new@users.example", "Ada")
    assert (made["partner_id"], made["marketplace_id"], made["role"]) == (tenants.partners["a2"].id, None, "partner")
    assert made["permissions"] is None
    assert made["password_hash"].startswith("$argon2id$")
    answer = await tenants.graphql(
        None,
        "mutation($u: String!, $p: String!) { obtainToken(input: {username: $u, password: $p}) { issuedToken { token "
        "user { role effectivePermissions partner { uuid } } } } }",
        u="NEW@users.example",
        p=PASSWORD,
    )
    user = answer["data"]["obtainToken"]["issuedToken"]["user"]
    assert user["partner"] == {"uuid": of(tenants, "a2")}
    assert "CREATE_PARTNER" not in user["effectivePermissions"]
    assert "VIEW_ORDER" in user["effectivePermissions"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"username": "  "}, "username"),
        ({"username": "a" * 255}, "username"),
        ({"password": "short"}, "password"),
        ({"email": "nobody"}, "email"),
        ({"first_name": "a" * 81}, "first_name"),
        ({"role": UserRole.MASTER}, "role"),
        ({"role": UserRole.MARKETPLACE, "partner_uuid": "a1"}, "partner_uuid"),
        ({"marketplace_uuid": "a"}, "marketplace_uuid"),
        ({"role": UserRole.MARKETPLACE, "marketplace_uuid": "b"}, "marketplace_uuid"),
        ({"partner_uuid": "b1"}, "partner_uuid"),
        ({"permissions": [Permission.MANAGE_MASTERADMIN]}, "permissions"),
    ],
)
async def test_what_a_user_cannot_be(tenants: Tenants, ask: Transport, wrong: dict[str, Any], field: str) -> None:
    named = {"partner_uuid": of(tenants, "a1")} if wrong.get("role", UserRole.PARTNER) is UserRole.PARTNER else {}
    sent = {**NEW, **named, **wrong}
    if sent.get("partner_uuid") in tenants.partners:
        sent["partner_uuid"] = of(tenants, sent["partner_uuid"])
    if sent.get("marketplace_uuid") in tenants.marketplaces:
        sent["marketplace_uuid"] = str(tenants.marketplaces[sent["marketplace_uuid"]].uuid)
    before = await tenants.snapshot()
    assert {path for path, _ in (await ask.change("market a", users.create_user, **sent)).wrong} == {field}
    assert await tenants.snapshot() == before


async def test_a_user_name_is_taken_once(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "username": "A1@users.example", "partner_uuid": of(tenants, "a2")}
    assert (await ask.change("market a", users.create_user, **sent)).wrong == {("username", "ALREADY_TAKEN")}


async def test_of_two_at_once_one_gets_the_name(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "partner_uuid": of(tenants, "a1")}
    made = await asyncio.gather(*(ask.change("market a", users.create_user, **sent) for _ in range(4)))
    assert sum(outcome.done for outcome in made) == 1
    assert {wrong for outcome in made for wrong in outcome.wrong} == {("username", "ALREADY_TAKEN")}


ALIKE = [
    ("paypal", "p\u0430yp\u0430l"),  # with two Cyrillic letters
    ("paypal", "\u0440\u0430\u0443\u0440\u0430\u04cf"),  # all of it Cyrillic
    ("paypal", "PAYPA1"),
    ("istanbul", "\u0130stanbul"),  # in small letters an i with another dot
    ("lottie", "1\u03bft\u0442i\u0435"),
    ("master-mind", "rnaster-mind"),
    ("wim", "vvim"),
    ("ops", "\uff4fps"),  # of full width
    ("ops", "o\u200dps"),  # with a joiner that nobody sees
    ("ops", "\u03bfps"),  # with a Greek letter
    ("o'brien", "o\u2019brien"),
    ("ada lovelace", "ada  lovelace"),
    ("straße", "strasse"),
]


@pytest.mark.parametrize(("name", "other"), ALIKE)
async def test_names_that_read_alike_are_taken(tenants: Tenants, ask: Transport, name: str, other: str) -> None:
    sent = {**NEW, "partner_uuid": of(tenants, "a1")}
    assert (await ask.change("market a", users.create_user, **{**sent, "username": name})).done
    before = await tenants.snapshot()
    refused = await ask.change("market a", users.create_user, **{**sent, "username": other})
    assert refused.wrong == {("username", "ALREADY_TAKEN")}
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("name", "other"), [("ada", "adé"), ("anna1", "anna2"), ("rn", "n"), ("иван", "ivan"), ("ali", "all")]
)
async def test_names_that_differ_stand_side_by_side(tenants: Tenants, ask: Transport, name: str, other: str) -> None:
    for username in (name, other):
        sent = {**NEW, "partner_uuid": of(tenants, "a1"), "username": username}
        assert (await ask.change("market a", users.create_user, **sent)).done


async def test_of_two_names_that_read_alike_at_once_one_is_made(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "partner_uuid": of(tenants, "a1")}
    names = ("till", "ti11", "t\u0456ll", "t\u0456\uff11l")
    made = await asyncio.gather(
        *(ask.change("market a", users.create_user, **{**sent, "username": each}) for each in names)
    )
    assert sum(outcome.done for outcome in made) == 1
    assert {wrong for outcome in made for wrong in outcome.wrong} == {("username", "ALREADY_TAKEN")}


async def test_the_longest_name_of_the_widest_letters_is_kept(tenants: Tenants, ask: Transport) -> None:
    sent = {**NEW, "partner_uuid": of(tenants, "a1"), "username": "\ufdfa" * 254, "email": "wide@users.example"}
    assert (await ask.change("market a", users.create_user, **sent)).done


async def test_who_is_renamed_gives_the_old_name_free_and_takes_the_new(tenants: Tenants) -> None:
    async def rename(who: str, username: str) -> None:
        async with tenants.services.db.sessions() as db, db.begin():
            (await db.get_one(UserRow, tenants.users[who].id)).username = username

    await rename("a1", "till@users.example")
    with pytest.raises(IntegrityError, match="app_user_username_skeleton_key"):
        await rename("a2", "ti11@users.example")
    await rename("a1", "somebody@users.example")
    await rename("a2", "ti11@users.example")


async def test_nobody_grants_what_they_may_not_do_themselves(tenants: Tenants, ask: Transport) -> None:
    who, before = await manager(tenants), await tenants.snapshot()
    assert (await ask.change(who, users.create_user, **NEW)).wrong == {("permissions", "INVALID")}, "the role's own"
    more = {**NEW, "permissions": [*MANAGES, Permission.REFUND_PAYMENT]}
    assert (await ask.change(who, users.create_user, **more)).wrong == {("permissions", "INVALID")}
    stronger = tenants.users["a1"].id
    for change in ({"password": PASSWORD}, {"email": "me@users.example"}, {"is_active": False}):
        assert (await ask.change(who, users.update_user, id=stronger, **change)).wrong == {("id", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change(who, users.create_user, **NEW, permissions=[Permission.VIEW_ORDER])).done
    made = await tenants.newest("app_user")
    assert (made["permissions"], made["partner_id"]) == (["view_order"], tenants.partners["a1"].id)
    grown = await ask.change(who, users.update_user, id=made["id"], permissions=[Permission.REFUND_PAYMENT])
    assert grown.wrong == {("permissions", "INVALID")}
    back = await ask.change(who, users.update_user, id=made["id"], permissions=None)
    assert back.wrong == {("permissions", "INVALID")}, "the role's own are more than the manager has"


async def test_a_user_is_changed(tenants: Tenants, ask: Transport) -> None:
    id = tenants.users["a1"].id
    sent = {"first_name": "Bea", "email": "bea@users.example", "permissions": [Permission.VIEW_ORDER]}
    assert (await ask.change("market a", users.update_user, id=id, **sent)).done
    row = await tenants.row("app_user", id)
    assert (row["first_name"], row["email"], row["permissions"]) == ("Bea", "bea@users.example", ["view_order"])
    assert (await tenants.context("a1")).required_caller.permissions == {Permission.VIEW_ORDER}, "at once, here"
    assert (await ask.change("market a", users.update_user, id=id, permissions=None, password="a" * 12)).done
    changed = await tenants.row("app_user", id)
    assert changed["permissions"] is None
    assert changed["password_hash"] != row["password_hash"]


async def test_whoever_is_made_inactive_is_refused(tenants: Tenants, ask: Transport) -> None:
    assert not await tenants.refuses(tenants.tokens["a1"])
    assert (await ask.change("market a", users.update_user, id=tenants.users["a1"].id, is_active=False)).done
    assert await tenants.refuses(tenants.tokens["a1"])
    assert (await ask.change("market a", users.update_user, id=tenants.users["a1"].id, is_active=True)).done
    assert not await tenants.refuses(tenants.tokens["a1"])


async def test_nobody_locks_themselves_out(tenants: Tenants, ask: Transport) -> None:
    id, before = tenants.users["master"].id, await tenants.snapshot()
    for change in ({"is_active": False}, {"permissions": [Permission.VIEW_ORDER]}, {"permissions": None}):
        assert (await ask.change("master", users.update_user, id=id, **change)).wrong == {("id", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change("master", users.update_user, id=id, first_name="Root")).done


async def test_users_of_others_are_not_there(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    for who, foreign in (("market a", "b1"), ("market a", "market b"), ("market a", "master"), ("market b", "a1")):
        outcome = await ask.change(who, users.update_user, id=tenants.users[foreign].id, first_name="X")
        assert {code for _, code in outcome.wrong} == {"NOT_FOUND"}, (who, foreign)
    unknown = await ask.change("market a", users.update_user, id=999_999, email="no")
    assert {code for _, code in unknown.wrong} == {"NOT_FOUND"}
    forbidden = await ask.change("a1", users.update_user, id=tenants.users["a1"].id, first_name="X")
    assert {code for _, code in forbidden.wrong} == {"FORBIDDEN"}
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("who", "seen"),
    [
        ("market a", {"a1", "a2", "market a"}),
        ("market b", {"b1", "market b"}),
        ("master", {"a1", "a2", "b1", "market a", "market b", "master"}),
        ("manager", {"a1", "manager"}),
    ],
)
async def test_who_sees_which_users(tenants: Tenants, who: str, seen: set[str]) -> None:
    await manager(tenants)
    expected = {tenants.users[name].id for name in (seen | {"manager"} if who in {"market a", "master"} else seen)}
    found = await users.users(await tenants.context(who), PageArguments())
    assert {row.id for row in await found.rows.objects()} == expected
    for name, row in tenants.users.items():
        body = await tenants.graphql(who, "query($id: Int!) { user(id: $id) { id } }", id=row.id)
        assert (body["data"]["user"] is not None) is (row.id in expected), name


async def test_users_are_listed_with_what_belongs_to_them(tenants: Tenants) -> None:
    body = await tenants.graphql(
        "market a",
        '{ users(filter: {role: PARTNER, usernameContains: "A1@"}, orderBy: NEWEST) { totalCount edges { node { '
        "username role isActive createdOn partner { shortName } marketplace { name } effectivePermissions "
        "tokens { hint revokedOn } } } } }",
    )
    (edge,) = body["data"]["users"]["edges"]
    node = edge["node"]
    assert (node["username"], node["role"], node["isActive"]) == ("a1@users.example", "PARTNER", True)
    assert (node["partner"], node["marketplace"]) == ({"shortName": "a1"}, None)
    assert [token["hint"] for token in node["tokens"]] == [tenants.tokens["a1"][:12]]
    assert node["effectivePermissions"] == sorted(node["effectivePermissions"])
    assert "MANAGE_USER" not in node["effectivePermissions"]


async def test_a_password_of_ones_own(tenants: Tenants, ask: Transport) -> None:
    await tenants.with_password("a1", PASSWORD)
    change = {"current_password": PASSWORD, "new_password": "another horse battery"}
    before = await tenants.snapshot()
    assert (await ask.change("a1", users.change_password, **{**change, "current_password": "no"})).wrong == {
        ("current_password", "INVALID")
    }
    assert (await ask.change("a1", users.change_password, **{**change, "new_password": "short"})).wrong == {
        ("new_password", "INVALID")
    }
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", users.change_password, **change)).done
    told = await ask.change("a1", users.change_password, **change)
    assert told.wrong == {("current_password", "INVALID")}, "the old one is no more"
    assert not await tenants.refuses(tenants.tokens["a1"])


async def test_wrong_passwords_are_followed_by_pauses(tenants: Tenants, ask: Transport) -> None:
    await tenants.with_password("a1", PASSWORD)
    wrong = {"current_password": "a guess", "new_password": "another horse battery"}
    codes = [{code for _, code in (await ask.change("a1", users.change_password, **wrong)).wrong} for _ in range(12)]
    assert codes[0] == {"INVALID"}
    assert codes[-1] == {"TOO_MANY_REQUESTS"}
    right = await ask.change("a1", users.change_password, **{**wrong, "current_password": PASSWORD})
    assert {code for _, code in right.wrong} == {"TOO_MANY_REQUESTS"}


async def test_no_password_is_in_the_audit_log(tenants: Tenants, ask: Transport) -> None:
    await tenants.with_password("a1", PASSWORD)
    await ask.change("a1", users.change_password, current_password=PASSWORD, new_password="another horse battery")
    await ask.change("market a", users.create_user, **NEW, partner_uuid=of(tenants, "a1"))
    await ask.change("market a", users.update_user, id=tenants.users["a2"].id, password="a third horse battery")
    await tenants.services.audit_buffer.flush()
    entries = await tenants.services.db.rows(text("SELECT operation, input::text || changes::text FROM audit_entry"))
    assert {"change_password", "create_user", "update_user"} <= {row[0] for row in entries}
    assert not any("horse" in row[1] or "argon2" in row[1] for row in entries)


async def test_tokens_are_revoked_by_their_own_user_only(tenants: Tenants, ask: Transport) -> None:
    foreign = await tenants.one("SELECT id FROM token WHERE user_id = :id", id=tenants.users["a2"].id)
    assert (await ask.change("a1", tokens.revoke_token, id=foreign)).wrong == {("", "NOT_FOUND")}
