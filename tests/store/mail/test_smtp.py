"""Handing messages over: to a mail server that takes them, and to those that are down, slow, strict or unwilling."""

import asyncio
import dataclasses
import pathlib
import ssl
from collections.abc import AsyncIterator

import pytest

from store.core.mail_server import MailServer, parse_server
from store.mail.mailer import MailDeferred, MailMessage, MailRefused
from store.mail.smtp import SmtpMailer
from tests.servers.mail_servers import PASSWORD, USER, RealMailServer, authenticate

Certificate = tuple[pathlib.Path, ssl.SSLContext]


def mail_message(to: str = "ada@example.com", body: str = "Hello") -> MailMessage:
    data = f"From: a@shop.example\r\nTo: {to}\r\nSubject: Test\r\n\r\n{body}\r\n".encode()
    return MailMessage("<1@shop.example>", "a@shop.example", to, data)


@pytest.fixture
async def mailer(mail_server: RealMailServer) -> AsyncIterator[SmtpMailer]:
    """A mailer with short timeouts."""
    made = SmtpMailer(parse_server(mail_server.url), command_timeout=0.5, idle_timeout=0.3)
    yield made
    await made.aclose()


async def test_a_message_arrives_as_it_was_given(mailer: SmtpMailer, mail_server: RealMailServer) -> None:
    await mailer.send(mail_message(body=".\r\n..dots\r\nend"))
    (received,) = mail_server.messages
    assert (received.sender, received.recipients) == ("a@shop.example", ("ada@example.com",))
    assert received.message.get_content().replace("\r\n", "\n") == ".\n..dots\nend\n"


async def test_a_burst_goes_over_few_connections(mail_server: RealMailServer) -> None:
    mailer = SmtpMailer(parse_server(mail_server.url), connections=3)
    mail_server.delay = 0.01
    await asyncio.gather(*(mailer.send(mail_message(f"user{n}@example.com")) for n in range(30)))
    await mailer.aclose()
    assert len(mail_server.messages) == 30
    assert mail_server.connections == mail_server.most_at_once == 3


async def test_a_connection_is_closed_after_a_while(mailer: SmtpMailer, mail_server: RealMailServer) -> None:
    await mailer.send(mail_message())
    await mailer.send(mail_message())
    assert mail_server.connections == 1
    await asyncio.sleep(0.5)
    assert mailer._free == []
    await mailer.send(mail_message())
    assert mail_server.connections == 2


async def test_a_kept_connection_that_died_is_no_reason_to_fail(
    mailer: SmtpMailer, mail_server: RealMailServer
) -> None:
    await mailer.send(mail_message())
    await mail_server.stop()
    await mail_server.start()
    await mailer.send(mail_message())
    assert len(mail_server.messages) == 2


async def test_a_server_that_is_down_is_asked_again(mailer: SmtpMailer, mail_server: RealMailServer) -> None:
    await mail_server.stop()
    with pytest.raises(MailDeferred, match="Error connecting"):
        await mailer.send(mail_message())
    await mail_server.start()
    await mailer.send(mail_message())
    assert len(mail_server.messages) == 1


async def test_a_slow_server_does_not_hold_us(mailer: SmtpMailer, mail_server: RealMailServer) -> None:
    mail_server.delay = 2
    begun = asyncio.get_running_loop().time()
    with pytest.raises(MailDeferred):
        await mailer.send(mail_message())
    assert asyncio.get_running_loop().time() - begun < 1.5
    mail_server.delay = 0
    await mailer.send(mail_message())


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("550 5.1.1 No such user", MailRefused),
        ("553 5.1.3 Bad address", MailRefused),
        ("450 4.2.1 Greylisted, try later", MailDeferred),
        ("451 4.3.0 Local error", MailDeferred),
        ("530 5.7.0 Authentication required", MailDeferred),
    ],
)
async def test_a_recipient_is_refused_for_good_or_for_now(
    mailer: SmtpMailer, mail_server: RealMailServer, answer: str, error: type[Exception]
) -> None:
    mail_server.refusals["nobody@example.com"] = answer
    with pytest.raises(error) as caught:
        await mailer.send(mail_message("nobody@example.com"))
    assert str(caught.value) == answer
    await mailer.send(mail_message())
    assert [received.recipients for received in mail_server.messages] == [("ada@example.com",)]


@pytest.mark.parametrize(
    ("answer", "error"),
    [("421 4.7.0 Too many", MailDeferred), ("452 Full", MailDeferred), ("554 5.7.1 Spam", MailRefused)],
)
async def test_a_message_is_refused_for_good_or_for_now(
    mailer: SmtpMailer, mail_server: RealMailServer, answer: str, error: type[Exception]
) -> None:
    mail_server.data_answers.append(answer)
    with pytest.raises(error):
        await mailer.send(mail_message())
    assert mail_server.messages == []
    await mailer.send(mail_message())
    assert len(mail_server.messages) == 1


