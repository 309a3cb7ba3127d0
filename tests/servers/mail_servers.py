"""A real mail server on this machine, that can be down, slow or unwilling."""

import asyncio
import email
import pathlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.servers.programs import needed

USER, PASSWORD = "mailer@shop.example", "p@ss/word"


@dataclass(frozen=True)
class Received:
    """A message that the server has answered for."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes

    @property
    def message(self) -> EmailMessage:
        """The message as a mail program reads it."""
        return email.message_from_bytes(self.data, _class=EmailMessage, policy=policy.default)


@dataclass
class RealMailServer:
    """A mail server on a port of its own. It keeps its port when it is stopped and started again."""

    options: dict[str, Any] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    messages: list[Received] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    """Recipient -> what it is answered."""
    data_answers: list[str] = field(default_factory=list)
    """What the next messages are answered, instead of being taken."""
    delay: float = 0
    connections: int = 0
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0
    on_taken: Callable[[], None] | None = None
    _server: asyncio.Server | None = None
    _open: set[asyncio.BaseTransport] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Its address, as a setting."""
        return f"smtp://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Listen."""
        loop = asyncio.get_running_loop()

        def connected() -> SMTP:
            self.connections += 1
            return SMTP(self, loop=loop, hostname="mail.test", **self.options)

        self._server = await loop.create_server(connected, "127.0.0.1", self.port, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Hang up on everybody."""
        if self._server is not None:
            self._server.close()
            for transport in list(self._open):
                transport.close()
            self._open.clear()
            await asyncio.sleep(0.01)
            self._server = None

    async def handle_EHLO(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, _envelope: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        """Somebody says who it is."""
        session.host_name = hostname
        if server.transport is not None:
            self._open.add(server.transport)
        return responses

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        """Somebody names a recipient."""
        if address in self.refusals:
            return self.refusals[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd's name
        """Somebody hands a message over."""
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.delay)
        self.at_once -= 1
        if self.data_answers:
            return self.data_answers.pop(0)
        assert isinstance(envelope.content, bytes)
        self.messages.append(Received(envelope.mail_from or "", tuple(envelope.rcpt_tos), envelope.content))
        if self.on_taken is not None:
            self.on_taken()
        return "250 OK"


def authenticate(_server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
    """Let one user in."""
    good = isinstance(data, LoginPassword) and data == LoginPassword(USER.encode(), PASSWORD.encode())
    return AuthResult(success=good, handled=False)


@pytest.fixture
async def mail_server() -> AsyncIterator[RealMailServer]:
    """A mail server that takes everything, until a test says otherwise."""
    server = RealMailServer({"enable_SMTPUTF8": True})
    await server.start()
    yield server
    await server.stop()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, ssl.SSLContext]:
    """A certificate that nobody else believes, and a server's context with it."""
    openssl = needed(shutil.which("openssl"), "openssl")
    folder = tmp_path_factory.mktemp("certificate")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(cert)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return cert, context
