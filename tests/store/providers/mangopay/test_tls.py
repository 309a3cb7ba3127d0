"""The certificate by which the provider knows us, against a server that asks for one."""

import asyncio
import base64
import json
import pathlib
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from store.core.clock import Clock
from store.providers.errors import TransientError
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.mangopay.tls import Certificate, api_base_url
from store.providers.money import MinorAmount

BACK = "https://shop.example/back"


def certificate(folder: pathlib.Path, name: str, *options: str) -> Certificate:
    """A certificate that nobody else believes, and its key."""
    files = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2",
            "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost",
            *(options or ("-nodes",)), "-out", str(files[0]), "-keyout", str(files[1]),
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return files


@dataclass
class Files:
    """The server's certificate, ours, and one of somebody else."""

    server: Certificate
    ours: Certificate
    another: Certificate
    locked: Certificate


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("provider-tls")
    return Files(
        server=certificate(folder, "localhost"),
        ours=certificate(folder, "shop"),
        another=certificate(folder, "stranger"),
        locked=certificate(folder, "locked", "-passout", "pass:secret"),
    )


@dataclass
class Server:
    """A provider that talks only to whom it knows by certificate."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    body: bytes = b""
    """What the last request said."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection: a token, then a wallet."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")
                lengths = [line.partition(":")[2] for line in lines if line.lower().startswith("content-length")]
                self.body = await reader.readexactly(int(lengths[0]) if lengths else 0)
                subject = writer.get_extra_info("peercert")["subject"]
                self.names.add(dict(part[0] for part in subject)["commonName"])
                self.asked.append(" ".join(lines[0].split()[:2]))
                token = b'{"access_token": "t", "token_type": "Bearer", "expires_in": 3600}'
                wallet = b'{"Id": "wlt_m_1", "Balance": {"Currency": "EUR", "Amount": 5}}'
                body = token if "oauth" in lines[0] else wallet
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest.fixture
async def server(files: Files) -> AsyncIterator[Server]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(files.ours[0]))
    context.load_cert_chain(*files.server)
    context.verify_mode = ssl.CERT_REQUIRED
    serving = Server()
    listening = await asyncio.start_server(serving.answer, "127.0.0.1", 0, ssl=context)
    async with listening:
        serving.port = listening.sockets[0].getsockname()[1]
        yield serving


@asynccontextmanager
async def connected(server: Server, known_by: Certificate | None) -> AsyncIterator[Mangopay]:
    """An adapter that is whoever the certificate says."""

    async def no_sleep(_: float) -> None: ...

    adapter = Mangopay(
        base_url=f"https://localhost:{server.port}",
        client_id="shop",
        api_key="key",
        hook_secret="s",
        certificate=known_by,
        clock=Clock(),
        sleep=no_sleep,
    )
    try:
        yield adapter
    finally:
        await adapter.aclose()


async def balance(server: Server, known_by: Certificate | None) -> MinorAmount:
    """Read a wallet."""
    async with connected(server, known_by) as adapter:
        return await adapter.get_balance("wlt_m_1", return_url=BACK)


async def test_every_call_shows_our_certificate_the_one_for_the_token_too(
    server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(files.server[0]))
    assert await balance(server, files.ours) == MinorAmount("EUR", 5)
    assert server.asked == ["POST /v2.01/oauth/token", "GET /v2.01/shop/wallets/wlt_m_1?ScaContext=USER_PRESENT"]
    assert server.names == {"shop"}


async def test_a_file_goes_over_the_wire_in_pieces_and_with_its_length(
    server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(files.server[0]))

    async def file() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b"0123456789" * 1_001

    async with connected(server, files.ours) as adapter:
        await adapter.add_page("user_m_1", "kyc_1", file, key=new_idempotency_key(), sent_at=Clock().now())
    assert server.asked[-1] == "POST /v2.01/shop/users/user_m_1/kyc/documents/kyc_1/pages"
    assert base64.b64decode(json.loads(server.body)["File"]) == b"0123456789" * 30_030


async def test_without_the_certificate_the_provider_knows_for_ours_nothing_is_served(
    server: Server, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(files.server[0]))
    for known_by in (None, files.another):
        with pytest.raises(TransientError):
            await balance(server, known_by)
    assert server.asked == []


async def test_a_provider_that_nobody_vouches_for_is_told_nothing(server: Server, files: Files) -> None:
    with pytest.raises(TransientError):
        await balance(server, files.ours)
    assert server.asked == []


async def test_files_that_cannot_be_used_are_said_to_be_so_at_once(files: Files, tmp_path: pathlib.Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    wrong = [
        (files.ours[0], files.another[1]),
        (empty, files.ours[1]),
        (tmp_path / "none", files.ours[1]),
        files.locked,
    ]
    for pair in wrong:
        with pytest.raises(ValueError, match="certificate for the provider"):
            await balance(Server(), pair)


@pytest.mark.parametrize(
    ("base_url", "called"),
    [
        ("https://api.mangopay.com", "https://api-mtls.mangopay.com"),
        ("https://api.mangopay.com/", "https://api-mtls.mangopay.com/"),
        ("https://api.sandbox.mangopay.com", "https://api-mtls.sandbox.mangopay.com"),
        ("https://api.sandbox.mangopay.com:443", "https://api-mtls.sandbox.mangopay.com:443"),
        ("https://api-mtls.mangopay.com", "https://api-mtls.mangopay.com"),
        ("https://api.mangopay.com.example", "https://api.mangopay.com.example"),
        ("http://127.0.0.1:8000/_provider", "http://127.0.0.1:8000/_provider"),
    ],
)
def test_those_who_have_a_certificate_call_hosts_of_their_own(base_url: str, called: str, files: Files) -> None:
    assert api_base_url(base_url, files.ours) == called
    assert api_base_url(base_url, None) == base_url