async def test_an_address_beyond_ascii_needs_a_server_that_takes_it(
    mailer: SmtpMailer, mail_server: RealMailServer
) -> None:
    to = "jürgen@example.com"
    message = MailMessage("<1@x>", "a@shop.example", to, b"Subject: Test\r\n\r\nHello\r\n", needs_utf8=True)
    await mailer.send(message)
    assert mail_server.messages[0].recipients == (to,)
    old = RealMailServer()
    await old.start()
    strict = SmtpMailer(parse_server(old.url))
    with pytest.raises(MailRefused, match="SMTPUTF8"):
        await strict.send(message)
    await strict.send(mail_message())
    assert len(old.messages) == 1
    await strict.aclose()
    await old.stop()


# ---- encryption and log-in


@pytest.fixture(params=["smtps", "starttls"])
async def strict(request: pytest.FixtureRequest, certificate: Certificate) -> AsyncIterator[tuple[RealMailServer, str]]:
    """A server that speaks TLS and wants a log-in, and the address without the log-in."""
    at_once = request.param == "smtps"
    later = {"tls_context": certificate[1], "require_starttls": True, "auth_required": True}
    options = {"auth_require_tls": False} if at_once else later
    server = RealMailServer({"authenticator": authenticate, **options}, tls=certificate[1] if at_once else None)
    await server.start()
    yield server, "smtps" if at_once else "smtp"
    await server.stop()


async def test_a_log_in_over_tls(strict: tuple[RealMailServer, str], certificate: Certificate) -> None:
    server, scheme = strict
    quoted = f"{scheme}://{USER.replace('@', '%40')}:{PASSWORD.replace('@', '%40').replace('/', '%2F')}"
    mailer = SmtpMailer(parse_server(f"{quoted}@localhost:{server.port}"), ca_file=certificate[0])
    await mailer.check()
    await mailer.send(mail_message())
    await mailer.aclose()
    assert len(server.messages) == 1


async def test_a_wrong_password_is_ours_to_correct(
    strict: tuple[RealMailServer, str], certificate: Certificate
) -> None:
    server, scheme = strict
    mailer = SmtpMailer(parse_server(f"{scheme}://me:wrong@localhost:{server.port}"), ca_file=certificate[0])
    for ask in (mailer.check(), mailer.send(mail_message())):
        with pytest.raises(MailDeferred, match="does not let us in: 535"):
            await ask
    assert server.messages == []


async def test_a_certificate_that_nobody_vouches_for_is_refused(strict: tuple[RealMailServer, str]) -> None:
    server, scheme = strict
    mailer = SmtpMailer(parse_server(f"{scheme}://me:secret@localhost:{server.port}"))
    with pytest.raises(MailDeferred, match=r"(?i)certificate"):
        await mailer.send(mail_message())
    assert server.messages == []


async def test_a_password_never_leaves_this_machine_in_the_clear(mail_server: RealMailServer) -> None:
    here = MailServer("127.0.0.1", mail_server.port, tls=False, user="me", password="secret")
    assert not here.must_encrypt
    assert not MailServer("mail.example", 25, tls=False).must_encrypt
    assert MailServer("mail.example", 25, tls=False, user="me", password="secret").must_encrypt
    elsewhere = dataclasses.replace(here, host="127.1")  # leads here, and is not known to
    assert elsewhere.must_encrypt
    mailer = SmtpMailer(elsewhere)
    with pytest.raises(MailDeferred, match="STARTTLS"):
        await mailer.send(mail_message())
    assert mail_server.messages == []


# ---- the setting


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://localhost", MailServer("localhost", 587, tls=False)),
        ("smtp://mail.example:25", MailServer("mail.example", 25, tls=False)),
        ("smtps://mail.example", MailServer("mail.example", 465, tls=True)),
        ("smtps://a%40b.example:p%2Fw@mail.example:4650", MailServer("mail.example", 4650, True, "a@b.example", "p/w")),
        ("smtp://[::1]:25", MailServer("::1", 25, tls=False)),
    ],
)
def test_a_server_is_one_address(url: str, server: MailServer) -> None:
    assert parse_server(url) == server


@pytest.mark.parametrize(
    "url", ["mail.example", "http://mail.example", "smtp://", "smtp://mail.example/x", "smtp://m:99999", "smtp://:p@m"]
)
def test_anything_else_is_no_server(url: str) -> None:
    with pytest.raises(ValueError, match=r"mail server"):
        parse_server(url)
