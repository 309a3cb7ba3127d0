"""From a rendered message to what a mail server is handed: headers, both parts, and the envelope."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from email_validator import EmailNotValidError

from store.core.mail_server import checked
from store.mail.mailer import Letter, Refused
from store.mail.render import Rendered

LONGEST_NAME = 120
LONGEST_SUBJECT = 250


@dataclass(frozen=True, slots=True)
class Envelope:
    """Who writes to whom, and when."""

    message_id: str
    """With its angle brackets."""
    sender: str
    sender_name: str
    reply_to: str
    """Empty: replies go to the sender."""
    recipient: str
    language: str
    written_on: dt.datetime


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A file that comes with a message."""

    file_name: str
    content_type: str
    content: bytes


def letter(envelope: Envelope, rendered: Rendered, enclosures: Sequence[Enclosure] = ()) -> Letter:
    """A message with an HTML and a text part, and with files. Raises Refused for a recipient that is no address."""
    recipient, plain = _address(envelope.recipient)
    message = EmailMessage(policy.SMTP if plain else policy.SMTPUTF8)
    message["Message-ID"] = envelope.message_id
    message["Date"] = format_datetime(envelope.written_on)
    message["From"] = _mailbox(envelope.sender, _one_line(envelope.sender_name, LONGEST_NAME))
    message["To"] = _mailbox(recipient)
    if reply_to := _plain(envelope.reply_to):
        message["Reply-To"] = _mailbox(reply_to)
    message["Subject"] = _one_line(rendered.subject, LONGEST_SUBJECT)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(rendered.text, cte="quoted-printable")
    message.add_alternative(rendered.html, subtype="html", cte="quoted-printable")
    for file in enclosures:
        kind, _, subtype = file.content_type.partition("/")
        message.add_attachment(file.content, kind, subtype, filename=_one_line(file.file_name, LONGEST_NAME))
    message["Content-Language"] = envelope.language  # last: a part takes over what it finds of Content-…
    return Letter(envelope.message_id, envelope.sender, recipient, message.as_bytes(), needs_utf8=not plain)


def _address(given: str) -> tuple[str, bool]:
    """An address as it is sent, and whether any server takes it: only a local part beyond ASCII asks for SMTPUTF8."""
    try:
        found = checked(given)
    except EmailNotValidError as error:
        raise Refused(f"{given!r} is no address: {error}") from None
    return (found.ascii_email, True) if found.ascii_email else (found.normalized, False)


def _plain(given: str) -> str:
    """An address that any server takes; empty for every other: no letter is held up because nobody can answer it."""
    try:
        address, plain = _address(given)
    except Refused:
        return ""
    return address if plain else ""


def _mailbox(address: str, name: str = "") -> Address:
    local, _, domain = address.rpartition("@")
    return Address(name, local, domain)


def _one_line(text: str, longest: int) -> str:
    """A text as a header takes it: what cannot be printed, line ends above all, becomes a space.

    What looks like an encoded word (`=?utf-8?q?…?=`) would be decoded by the e-mail package, line ends included.
    """
    words = "".join(c if c.isprintable() else " " for c in text).replace("=?", "= ?").split()
    return " ".join(words)[:longest].rstrip()
