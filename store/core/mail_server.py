"""Where mail is handed over: the mail server's address, as one setting."""

import ipaddress
from dataclasses import dataclass
from email.utils import parseaddr
from urllib.parse import unquote, urlsplit

from email_validator import EmailNotValidError, ValidatedEmail, validate_email

PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """A mail server. `tls`: from the first byte on; otherwise STARTTLS where it is offered, or `must_encrypt`."""

    host: str
    port: int
    tls: bool
    user: str = ""
    password: str = ""

    @property
    def must_encrypt(self) -> bool:
        """Whether a server without STARTTLS is refused: a password leaves this machine encrypted, or not at all."""
        return bool(self.user) and not self.tls and not self._is_here

    @property
    def _is_here(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def read_server(url: str) -> MailServer:
    """A mail server from its address: `smtps://user:password@host:465` or `smtp://host:25`.

    Characters such as `@` and `/` in a user name or password are written `%40` and `%2F`. ValueError says what is wrong.
    """
    parts = urlsplit(url)
    if parts.scheme not in PORTS:
        raise ValueError("A mail server is written smtp://… or smtps://…")
    try:
        port = parts.port or PORTS[parts.scheme]
    except ValueError:
        raise ValueError("The mail server's port is no port.") from None
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("A mail server is a host with a port, and nothing behind it.")
    if parts.password and not parts.username:
        raise ValueError("The mail server has a password without a user.")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port, parts.scheme == "smtps", user, password)


def checked(address: str) -> ValidatedEmail:
    """An address taken apart. Raises EmailNotValidError when it is none; whether somebody has it, nobody knows before."""
    return validate_email(address, check_deliverability=False, globally_deliverable=False, test_environment=True)


def read_sender(given: str) -> tuple[str, str]:
    """A name, which may be empty, and an address out of `Name <address>` or `address`. ValueError when it is none."""
    name, address = parseaddr(given)
    try:
        found = checked(address).ascii_email
    except EmailNotValidError as error:
        raise ValueError(f"The sender of mail is no address: {error}") from None
    if found is None:
        raise ValueError("The sender of mail has letters in its local part that not every mail server takes.")
    return name, found
