"""The file store over S3: the same as in a folder, signed, below its prefix; and what is told when it is away."""

import asyncio
import pathlib

import httpx
import pytest

from coffret.commands import doctor
from coffret.commands.findings import CheckState
from schema.core.errors import Unavailable
from store.core.files import open_store
from store.core.settings import Settings
from tests.servers.s3_servers import BUCKET, KEY, REGION, SECRET, S3Server


def settings_of(s3: S3Server, **others: str) -> Settings:
    """The settings of an installation that keeps its files there."""
    given = {
        "files_url": f"s3://{BUCKET}/coffret/one",
        "files_endpoint": s3.url,
        "files_region": REGION,
        "files_access_key_id": KEY,
        "files_secret_access_key": SECRET,
    }
    return Settings.model_validate({**given, **others})


async def test_files_are_kept_in_a_bucket(s3: S3Server, tmp_path: pathlib.Path) -> None:
    files, other = (open_store(settings_of(s3, files_url=f"s3://{BUCKET}/coffret/{name}")) for name in ("one", "other"))
    assert await files.get("media/a/full.webp") is None
    picture = bytes(range(256)) * 30_000
    await files.put("media/a/full.webp", b"an older one", "image/webp")
    await files.put("media/a/full.webp", picture, "image/webp")
    assert await files.get("media/a/full.webp") == picture
    assert await other.get("media/a/full.webp") is None  # another prefix is another store
    source = tmp_path / "source"
    source.write_bytes(picture)
    await files.put_file("exports/a.csv", source, "text/csv")
    stored = await files.open("exports/a.csv")
    assert stored is not None
    assert b"".join([chunk async for chunk in stored.chunks]) == picture
    await asyncio.gather(*(files.put(f"media/many/{n}.webp", bytes([n % 256]), "image/webp") for n in range(60)))
    kept = {file.key: file.size async for file in files.list_files("media/many")}
    assert kept == {f"media/many/{n}.webp": 1 for n in range(60)}
    await files.delete(*kept, "media/never-there.webp")
    assert [file.key async for file in files.list_files("media")] == ["media/a/full.webp"]
    assert [file async for file in other.list_files("media")] == []
    async with httpx.AsyncClient(base_url=s3.url) as stranger:
        assert (await stranger.get(f"/{BUCKET}/coffret/one/media/a/full.webp")).status_code == 403
    assert (await doctor.check_files(settings_of(s3))).state is CheckState.OK


async def test_a_wrong_key_and_a_store_that_is_gone_are_outages(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.core.files.RETRIES", 0)
    wrong = settings_of(s3, files_secret_access_key="another secret")
    for doing in (open_store(wrong).put("a", b"x", "text/plain"), open_store(wrong).get("a")):
        with pytest.raises(Unavailable, match="The file store"):
            await doing
    found = await doctor.check_files(wrong)
    assert (found.state, "another secret" in found.message) == (CheckState.FAILED, False)
    files = open_store(settings_of(s3))
    await files.put("a", b"x", "text/plain")
    s3.stop()
    for doing in (files.put("a", b"y", "text/plain"), files.get("a"), files.delete("a")):
        with pytest.raises(Unavailable, match="The file store"):
            await doing
    with pytest.raises(Unavailable):
        _ = [file async for file in files.list_files("media")]
    s3.start()
    assert await files.get("a") == b"x"
