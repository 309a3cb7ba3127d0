"""Reading messages and sending them again: the tenant's own, with the permission."""

from typing import Any

import pytest
from sqlalchemy import text

from resolvers.core.lists.listing import PageArguments
from resolvers.mail import delivery, mails
from resolvers.mail.mails import MailFilter
from schema.core.errors import Forbidden, NotFound, Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.mail import MailKind, MailState
from store.mail.outbox import enqueue_mail
from tests.changes import Outcome, Transport
from tests.fixtures.tenants import Tenants

ABOUT = {"url": "https://shop.example/hooks", "endpoint_id": 7, "days": 3}


async def posted(tenants: Tenants, partner: str | None, state: MailState, **more: Any) -> int:
    """A message of a partner, in a state; answers its id."""
    partner_id = tenants.partners[partner].id if partner else None
    async with tenants.services.db.sessions() as db, db.begin():
        to = f"{partner}@example.com"
        await enqueue_mail(
            db, MailKind.ENDPOINT_DISABLED, to=to, language="en", partner_id=partner_id, about=ABOUT, **more
        )
    mail_id = int(await tenants.one("SELECT max(id) FROM mail"))
    await tenants.execute(
        "UPDATE mail SET state = CAST(:state AS text), tries = 3, last_error = '550 No', message_id = '<1@x.example>',"
        " due_on = CASE WHEN CAST(:state AS text) = 'queued' THEN due_on END WHERE id = :id",
        state=state.value,
        id=mail_id,
    )
    await tenants.execute("DELETE FROM pgqueuer")
    return mail_id


async def list_mails(tenants: Tenants, who: str, **filter: Any) -> list[int]:
    found = await mails.mails(await tenants.context(who), PageArguments(), MailFilter(**filter))
    return [row.id for row in await found.rows.objects()]


async def jobs(tenants: Tenants) -> int:
    return int(await tenants.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'send_mail'"))


async def test_everybody_sees_their_own(tenants: Tenants) -> None:
    ids = {name: await posted(tenants, name, MailState.SENT) for name in ("a1", "a2", "b1")}
    ours = await posted(tenants, None, MailState.SENT, marketplace_id=tenants.marketplaces["a"].id)
    nobodys = await posted(tenants, None, MailState.SENT)
    assert await list_mails(tenants, "a1") == [ids["a1"]]
    assert await list_mails(tenants, "b1") == [ids["b1"]]
    assert await list_mails(tenants, "market a") == [ours, ids["a2"], ids["a1"]]
    assert await list_mails(tenants, "market b") == [ids["b1"]]
    assert await list_mails(tenants, "master") == [nobodys, ours, *sorted(ids.values(), reverse=True)]
    context = await tenants.context("a2")
    with pytest.raises(NotFound):
        await (await mails.mail(context, ids["a1"])).object()
    assert (await (await mails.mail(context, ids["a2"])).object()).recipient == "a2@example.com"


async def test_messages_are_found_by_what_became_of_them(tenants: Tenants) -> None:
    sent, failed = [await posted(tenants, "a1", state) for state in (MailState.SENT, MailState.FAILED)]
    assert await list_mails(tenants, "a1", state=MailState.FAILED) == [failed]
    assert await list_mails(tenants, "a1", kind=MailKind.NEW_ORDER) == []
    assert await list_mails(tenants, "a1", recipient="a1@example.com") == [failed, sent]


async def test_nobody_sees_them_without_the_permission(tenants: Tenants) -> None:
    others = sorted(GRANTABLE_PERMISSIONS - {Permission.VIEW_MAIL, Permission.MANAGE_MASTERADMIN})
    await tenants.user("blind", "partner", others, partner_id=tenants.partners["a1"].id)
    mail_id = await posted(tenants, "a1", MailState.FAILED)
    context = await tenants.context("blind")
    for ask in (lambda: mails.mails(context, PageArguments()), lambda: mails.mail(context, mail_id)):
        with pytest.raises(Forbidden):
            await ask()
    with pytest.raises(Unauthenticated):
        await mails.mails(await tenants.context(None), PageArguments())


async def test_the_graph_tells_what_became_of_a_message_and_not_what_it_says(tenants: Tenants) -> None:
    mail_id = await posted(tenants, "a1", MailState.FAILED)
    query = "{ mails(filter: {state: FAILED}) { nodes { id kind recipient state tries lastError dueOn sentOn } } }"
    answer = await tenants.graphql("a1", query)
    assert answer["data"]["mails"]["nodes"] == [
        {
            "id": mail_id,
            "kind": "ENDPOINT_DISABLED",
            "recipient": "a1@example.com",
            "state": "FAILED",
            "tries": 3,
            "lastError": "550 No",
            "dueOn": None,
            "sentOn": None,
        }
    ]
    refused = await tenants.graphql("a1", "{ mails { nodes { content } } }")
    assert "content" in refused["errors"][0]["message"]


# ---- sending again


async def resend(ask: Transport, who: str | None, mail_id: int) -> Outcome:
    return await ask.change(who, mails.resend_mail, id=mail_id)


@pytest.mark.parametrize("state", [MailState.FAILED, MailState.SENT])
async def test_a_message_is_sent_again(tenants: Tenants, ask: Transport, state: MailState) -> None:
    mail_id = await posted(tenants, "a1", state)
    assert (await resend(ask, "a1", mail_id)).done
    row = await tenants.row("mail", mail_id)
    assert (row["state"], row["tries"], row["last_error"], row["sent_on"]) == ("queued", 0, "", None)
    assert row["due_on"] is not None
    assert await jobs(tenants) == 1
    # Of two messages with one Message-ID mail programs show one; a message that never arrived keeps its own.
    assert (row["message_id"] == "<1@x.example>") is (state is MailState.FAILED)
    assert row["message_id"].endswith("@x.example>")
    await delivery.send(tenants.services, mail_id)
    assert (await tenants.row("mail", mail_id))["state"] == "sent"


async def test_a_message_that_waits_is_left_alone(tenants: Tenants, ask: Transport) -> None:
    mail_id = await posted(tenants, "a1", MailState.QUEUED)
    before = await tenants.row("mail", mail_id)
    assert (await resend(ask, "a1", mail_id)).done
    assert await tenants.row("mail", mail_id) == before
    assert await jobs(tenants) == 0


@pytest.mark.parametrize("who", ["a2", "b1", "market b", "blind", None])
async def test_nobody_else_sends_it_again(tenants: Tenants, ask: Transport, who: str | None) -> None:
    await tenants.user("blind", "partner", [Permission.VIEW_ORDER], partner_id=tenants.partners["a1"].id)
    mail_id = await posted(tenants, "a1", MailState.FAILED)
    before = await tenants.snapshot()
    outcome = await resend(ask, who, mail_id)
    assert not outcome.done
    assert await tenants.snapshot() == before
    assert (await tenants.services.db.rows(text("SELECT state FROM mail")))[0][0] == "failed"
