"""From a rendered message to one that is sent: headers that stay what they are, whatever somebody is called."""

import datetime as dt
import email
from dataclasses import replace
from email import policy
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.validation.languages import LANGUAGES
from store.core.mail_server import parse_sender
from store.mail.mailer import MailMessage, MailRefused
from store.mail.message import Envelope, build_message
from store.mail.render import RenderedMail
from tests.store.mail.examples import KINDS, example

WRITTEN = dt.datetime(2026, 8, 23, 10, 0, tzinfo=dt.UTC)
ENVELOPE = Envelope(
    message_id="<5697aa3a-92b1-4303-82d8-e5d8baf28ba9@shop.example>",
    sender="orders@shop.example",
    sender_name="Maison Valserène",
    reply_to="bonjour@valserene.example",
    recipient="ada@example.com",
    language="fr",
    written_on=WRITTEN,
)
HEADERS = {
    *("Message-ID", "Date", "From", "To", "Reply-To", "Subject", "Content-Language"),
    *("Auto-Submitted", "MIME-Version", "Content-Type"),
}


def read(message: MailMessage) -> EmailMessage:
    """A message as a mail program reads it."""
    return email.message_from_bytes(message.data, _class=EmailMessage, policy=policy.default)


def part(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_message_reads_back_as_it_was_rendered(kind: str, language: str) -> None:
    rendered = example(kind, language)
    sent = build_message(replace(ENVELOPE, language=language), rendered)
    message = read(sent)
    assert message.defects == []
    assert message.get_content_type() == "multipart/alternative"
    assert [p.get_content_type() for p in message.iter_parts()] == ["text/plain", "text/html"]
    assert part(message, "plain") == rendered.text
    assert part(message, "html").rstrip("\n") == rendered.html.rstrip("\n")
    assert message["Subject"].strip() == " ".join(
        rendered.subject.split()
    )  # a line of 78 characters is folded before it
    assert message["Content-Language"] == language
    lines = sent.data.split(b"\r\n")
    assert max(map(len, lines)) <= 998
    assert b"\n" not in sent.data.replace(b"\r\n", b"")
    sent.data.decode("ascii")


def test_who_writes_to_whom_and_when() -> None:
    sent = build_message(ENVELOPE, RenderedMail("Hello", "<p>Hello</p>", "Hello\n"))
    message = read(sent)
    assert set(message.keys()) == HEADERS
    assert message["From"] == "Maison Valserène <orders@shop.example>"
    assert (message["To"], message["Reply-To"]) == ("ada@example.com", "bonjour@valserene.example")
    assert message["Message-ID"] == ENVELOPE.message_id == sent.message_id
    assert parsedate_to_datetime(message["Date"]) == WRITTEN
    assert message["Auto-Submitted"] == "auto-generated"
    assert (sent.sender, sent.recipient, sent.needs_utf8) == ("orders@shop.example", "ada@example.com", False)


@pytest.mark.parametrize("reply_to", ["", "by telephone", "a@b, c@d", "jürgen@shop.example"])
def test_who_cannot_be_answered_writes_nevertheless(reply_to: str) -> None:
    sent = build_message(replace(ENVELOPE, reply_to=reply_to), RenderedMail("Hello", "<p>x</p>", "x\n"))
    assert set(read(sent).keys()) == HEADERS - {"Reply-To"}
    sent.data.decode("ascii")


@pytest.mark.parametrize(
    "name",
    [
        "Shop\r\nBcc: victim@example.com",
        "Shop\nBcc: victim@example.com\n\n<script>",
        'Shop" <evil@example.com>, "',
        "Shop\u2028Bcc: victim@example.com",
        "=?utf-8?q?Shop=0D=0ABcc:_victim=40example.com?=",
        "x" * 5000,
        "é" * 5000,
        "\x00\x07\x1b[31m",
        "",
        "  ",
        "名前, the shop; (comment) <a@b>",
    ],
)
def test_no_name_becomes_a_header(name: str) -> None:
    message = read(
        build_message(replace(ENVELOPE, sender_name=name), RenderedMail(f"Order at {name}", "<p>x</p>", "x\n"))
    )
    assert set(message.keys()) == HEADERS
    assert "Bcc" not in message
    (address,) = message["From"].addresses
    assert address.addr_spec == "orders@shop.example"
    assert len(message["To"].addresses) == 1


@given(name=st.text(max_size=200), subject=st.text(max_size=400))
def test_no_text_breaks_a_message(name: str, subject: str) -> None:
    sent = build_message(replace(ENVELOPE, sender_name=name), RenderedMail(subject, "<p>x</p>", "x\n"))
    message = read(sent)
    assert set(message.keys()) == HEADERS
    assert [a.addr_spec for a in message["From"].addresses] == ["orders@shop.example"]
    assert part(message, "plain") == "x\n"
    assert max(map(len, sent.data.split(b"\r\n"))) <= 998


@pytest.mark.parametrize(
    "to",
    [
        "",
        "ada",
        "ada@",
        "ada@example.com\r\nBcc: victim@example.com",
        "ada@example.com, eve@example.com",
        "Ada <ada@example.com>",
        "ada@exa mple.com",
        "<ada@example.com>",
    ],
)
def test_what_is_no_address_gets_no_message(to: str) -> None:
    with pytest.raises(MailRefused, match="is no address"):
        build_message(replace(ENVELOPE, recipient=to), RenderedMail("Hello", "", ""))


def test_a_domain_beyond_ascii_goes_to_any_server() -> None:
    sent = build_message(replace(ENVELOPE, recipient="ada@bücher.example"), RenderedMail("Hello", "<p>x</p>", "x\n"))
    assert (sent.recipient, sent.needs_utf8) == ("ada@xn--bcher-kva.example", False)
    sent.data.decode("ascii")


def test_a_local_part_beyond_ascii_says_what_it_needs() -> None:
    sent = build_message(replace(ENVELOPE, recipient="jürgen@bücher.example"), RenderedMail("Hello", "<p>x</p>", "x\n"))
    assert (sent.recipient, sent.needs_utf8) == ("jürgen@bücher.example", True)
    assert read(sent)["To"] == "jürgen@bücher.example"


@pytest.mark.parametrize(
    ("address", "sender"),
    [
        ("a@shop.example", ("", "a@shop.example")),
        ("The Shops <a@shop.example>", ("The Shops", "a@shop.example")),
        ("a@bücher.example", ("", "a@xn--bcher-kva.example")),
    ],
)
def test_the_sender_is_an_address_with_a_name_or_without(address: str, sender: tuple[str, str]) -> None:
    assert parse_sender(address) == sender


@pytest.mark.parametrize("address", ["", "shop", "jürgen@shop.example", "a@b@c"])
def test_anything_else_is_no_sender(address: str) -> None:
    with pytest.raises(ValueError, match="sender"):
        parse_sender(address)
