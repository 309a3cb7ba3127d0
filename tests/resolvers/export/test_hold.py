"""A worker holds its export while a large file is finished and stored, however long that takes."""

import asyncio
import datetime as dt
from typing import Any

import pytest

from resolvers.export import running
from resolvers.export.running import sweep, write_export
from store.export.exports import HOLD
from store.export.files import SheetFile
from tests.fixtures.tenants import Tenants
from tests.resolvers.export.exported import Exports


@pytest.mark.parametrize("step", ["store", "close"])
async def test_no_other_worker_takes_an_export_whose_file_takes_long(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    id = await exporting.create("a1", "orders", format="XLSX")
    services, loop, takeovers = tenants.services, asyncio.get_running_loop(), []
    put_file, close, now = services.files.put_file, SheetFile.close, services.clock.now

    async def wait() -> None:
        for passed in (HOLD * 0.7, HOLD * 1.4, HOLD * 2.1):
            monkeypatch.setattr(services.clock, "now", lambda passed=passed: now() + passed)
            await asyncio.sleep(0.3)
            takeovers.append(await sweep(services))
            await write_export(services, id)

    async def put_slowly(*file: Any) -> None:
        await wait()
        await put_file(*file)

    def close_slowly(file: SheetFile) -> None:
        asyncio.run_coroutine_threadsafe(wait(), loop).result()
        close(file)

    monkeypatch.setattr(running, "RENEWAL", dt.timedelta(milliseconds=20))
    if step == "store":
        monkeypatch.setattr(services.files, "put_file", put_slowly)
    else:
        monkeypatch.setattr(SheetFile, "close", close_slowly)
    await write_export(services, id)
    row = await tenants.row("export", id)
    assert (row["state"], row["tries"], takeovers) == ("completed", 1, [0, 0, 0])


async def test_an_export_that_another_worker_has_is_held_no_longer(
    tenants: Tenants, exporting: Exports, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await exporting.create("a1", "orders")
    put_file = tenants.services.files.put_file

    async def put_slowly(*file: Any) -> None:
        await exporting.tenants.execute("UPDATE export SET runner = gen_random_uuid() WHERE id = :id", id=id)
        await asyncio.sleep(0.2)
        await put_file(*file)

    monkeypatch.setattr(running, "RENEWAL", dt.timedelta(milliseconds=20))
    monkeypatch.setattr(tenants.services.files, "put_file", put_slowly)
    await write_export(tenants.services, id)
    assert (await tenants.row("export", id))["state"] == "running"
