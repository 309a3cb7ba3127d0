"""Files of pictures whose rows were never written, as an upload failed between the two."""

import datetime as dt

import structlog

from resolvers.core.context import Services
from store.media.media import FOLDER, known, read_path

log = structlog.get_logger(__name__)
UNCLAIMED = dt.timedelta(days=7)
"""How old a file is before it is let go: far older than any upload, and than a mistake that somebody needs to notice."""
BATCH = 500


async def sweep_media(services: Services) -> None:
    """Let go of old files that no picture names. Files that are not ours to name are left alone."""
    before = services.clock.now() - services.clock.ahead - UNCLAIMED  # the store goes by the real time
    old = [file.key async for file in services.files.kept(FOLDER) if file.changed_on < before]
    for start in range(0, len(old), BATCH):
        await _let_go(services, old[start : start + BATCH])


async def _let_go(services: Services, keys: list[str]) -> None:
    owners = {key: shown[0] for key in keys if (shown := read_path(key)) is not None}
    async with services.db.sessions() as db:
        there = await known(db, set(owners.values()))
    lost = [key for key, uuid in owners.items() if uuid not in there]
    if lost:
        await services.files.delete(*lost)
        log.info("files of uploads that failed are gone", files=len(lost))
