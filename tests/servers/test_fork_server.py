"""A process of the fork server is to a test what a program started by itself is."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.servers.fork_server import ForkedProcess, ForkServer, fork_server

MODULE = "tests.servers.process_under_test"
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nowhere", "LANG": "C.UTF-8", "TZ": "Pacific/Auckland"}


def start(folder: pathlib.Path, *arguments: str) -> ForkedProcess:
    """Start one that writes into files of a folder."""
    with (folder / "output").open("wb") as output, (folder / "errors").open("wb") as errors:
        return fork_server.start(MODULE, *arguments, environment=ENVIRONMENT, stdout=output, stderr=errors)


def findings(folder: pathlib.Path) -> dict[str, Any]:
    """What it has found, once it has told all."""
    deadline = time.monotonic() + 60
    while not (folder / "errors").read_text().startswith("told\n"):
        assert time.monotonic() < deadline, (folder / "errors").read_text()
        time.sleep(0.02)
    found: dict[str, Any] = json.loads((folder / "output").read_text())
    return found


@pytest.mark.parametrize("arguments", [[], ["goodbye"], ["two", "words"]])
def test_it_finds_and_ends_as_one_started_by_itself(tmp_path: pathlib.Path, arguments: list[str]) -> None:
    code = start(tmp_path, *arguments).wait(60)
    itself = subprocess.run(
        [sys.executable, "-m", MODULE, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, env=ENVIRONMENT, start_new_session=True, check=False,
    )  # fmt: skip
    assert code == itself.returncode == (1 if arguments else 3)
    assert (tmp_path / "errors").read_text() == itself.stderr
    assert findings(tmp_path)["same"] == json.loads(itself.stdout)["same"]


def test_no_two_draw_the_same_numbers(tmp_path: pathlib.Path) -> None:
    drawn = set()
    for _ in range(3):
        start(tmp_path).wait(60)
        drawn.add(findings(tmp_path)["number"])
    assert len(drawn) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_lives_until_a_signal(tmp_path: pathlib.Path, number: signal.Signals) -> None:
    process = start(tmp_path, "sleep")
    findings(tmp_path)
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(number)
    assert process.wait(60) == process.poll() == process.returncode == -number
    process.kill()  # of one that has ended, and whose number may be another's


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_what_waits_for_it_keeps_no_stream_open(tmp_path: pathlib.Path) -> None:
    process = start(tmp_path, "sleep")
    findings(tmp_path)
    parent = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1]
    streams = {str(pathlib.Path(f"/proc/{parent}/fd/{number}").readlink()) for number in range(3)}
    process.kill()
    process.wait(60)
    assert streams == {os.devnull}


def test_a_server_that_ends_is_told_with_its_exit_status(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    server = ForkServer()
    for _ in range(2):
        with (tmp_path / "output").open("wb") as output, pytest.raises(RuntimeError, match="exit status 1"):
            server.start(MODULE, environment=ENVIRONMENT, stdout=output, stderr=output)
    server.close()
