"""`coffret worker`: runs only the jobs, for installations that separate them from requests."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Iterator

import structlog
import uvicorn
from starlette.applications import Starlette

from coffret.command_error import CommandError
from coffret.commands.environment import database_url, read_settings
from coffret.commands.installation import connect_database
from coffret.http import health
from coffret.services import Container, make_sandbox, open_container, run_background_tasks
from store.core.telemetry import tracing
from store.core.telemetry.logs import set_up_logging
from store.migrations.migrate import migrate

log = structlog.get_logger(__name__)


async def work() -> None:
    """Run jobs until SIGINT or SIGTERM. Raises CommandError without REDIS_URL."""
    settings = read_settings()
    if not settings.redis_url:
        raise CommandError(
            "A separate worker needs the cart store of the servers: set REDIS_URL. Without Redis, `coffret serve` runs the jobs."
        )
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with database_url(settings) as url:
        settings.database_url = url
        set_up_logging(settings)
        tracing.start_tracing(settings.service_name)
        async with connect_database(url) as db:
            await migrate(db)
        async with (
            open_container(settings, make_sandbox(settings)) as container,
            run_background_tasks(container),
            health_server(container),
        ):
            log.info("working")
            await stop.wait()
    log.info("stopped")


class WorkerServer(uvicorn.Server):
    """A server that does not handle signals: `work` does."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def health_server(container: Container) -> AsyncIterator[None]:
    """Serve the health endpoints if COFFRET_WORKER_PORT is set."""
    settings = container.services.settings
    if settings.worker_port is None:
        yield
        return
    app = Starlette(routes=health.ROUTES)
    app.state.container = container
    server = WorkerServer(
        uvicorn.Config(app, lifespan="off", log_config=None, server_header=False, proxy_headers=False)
    )
    serving = asyncio.create_task(server.serve([open_listener(settings.host, settings.worker_port)]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def open_listener(host: str, port: int) -> socket.socket:
    """A listening socket. Raises CommandError if the port is unavailable."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host} port {port}: {error.strerror}. Choose another with COFFRET_WORKER_PORT."
        ) from None
