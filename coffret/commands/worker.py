"""`coffret worker`: the jobs alone, for installations that run them apart from the requests."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Iterator

import structlog
import uvicorn
from starlette.applications import Starlette

from coffret.commands.command_error import CommandError
from coffret.commands.environment import database_address, read_settings
from coffret.commands.installation import connected
from coffret.http import health
from coffret.services import House, background, make_sandbox, open_house
from store.core import tracing
from store.core.logs import set_up_logging
from store.migrations.migrate import migrate

log = structlog.get_logger(__name__)


async def work() -> None:
    """Run jobs until interrupted or terminated."""
    settings = read_settings()
    if not settings.redis_url:
        raise CommandError(
            "A worker of its own needs the cart store of the servers: set REDIS_URL. Without it `coffret serve` runs the jobs."
        )
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with database_address(settings) as url:
        settings.database_url = url
        set_up_logging(settings)
        tracing.begin(settings.service_name)
        async with connected(url) as db:
            await migrate(db)
        async with open_house(settings, make_sandbox(settings)) as house, background(house), watched(house):
            log.info("working")
            await stop.wait()
    log.info("stopped")


class Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take none."""
        yield


@contextlib.asynccontextmanager
async def watched(house: House) -> AsyncIterator[None]:
    """Answer those who watch the worker, where the settings say so."""
    settings = house.services.settings
    if settings.worker_port is None:
        yield
        return
    app = Starlette(routes=health.ROUTES)
    app.state.house = house
    server = Server(uvicorn.Config(app, lifespan="off", log_config=None, server_header=False, proxy_headers=False))
    serving = asyncio.create_task(server.serve([listener(settings.host, settings.worker_port)]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def listener(host: str, port: int) -> socket.socket:
    """A socket to answer on; a CommandError where it cannot be had."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {host} port {port}: {error.strerror}. Choose another with COFFRET_WORKER_PORT."
        ) from None
