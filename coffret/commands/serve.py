"""`coffret serve`: everything in one process, or several processes on one port.

Little is imported here: the database is started first, and the program is imported while it comes up.
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

import structlog
import uvicorn
from starlette.applications import Starlette
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from coffret.commands.command_error import CommandError
from coffret.commands.environment import database_address, export
from coffret.commands.gc_tuning import collect_seldom, spare_what_is_there
from coffret.serving.single_server import alone, tell
from coffret.serving.timeouts import Patience, ServerConfig, allow_files
from store.core.logs import set_up_logging
from store.core.settings import Settings

log = structlog.get_logger(__name__)


def serve(settings: Settings) -> None:
    """Serve until interrupted or terminated. Embedded PostgreSQL is started before, and stopped after, all else."""
    with stopping_in_order(), alone(settings) as held, listening(settings) as listener:
        settings.port = listener.getsockname()[1]
        tell(held, f"{os.getpid()} {settings.public_url}")
        with database_address(settings, meanwhile=whole_program) as url:
            settings.database_url = url
            export(settings)
            set_up_logging(settings, calm=True)
            from coffret.commands.prepare import prepare
            from coffret.commands.welcome import show
            from coffret.http.metrics import shared_metrics

            demo = asyncio.run(prepare(settings))
            with shared_metrics(settings), announced(settings, lambda: show(settings, demo)):
                run(settings, listener)


def whole_program() -> None:
    """Import everything, which takes about as long as the database takes to come up."""
    for name in ("coffret.commands.prepare", "coffret.app"):
        importlib.import_module(name)


def run(settings: Settings, listener: socket.socket) -> None:
    """Run the application in this process, or in as many as wanted."""
    allow_files()
    config = ServerConfig(
        "coffret.commands.serve:application",
        Patience.of(settings),
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
        server = uvicorn.Server(config)
        with contextlib.suppress(SystemExit):
            server.run(sockets=[listener])
        failed = not server.started
    if failed:
        raise CommandError("The application did not start; the log above says why. `coffret doctor` may know more.")


class Supervisor(Multiprocess):
    """Several processes on one port. Told to stop it listens no more itself: else clients would be let in whom nobody serves."""

    def terminate_all(self) -> None:
        """Stop the processes."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def application() -> Starlette:
    """The application of one process, made from the environment that `serve` has prepared."""
    from coffret.app import create_app
    from store.core import tracing

    collect_seldom()  # a worker process does not come by the command line
    settings = Settings()
    set_up_logging(settings, calm=True)
    tracing.begin(settings.service_name)
    end_with_parent()
    made = create_app(settings)
    spare_what_is_there()
    return made


def end_with_parent() -> None:
    """In a worker process, stop when the process that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


@contextlib.contextmanager
def stopping_in_order() -> Iterator[None]:
    """Ctrl-C and a termination signal unwind what was started, and are then no error."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except KeyboardInterrupt:
        log.info("stopped")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """The socket that the application answers on. Taken first: if it can't be had, nothing else needs to start."""
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
def announced(settings: Settings, announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once the application answers that it is ready, unless it stops before."""
    over = threading.Event()

    def watch() -> None:
        while not over.is_set() and not ready(settings):
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


def ready(settings: Settings) -> bool:
    """Whether the application says that it can serve."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104 - asked, not bound
    connection = http.client.HTTPConnection(host, settings.port, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
