"""Processes of Coffret for tests, forked from one that has imported all of it: to import it takes seconds of processor time.

`python -m tests.servers.fork_server DESCRIPTOR` is that process. It has no threads and no event loop. A forked process runs
the module that was asked for as `python -m` does, with its own arguments, environment, output and session.
"""

import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import IO, Any

IMPORTED = (  # without coffret.cli, which runs as `__main__`
    "coffret.app", "coffret.commands.clock", "coffret.commands.demo", "coffret.commands.listen",
    "coffret.commands.prepare", "coffret.commands.serve", "coffret.commands.welcome", "coffret.commands.worker",
    "coffret.demo_shop", "coffret.sandbox", "coffret.start_page", "rich.console", "typer",
)  # fmt: skip
LENGTH_BYTES = 8


class ForkedProcess:
    """A process of a fork server, with the methods of `subprocess.Popen` that tests call."""

    def __init__(self, arguments: list[str], pid: int, status: IO[bytes]) -> None:
        self.args = arguments
        self.returncode: int | None = None
        self._status = status
        self._lock = threading.Lock()
        self.pid = pid

    def __del__(self) -> None:
        self._status.close()

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        return self._read_status(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended. Raises TimeoutExpired."""
        code = self._read_status(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        with self._lock:
            if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
                with self._status:
                    self.returncode = os.waitstatus_to_exitcode(int(self._status.readline()))
            return self.returncode


class ForkServer:
    """The server of this test process. It starts with the first process that is asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(
        self, module: str, *arguments: str, environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes]
    ) -> ForkedProcess:
        """Run a module in a session of its own, without input. Raises RuntimeError if the server has ended."""
        request = json.dumps({"module": module, "arguments": arguments, "environment": dict(environment)}).encode()
        reader, writer = os.pipe()
        status = os.fdopen(reader, "rb", buffering=0)
        try:
            with self._lock, open(os.devnull, "rb") as stdin:  # noqa: PTH123 - of a name of os
                server = self._connect()
                descriptors = [stdin.fileno(), stdout.fileno(), stderr.fileno(), writer]
                socket.send_fds(server, [len(request).to_bytes(LENGTH_BYTES, "big")], descriptors)
                server.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # as if it had ended a moment later
        finally:
            os.close(writer)
        if not (number := status.readline()):
            status.close()
            raise RuntimeError(self._ending())
        return ForkedProcess([module, *arguments], int(number), status)

    def close(self) -> None:
        """End the server. Its processes go on."""
        if self._process is not None and self._socket is not None:
            self._socket.close()
            self._process.wait()
            self._socket = self._process = None

    def _ending(self) -> str:
        """Why no process was started."""
        assert self._process is not None
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "The fork server runs, but has started no process."
        return f"The fork server has ended with exit status {code}. Its standard error says why."

    def _connect(self) -> socket.socket:
        if self._socket is None:
            self._socket, other = socket.socketpair()
            with other:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __name__, str(other.fileno())],
                    stdin=subprocess.DEVNULL, pass_fds=[other.fileno()], start_new_session=True,
                )  # fmt: skip
        return self._socket


fork_server = ForkServer()


def serve(requests: socket.socket) -> dict[str, Any] | None:
    """Fork for each request. Returns the request in the new process, and None in the server when no more will come."""
    assert threading.active_count() == 1
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that watch
    while True:
        head, descriptors, _, _ = socket.recv_fds(requests, LENGTH_BYTES, 4)
        if not head:
            return None
        request: dict[str, Any] = json.loads(_read(requests, int.from_bytes(head, "big")))
        *streams, status = descriptors
        if os.fork() == 0:
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(
                signal.SIGINT, signal.default_int_handler
            )  # ignored where a shell ran the tests in the background
            _fork_and_watch(streams, status)
            _become(request, streams)
            return request
        for descriptor in descriptors:
            os.close(descriptor)


def _read(requests: socket.socket, length: int) -> bytes:
    read = bytearray()
    while len(read) < length:
        read += requests.recv(length - len(read))
    return bytes(read)


def _fork_and_watch(streams: list[int], status: int) -> None:
    """Return in a new process only. This one tells its number and how it ends, and ends."""
    pid = os.fork()
    if pid == 0:
        os.close(status)
        return
    for descriptor in streams:
        os.close(descriptor)
    _let_go_of_streams()
    os.setsid()
    os.write(status, b"%d\n" % pid)
    os.write(status, b"%d\n" % os.waitpid(pid, 0)[1])
    os._exit(0)


def _let_go_of_streams() -> None:
    """Let whoever reads the output of the tests see its end, though this process still waits."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)


def _become(request: dict[str, Any], streams: list[int]) -> None:
    """Take over the session, streams and environment that a program started by itself would have."""
    os.setsid()
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115 - of a descriptor
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # type: ignore[misc]  # noqa: SIM115
        2, "w", buffering=1, errors="backslashreplace", closefd=False
    )
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv[1:] = request["arguments"]


def main() -> None:
    """Serve, or run a module in a process of its own."""
    for name in IMPORTED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    if request is not None:
        runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
