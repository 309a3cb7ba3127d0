"""Deletes the files of exports after their time, and those that no export has."""

import datetime as dt
from uuid import UUID

import structlog

from resolvers.core.services import Services
from schema.export import ExportState
from store.export.exports import FOLDER, ROW_LIFE, expired_exports, files_in_use, old_exports

log = structlog.get_logger(__name__)
UNCLAIMED = dt.timedelta(days=1)
"""Minimum age of a file without an export to be deleted: longer than any upload takes."""
BATCH = 200


async def prune(services: Services) -> int:
    """Delete files of exports that are due, exports that ended long ago, and files that no export has; returns the number of
    files.
    """
    count = await _expire(services)
    await _forget(services)
    return count + await _delete_unclaimed(services)


async def _expire(services: Services) -> int:
    now, count = services.clock.now(), 0
    while True:
        async with services.db.sessions() as db, db.begin():
            rows = await expired_exports(db, now, BATCH)
            await services.files.delete(*(row.file_key for row in rows))
            for row in rows:
                row.state, row.size = ExportState.EXPIRED, None
        count += len(rows)
        if len(rows) < BATCH:
            return count


async def _forget(services: Services) -> None:
    before = services.clock.now() - ROW_LIFE
    async with services.db.sessions() as db, db.begin():
        for row in await old_exports(db, before, BATCH):
            await db.delete(row)


async def _delete_unclaimed(services: Services) -> int:
    # The file store uses real time, not the movable clock.
    before = services.clock.now() - services.clock.ahead - UNCLAIMED
    old = {file.key: _uuid_of(file.key) async for file in services.files.list_files(FOLDER) if file.changed_on < before}
    if not old:
        return 0
    async with services.db.sessions() as db:
        there = await files_in_use(db, [uuid for uuid in old.values() if uuid is not None])
    lost = [key for key, uuid in old.items() if uuid is not None and uuid not in there]
    await services.files.delete(*lost)
    log.info("files without an export were deleted", files=len(lost))
    return len(lost)


def _uuid_of(key: str) -> UUID | None:
    """The export of a file; None for a file with another name, which is not touched."""
    try:
        return UUID(key.removeprefix(f"{FOLDER}/").partition(".")[0])
    except ValueError:
        return None
