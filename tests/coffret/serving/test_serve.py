"""`coffret serve` as its users start and end it: real processes, real signals, nothing left behind."""

import contextlib
import http.client
import json
import os
import pathlib
import pty
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from coffret.commands.serve import graceful_shutdown
from tests.servers.coffret_programs import READY_WITHIN, Program, ProgramWithImports, alive, gone, processes
from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisServer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ends_in_order_with_everything_it_started(data: pathlib.Path, number: signal.Signals) -> None:
    program = ProgramWithImports(data, free_port())
    program.wait_until_ready()
    assert program.ask("/healthz") == program.ask("/readyz") == 200
    started = processes(data.parent)
    assert len(started) >= 2
    assert program.end(number) == 0, program.read_output()
    assert processes(data.parent) == []
    assert "Traceback" not in program.read_output()
    assert not (data / "postgres/postmaster.pid").exists()


def test_starts_again_after_it_was_killed(data: pathlib.Path) -> None:
    program = Program(data, free_port())
    program.wait_until_ready()
    started = processes(data.parent)
    assert program.end(signal.SIGKILL) == -signal.SIGKILL
    assert gone(*started), "the database goes when its only user is gone"
    again = Program(data, program.port)
    again.wait_until_ready()
    assert again.ask("/readyz") == 200
    assert again.end(signal.SIGTERM) == 0
    assert processes(data.parent) == []


def test_starts_again_after_all_was_killed(data: pathlib.Path) -> None:
    program = Program(data, free_port())
    program.wait_until_ready()
    for pid in (*processes(data.parent), program.process.pid):
        os.kill(pid, signal.SIGKILL)
    program.process.wait()
    again = Program(data, program.port)
    again.wait_until_ready()
    assert again.ask("/readyz") == 200
    assert again.end(signal.SIGTERM) == 0


def test_a_signal_while_it_starts_ends_it_too(new_data: pathlib.Path) -> None:
    program = ProgramWithImports(new_data, free_port())
    deadline = time.monotonic() + READY_WITHIN
    while not (new_data / "postgres/postmaster.pid").exists():
        assert program.process.poll() is None, program.read_output()
        assert time.monotonic() < deadline, program.read_output()
        time.sleep(0.005)
    started = processes(new_data.parent)
    assert program.end(signal.SIGTERM) == 0, program.read_output()
    assert gone(*started)
    assert "Traceback" not in program.read_output()


def test_an_interrupt_in_a_finalizer_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finalizer:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(sys, "unraisablehook", lambda _unraisable: None)
    steps = []
    with graceful_shutdown() as raise_if_interrupted:
        Finalizer()
        steps.append("Python has dropped it")
        raise_if_interrupted()
        steps.append("it was lost")
    assert steps == ["Python has dropped it"]


def test_takes_a_free_port_and_tells_which(data: pathlib.Path) -> None:
    program = Program(data, 0)
    program.wait_until_ready()
    match = re.search(r"ready at http://127\.0\.0\.1:(\d+) ", program.read_output())
    assert match
    program.port = int(match[1])
    assert program.ask("/healthz") == 200
    assert program.end(signal.SIGTERM) == 0


