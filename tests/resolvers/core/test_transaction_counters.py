"""Counters that rise when a transaction has committed."""

import contextlib

from prometheus_client import CollectorRegistry, Counter
from sqlalchemy import text

from resolvers.core.transaction import count_if_committed
from store.database.db import Database


async def test_a_counter_rises_with_the_commit_only(database: Database) -> None:
    counter = Counter("things", "Things.", registry=CollectorRegistry())

    async def begin(*, fails: bool) -> None:
        async with database.sessions() as db, db.begin():
            await (await db.connection()).execute(text("SELECT 1"))
            count_if_committed(db, counter)
            async with db.begin_nested():
                count_if_committed(db, counter)
            assert counter._value.get() == before
            if fails:
                raise LookupError

    for fails, rises in ((True, 0), (False, 2), (True, 0)):
        before = counter._value.get()
        with contextlib.suppress(LookupError):
            await begin(fails=fails)
        assert counter._value.get() == before + rises
