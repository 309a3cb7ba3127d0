"""Links to choose a password: whom they are sent to, what they open, and that they open it once."""

import asyncio
import datetime as dt
from email import message_from_bytes
from email.policy import default
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from resolvers.account import links, users
from resolvers.account.tokens import obtain_token
from resolvers.core.context import Context
from resolvers.mail.delivery import _build_message
from schema.account.link import AccountLink, AccountLinkKind, RequestPasswordReset, ResetPassword
from schema.account.token import ObtainToken
from schema.account.user import UserRole
from schema.core.errors import LinkOver, TooManyRequests, WrongCredentials
from schema.core.permission import Permission
from store.account.links import AccountLinkRow, link_url
from store.account.second_factor import lock_user
from store.core.clock import clock
from store.core.signed_links import sign_link
from store.mail.rows import MailRow
from tests.changes import Direct, Transport
from tests.fixtures.tenants import PASSWORD, Tenants, kept_of
from tests.resolvers.account.second_factors import with_second_factor

NEW = "another horse battery"
NAME = "a1@users.example"
INVITED: dict[str, Any] = {"username": "Ada@Users.example", "role": UserRole.PARTNER, "first_name": "Ada"}
REQUEST = """mutation($i: RequestPasswordResetInput!) { requestPasswordReset(input: $i) {
    passwordResetRequest { minutes } userErrors { field code } } }"""
RESET = """mutation($i: ResetPasswordInput!) { resetPassword(input: $i) {
    accountLink { kind username } userErrors { field code } } }"""
READ = "query($t: String!) { accountLink(token: $t) { kind username firstName } }"


