"""Files that only their owner reads."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from coffret.private_files import write_once


def test_the_first_of_many_writers_counts(tmp_path: Path) -> None:
    file = tmp_path / "key"

    def write(number: int) -> bytes:
        write_once(file, f"{number:05}".encode() * 10_000)
        return file.read_bytes()

    with ThreadPoolExecutor(16) as pool:
        seen = set(pool.map(write, range(64)))
    (content,) = seen
    assert len(content) == 50_000, "none has seen a part"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]
