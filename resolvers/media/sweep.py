"""Deletes files of failed uploads, which have no row."""

import datetime as dt

import structlog

from resolvers.core.services import Services
from store.media.media import FOLDER, known_media, parse_media_path

log = structlog.get_logger(__name__)
UNCLAIMED = dt.timedelta(days=7)
"""Minimum age of a file to be deleted: far longer than any upload takes, and long enough to notice a mistake."""
BATCH = 500


async def sweep_media(services: Services) -> None:
    """Delete old files that no picture references. Files with other names are not touched."""
    # The file store uses real time, not the movable clock.
    before = services.clock.now() - services.clock.ahead - UNCLAIMED
    old = [file.key async for file in services.files.list_files(FOLDER) if file.changed_on < before]
    for start in range(0, len(old), BATCH):
        await _delete_unclaimed(services, old[start : start + BATCH])


async def _delete_unclaimed(services: Services, keys: list[str]) -> None:
    owners = {key: shown[0] for key in keys if (shown := parse_media_path(key)) is not None}
    async with services.db.sessions() as db:
        there = await known_media(db, set(owners.values()))
    lost = [key for key, uuid in owners.items() if uuid not in there]
    if lost:
        await services.files.delete(*lost)
        log.info("files of failed uploads were deleted", files=len(lost))