def test_a_port_in_use_is_told_before_anything_starts(new_data: pathlib.Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        program = Program(new_data, other.getsockname()[1])
        assert program.process.wait(timeout=60) == 1
    assert re.search(
        rf"port {program.port}: Address already in use\. .* PORT={program.port + 1}", program.read_output()
    )
    assert "Traceback" not in program.read_output()
    assert not new_data.exists()


def test_two_on_one_data_directory_share_its_database(new_data: pathlib.Path) -> None:
    first, second = Program(new_data, free_port()), Program(new_data, free_port())
    first.wait_until_ready()
    second.wait_until_ready()
    assert first.end(signal.SIGTERM) == 0
    assert second.ask("/readyz") == 200
    started = processes(new_data.parent)
    assert second.end(signal.SIGTERM) == 0
    assert gone(*started)


def test_a_second_one_with_the_demo_data_is_refused_and_changes_nothing(demo_data: pathlib.Path) -> None:
    first = Program(demo_data, free_port(), COFFRET_DEMO="true")
    first.wait_until_ready()
    for port in (free_port(), first.port):
        second = Program(demo_data, port, COFFRET_DEMO="true")
        assert second.process.wait(timeout=READY_WITHIN) == 1
        said = " ".join(second.read_output().split())
        assert f"process {first.process.pid} at http://127.0.0.1:{first.port}" in said
        assert f"kill {first.process.pid}" in said
        assert "COFFRET_DATA_DIR=" in said
        assert "PORT=" in said
        assert "Traceback" not in said
    laid = Program(demo_data, free_port(), command="demo")
    assert laid.process.wait(timeout=READY_WITHIN) == 0
    assert f"demo.localhost:{first.port}/" in laid.read_output()
    assert first.ask("/") == 200
    assert f"demo.localhost:{first.port}" in first.read_output()
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    again = Program(demo_data, free_port(), COFFRET_DEMO="true")
    again.wait_until_ready()
    assert again.ask("/readyz") == 200
    assert again.end(signal.SIGTERM) == 0
    assert (demo_data / "serving").read_text() == ""


def test_the_banner_stays_the_last_thing_on_a_terminal(data: pathlib.Path) -> None:
    port, (terminal, end) = free_port(), pty.openpty()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COFFRET_")}
    settings = {"COFFRET_DATA_DIR": str(data), "PORT": str(port), "COFFRET_DEMO": "false"}
    process = subprocess.Popen(
        [sys.executable, "-m", "coffret.cli", "serve"], stdin=end, stdout=end, stderr=end, env=kept | settings
    )
    os.close(end)
    said = b""
    while b"token create" not in said:
        said += os.read(terminal, 4096)
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/api/nowhere/")
        assert connection.getresponse().status == 404
        connection.close()
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(OSError):  # the terminal's end is an error on Linux
        while more := os.read(terminal, 4096):
            said += more
    assert process.wait(timeout=60) == 0
    os.close(terminal)
    after = said.decode().rpartition("token create")[2]
    stalled = "coffret.http.stalls"  # which a busy machine makes it say
    assert [line for line in after.splitlines() if line.strip() and stalled not in line] == [], said.decode()
    assert b"COFFRET_LOG_LEVEL=INFO" in said
    assert b"coffret --help" in said


def test_several_processes_on_one_port(data: pathlib.Path, redis_server: RedisServer) -> None:
    program = Program(data, free_port(), "--workers", "2", REDIS_URL=redis_server.url)
    program.wait_until_ready()
    assert [program.ask("/readyz") for _ in range(8)] == [200] * 8
    assert program.end(signal.SIGINT) == 0, program.read_output()
    assert processes(data.parent) == []


def test_worker_processes_end_with_the_one_that_started_them(data: pathlib.Path, redis_server: RedisServer) -> None:
    program = Program(data, free_port(), "--workers", "2", REDIS_URL=redis_server.url)
    program.wait_until_ready()
    children = [process.pid for process in psutil.Process(program.process.pid).children()]
    assert len(children) >= 3
    program.end(signal.SIGKILL)
    assert gone(*children)
    again = Program(data, program.port)
    again.wait_until_ready()
    assert again.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_worker_beside_it_starts_and_ends_in_order(
    data: pathlib.Path, number: signal.Signals, redis_server: RedisServer
) -> None:
    server = Program(data, free_port(), REDIS_URL=redis_server.url)
    worker = Program(data, free_port(), command="worker", REDIS_URL=redis_server.url)
    server.wait_until_ready()
    worker.wait_until_ready(until="working")
    assert worker.end(number) == 0, worker.read_output()
    assert "Traceback" not in worker.read_output()
    assert server.ask("/readyz") == 200
    assert server.end(signal.SIGTERM) == 0
    assert processes(data.parent) == []


def test_a_worker_that_could_not_delete_the_carts_of_orders_does_not_start(new_data: pathlib.Path) -> None:
    worker = Program(new_data, free_port(), command="worker")
    assert worker.process.wait(timeout=60) == 1
    assert "set REDIS_URL" in worker.read_output()
    assert "Traceback" not in worker.read_output()


def paste(program: Program) -> tuple[int, dict[str, object]]:
    """Run the command that was printed, word by word as a shell takes it; answers status and body."""
    _, _, command = program.read_output().partition("\ncurl ")
    words = shlex.split(command.partition("\n\n")[0].replace("\\\n", ""))
    address = next(word for word in words if word.startswith("http://"))
    headers = dict(words[n + 1].split(": ", 1) for n, word in enumerate(words) if word == "-H")
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", program.port, timeout=10)) as connection:
        connection.request("POST", address.removeprefix(f"http://127.0.0.1:{program.port}"), words[-1], headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_the_command_it_prints_creates_a_cart_on_the_port_of_this_start(new_data: pathlib.Path) -> None:
    tokens = []
    for port in (free_port(), free_port()):
        program = Program(new_data, port, COFFRET_DEMO="true")
        program.wait_until_ready(until="-d '")
        assert "partner@demo.localhost" in program.read_output()
        status, cart = paste(program)
        assert status == 201, cart
        assert cart["items"]
        assert str(cart["funnel_url"]).startswith(f"http://demo.localhost:{port}/ecommerce/shop/customization/?cart=")
        tokens += re.findall(r"Token (coffret_\S+)'", program.read_output())
        assert program.end(signal.SIGTERM) == 0
    assert len(set(tokens)) == 2


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"COFFRET_WORKERS": "2"}, "More than one worker needs a shared cart store: set REDIS_URL"),
        ({"ENVIRONMENT": "production"}, "Production needs a secret of its own: set COFFRET_SECRET"),
        ({"PORT": "http"}, "PORT: must be a valid integer, not 'http'."),
        ({"ENVIRONMENT": "prod"}, "ENVIRONMENT: must be 'development' or 'production', not 'prod'."),
        ({"DATABASE_URL": "mysql://x"}, "DATABASE_URL must start with postgresql://"),
        (
            {"DATABASE_URL": "postgresql://a:hush@127.0.0.1:1/x"},
            "start PostgreSQL, or correct host and port in DATABASE_URL",
        ),
    ],
)
def test_what_it_cannot_work_with_is_told_in_a_sentence(
    new_data: pathlib.Path, environment: dict[str, str], said: str
) -> None:
    program = Program(new_data, free_port(), **environment)
    assert program.process.wait(timeout=60) == 1
    assert said in program.read_output()
    assert "Traceback" not in program.read_output()
    assert "hush" not in program.read_output()
    assert not (new_data / "postgres").exists()


def test_a_database_that_is_killed_comes_back_while_it_serves(data: pathlib.Path) -> None:
    """Requests meanwhile are told so; nothing is started by hand."""
    program = Program(data, free_port())
    program.wait_until_ready()
    killed = int((data / "postgres/postmaster.pid").read_text().splitlines()[0])
    os.kill(killed, signal.SIGKILL)
    deadline, told = time.monotonic() + 2 * READY_WITHIN, {503}
    while program.ask("/readyz") != 200 or alive(killed) or not (data / "postgres/postmaster.pid").exists():
        told.add(program.ask("/api/permissions/"))
        assert time.monotonic() < deadline, program.read_output()
        time.sleep(0.05)
    assert told <= {503, 401}
    assert program.ask("/api/permissions/") == 401
    assert program.end(signal.SIGTERM) == 0
    assert processes(data.parent) == []