@pytest.fixture(autouse=True)
async def addresses(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody has an address, and nobody waits for an answer."""
    monkeypatch.setattr(links, "RESPONSE_SECONDS", 0.0)
    await tenants.execute("UPDATE app_user SET email = username, password_hash = :hash", hash=kept_of())


async def ask_for(tenants: Tenants, name: str, address: str = "") -> int:
    answer = await links.request_password_reset(
        Context(tenants.services, address=address), RequestPasswordReset(username=name)
    )
    return answer.minutes


async def newest_token(tenants: Tenants) -> str:
    """The token of the link that was made last."""
    uuid = await tenants.one("SELECT uuid FROM account_link ORDER BY id DESC LIMIT 1")
    return parse_qs(urlsplit(link_url(tenants.services.settings, uuid)).query)["token"][0]


async def choose(tenants: Tenants, token: str, password: str = NEW) -> AccountLink:
    given = ResetPassword(token=token, new_password=password)
    return await links.reset_password(Context(tenants.services), given)


async def log_in(tenants: Tenants, username: str = NAME, password: str = NEW, otp: str = "") -> str:
    given = ObtainToken(username=username, password=password, otp=otp)
    return (await obtain_token(Context(tenants.services), given)).token


# ---- a forgotten password


async def test_a_forgotten_password_is_replaced_over_graphql(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    asked = await tenants.graphql(None, REQUEST, i={"username": f" {NAME.upper()}", "language": "fr"})
    assert asked["data"]["requestPasswordReset"] == {"passwordResetRequest": {"minutes": 60}, "userErrors": []}
    mail = await tenants.newest("mail")
    assert (mail["kind"], mail["recipient"], mail["language"]) == ("password_reset", NAME, "fr")
    token = await newest_token(tenants)
    assert token not in str(await tenants.snapshot())
    read = (await tenants.graphql(None, READ, t=token))["data"]["accountLink"]
    assert read == {"kind": "PASSWORD_RESET", "username": NAME, "firstName": ""}
    short = await tenants.graphql(None, RESET, i={"token": token, "newPassword": "short"})
    assert short["data"]["resetPassword"]["userErrors"][0]["field"] == ["newPassword"]
    done = await tenants.graphql(None, RESET, i={"token": token, "newPassword": NEW})
    assert done["data"]["resetPassword"]["accountLink"] == {"kind": "PASSWORD_RESET", "username": NAME}
    assert await tenants.refuses(tenants.tokens["a1"])
    assert not await tenants.refuses(tenants.tokens["a2"])
    await log_in(tenants)
    with pytest.raises(WrongCredentials):
        await log_in(tenants, password=PASSWORD)
    again = await tenants.graphql(None, RESET, i={"token": token, "newPassword": "a third horse battery"})
    assert again["data"]["resetPassword"] == {"accountLink": None, "userErrors": [{"field": [], "code": "LINK_OVER"}]}
    over = await tenants.graphql(None, READ, t=token)
    assert over["errors"][0]["extensions"]["code"] == "LINK_OVER"
    await log_in(tenants)


async def test_whoever_asks_learns_nothing_of_who_there_is(tenants: Tenants) -> None:
    await tenants.execute("UPDATE app_user SET is_active = false WHERE username = 'a2@users.example'")
    await tenants.execute("UPDATE app_user SET email = '' WHERE username = 'b1@users.example'")
    before = await tenants.snapshot()
    for name in ("nobody@users.example", "a2@users.example", "b1@users.example", "%", "\x00'"):
        assert await ask_for(tenants, name) == 60
    assert await tenants.snapshot() == before
    assert await ask_for(tenants, NAME) == 60
    assert await tenants.one("SELECT count(*) FROM account_link") == 1


async def test_the_answer_takes_as_long_whoever_it_is_about(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "RESPONSE_SECONDS", 0.5)
    loop = asyncio.get_running_loop()
    for name in (NAME, "nobody"):
        began = loop.time()
        await ask_for(tenants, name)
        assert loop.time() - began > 0.45


async def test_an_address_stands_for_the_users_who_have_it(tenants: Tenants) -> None:
    await tenants.execute("UPDATE app_user SET email = 'Desk@Shop.example' WHERE username LIKE 'a_@users.example'")
    await ask_for(tenants, "desk@shop.example")
    asked = await tenants.rows("SELECT content ->> 'username', recipient FROM mail ORDER BY id")
    assert [tuple(row) for row in asked] == [
        ("a1@users.example", "Desk@Shop.example"),
        ("a2@users.example", "Desk@Shop.example"),
    ]


async def test_a_user_name_that_is_the_address_of_somebody_else_takes_nothing_away(tenants: Tenants) -> None:
    """Whoever manages users can name one like the address of a stranger."""
    await tenants.execute(
        "UPDATE app_user SET email = :email WHERE username = :name", email="Me@home.example", name=NAME
    )
    await tenants.execute("UPDATE app_user SET username = 'me@home.example' WHERE username = 'b1@users.example'")
    await ask_for(tenants, "me@home.example")
    asked = await tenants.rows("SELECT content ->> 'username', recipient FROM mail ORDER BY recipient")
    assert {tuple(row) for row in asked} == {(NAME, "Me@home.example"), ("me@home.example", "b1@users.example")}


async def test_of_many_users_with_an_address_the_one_with_the_name_gets_a_link(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MOST_USERS", 1)
    await tenants.execute("UPDATE app_user SET email = 'b1@users.example' WHERE username = :name", name=NAME)
    await ask_for(tenants, "b1@users.example")
    assert await tenants.one("SELECT content ->> 'username' FROM mail") == "b1@users.example"


async def test_an_address_that_changes_meanwhile_gets_no_link(tenants: Tenants) -> None:
    async with tenants.services.db.sessions() as db, db.begin():
        user = await lock_user(db, tenants.users["a1"].id)
        asking = asyncio.create_task(ask_for(tenants, NAME))
        await asyncio.sleep(0.3)
        user.email = "new@users.example"
    await asking
    assert await tenants.one("SELECT recipient FROM mail") == "new@users.example"


async def test_an_invitation_that_has_expired_is_not_revived(tenants: Tenants, ask: Transport) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    assert (await ask.change("market a", links.invite_user, **INVITED, partner_uuid=uuid)).done
    token, services = await newest_token(tenants), tenants.services
    clock.advance(dt.timedelta(days=7))
    before = await tenants.snapshot()
    await ask_for(tenants, "ada@users.example")
    assert await tenants.snapshot() == before
    assert await links.needs_invitation(services, token)
    await tenants.execute("UPDATE app_user SET password_hash = 'x' WHERE username = 'ada@users.example'")
    assert not await links.needs_invitation(services, token)
    await ask_for(tenants, NAME)
    for other in (await newest_token(tenants), "", "x"):
        assert not await links.needs_invitation(services, other)


async def test_links_are_not_asked_for_without_end(tenants: Tenants) -> None:
    for name in (NAME, "nobody@users.example"):
        for _ in range(5):
            await ask_for(tenants, name)
        with pytest.raises(TooManyRequests):
            await ask_for(tenants, f" {name.upper()}")
    clock.advance(dt.timedelta(hours=1))
    await ask_for(tenants, NAME)
    for number in range(30):
        await ask_for(tenants, f"name{number}", "192.0.2.7")
    with pytest.raises(TooManyRequests):
        await ask_for(tenants, "another name", "192.0.2.7")
    await ask_for(tenants, "another name", "192.0.2.8")


async def test_a_link_works_for_an_hour(tenants: Tenants) -> None:
    await ask_for(tenants, NAME)
    token = await newest_token(tenants)
    clock.advance(dt.timedelta(minutes=59))
    assert (await links.account_link(Context(tenants.services), token)).kind is AccountLinkKind.PASSWORD_RESET
    clock.advance(dt.timedelta(minutes=1))
    with pytest.raises(LinkOver):
        await choose(tenants, token)


async def test_a_forged_link_opens_nothing(tenants: Tenants) -> None:
    await ask_for(tenants, NAME)
    token = await newest_token(tenants)
    uuid = str(await tenants.one("SELECT uuid FROM account_link"))
    before = await tenants.snapshot()
    other = sign_link(tenants.services.settings, "another purpose", [uuid])
    for forged in ("", "x", uuid, token[:-1], f"{token}x", other, "é"):
        with pytest.raises(LinkOver):
            await choose(tenants, forged)
    assert await tenants.snapshot() == before
    await choose(tenants, token)


async def test_the_same_link_many_times_at_once_sets_one_password(tenants: Tenants) -> None:
    await ask_for(tenants, NAME)
    token = await newest_token(tenants)
    passwords = [f"horse battery number {n}" for n in range(4)]
    answers = await asyncio.gather(*(choose(tenants, token, each) for each in passwords), return_exceptions=True)
    assert sum(isinstance(answer, AccountLink) for answer in answers) == 1
    assert {type(answer) for answer in answers} == {AccountLink, LinkOver}
    works = passwords[[isinstance(answer, AccountLink) for answer in answers].index(True)]
    await log_in(tenants, password=works)


async def test_what_ends_a_link(tenants: Tenants, ask: Transport) -> None:
    """Another link that was used, another password, another address, and that the user may no longer log in."""
    id = tenants.users["a1"].id
    for change in ({"password": NEW}, {"email": "new@users.example"}, {"is_active": False}):
        await ask_for(tenants, NAME)
        token = await newest_token(tenants)
        assert (await ask.change("market a", users.update_user, id=id, first_name="Ada")).done
        assert (await links.account_link(Context(tenants.services), token)).first_name == "Ada"
        assert (await ask.change("market a", users.update_user, id=id, **change)).done
        with pytest.raises(LinkOver):
            await choose(tenants, token)
    assert (await ask.change("market a", users.update_user, id=id, is_active=True)).done
    first = token
    await ask_for(tenants, NAME)
    await choose(tenants, await newest_token(tenants))
    with pytest.raises(LinkOver):
        await choose(tenants, first)


async def test_a_second_factor_stays(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    await ask_for(tenants, NAME)
    await choose(tenants, await newest_token(tenants))
    with pytest.raises(WrongCredentials):
        await log_in(tenants, otp=app.wrong_code())
    await log_in(tenants, otp=app.code())


async def test_the_message_has_the_link_and_what_is_stored_has_not(tenants: Tenants) -> None:
    await ask_for(tenants, NAME)
    token = await newest_token(tenants)
    async with tenants.services.db.sessions() as db:
        mail = await db.get_one(MailRow, await tenants.one("SELECT max(id) FROM mail"))
    sent = message_from_bytes((await _build_message(tenants.services, mail)).data, policy=default)
    assert sent["subject"] == "Choose a new password for Coffret"
    url = f"{tenants.services.public_url}/admin/reset-password/?token={token}"
    for form in ("plain", "html"):
        part = sent.get_body((form,))
        assert part is not None
        assert url in part.get_content()
    assert token not in str(await tenants.row("mail", mail.id))


# ---- invitations


async def test_who_is_invited_chooses_a_password(tenants: Tenants, ask: Transport) -> None:
    uuid = str(tenants.partners["a2"].uuid)
    assert (await ask.change("market a", links.invite_user, **INVITED, partner_uuid=uuid, language="de")).done
    made, mail = await tenants.newest("app_user"), await tenants.newest("mail")
    assert (made["username"], made["email"], made["password_hash"]) == ("ada@users.example",) * 2 + ("",)
    assert (mail["kind"], mail["recipient"], mail["language"]) == ("user_invitation", "ada@users.example", "de")
    assert mail["content"]["organisation"] == "Shop a2"
    with pytest.raises(WrongCredentials):
        await log_in(tenants, "ada@users.example", "")
    clock.advance(dt.timedelta(days=6))
    link = await choose(tenants, await newest_token(tenants))
    assert (link.kind, link.first_name) == (AccountLinkKind.INVITATION, "Ada")
    await log_in(tenants, "ada@users.example")


async def test_the_address_is_the_user_name_of_who_has_no_other(tenants: Tenants, ask: Transport) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    without = {"role": UserRole.PARTNER, "partner_uuid": uuid}
    before = await tenants.snapshot()
    assert (await ask.change("market a", links.invite_user, **without)).wrong == {("email", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", links.invite_user, **without, email="Bob@Users.example")).done
    assert (await tenants.newest("app_user"))["username"] == "bob@users.example"
    before = await tenants.snapshot()
    again = await ask.change("market a", links.invite_user, **without, email="bob@users.example")
    assert again.wrong == {("username", "ALREADY_TAKEN")}
    assert await tenants.snapshot() == before


async def test_an_invitation_is_sent_again(tenants: Tenants, ask: Transport) -> None:
    uuid = str(tenants.partners["a1"].uuid)
    assert (await ask.change("market a", links.invite_user, **INVITED, partner_uuid=uuid)).done
    id, first = (await tenants.newest("app_user"))["id"], await newest_token(tenants)
    clock.advance(dt.timedelta(days=7))
    with pytest.raises(LinkOver):
        await choose(tenants, first)
    before = await tenants.snapshot()
    for who, wrong in (("a1", "FORBIDDEN"), ("market b", "NOT_FOUND")):
        assert (await ask.change(who, links.resend_invitation, id=id)).wrong == {("", wrong)}
    assert (await ask.change("market a", links.resend_invitation, id=id, language="xx")).wrong == {
        ("language", "INVALID")
    }
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", links.resend_invitation, id=id)).done
    asked = f"{{ user(id: {id}) {{ hasPassword }} }}"
    assert (await tenants.graphql("market a", asked))["data"]["user"] == {"hasPassword": False}
    await choose(tenants, await newest_token(tenants))
    assert (await tenants.graphql("market a", asked))["data"]["user"] == {"hasPassword": True}
    assert (await ask.change("market a", links.resend_invitation, id=id)).wrong == {("", "INVITATION_OVER")}
    await tenants.execute("UPDATE app_user SET password_hash = '', email = '' WHERE id = :id", id=id)
    assert (await ask.change("market a", links.resend_invitation, id=id)).wrong == {("id", "INVALID")}


async def test_nobody_is_invited_without_end(tenants: Tenants) -> None:
    ask, uuid = Direct(tenants), str(tenants.partners["a1"].uuid)
    assert (await ask.change("market a", links.invite_user, **INVITED, partner_uuid=uuid)).done
    id = (await tenants.newest("app_user"))["id"]
    for who in ("market a", "master", "market a", "master"):
        assert (await ask.change(who, links.resend_invitation, id=id)).done
    mails = await tenants.one("SELECT count(*) FROM mail")
    refused = {("", "TOO_MANY_REQUESTS")}
    for who in ("market a", "master"):
        assert (await ask.change(who, links.resend_invitation, id=id)).wrong == refused
    again = {**INVITED, "username": "bob", "email": "ADA@users.example", "partner_uuid": uuid}
    assert (await ask.change("market a", links.invite_user, **again)).wrong == refused, "it is the address that counts"
    assert await tenants.one("SELECT count(*) FROM mail") == mails
    assert await tenants.one("SELECT count(*) FROM app_user WHERE username = 'bob'") == 0
    clock.advance(dt.timedelta(hours=1))
    assert (await ask.change("market a", links.resend_invitation, id=id)).done


async def test_a_user_does_not_invite_without_end(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants.services.limits.invitations, "_amount", 2)
    ask, uuid = Direct(tenants), str(tenants.partners["a1"].uuid)
    for number in range(3):
        given = {**INVITED, "username": f"user{number}@users.example", "partner_uuid": uuid}
        assert (await ask.change("market a", links.invite_user, **given)).done is (number < 2)
    other = {**INVITED, "username": "other@users.example", "partner_uuid": uuid}
    assert (await ask.change("master", links.invite_user, **other)).done


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"username": "ada"}, ("email", "INVALID")),
        ({"username": NAME}, ("username", "ALREADY_TAKEN")),
        ({"role": UserRole.MASTER}, ("role", "INVALID")),
        ({"permissions": [Permission.MANAGE_MASTERADMIN]}, ("permissions", "INVALID")),
        ({"language": "xx"}, ("language", "INVALID")),
    ],
)
async def test_who_is_not_invited(
    tenants: Tenants, ask: Transport, changes: dict[str, Any], wrong: tuple[str, str]
) -> None:
    before = await tenants.snapshot()
    uuid = {} if "role" in changes else {"partner_uuid": str(tenants.partners["a1"].uuid)}
    told = (await ask.change("market a", links.invite_user, **{**INVITED, **uuid, **changes})).wrong
    assert wrong in told
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", links.invite_user, **INVITED)).wrong == {("", "FORBIDDEN")}


async def test_no_link_and_no_password_is_in_the_audit_log(tenants: Tenants, ask: Transport) -> None:
    await ask.change("market a", links.invite_user, **INVITED, partner_uuid=str(tenants.partners["a1"].uuid))
    await choose(tenants, await newest_token(tenants))
    await ask_for(tenants, "ada@users.example")
    token = await newest_token(tenants)
    await choose(tenants, token)
    await ask_for(tenants, "typed by mistake")
    await tenants.services.audit_buffer.flush()
    entries = await tenants.services.db.rows(text("SELECT operation, input::text || changes::text FROM audit_entry"))
    assert {"invite_user", "request_password_reset", "reset_password"} <= {row[0] for row in entries}
    assert not any(secret in row[1] for row in entries for secret in (token, NEW, "argon2", "typed by"))
    about = "SELECT subject_id FROM audit_entry WHERE operation = 'request_password_reset' ORDER BY id"
    subjects = [row[0] for row in await tenants.rows(about)]
    assert subjects == [str((await tenants.newest("app_user"))["id"]), ""]


async def test_links_that_expired_long_ago_are_deleted(tenants: Tenants) -> None:
    await ask_for(tenants, NAME)
    clock.advance(dt.timedelta(days=30))
    assert await links.prune(tenants.services) == 0
    clock.advance(dt.timedelta(hours=1, seconds=1))
    await ask_for(tenants, NAME)
    assert await links.prune(tenants.services) == 1
    async with tenants.services.db.sessions() as db:
        assert await db.get(AccountLinkRow, await tenants.one("SELECT id FROM account_link")) is not None
