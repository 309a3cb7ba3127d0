"""Supervises embedded PostgreSQL for one program: starts the server, and stops it after its last user.

`store.database.embedded_postgres` starts this file as a program in its own session, so that Ctrl-C in a terminal
reaches the user first and the database last. It writes one line of JSON (`{"socket_dir": …}` or `{"error": …}`) and
then waits for the end of its standard input, which comes however the user ends, even by `kill -9`.

The first supervisor that notices a killed server starts it again. Users of one directory hold a shared lock. A
supervisor that ends tries to take the exclusive lock, and only the last one gets it. Only the standard library is
imported, so that a start is fast.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import pwd
import select
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

VERSION = "18"
PORT = 5432
SOCKET_NAME = f".s.PGSQL.{PORT}"
LONGEST_SOCKET_PATH = 103
"""Maximum length of a socket's path in bytes: 107 on Linux, 103 on macOS."""
POLL_INTERVAL = 0.5
"""Seconds between two checks of the server."""
TIMEOUT = 30.0
"""Seconds for an orderly stop. After that the server is stopped at once and recovers at its next start."""

SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "cluster_name": "coffret",
    "max_connections": "300",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
}
FAST_SETTINGS = {"fsync": "off", "full_page_writes": "off"}


class CannotStartError(Exception):
    """The database cannot be started. The message says why and what to do."""


def server_environment() -> dict[str, str]:
    """The environment without the variables that influence PostgreSQL."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {**environment, "LC_ALL": "C"}


class ServerAccount:
    """The account that runs the server: the current one, or an ordinary account instead of root, which PostgreSQL
    refuses.
    """

    def __init__(self, data: pathlib.Path) -> None:
        self.uid = os.geteuid()
        self.groups: set[int] = set()
        if self.uid == 0:
            self.uid = data.stat().st_uid if data.exists() else pwd.getpwnam("nobody").pw_uid
            if self.uid == 0:
                raise CannotStartError(
                    f"{data} belongs to root, whom PostgreSQL refuses: chown -R nobody {shlex.quote(str(data))}"
                )
        self.changed = self.uid != os.geteuid()

    def run(self, *command: str | pathlib.Path, stdin: str = "") -> None:
        """Run one command to its end. CannotStartError if it fails."""
        done = subprocess.run(  # noqa: S603 - PostgreSQL's own programs
            command, input=stdin, capture_output=True, text=True, check=False, cwd="/",
            env=server_environment(), user=self.uid if self.changed else None,
            extra_groups=sorted(self.groups) if self.changed else None,
        )  # fmt: skip
        if done.returncode:
            raise CannotStartError(
                f"{shlex.join(map(str, command[:1]))} failed: {done.stderr.strip() or done.stdout.strip()}"
            )

    def start(self, *command: str | pathlib.Path, log: pathlib.Path) -> subprocess.Popen[bytes]:
        """Start a command that outlives this program and writes to the log."""
        with log.open("ab") as output:
            return subprocess.Popen(  # noqa: S603 - PostgreSQL's own programs
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", start_new_session=True,
                env=server_environment(), user=self.uid if self.changed else None,
                extra_groups=sorted(self.groups) if self.changed else None,
            )  # fmt: skip

    def make_private_directory(self, directory: pathlib.Path) -> None:
        """Create a private directory that belongs to the account."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.changed:
            os.chown(directory, self.uid, -1)

    def allow_traversal(self, directory: pathlib.Path) -> None:
        """Let the account reach a directory, such as one below root's home.

        Folders that are closed to others become traversable for their own group, and the server gets that group. No
        other account gains access.
        """
        for folder in (directory, *directory.parents):
            status = folder.stat()
            if self.changed and not status.st_mode & stat.S_IXOTH and status.st_uid != self.uid:
                self.groups.add(status.st_gid)
                if not status.st_mode & stat.S_IXGRP:
                    folder.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXGRP)

    def allow_reading(self, directory: pathlib.Path) -> None:
        """Let the account use PostgreSQL's own files if they were installed for root only."""
        if not self.changed or directory.stat().st_mode & stat.S_IROTH:
            return
        for path in (directory, *directory.rglob("*")):
            if not path.is_symlink():
                mode = stat.S_IMODE(path.stat().st_mode)
                path.chmod(mode | stat.S_IRGRP | (stat.S_IXGRP if mode & stat.S_IXUSR else 0))


