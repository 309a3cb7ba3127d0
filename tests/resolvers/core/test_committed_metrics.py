"""Metrics that rise when a transaction has committed."""

import contextlib

from prometheus_client import CollectorRegistry, Counter
from sqlalchemy import text

from resolvers.core.transaction import count_if_committed
from store.database.db import Database


async def test_a_metric_rises_with_the_commit_only(database: Database) -> None:
    metric = Counter("things", "Things.", registry=CollectorRegistry())

    async def begin(*, fails: bool) -> None:
        async with database.sessions() as db, db.begin():
            await (await db.connection()).execute(text("SELECT 1"))
            count_if_committed(db, metric)
            async with db.begin_nested():
                count_if_committed(db, metric)
            assert metric._value.get() == before
            if fails:
                raise LookupError

    for fails, rises in ((True, 0), (False, 2), (True, 0)):
        before = metric._value.get()
        with contextlib.suppress(LookupError):
            await begin(fails=fails)
        assert metric._value.get() == before + rises
