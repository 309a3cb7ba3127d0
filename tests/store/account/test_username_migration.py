"""Users whose names read alike already stay, log in as before, and the oldest user's name counts."""

import pathlib
from typing import Any

from store.account.confusables import skeleton_digest
from tests.fixtures.tenants import PASSWORD, Tenants, open_tenants
from tests.store.migrations.revisions import at

BEFORE = "0019"
ALIKE = ("paypal@old.example", "paypa1@old.example", "p\u0430ypal@old.example", "alone@old.example")
LOG_IN = (
    "mutation($u: String!, $p: String!) { obtainToken(input: {username: $u, password: $p}) "
    "{ issuedToken { user { username } } } }"
)
CHANGE = 'mutation($id: Int!) { updateUser(input: {id: $id, firstName: "Ada"}) { user { firstName } } }'


async def log_in(tenants: Tenants, username: str) -> Any:
    """What somebody is told who logs in."""
    return (await tenants.graphql(None, LOG_IN, u=username, p=PASSWORD))["data"]


async def test_names_that_read_alike_survive_both_ways(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        await tenants.with_password("a1", PASSWORD)
        await at(tenants.services.db, BEFORE, down=True)
        for name in ALIKE:
            await tenants.execute(
                "INSERT INTO app_user (uuid, username, email, first_name, role, is_active, created_on, password_hash) "
                "SELECT gen_random_uuid(), :name, '', '', 'master', true, now(), password_hash "
                "FROM app_user WHERE id = :id",
                name=name,
                id=tenants.users["a1"].id,
            )
        await at(tenants.services.db, "head")
        keys = "SELECT id, username, username_skeleton FROM app_user ORDER BY id"
        rows = {name: (id, key) for id, name, key in await tenants.rows(keys)}
        assert [rows[name][1] for name in ALIKE] == [skeleton_digest(ALIKE[0]), None, None, skeleton_digest(ALIKE[3])]
        assert all(key == skeleton_digest(name) for name, (_, key) in rows.items() if name not in ALIKE)
        for name in ALIKE:
            assert (await log_in(tenants, name))["obtainToken"]["issuedToken"] == {"user": {"username": name}}
            done = await tenants.graphql("master", CHANGE, id=rows[name][0])
            assert done["data"]["updateUser"]["user"] == {"firstName": "Ada"}
        after = {name: (id, key) for id, name, key in await tenants.rows(keys)}
        assert after == rows, "what changes nothing of a name leaves its key"
