"""Passkeys: registered by real keys, used once for each challenge, and only where and for whom they were made."""

import asyncio
import dataclasses
import json
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.account import passkeys, second_factor, staff, users
from resolvers.core.caller import Transport as RequestTransport
from resolvers.core.context import Context
from schema.account.passkey import ObtainTokenWithPasskey
from schema.account.token import IssuedToken
from schema.core.errors import WrongCredentials
from store.account.passkeys import CHALLENGE_LIFETIME, LOG_IN, new_challenge, registration
from store.account.users import UserRow
from store.core.clock import clock
from tests.changes import Direct, Transport
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.account.second_factors import with_second_factor
from tests.servers.authenticator import Authenticator, encoded

BEGIN = "mutation($i: BeginPasskeyInput!) { beginPasskey(input: $i) { passkeyOptions { options } userErrors { field code } } }"
REGISTER = "mutation($i: RegisterPasskeyInput!) { registerPasskey(input: $i) { passkey { id name lastUsedOn } userErrors { field code } } }"
OBTAIN = """mutation($i: ObtainTokenWithPasskeyInput!) { obtainTokenWithPasskey(input: $i) {
    issuedToken { token user { username } } userErrors { field code } } }"""


def device(tenants: Tenants, **options: Any) -> Authenticator:
    """A device at the service's own address."""
    return Authenticator(tenants.services.public_url, "127.0.0.1", **options)


async def user_row(tenants: Tenants, who: str = "a1") -> UserRow:
    """A user as stored."""
    async with tenants.services.db.sessions() as db:
        return await db.get_one(UserRow, tenants.users[who].id)


async def begun(tenants: Tenants, who: str = "a1", otp: str = "") -> str:
    """The options to make a passkey."""
    await tenants.with_password(who, PASSWORD)
    begin: Any = (await Direct(tenants).change(who, passkeys.begin_passkey, password=PASSWORD, otp=otp)).result
    options: str = begin.options
    return options


async def registered(tenants: Tenants, who: str = "a1", otp: str = "", **options: Any) -> Authenticator:
    """A device with a passkey of somebody."""
    phone = device(tenants, **options)
    answer = phone.create(await begun(tenants, who, otp))
    assert (await Direct(tenants).change(who, passkeys.register_passkey, name="Phone", credential=answer)).done
    return phone


async def asked(tenants: Tenants) -> str:
    """The options to use a passkey."""
    return (await passkeys.passkey_options(Context(tenants.services))).options


async def log_in(tenants: Tenants, credential: str) -> IssuedToken:
    given = ObtainTokenWithPasskey(credential=credential)
    return await passkeys.obtain_token_with_passkey(Context(tenants.services), given)