class PostgresServer:
    """One data directory and its server."""

    def __init__(self, binaries: pathlib.Path, data_dir: pathlib.Path, *, fast: bool) -> None:
        self.binaries = binaries
        self.data = data_dir / "postgres"
        self.log = data_dir / "postgres.log"
        self.fast = fast
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def pid_file(self) -> pathlib.Path:
        """The file of a running server: its process id, the folder of its socket, its state."""
        return self.data / "postmaster.pid"

    def state(self) -> tuple[int, pathlib.Path, bool] | None:
        """The process id, the socket's folder and whether the server is ready; None until the server has
        written them.
        """
        try:
            lines = self.pid_file.read_text().splitlines()
        except FileNotFoundError:
            return None
        if len(lines) < 5 or not lines[4]:
            return None
        return int(lines[0]), pathlib.Path(lines[4]), len(lines) > 7 and lines[7].strip() == "ready"

    def is_listening(self) -> bool:
        """True if a server accepts connections on the socket."""
        state = self.state()
        if state is None:
            return False
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            try:
                client.connect(str(state[1] / SOCKET_NAME))
            except (FileNotFoundError, ConnectionRefusedError):
                return False
        return True

    def has_died(self) -> bool:
        """True if the data exist and their server has ended. False for a server that is starting."""
        if self.child is not None and self.child.poll() is None:
            return False
        if not (self.data / "PG_VERSION").exists():
            return False
        state = self.state()
        if state is None:
            return True
        try:
            os.kill(state[0], 0)
        except ProcessLookupError:
            return True
        return not self._running(state[0])

    def run(self) -> pathlib.Path:
        """Ensure that a server runs, and return the folder of its socket."""
        if not self.is_listening():
            account = ServerAccount(self.data)
            account.allow_traversal(self.data.parent)
            account.allow_traversal(self.binaries)
            account.allow_reading(self.binaries.parent)
            self._create(account)
            self._start(account)
        while not ((state := self.state()) and state[2]):
            if self.child is not None and self.child.poll() is not None:
                raise CannotStartError(f"PostgreSQL did not start. Its log, {self.log}, ends with:\n{self._log_end()}")
            time.sleep(0.005)
        return state[1]

    def _create(self, account: ServerAccount) -> None:
        """Create the files of a new server.

        They get their final name when complete, so a killed attempt leaves nothing.
        """
        if self.data.exists():
            version = (self.data / "PG_VERSION").read_text().strip() if (self.data / "PG_VERSION").exists() else "?"
            if version != VERSION:
                raise CannotStartError(
                    f"{self.data} holds data of PostgreSQL {version}, and this release of Coffret brings {VERSION}. Take them "
                    "over with pg_dump and the release that wrote them, or start with another COFFRET_DATA_DIR."
                )
            return
        unfinished = self.data.with_name("postgres.unfinished")
        if unfinished.exists():
            shutil.rmtree(unfinished)
        account.make_private_directory(unfinished)
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        options += ["--builtin-locale=C.UTF-8", *(["--no-sync"] if self.fast else [])]
        account.run(self.binaries / "initdb", *options, "--pgdata", unfinished)
        account.run(
            self.binaries / "postgres", "--single", "-D", unfinished, "template1", stdin="CREATE DATABASE coffret\n"
        )
        unfinished.rename(self.data)

    def _start(self, account: ServerAccount) -> None:
        sockets = self._socket_dir()
        account.make_private_directory(sockets)
        if sockets.is_symlink() or sockets.stat().st_uid != account.uid:
            raise CannotStartError(
                f"{sockets} belongs to another user. Remove it, or set COFFRET_DATA_DIR to a shorter path."
            )
        # The files of a killed server name a process id that another program may have by now.
        for left in (self.pid_file, sockets / SOCKET_NAME, sockets / f"{SOCKET_NAME}.lock"):
            left.unlink(missing_ok=True)
        if self.log.exists():
            self.log.replace(self.log.with_name("postgres.log.1"))
        quoted = '"' + str(sockets).replace('"', '""') + '"'
        settings = {**SETTINGS, **(FAST_SETTINGS if self.fast else {}), "unix_socket_directories": quoted}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self.child = account.start(self.binaries / "postgres", "-D", self.data, *options, log=self.log)

    def _socket_dir(self) -> pathlib.Path:
        """The data folder, or a folder in /tmp if the path is too long for a socket or contains a comma."""
        if len(os.fsencode(self.data / SOCKET_NAME)) <= LONGEST_SOCKET_PATH and "," not in str(self.data):
            return self.data
        name = hashlib.sha256(os.fsencode(f"{self.data} {self.data.stat().st_ino}")).hexdigest()[:16]
        folder = pathlib.Path(tempfile.gettempdir())
        if len(os.fsencode(folder)) > 64:
            folder = pathlib.Path("/tmp")  # noqa: S108 - a folder of our own in it is checked before use
        return folder / f"coffret-{name}"

    def _log_end(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])

    def stop(self) -> None:
        """Stop the server in good order; if that takes too long, at once."""
        state = self.state()
        pid = state[0] if state and self.is_listening() else self.child.pid if self.child else None
        for number, timeout in ((signal.SIGINT, TIMEOUT), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
            if pid is None or self._wait_until_ended(pid):
                break
            os.kill(pid, number)
            deadline = time.monotonic() + timeout
            while not self._wait_until_ended(pid) and time.monotonic() < deadline:
                time.sleep(0.005)
        if state and state[1] != self.data:
            with contextlib.suppress(OSError):
                state[1].rmdir()

    def _wait_until_ended(self, pid: int) -> bool:
        if self.child is not None and self.child.pid == pid:
            return self.child.poll() is not None
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return not self.pid_file.exists() and not self._running(pid)

    @staticmethod
    def _running(pid: int) -> bool:
        """False for an ended process and for a zombie, as in containers without an init. Always True without /proc."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return not pathlib.Path("/proc/self").exists()


@contextlib.contextmanager
def file_lock(path: pathlib.Path, kind: int) -> Iterator[int]:
    """Hold a lock on a file. The operating system releases it when the process ends, however it ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        os.close(descriptor)


def wait_for_end(within: float) -> bool:
    """True if the user ends within this many seconds."""
    readable, _, _ = select.select([sys.stdin.buffer], [], [], within)
    return bool(readable) and not os.read(sys.stdin.fileno(), 4096)


def revive(server: PostgresServer) -> None:
    """Start a killed server again.

    Its leftover processes may refuse a second server for a moment; the next check retries.
    """
    try:
        with file_lock(server.data.parent / "postgres.start.lock", fcntl.LOCK_EX):
            if server.has_died():
                server.run()
    except (CannotStartError, OSError) as error:
        print(f"Embedded PostgreSQL has ended and is being started again. {error}", file=sys.stderr, flush=True)  # noqa: T201


def supervise(server: PostgresServer) -> None:
    """Start or join the server, report its socket, and stop it when the last user ends.

    Until then a killed server is started again.
    """
    folder = server.data.parent
    with file_lock(folder / "postgres.users.lock", fcntl.LOCK_SH) as users:
        try:
            with file_lock(folder / "postgres.start.lock", fcntl.LOCK_EX):
                sockets = server.run()
            print(json.dumps({"socket_dir": str(sockets)}), flush=True)  # noqa: T201 - the response to the user
            while not wait_for_end(within=POLL_INTERVAL):
                if server.has_died():
                    revive(server)
        finally:
            fcntl.flock(users, fcntl.LOCK_UN)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server.stop()


def main(binaries: str, data_dir: str, speed: str) -> int:
    """Write one line and wait until standard input ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        supervise(PostgresServer(pathlib.Path(binaries), pathlib.Path(data_dir), fast=speed == "fast"))
    except BrokenPipeError:
        return 0
    except PermissionError as error:
        owner = f"{error.filename} cannot be used from this account. Start as the one that owns it, or set COFFRET_DATA_DIR."
        print(json.dumps({"error": owner}))  # noqa: T201
        return 1
    except (CannotStartError, OSError) as error:
        print(json.dumps({"error": str(error)}))  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
