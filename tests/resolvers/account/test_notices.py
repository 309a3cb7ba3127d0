"""Mail about changes of a log-in: one for each change, to whom it concerns, with who did it; none for what is refused."""

import asyncio
import datetime as dt
import json
from email import message_from_bytes
from email.policy import default
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from admin.graph.execution import run
from resolvers.account import administration, api_tokens, links, notices, passkeys, second_factor, users
from resolvers.account.tokens import obtain_token
from resolvers.core.context import Context
from resolvers.mail.delivery import _build_message
from resolvers.personal_data.operations import erase_personal_data
from schema.account.link import RequestPasswordReset, ResetPassword
from schema.account.token import ObtainToken
from schema.account.user import UserRole
from schema.core.errors import InvalidInput, LinkOver, NotFound
from store.account.links import link_url
from store.core.clock import clock
from store.mail.rows import MailRow
from tests.changes import Direct, Transport
from tests.fixtures.tenants import PASSWORD, Tenants, kept_of
from tests.resolvers.account.second_factors import App, next_step, with_second_factor
from tests.resolvers.account.test_passkeys import begun, device, registered

NEW = "another horse battery"
NAME, MANAGER, HOME = "a1@users.example", "market-a@users.example", "a1@home.example"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}
OWN_TOKEN = {"label": "Till", "current_password": PASSWORD}
Notice = tuple[str, str, str, str, str]
"""The recipient, the change, the kind of actor, the user name of another one, and what is named."""


