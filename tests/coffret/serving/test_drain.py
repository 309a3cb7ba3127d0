"""Told to stop, a server that is busy ends what it was asked, and cuts nobody off."""

import contextlib
import http.client
import pathlib
import signal
import threading

import pytest

from tests.servers.coffret_programs import Program
from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisServer

CLIENTS = 12
PATH = "/ecommerce/shop/customization/"
"""A page of no shop: it asks the database, and tells so."""


class Crowd:
    """Clients that ask one thing after the other, on one connection each, or on a new one each time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.answered = 0
        self.cut: list[str] = []
        self.busy = threading.Event()
        self._lock = threading.Lock()
        self.threads = [threading.Thread(target=self._ask, args=(kept,)) for kept in [True, False] * (CLIENTS // 2)]

    def _ask(self, keep_alive: bool) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while True:
            if connection.sock is None:
                try:
                    connection.connect()
                except OSError:  # nobody listens any more, which is how it ends for everybody
                    return
            try:
                connection.request("GET", PATH)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException) as error:
                with self._lock:
                    self.cut.append(repr(error))
                connection.close()
                continue
            with self._lock:
                self.answered += 1
                if self.answered > 20 * CLIENTS:
                    self.busy.set()
            if not keep_alive:
                connection.close()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.redis)])
def test_nobody_is_cut_off(data: pathlib.Path, workers: int, request: pytest.FixtureRequest) -> None:
    shared = {}
    if workers > 1:
        server: RedisServer = request.getfixturevalue("redis_server")
        shared = {"REDIS_URL": server.url}
    program = Program(data, free_port(), "--workers", str(workers), **shared)
    with contextlib.ExitStack() as stack:
        stack.callback(program.process.kill)
        program.wait_until_ready()
        crowd = Crowd(program.port)
        for thread in crowd.threads:
            thread.start()
        assert crowd.busy.wait(120)
        assert program.end(signal.SIGTERM) == 0, program.read_output()
        for thread in crowd.threads:
            thread.join(60)
    assert crowd.cut == []
    assert "Traceback" not in program.read_output()
