"""`coffret worker`: the jobs alone, for installations that run them apart from the requests."""

import asyncio
import signal

import structlog

from coffret.command_error import CommandError
from coffret.installation import connected, database_address, read_settings
from coffret.services import background, make_sandbox, open_house
from store.logs import set_up_logging
from store.migrate import migrate

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
        async with connected(url) as db:
            await migrate(db)
        async with open_house(settings, make_sandbox(settings)) as house, background(house):
            log.info("working")
            await stop.wait()
    log.info("stopped")
