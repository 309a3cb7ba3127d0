"""The address of the mail server, as one setting."""

import ipaddress
from dataclasses import dataclass
from email.utils import parseaddr
from urllib.parse import unquote, urlsplit

from email_validator import EmailNotValidError, ValidatedEmail, validate_email

PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server. `tls`: TLS from the first byte; otherwise STARTTLS if it is offered, or required by
    `must_encrypt`.
    """

    host: str
    port: int
    tls: bool
    user: str = ""
    password: str = ""

    @property
    def must_encrypt(self) -> bool:
        """True if a server without STARTTLS is refused: passwords leave this machine encrypted only."""
        return bool(self.user) and not self.tls and not self._is_local

    @property
    def _is_local(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_server(url: str) -> MailServer:
    """Parse `smtps://user:password@host:465` or `smtp://host:25`.

    In user names and passwords, write `@` as `%40` and `/` as `%2F`. ValueError says what is wrong.
    """
    parts = urlsplit(url)
    if parts.scheme not in PORTS:
        raise ValueError("A mail server is written smtp://… or smtps://…")
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        raise ValueError("The mail server's port is not a port number.") from None
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("A mail server is a host with a port, without a path or a query.")
    if parts.password and not parts.username:
        raise ValueError("The mail server has a password without a user.")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port, parts.scheme == "smtps", user, password)


def parse_address(address: str) -> ValidatedEmail:
    """Parse an address without checking that its mailbox exists. EmailNotValidError if it is malformed."""
    return validate_email(address, check_deliverability=False, globally_deliverable=False, test_environment=True)


def parse_sender(text: str) -> tuple[str, str]:
    """The name and the address of `Name <address>` or `address`; the name may be empty.

    ValueError if the address is malformed or has a local part beyond ASCII.
    """
    name, address = parseaddr(text)
    try:
        address_text = parse_address(address).ascii_email
    except EmailNotValidError as error:
        raise ValueError(f"The sender of mail is no address: {error}") from None
    if address_text is None:
        raise ValueError("The sender's local part has letters that not every mail server accepts.")
    return name, address_text