@pytest.fixture(autouse=True)
async def addresses(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody has a password and an address, which is not the user name."""
    monkeypatch.setattr(links, "RESPONSE_SECONDS", 0.0)
    hash = kept_of()
    await tenants.execute(
        "UPDATE app_user SET password_hash = :hash, email = replace(username, '@users', '@home')", hash=hash
    )


async def read_notices(tenants: Tenants) -> list[Notice]:
    """The messages about changes so far."""
    query = """SELECT recipient, content ->> 'change', content ->> 'actor', content ->> 'actor_username', content ->> 'name'
        FROM mail WHERE kind = 'account_changed' ORDER BY id"""
    return [tuple(row) for row in await tenants.rows(query)]


def notice(change: str, actor: str = "self", username: str = "", name: str = "", to: str = HOME) -> Notice:
    return to, change, actor, username, name


async def forget(tenants: Tenants) -> None:
    """Delete the messages so far."""
    await tenants.execute("DELETE FROM mail")


async def with_new_app(tenants: Tenants) -> App:
    """An app of a user, of whose set-up nothing is queued any longer."""
    app = await with_second_factor(tenants)
    await forget(tenants)
    return app


async def send_link(tenants: Tenants, name: str = NAME) -> str:
    """Ask for a new password; answers the token of the link."""
    await links.request_password_reset(Context(tenants.services), RequestPasswordReset(username=name))
    return await newest_link(tenants)


async def newest_link(tenants: Tenants) -> str:
    uuid = await tenants.one("SELECT uuid FROM account_link ORDER BY id DESC LIMIT 1")
    return parse_qs(urlsplit(link_url(tenants.services.settings, uuid)).query)["token"][0]


async def choose(tenants: Tenants, token: str) -> None:
    await links.reset_password(Context(tenants.services), ResetPassword(token=token, new_password=NEW))


# ---- the password and the e-mail address


async def test_a_password_that_one_changes_is_mailed(tenants: Tenants, ask: Transport) -> None:
    wrong = {**CHANGE, "current_password": "a guess of mine"}
    for refused in (wrong, {**CHANGE, "new_password": "short"}):
        assert not (await ask.change("a1", users.change_password, **refused)).done
    assert await read_notices(tenants) == []
    assert (await ask.change("a1", users.change_password, **CHANGE)).done
    assert await read_notices(tenants) == [notice("password")]
    assert await tenants.one("SELECT content ->> 'deletes_passkeys' FROM mail") == "false"


async def test_of_two_changes_at_once_one_is_mailed(tenants: Tenants) -> None:
    ask = Direct(tenants)
    wanted = [{**CHANGE, "new_password": f"{NEW} {number}"} for number in range(2)]
    made = await asyncio.gather(*(ask.change("a1", users.change_password, **each) for each in wanted))
    assert sorted(outcome.done for outcome in made) == [False, True]
    assert await read_notices(tenants) == [notice("password")]


async def test_a_password_that_was_chosen_with_a_link_is_mailed(tenants: Tenants) -> None:
    token = await send_link(tenants)
    assert await read_notices(tenants) == [], "nothing has changed yet"
    await choose(tenants, token)
    with pytest.raises(LinkOver):
        await choose(tenants, token)
    assert await read_notices(tenants) == [notice("password", "link")]
    assert await tenants.one("SELECT content ->> 'deletes_passkeys' FROM mail ORDER BY id DESC LIMIT 1") == "true"


async def test_the_first_password_of_an_invited_user_is_not_mailed(tenants: Tenants, ask: Transport) -> None:
    invited = {"username": "ada@users.example", "role": UserRole.PARTNER, "partner_uuid": tenants.partners["a1"].uuid}
    assert (await ask.change("market a", links.invite_user, **invited, email="wrong@users.example")).done
    id = (await tenants.newest("app_user"))["id"]
    assert (await ask.change("market a", users.update_user, id=id, email="ada@users.example")).done
    assert await read_notices(tenants) == [], "who was invited by mistake learns nothing of the user"
    token = OWN_TOKEN | {"id": id}
    assert (await Direct(tenants).change("market a", api_tokens.create_user_token, **token)).done
    assert await read_notices(tenants) == []
    assert (await ask.change("market a", links.resend_invitation, id=id)).done
    await choose(tenants, await newest_link(tenants))
    created = {**invited, "username": "eve@users.example", "email": "eve@home.example", "password": PASSWORD}
    assert (await ask.change("market a", users.create_user, **created)).done
    assert await read_notices(tenants) == []
    await choose(tenants, await send_link(tenants, "ada@users.example"))
    assert await read_notices(tenants) == [notice("password", "link", to="ada@users.example")]


async def test_a_password_of_a_manager_is_mailed_with_the_name_of_the_manager(tenants: Tenants, ask: Transport) -> None:
    id = tenants.users["a1"].id
    assert not (await ask.change("market b", users.update_user, id=id, password=NEW)).done
    assert not (await ask.change("a2", users.update_user, id=id, password=NEW)).done
    assert not (await ask.change("market a", users.update_user, id=id, password="short")).done
    assert await read_notices(tenants) == []
    assert (await ask.change("market a", users.update_user, id=id, password=NEW)).done
    assert await read_notices(tenants) == [notice("password", "user", MANAGER)]


async def test_a_manager_who_changes_the_own_password_is_no_other(tenants: Tenants, ask: Transport) -> None:
    own = {"id": tenants.users["market a"].id, "password": NEW}
    assert (await ask.change("market a", users.update_user, **own)).done
    assert await read_notices(tenants) == [notice("password", to="market-a@home.example")]


async def test_the_former_address_is_told_of_another_one(tenants: Tenants, ask: Transport) -> None:
    id = tenants.users["a1"].id
    assert (await ask.change("market a", users.update_user, id=id, first_name="Ada", email=HOME)).done
    assert await read_notices(tenants) == [], "it is the same address"
    changed = await ask.change("market a", users.update_user, id=id, email="thief@home.example", password=NEW)
    assert changed.done
    assert await read_notices(tenants) == [notice("email_and_password", "user", MANAGER)]
    assert "thief" not in str(await tenants.rows("SELECT content::text FROM mail"))


async def test_the_same_address_in_other_letters_is_no_other(tenants: Tenants, ask: Transport) -> None:
    id = tenants.users["a1"].id
    assert (await ask.change("market a", users.update_user, id=id, email=HOME.upper())).done
    assert await read_notices(tenants) == []
    assert (await ask.change("market a", users.update_user, id=id, email="moved@home.example")).done
    assert await read_notices(tenants) == [notice("email", "user", MANAGER, to="A1@home.example")]


async def test_users_do_not_mail_others_without_end(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, id, other = Direct(tenants), tenants.users["a1"].id, tenants.users["a2"].id
    limits = tenants.services.limits
    monkeypatch.setattr(limits.notice_addresses, "_amount", 2)
    for number in range(2):
        assert (await ask.change("market a", users.update_user, id=id, password=f"{NEW} {number}")).done
    before = await tenants.snapshot()
    refused = {("", "TOO_MANY_REQUESTS")}
    for who in ("market a", "master"):
        assert (await ask.change(who, users.update_user, id=id, password=f"{NEW} again")).wrong == refused
        assert (await ask.change(who, users.update_user, id=id, email="moved@home.example")).wrong == refused
    token = OWN_TOKEN | {"id": id}
    assert (await ask.change("market a", api_tokens.create_user_token, **token)).wrong == refused
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", users.update_user, id=other, password=NEW)).done
    own = {"current_password": f"{NEW} 1", "new_password": PASSWORD}
    log_in = ObtainToken(username=NAME, password=f"{NEW} 1", label="shop")
    tenants.tokens["a1"] = (await obtain_token(Context(tenants.services), log_in)).token
    assert (await ask.change("a1", users.change_password, **own)).done, "nobody is kept from what is their own"
    monkeypatch.setattr(limits.notices, "_amount", 3)
    assert (await ask.change("market a", users.update_user, id=other, password=f"{NEW} 3")).wrong == refused
    clock.advance(dt.timedelta(hours=1))
    assert (await ask.change("market a", users.update_user, id=id, password=NEW)).done


async def test_erasing_a_buyer_leaves_the_mail_of_users_whole(tenants: Tenants) -> None:
    ask = Direct(tenants)
    assert (await ask.change("a1", users.change_password, **CHANGE)).done
    content = (
        "UPDATE mail SET content = content || jsonb_build_object('first_name', 'Ada', 'username', CAST(:email AS text))"
    )
    await tenants.execute(content, email=HOME)
    before = await tenants.rows("SELECT content, subject FROM mail")
    assert (await ask.change("a1", erase_personal_data, email=HOME)).done
    assert await tenants.rows("SELECT content, subject FROM mail") == before


async def test_who_has_no_address_gets_nothing(tenants: Tenants, ask: Transport) -> None:
    await tenants.execute("UPDATE app_user SET email = '' WHERE username = :name", name=NAME)
    assert (await ask.change("a1", users.change_password, **CHANGE)).done
    first = {"id": tenants.users["a1"].id, "email": HOME, "password": PASSWORD}
    assert (await ask.change("market a", users.update_user, **first)).done
    assert await read_notices(tenants) == []


# ---- the second factor


async def test_each_change_of_a_second_factor_is_mailed(tenants: Tenants, ask: Transport) -> None:
    app = await with_second_factor(tenants)
    assert await read_notices(tenants) == [notice("second_factor_enabled")]
    await forget(tenants)
    own = Direct(tenants)
    for otp in (app.wrong_code(), app.code()):
        await own.change("a1", second_factor.renew_recovery_codes, otp=otp)
    assert await read_notices(tenants) == [notice("recovery_codes")]
    next_step()
    await forget(tenants)
    proofs = ("a guess of mine", app.code()), (PASSWORD, app.wrong_code()), (PASSWORD, app.code())
    done = [
        (await ask.change("a1", second_factor.disable_second_factor, password=password, otp=otp)).done
        for password, otp in proofs
    ]
    assert done == [False, False, True]
    assert await read_notices(tenants) == [notice("second_factor_disabled")]


async def test_a_second_factor_that_is_only_begun_is_not_mailed(tenants: Tenants) -> None:
    ask = Direct(tenants)
    setup: Any = (await ask.change("a1", second_factor.set_up_second_factor, password=PASSWORD)).result
    wrong = App(setup.secret, []).wrong_code()
    assert not (await ask.change("a1", second_factor.confirm_second_factor, otp=wrong)).done
    assert await read_notices(tenants) == []


async def test_a_second_factor_that_others_reset_is_mailed_once(tenants: Tenants, ask: Transport) -> None:
    await with_new_app(tenants)
    id = tenants.users["a1"].id
    assert not (await ask.change("market b", second_factor.reset_second_factor, id=id)).done
    assert await read_notices(tenants) == []
    for _ in range(2):
        assert (await ask.change("market a", second_factor.reset_second_factor, id=id)).done
    assert await read_notices(tenants) == [notice("second_factor_reset", "user", MANAGER)], (
        "then there was none any more"
    )


# ---- passkeys


async def test_a_new_passkey_is_mailed_and_its_end_too(tenants: Tenants, ask: Transport) -> None:
    options, phone = await begun(tenants), device(tenants)
    answer = phone.create(options)
    for _ in range(2):  # an answer works once
        await ask.change("a1", passkeys.register_passkey, name="Phone", credential=answer)
    assert await read_notices(tenants) == [notice("passkey_registered", name="Phone")]
    await forget(tenants)
    id = await tenants.one("SELECT id FROM passkey")
    assert (await ask.change("a1", passkeys.rename_passkey, id=id, name="Old phone")).done
    assert not (await ask.change("a2", passkeys.delete_passkey, id=id)).done
    assert await read_notices(tenants) == []
    assert (await ask.change("a1", passkeys.delete_passkey, id=id)).done
    assert not (await ask.change("a1", passkeys.delete_passkey, id=id)).done
    assert await read_notices(tenants) == [notice("passkey_deleted", name="Old phone")]


async def test_passkeys_that_others_delete_are_mailed_without_a_second_factor_too(tenants: Tenants) -> None:
    await registered(tenants)
    await forget(tenants)
    ask, id = Direct(tenants), tenants.users["a1"].id
    assert (await ask.change("market a", second_factor.reset_second_factor, id=id)).done
    assert await read_notices(tenants) == [notice("second_factor_reset", "user", MANAGER)]


# ---- API tokens


async def test_a_token_is_mailed_to_its_user(tenants: Tenants) -> None:
    ask, other = Direct(tenants), {**OWN_TOKEN, "id": tenants.users["a1"].id}
    wrong = {"current_password": "a guess of mine"}
    assert not (await ask.change("a1", api_tokens.create_token, **OWN_TOKEN | wrong)).done
    assert not (await ask.change("market a", api_tokens.create_user_token, **other | wrong)).done
    assert not (await ask.change("market b", api_tokens.create_user_token, **other)).done
    assert await read_notices(tenants) == []
    assert (await ask.change("a1", api_tokens.create_token, **OWN_TOKEN)).done
    assert (await ask.change("market a", api_tokens.create_user_token, **other)).done
    assert await read_notices(tenants) == [
        notice("token_created", name="Till"),
        notice("token_created", "user", MANAGER, name="Till"),
    ]


async def test_log_ins_are_not_mailed(tenants: Tenants) -> None:
    await obtain_token(Context(tenants.services), ObtainToken(username=NAME, password=PASSWORD, label="shop"))
    assert await read_notices(tenants) == []


async def test_a_repeated_request_is_mailed_once(tenants: Tenants) -> None:
    headers = {
        "Authorization": f"Token {tenants.tokens['a1']}",
        "Content-Type": "application/json",
        "Idempotency-Key": "once",
    }
    query = (
        "mutation($i: CreateTokenInput!) { createToken(input: $i) { newToken { token { id } } userErrors { code } } }"
    )
    body = json.dumps({"query": query, "variables": {"i": {"label": "Till", "currentPassword": PASSWORD}}})
    answers = [await tenants.client.post("/graphql/", content=body, headers=headers) for _ in range(2)]
    assert answers[0].json()["data"]["createToken"] == answers[1].json()["data"]["createToken"]
    assert answers[1].headers["idempotent-replayed"] == "true"
    assert await read_notices(tenants) == [notice("token_created", name="Till")]


# ---- the command line, dry runs, and the message itself


async def test_what_an_operator_changes_is_mailed(tenants: Tenants) -> None:
    await with_new_app(tenants)
    async with tenants.services.db.sessions() as db, db.begin():
        await administration.create_token(db, NAME, "cron", clock)
        await administration.reset_second_factor(db, NAME)
        await administration.reset_password(db, NAME, NEW, clock)
    assert await read_notices(tenants) == [
        notice("token_created", "operator", name="cron"),
        notice("second_factor_reset", "operator"),
        notice("password", "operator"),
    ]
    await forget(tenants)
    for name, password, error in ((NAME, "short", InvalidInput), ("nobody", NEW, NotFound)):
        with pytest.raises(error):
            async with tenants.services.db.sessions() as db, db.begin():
                await administration.reset_password(db, name, password, clock)
    assert await read_notices(tenants) == []


async def test_a_dry_run_mails_nothing(tenants: Tenants) -> None:
    document = "mutation($i: UpdateUserInput!) { updateUser(input: $i) { user { email } userErrors { code } } }"
    input = {"id": tenants.users["a1"].id, "email": "new@home.example", "password": NEW}
    for is_dry, expected in ((True, 0), (False, 1)):
        answer = await run(await tenants.context("market a"), document, {"i": input}, dry_run=is_dry)
        assert answer.data["updateUser"] == {"user": {"email": "new@home.example"}, "userErrors": []}
        assert len(await read_notices(tenants)) == expected


@pytest.mark.parametrize(
    ("who", "organisation", "language", "time_zone", "own"),
    [
        ("a1", "Shop a1", "fr", "Europe/Paris", True),
        ("market a", "a", "en", "Europe/Paris", True),
        ("master", "", "en", "UTC", False),
    ],
)
async def test_a_message_has_the_language_and_the_time_zone_of_the_workplace(
    tenants: Tenants, who: str, organisation: str, language: str, time_zone: str, *, own: bool
) -> None:
    await tenants.execute("UPDATE partner SET language = 'fr'")
    assert (await Direct(tenants).change(who, users.change_password, **CHANGE)).done
    row = await tenants.newest("mail")
    told = row["content"]
    assert (row["language"], told["organisation"], told["time_zone"]) == (language, organisation, time_zone)
    assert ((row["partner_id"] or row["marketplace_id"]) is not None) is own
    assert NEW not in str(row)


async def test_what_is_sent_has_the_name_of_the_service_and_no_secret(tenants: Tenants) -> None:
    issued: Any = (await Direct(tenants).change("a1", api_tokens.create_token, **OWN_TOKEN)).result
    async with tenants.services.db.sessions() as db:
        mail = await db.get_one(MailRow, await tenants.one("SELECT max(id) FROM mail"))
    sent = message_from_bytes((await _build_message(tenants.services, mail)).data, policy=default)
    assert (sent["subject"], sent["to"]) == ("Your log-in for Coffret has changed", HOME)
    for form in ("plain", "html"):
        part = sent.get_body((form,))
        assert part is not None
        assert f"{tenants.services.public_url}/admin/account/" in part.get_content()
        assert issued.secret not in part.get_content()
    assert issued.secret not in str(await tenants.row("mail", mail.id))


async def test_a_change_whose_message_cannot_be_queued_is_taken_back(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    before = await tenants.snapshot()
    monkeypatch.setattr(notices, "enqueue_mail", fail)
    for operation, input in ((users.change_password, CHANGE), (api_tokens.create_token, OWN_TOKEN)):
        with pytest.raises(ConnectionError):
            await Direct(tenants).change("a1", operation, **input)
    assert await tenants.snapshot() == before
    assert await tenants.one("SELECT count(*) FROM token WHERE label = 'Till'") == 0