async def test_a_passkey_is_registered_and_used_over_graphql(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    wrong = await tenants.graphql("a1", BEGIN, i={"password": "a guess"})
    assert wrong["data"]["beginPasskey"]["userErrors"] == [{"field": ["password"], "code": "INVALID"}]
    begin = (await tenants.graphql("a1", BEGIN, i={"password": PASSWORD}))["data"]["beginPasskey"]
    options, phone = begin["passkeyOptions"]["options"], device(tenants)
    told = json.loads(options)
    assert told["rp"] == {"id": "127.0.0.1", "name": "Coffret"}
    assert told["user"]["id"] == encoded(tenants.users["a1"].uuid.bytes)
    assert told["authenticatorSelection"]["userVerification"] == "required"
    sent = {"name": " Phone ", "credential": phone.create(options)}
    made = (await tenants.graphql("a1", REGISTER, i=sent))["data"]["registerPasskey"]
    assert (made["passkey"]["name"], made["passkey"]["lastUsedOn"], made["userErrors"]) == ("Phone", None, [])
    options = (await tenants.graphql(None, "{ passkeyOptions { options } }"))["data"]["passkeyOptions"]["options"]
    assert "allowCredentials" not in options or json.loads(options)["allowCredentials"] == []
    issued = await tenants.graphql(None, OBTAIN, i={"credential": phone.use(options), "label": "laptop", "hours": 2})
    answer = issued["data"]["obtainTokenWithPasskey"]["issuedToken"]
    assert answer["user"] == {"username": "a1@users.example"}
    tenants.tokens["new"] = answer["token"]
    listed = await tenants.graphql("new", "{ passkeys { name lastUsedOn } me { token { label } } }")
    assert listed["data"]["me"]["token"] == {"label": "laptop"}
    assert [each["lastUsedOn"] is not None for each in listed["data"]["passkeys"]] == [True]
    assert (await tenants.graphql("a2", "{ passkeys { name } }"))["data"]["passkeys"] == []


async def test_a_second_factor_is_not_asked_for(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    phone = await registered(tenants, otp=app.code())
    assert (await log_in(tenants, phone.use(await asked(tenants)))).user.id == tenants.users["a1"].id


async def test_a_passkey_is_begun_with_the_second_factor(tenants: Tenants) -> None:
    app, ask = await with_second_factor(tenants), Direct(tenants)
    for otp in ("", app.wrong_code()):
        told = await ask.change("a1", passkeys.begin_passkey, password=PASSWORD, otp=otp)
        assert told.wrong == {("otp", "INVALID")}
    told = await ask.change("a1", passkeys.begin_passkey, password="a guess", otp=app.code())
    assert told.wrong == {("password", "INVALID")}
    await registered(tenants, otp=app.code())
    assert not (await ask.change("a1", passkeys.begin_passkey, password=PASSWORD, otp=app.code())).done


@pytest.mark.parametrize("change", ["a password", "a second factor"])
async def test_a_passkey_that_was_begun_before_a_change_is_not_registered(tenants: Tenants, change: str) -> None:
    """Whoever knew the former password may have begun it."""
    phone = device(tenants)
    answer = phone.create(await begun(tenants))
    if change == "a password":
        given = {"current_password": PASSWORD, "new_password": "another horse battery"}
        assert (await Direct(tenants).change("a1", users.change_password, **given)).done
    else:
        await with_second_factor(tenants)
    told = await Direct(tenants).change("a1", passkeys.register_passkey, name="Phone", credential=answer)
    assert told.wrong == {("credential", "INVALID")}
    assert await tenants.one("SELECT count(*) FROM passkey") == 0


async def test_the_back_office_takes_passkeys(tenants: Tenants) -> None:
    phone = await registered(tenants)
    page = Context(tenants.services, transport=RequestTransport.BACK_OFFICE)
    token = await staff.log_in_with_passkey(page, phone.use(await asked(tenants)), staff.BACK_OFFICE)
    caller = await staff.authenticate_staff(tenants.services, token, staff.BACK_OFFICE)
    assert caller.user_id == tenants.users["a1"].id
    other = tenants.partners["a2"]
    site = staff.venue_site(other.id, other.marketplace_id)
    with pytest.raises(WrongCredentials):
        await staff.log_in_with_passkey(page, phone.use(await asked(tenants)), site)


async def test_what_does_not_let_in(tenants: Tenants) -> None:
    phone, stranger = await registered(tenants), await registered(tenants, "a2")
    count = await tenants.one("SELECT count(*) FROM token")
    options = await asked(tenants)
    settings, now = tenants.services.settings, clock.now()
    for_registration = new_challenge(settings, registration(await user_row(tenants)), now)
    replaced = {"challenge": encoded(for_registration)}
    signed_by_other = dataclasses.replace(phone, key=stranger.key)
    tries = [
        device(tenants).use(options),
        signed_by_other.use(await asked(tenants)),
        phone.use(json.dumps(replaced)),
        phone.use(json.dumps({"challenge": encoded(b"x" * 56)})),
        phone.use(json.dumps({"challenge": ""})),
        dataclasses.replace(phone, origin="https://evil.example").use(await asked(tenants)),
        dataclasses.replace(phone, host="evil.example").use(await asked(tenants)),
        dataclasses.replace(phone, verifies=False).use(await asked(tenants)),
        phone.use(await asked(tenants), userHandle=tenants.users["a2"].uuid.bytes),
        phone.use(await asked(tenants), userHandle=b""),
        phone.use(await asked(tenants), signature=b"x"),
        phone.use(await asked(tenants), authenticatorData=b"x"),
        *("", "x", "{}", "[]", "null", '{"response": {"clientDataJSON": "e30"}, "rawId": "AA"}'),
    ]
    for credential in tries:
        with pytest.raises(WrongCredentials):
            await log_in(tenants, credential)
    await tenants.execute("UPDATE app_user SET is_active = false WHERE username = 'a2@users.example'")
    with pytest.raises(WrongCredentials):
        await log_in(tenants, stranger.use(await asked(tenants)))
    assert await tenants.one("SELECT count(*) FROM token") == count
    await log_in(tenants, dataclasses.replace(phone, uses=40).use(await asked(tenants)))


async def test_an_answer_works_once_and_for_five_minutes(tenants: Tenants) -> None:
    phone = await registered(tenants, counts=False)
    credential = phone.use(await asked(tenants))
    answers = await asyncio.gather(*(log_in(tenants, credential) for _ in range(4)), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["IssuedToken", *["WrongCredentials"] * 3]
    late = phone.use(await asked(tenants))
    clock.advance(CHALLENGE_LIFETIME)
    with pytest.raises(WrongCredentials):
        await log_in(tenants, late)


async def test_a_copy_of_a_key_is_noticed(tenants: Tenants) -> None:
    """Its count is not ahead of what the service has seen."""
    phone = await registered(tenants)
    copy = dataclasses.replace(phone)
    await log_in(tenants, phone.use(await asked(tenants)))
    with pytest.raises(WrongCredentials):
        await log_in(tenants, copy.use(await asked(tenants)))


@pytest.mark.parametrize("changes", [{"verifies": False}, {"origin": "https://evil.example"}, {"host": "evil.example"}])
async def test_what_is_not_registered(tenants: Tenants, changes: dict[str, Any]) -> None:
    ask, options = Direct(tenants), await begun(tenants)
    log_in_challenge = encoded(new_challenge(tenants.services.settings, LOG_IN, clock.now()))
    for_log_in = json.dumps({**json.loads(options), "challenge": log_in_challenge})
    foreign = await begun(tenants, "a2")
    before = await tenants.snapshot()
    tries = [
        dataclasses.replace(device(tenants), **changes).create(options),
        device(tenants).create(for_log_in),
        device(tenants).create(foreign),
        "{}",
    ]
    for credential in tries:
        told = await ask.change("a1", passkeys.register_passkey, name="Phone", credential=credential)
        assert told.wrong == {("credential", "INVALID")}
    assert await tenants.snapshot() == before


async def test_a_passkey_is_registered_once(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, phone = Direct(tenants), device(tenants)
    answer = phone.create(await begun(tenants))
    sent = {"name": "Phone", "credential": answer}
    made = await asyncio.gather(*(ask.change("a1", passkeys.register_passkey, **sent) for _ in range(3)))
    assert sorted(outcome.done for outcome in made) == [False, False, True]
    options = await begun(tenants)
    assert json.loads(options)["excludeCredentials"][0]["id"] == encoded(phone.credential_id)
    again = await ask.change("a1", passkeys.register_passkey, name="Again", credential=phone.create(options))
    assert again.wrong == {("credential", "ALREADY_TAKEN")}
    monkeypatch.setattr(passkeys, "MOST_PASSKEYS", 1)
    more = device(tenants).create(await begun(tenants))
    told = await ask.change("a1", passkeys.register_passkey, name="More", credential=more)
    assert told.wrong == {("credential", "INVALID")}
    assert await tenants.one("SELECT count(*) FROM passkey") == 1


async def test_a_passkey_is_renamed_and_deleted_by_its_user(tenants: Tenants, ask: Transport) -> None:
    phone = await registered(tenants)
    id = await tenants.one("SELECT id FROM passkey")
    before = await tenants.snapshot()
    for who in ("a2", "market a", "master"):
        assert (await ask.change(who, passkeys.rename_passkey, id=id, name="Mine")).wrong == {("", "NOT_FOUND")}
        assert (await ask.change(who, passkeys.delete_passkey, id=id)).wrong == {("", "NOT_FOUND")}
    assert (await ask.change("a1", passkeys.rename_passkey, id=id, name=" ")).wrong == {("name", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", passkeys.rename_passkey, id=id, name="Tablet")).done
    assert (await tenants.row("passkey", id))["name"] == "Tablet"
    assert (await ask.change("a1", passkeys.delete_passkey, id=id)).done
    with pytest.raises(WrongCredentials):
        await log_in(tenants, phone.use(await asked(tenants)))


async def test_which_new_password_deletes_passkeys(tenants: Tenants, ask: Transport) -> None:
    """One that somebody else has set: whoever knew the old one could have registered a passkey."""
    phone = await registered(tenants)
    change = {"current_password": PASSWORD, "new_password": "another horse battery"}
    assert (await ask.change("a1", users.change_password, **change)).done
    await log_in(tenants, phone.use(await asked(tenants)))
    id = tenants.users["a1"].id
    assert (await ask.change("market a", users.update_user, id=id, password="a third horse battery")).done
    with pytest.raises(WrongCredentials):
        await log_in(tenants, phone.use(await asked(tenants)))


async def test_a_second_factor_that_is_reset_takes_the_passkeys_with_it(tenants: Tenants, ask: Transport) -> None:
    """Whoever is said to have lost the device may have lost the passkey with it."""
    app = await with_second_factor(tenants)
    phone, other = await registered(tenants, otp=app.code()), await registered(tenants, "a2")
    id = tenants.users["a1"].id
    assert (await ask.change("market a", second_factor.reset_second_factor, id=id)).done
    with pytest.raises(WrongCredentials):
        await log_in(tenants, phone.use(await asked(tenants)))
    await log_in(tenants, other.use(await asked(tenants)))


async def test_what_the_audit_log_has_of_passkeys(tenants: Tenants) -> None:
    phone = await registered(tenants)
    await log_in(tenants, phone.use(await asked(tenants)))
    entries = await tenants.services.db.rows(text("SELECT operation, input::text || changes::text FROM audit_entry"))
    assert {"begin_passkey", "register_passkey", "obtain_token_with_passkey"} <= {row[0] for row in entries}
    assert not any(encoded(phone.credential_id) in row[1] or PASSWORD in row[1] for row in entries)
