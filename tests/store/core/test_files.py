"""The file store, in a folder and in memory: what is put is got, whole, and nowhere else."""

import asyncio
import errno
import os
import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.core.errors import Unavailable
from store.core.files import MAX_KEY_LENGTH, FileStore, UnusableStore, open_store
from store.core.settings import Settings


def list_files(folder: pathlib.Path) -> list[str]:
    """Every file below a folder."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


@pytest.fixture(params=["folder", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> FileStore:
    """A store of each kind that needs no server."""
    return FileStore.in_memory() if request.param == "memory" else FileStore.in_folder(tmp_path / "files")


async def test_files_are_kept_replaced_listed_and_let_go(files: FileStore) -> None:
    assert await files.get("media/1/a.webp") is None
    await files.put("media/1/a.webp", b"first", "image/webp")
    await files.put("media/1/a.webp", b"second, longer", "image/webp")
    await files.put("media/10/b.webp", b"", "image/webp")
    await files.put("documents/c.pdf", b"%PDF", "application/pdf")
    assert await files.get("media/1/a.webp") == b"second, longer"
    assert await files.get("media/10/b.webp") == b""
    assert sorted([(file.key, file.size) async for file in files.list_files("media")]) == [
        ("media/1/a.webp", 14),
        ("media/10/b.webp", 0),
    ]
    assert [file.key async for file in files.list_files("media/1")] == ["media/1/a.webp"]  # a folder, not a beginning
    await files.delete("media/1/a.webp", "media/1/never-there.webp", "media/10/b.webp")
    assert [file async for file in files.list_files("media")] == []
    assert await files.get("documents/c.pdf") == b"%PDF"


async def test_a_file_of_the_disk_is_stored_and_read_in_pieces(files: FileStore, tmp_path: pathlib.Path) -> None:
    content = bytes(range(256)) * 50_000
    source = tmp_path / "source"
    source.write_bytes(content)
    assert await files.open("exports/a.csv") is None
    await files.put("exports/a.csv", b"before", "text/csv")
    await files.put_file("exports/a.csv", source, "text/csv")
    file = await files.open("exports/a.csv")
    assert file is not None
    assert file.size == len(content)
    assert b"".join([chunk async for chunk in file.chunks]) == content == await files.get("exports/a.csv")


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "..", "a/../b", "a/..", "./a", "a//b", "a/", ".hidden", "a/.b", "a\\b", "a b", "a\n", "é", "%2e%2e/a",
     "a" * (MAX_KEY_LENGTH + 1)],
)  # fmt: skip
async def test_what_is_no_key_touches_nothing(tmp_path: pathlib.Path, key: str) -> None:
    files = FileStore.in_folder(tmp_path / "files")
    for doing in (files.put(key, b"x", "text/plain"), files.get(key), files.delete(key)):
        with pytest.raises(ValueError, match="no key"):
            await doing
    assert list_files(tmp_path) == []


@given(st.text(max_size=30) | st.text("ab0./_-", max_size=30))
def test_no_key_leads_out_of_the_folder(tmp_path_factory: pytest.TempPathFactory, key: str) -> None:
    folder, expected = tmp_path_factory.mktemp("store"), [f"files/{key}"]
    try:
        asyncio.run(FileStore.in_folder(folder / "files").put(key, b"x", "text/plain"))
    except ValueError:
        expected = []
    assert list_files(folder) == expected


async def test_a_reader_sees_a_file_whole_while_it_is_written_again(tmp_path: pathlib.Path) -> None:
    files, old, new = FileStore.in_folder(tmp_path), b"o" * 400_000, b"n" * 700_000
    await files.put("a", old, "text/plain")

    async def write() -> None:
        for content in (new, old) * 10:
            await files.put("a", content, "text/plain")

    writing = asyncio.create_task(write())
    seen = set()
    while not writing.done():
        seen.add(await files.get("a"))
    await writing
    assert seen <= {old, new}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the disk was told to keep for good, as paths."""
    told: list[str] = []
    real = os.fsync

    def noting(descriptor: int) -> None:
        told.append(str(pathlib.Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr("store.core.files.os.fsync", noting)
    return told


async def test_what_was_put_outlasts_a_power_cut(tmp_path: pathlib.Path, settled: list[str]) -> None:
    """A file's bytes, then its name in every folder on the way: a row that names it is written next."""
    files = FileStore.in_folder(tmp_path)
    await files.put("media/1/a.webp", b"pixels", "image/webp")
    assert settled == [str(tmp_path / path) for path in ("media/1/a.webp", "media/1", "media", "")]
    settled.clear()
    await files.put("documents/1.pdf", b"%PDF", "application/pdf", lasting=False)
    await FileStore.in_memory().put("a", b"x", "text/plain")
    assert settled == []


async def test_a_disk_that_does_not_keep_is_an_outage(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("store.core.files.os.fsync", failing)
    with pytest.raises(Unavailable):
        await FileStore.in_folder(tmp_path).put("a", b"x", "text/plain")


async def test_what_a_folder_cannot_do_is_an_outage(tmp_path: pathlib.Path) -> None:
    files = FileStore.in_folder(tmp_path)
    (tmp_path / "taken").write_bytes(b"a file where a folder is wanted")
    with pytest.raises(Unavailable, match="The file store cannot be reached"):
        await files.put("taken/a", b"x", "text/plain")


def test_the_folder_is_below_the_data_directory_unless_another_is_named(tmp_path: pathlib.Path) -> None:
    assert open_store(Settings(data_dir=tmp_path, files_url="")).place == str(tmp_path / "files")
    assert (tmp_path / "files").is_dir()
    assert open_store(Settings(files_url=f"file://{tmp_path}/other")).place == f"{tmp_path}/other"
    assert open_store(Settings(files_url="s3://bucket/some/prefix")).place == "s3://bucket/some/prefix"
    assert open_store(Settings(files_url="gs://bucket")).place == "gs://bucket"


@pytest.mark.parametrize(
    "url", ["ftp://host/x", "s3://key:secret@bucket", "s3://bucket?a=b", "/srv/files", "memory:///"]
)
def test_an_address_that_is_none_is_no_setting(url: str) -> None:
    with pytest.raises(ValueError, match=r"FILES_URL|files_url"):
        Settings(files_url=url)


def test_a_store_that_cannot_be_opened_says_why(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(UnusableStore, match="Account must be specified"):
        open_store(Settings(files_url="az://container"))
    (tmp_path / "file").touch()
    with pytest.raises(UnusableStore):
        open_store(Settings(files_url=f"file://{tmp_path}/file/below"))
