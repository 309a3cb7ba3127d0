"""A real S3-speaking server for tests, which checks signatures, on a free port, gone when the tests end."""

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from tests.servers.ports import free_port
from tests.servers.redis_servers import until

BUCKET, KEY, SECRET, REGION = "shop-files", "coffret", "a secret that only the shop knows", "eu-west-3"


class S3Server:
    """One server process over a folder, with an empty bucket in it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.port = free_port()
        self._folder = folder
        (folder / BUCKET).mkdir(parents=True)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until it answers."""
        command = [sys.executable, "-m", "nanio", "serve", "--data-dir", str(self._folder), "--region", REGION,
                   "--host", "127.0.0.1", "--port", str(self.port), "--no-access-log"]  # fmt: skip
        environment = {**os.environ, "NANIO_ACCESS_KEY": KEY, "NANIO_SECRET_KEY": SECRET}
        with (self._folder.parent / "log").open("ab") as log:
            self._process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        until(lambda: httpx.get(self.url).status_code > 0, httpx.TransportError)

    def stop(self) -> None:
        """End it, and wait until it is gone."""
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._process = None


@pytest.fixture
def s3(tmp_path: pathlib.Path) -> Iterator[S3Server]:
    """A running server."""
    server = S3Server(tmp_path / "s3" / "data")
    server.start()
    try:
        yield server
    finally:
        server.stop()
