"""Builds the e-mail of a rendered message: headers, both parts, attachments and envelope."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from email import policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from email_validator import EmailNotValidError

from store.core.mail_server import parse_address
from store.mail.mailer import MailMessage, MailRefused
from store.mail.pictures import EnclosedPicture
from store.mail.render import RenderedMail

MAX_NAME_LENGTH = 120
MAX_SUBJECT_LENGTH = 250


@dataclass(frozen=True, slots=True)
class Envelope:
    """The sender, the recipient and the date of a message."""

    message_id: str
    """With its angle brackets."""
    sender: str
    sender_name: str
    reply_to: str
    """If empty, replies go to the sender."""
    recipient: str
    language: str
    written_on: dt.datetime


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to a message."""

    file_name: str
    content_type: str
    content: bytes


def build_message(
    envelope: Envelope,
    rendered: RenderedMail,
    attachments: Sequence[Attachment] = (),
    pictures: Sequence[EnclosedPicture] = (),
) -> MailMessage:
    """A message with an HTML part and its pictures, a text part and attachments. MailRefused if the recipient's address is malformed."""
    recipient, plain = _encode_address(envelope.recipient)
    message = EmailMessage(policy.SMTP if plain else policy.SMTPUTF8)
    message["Message-ID"] = envelope.message_id
    message["Date"] = format_datetime(envelope.written_on)
    message["From"] = _mailbox(envelope.sender, _one_line(envelope.sender_name, MAX_NAME_LENGTH))
    message["To"] = _mailbox(recipient)
    if reply_to := _ascii_address(envelope.reply_to):
        message["Reply-To"] = _mailbox(reply_to)
    message["Subject"] = _one_line(rendered.subject, MAX_SUBJECT_LENGTH)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(rendered.text, cte="quoted-printable")
    message.add_alternative(rendered.html, subtype="html", cte="quoted-printable")
    _enclose(message, pictures)
    for file in attachments:
        kind, _, subtype = file.content_type.partition("/")
        message.add_attachment(file.content, kind, subtype, filename=_one_line(file.file_name, MAX_NAME_LENGTH))
    message["Content-Language"] = envelope.language  # last: adding a part moves existing Content-… headers to it
    return MailMessage(envelope.message_id, envelope.sender, recipient, message.as_bytes(), needs_utf8=not plain)


def _enclose(message: EmailMessage, pictures: Sequence[EnclosedPicture]) -> None:
    """Put pictures beside the HTML part, which names them by their ids."""
    html = message.get_body(("html",))
    assert isinstance(html, EmailMessage), "the HTML part was added"
    for number, picture in enumerate(pictures, 1):
        name = f"picture-{number}.{picture.subtype}"
        html.add_related(
            picture.content, "image", picture.subtype, cid=f"<{picture.id}>", disposition="inline", filename=name
        )


def _encode_address(address: str) -> tuple[str, bool]:
    """An address as it is sent, and whether it is ASCII: only a local part beyond ASCII needs SMTPUTF8."""
    try:
        parsed = parse_address(address)
    except EmailNotValidError as error:
        raise MailRefused(f"{address!r} is no address: {error}") from None
    return (parsed.ascii_email, True) if parsed.ascii_email else (parsed.normalized, False)


def _ascii_address(raw: str) -> str:
    """The address in ASCII; empty if it is malformed or not ASCII, since a bad reply address must not block
    a message.
    """
    try:
        address, plain = _encode_address(raw)
    except MailRefused:
        return ""
    return address if plain else ""


def _mailbox(address: str, name: str = "") -> Address:
    local, _, domain = address.rpartition("@")
    return Address(name, local, domain)


def _one_line(text: str, longest: int) -> str:
    """A text for a header: unprintable characters, line ends above all, become spaces.

    The e-mail package would decode text in the form of an encoded word (`=?utf-8?q?…?=`), line ends included.
    """
    words = "".join(c if c.isprintable() else " " for c in text).replace("=?", "= ?").split()
    return " ".join(words)[:longest].rstrip()
