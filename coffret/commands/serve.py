"""`coffret serve`: serves requests and runs the jobs, in one process or in several on one port.

This module imports little: the rest of the program is imported while the database starts.
"""

import asyncio
import contextlib
import http.client
import importlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import structlog
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from coffret.command_error import CommandError
from coffret.commands.environment import database_url, export_settings
from coffret.commands.gc_tuning import collect_rarely, freeze_loaded_objects
from coffret.serving.listener import HANDSHAKE_SECONDS, GracefulServer, hold_new_clients
from coffret.serving.single_server import data_directory_lock, write_lock_file
from coffret.serving.timeouts import ConnectionLimits, ServerConfig, raise_file_limit
from store.core.settings import Settings
from store.core.telemetry.logs import set_up_logging

log = structlog.get_logger(__name__)


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Embedded PostgreSQL starts first and stops last."""
    with (
        graceful_shutdown() as raise_if_interrupted,
        data_directory_lock(settings) as held,
        listening_socket(settings) as listener,
    ):
        settings.port = listener.getsockname()[1]
        write_lock_file(held, f"{os.getpid()} {settings.public_url}")
        with database_url(settings, meanwhile=lambda: import_everything(settings)) as url:
            raise_if_interrupted()
            settings.database_url = url
            export_settings(settings)
            set_up_logging(settings, quiet=True)
            from coffret.commands.prepare import prepare
            from coffret.commands.welcome import print_welcome
            from coffret.http.metrics import shared_metrics

            demo = asyncio.run(prepare(settings))
            raise_if_interrupted()
            with shared_metrics(settings), announce_when_ready(settings, lambda: print_welcome(settings, demo)):
                run(settings, listener)


def import_everything(settings: Settings) -> None:
    """Import the application. This takes about as long as the database needs to start."""
    for name in ("coffret.commands.prepare", "coffret.app"):
        importlib.import_module(name)
    if settings.development:  # imported later otherwise, when the database is ready
        for name in ("coffret.commands.demo", "coffret.demo_shop", "coffret.sandbox", "coffret.start_page"):
            importlib.import_module(name)


def run(settings: Settings, listener: socket.socket) -> None:
    """Run the application in `settings.workers` processes; one runs in this process.

    Raises CommandError if it does not start.
    """
    raise_file_limit()
    config = ServerConfig(
        "coffret.commands.serve:build_application",
        ConnectionLimits.from_settings(settings),
        factory=True,
        ws="none",
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=settings.stop_seconds,
    )
    if settings.workers > 1:
        supervisor = Supervisor(config, sockets=[listener])
        supervisor.run()
        failed = any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes)
    else:
        server = GracefulServer(config)
        with contextlib.suppress(SystemExit):
            server.run(sockets=[listener])
        failed = not server.started
    if failed:
        raise CommandError("The application did not start; the log above says why. `coffret doctor` may show more.")


class Supervisor(Multiprocess):
    """Runs several processes on one port."""

    def terminate_all(self) -> None:
        """Close the listening sockets too: otherwise the kernel would accept clients that no process serves."""
        for listener in self.sockets:
            hold_new_clients(listener)
        time.sleep(HANDSHAKE_SECONDS)
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def build_application() -> Starlette:
    """Create the application of one process, from the environment that `serve` has prepared."""
    collect_rarely()  # a worker process does not run coffret.cli.main, and imports the application here
    from coffret.app import create_app
    from store.core.telemetry import tracing

    settings = Settings()
    set_up_logging(settings, quiet=True)
    tracing.start_tracing(settings.service_name)
    end_with_parent()
    made = create_app(settings)
    freeze_loaded_objects()
    return made


def end_with_parent() -> None:
    """In a worker process, stop when the parent process ends for any reason."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


@contextlib.contextmanager
def graceful_shutdown() -> Iterator[Callable[[], None]]:
    """Turn SIGINT and SIGTERM into an orderly shutdown without an error.

    Python drops what is raised inside a finalizer, an interrupt too. The function that is yielded raises it again.
    """
    interrupted = threading.Event()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    def raise_if_interrupted() -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield raise_if_interrupted
    except KeyboardInterrupt:
        # An interrupt inside `exec` of a text, as imports run for dataclasses, makes Python exit by SIGINT although it
        # is caught here. The next `exec` clears that.
        exec("")  # noqa: S102 - runs nothing
        log.info("stopped")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def listening_socket(settings: Settings) -> Iterator[socket.socket]:
    """The bound socket.

    It is opened first, so that an unavailable port fails before anything starts. Raises CommandError.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise CommandError(
                f"Cannot listen on {settings.host} port {settings.port}: {error.strerror}. "
                f"Stop what uses it, or choose another: PORT={settings.port + 1 if settings.port < 65535 else 8000}"
            ) from None
        listener.listen(2048)
        listener.set_inheritable(True)
        yield listener


@contextlib.contextmanager
def announce_when_ready(settings: Settings, announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once the application is ready. Does nothing if the block ends earlier."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set() and not is_ready(settings):
            time.sleep(0.05)
        if not over.is_set():
            announce()

    watcher = threading.Thread(target=watch, name="announce", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def is_ready(settings: Settings) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - compared, not bound
    connection = http.client.HTTPConnection(host, settings.port, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
