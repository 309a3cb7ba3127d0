"""The test suite of the provider's SDK for Python against the sandbox: the only judge that was not written here.

Which of its tests pass is listed in `provider_suites/python.txt`. The others need calls that the sandbox does not model,
or objects of one account at the live provider.
"""

import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from tests.clients.provider_suites.served_sandbox import served_sandbox
from tests.clients.provider_suites.suites import expected, run_python
from tests.servers.programs import needed

PINNED = pathlib.Path(__file__).parent / "provider_suites" / "requirements.txt"
KEPT = pathlib.Path(sys.prefix) / ".provider-suites"
"""Where the suite is kept between runs."""


def pip() -> list[str]:
    """How to run pip here."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    return [uv, "tool", "run", "pip"] if uv else [shutil.which("pip") or "pip"]


def download() -> str | None:
    """The folder of the suite; None if the package index cannot be reached. The pinned hash is checked."""
    name = next(line for line in PINNED.read_text().splitlines() if not line.startswith("#")).split()[0]
    folder = KEPT / name.replace("==", "-")
    if not folder.exists():
        KEPT.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as temporary:
            command = [*pip(), "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--require-hashes"]
            try:
                subprocess.run([*command, "--dest", temporary, "--requirement", str(PINNED)], check=True, timeout=300)
            except (subprocess.SubprocessError, OSError):
                return None
            with tarfile.open(next(pathlib.Path(temporary).glob("*.tar.gz"))) as archive:
                archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and newer
                archive.extractall(temporary)  # noqa: S202 - the hash of the archive is pinned
            pathlib.Path(temporary, folder.name).rename(folder)
    return str(folder)


def test_the_suite_passes_as_far_as_it_is_listed() -> None:
    folder = needed(download(), "the provider's suite", "the package index has to be reachable")
    with served_sandbox() as origin:
        found = run_python(pathlib.Path(folder), origin)
    listed = expected("python")
    assert sorted(listed - found.passed) == [], "these passed before"
    assert sorted(found.passed - listed) == [], "these pass now: add them to provider_suites/python.txt"
    assert len(found.run) > len(listed) > 100
