"""`coffret doctor`: checks this installation and suggests fixes."""

import datetime as dt
import os
import resource
import shutil
import socket
import sys
import uuid
from collections.abc import AsyncIterator, Callable

from redis.asyncio import Redis
from redis.exceptions import NoPermissionError
from sqlalchemy import text

from coffret.command_error import CommandError
from coffret.commands.certificates import check_apple_pay, check_wallet
from coffret.commands.environment import database_url, read_settings, unknown_variables
from coffret.commands.findings import Finding, failed, passed, warning
from coffret.commands.installation import OLDEST_POSTGRES, connect_database
from coffret.demo.public import public_users
from schema.core.errors import Unavailable
from store.core.clock import clock
from store.core.files import UnusableStore, open_store
from store.core.return_paths import excess_length
from store.core.settings import DEVELOPMENT_SECRET, Settings
from store.core.settings.provider import ProviderName
from store.core.telemetry import tracing
from store.database.db import Database
from store.database.shared_clock import stored_offset
from store.kv.connect import open_kv
from store.mail.mailer import MailError
from store.mail.smtp import SmtpMailer
from store.migrations.migrate import current_revision, head_revision
from store.providers.mangopay.tls import api_base_url, ssl_context

MIN_FREE_BYTES = 1024**3
"""Minimum free disk space in the data directory."""
OLDEST_REDIS = (6, 2)
MIN_OPEN_FILES = 4096
"""Minimum limit of open files per process. Each client connection is an open file."""
MAX_CLOCK_SKEW = dt.timedelta(seconds=2)
"""Maximum difference between this machine's clock and another's."""


async def run_checks() -> AsyncIterator[Finding]:
    """Yield each finding as soon as its check is done. With invalid settings only the first checks run."""
    yield check_python_version(sys.version_info[:3])
    yield check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # `serve` raises its limit to the hard limit
    unknown = unknown_variables(os.environ)
    for name, meant in unknown.items():
        yield warning("settings", f"{name} is no setting.", f"Set {meant} instead." if meant else f"Unset {name}.")
    try:
        settings = read_settings()
    except CommandError as error:
        for line in str(error).splitlines():
            yield failed("settings", line, "Correct it; the README lists every setting.")
        return
    yield passed("settings", f"can be used; this is a {settings.environment} installation.")
    for check in SETTINGS_CHECKS:
        yield check(settings)
    yield await check_redis(settings)
    yield await check_mail(settings)
    yield await check_files(settings)
    async for finding in check_database(settings):
        yield finding


def check_python_version(version: tuple[int, int, int]) -> Finding:
    told = ".".join(map(str, version))
    if version < (3, 11):
        return failed("python", f"is {told}.", "Install Python 3.11 or newer, remove .venv, and run make again.")
    return passed("python", f"is {told}.")


def check_open_files(limit: int) -> Finding:
    """Check that the limit of open files allows enough client connections."""
    if limit != resource.RLIM_INFINITY and limit < MIN_OPEN_FILES:
        return warning(
            "open files", f"at most {limit} for each process.", f"Raise the limit: ulimit -n {MIN_OPEN_FILES * 4}"
        )
    return passed("open files", "unlimited." if limit == resource.RLIM_INFINITY else f"at most {limit}.")


def check_data_directory(settings: Settings) -> Finding:
    """Check that the data directory is writable and has free space."""
    name = "data directory"
    folder = settings.data_dir.expanduser().resolve()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        return failed(name, f"{there} is not a directory.", "Set COFFRET_DATA_DIR to a directory.")
    if not os.access(there, os.W_OK | os.X_OK):
        return failed(
            name,
            f"{there} cannot be written.",
            f"Make this account its owner, or set COFFRET_DATA_DIR: chown {os.geteuid()} {there}",
        )
    free = shutil.disk_usage(there).free
    told = f"{folder} has {free / 1024**3:.1f} GiB free."
    return (
        passed(name, told)
        if free >= MIN_FREE_BYTES
        else warning(name, told, "Make room, or set COFFRET_DATA_DIR to a larger disk.")
    )


def check_port(settings: Settings) -> Finding:
    """Check that `coffret serve` can bind its port."""
    with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            return warning(
                "port", f"{settings.host} port {settings.port} is unavailable: {error.strerror}.",
                "If that is not Coffret itself, stop what uses it, or set PORT (and COFFRET_HOST).",
            )  # fmt: skip
    return passed("port", f"{settings.host} port {settings.port} is free.")


def check_secret(settings: Settings) -> Finding:
    """Check that the secret that signs sessions is hard to guess."""
    value = settings.secret.get_secret_value()
    remedy = "Set COFFRET_SECRET to the output of: python3 -c 'import secrets; print(secrets.token_hex(32))'"
    if value == DEVELOPMENT_SECRET:
        return passed("secret", "is the development secret, which production refuses.")
    if len(set(value)) < 8:
        return failed("secret", f"repeats {len(set(value))} characters, so it can be guessed.", remedy)
    if len(value) < 32:
        return warning("secret", "is shorter than 32 characters.", remedy)
    return passed("secret", f"has {len(value)} characters.")


def check_provider(settings: Settings) -> Finding:
    """Check which payment provider is used and that its settings are valid."""
    if settings.provider is ProviderName.SANDBOX:
        return passed("payments", "go to the sandbox inside this program; no money moves.")
    if not settings.mangopay_base_url.startswith("https://"):
        return failed("payments", f"{settings.mangopay_base_url} is not https.", "Correct COFFRET_MANGOPAY_BASE_URL.")
    try:
        ssl_context(settings.mangopay_certificate)
    except ValueError as error:
        return failed("payments", str(error), "Correct COFFRET_MANGOPAY_CERT_FILE and COFFRET_MANGOPAY_KEY_FILE.")
    called = api_base_url(settings.mangopay_base_url, settings.mangopay_certificate)
    if settings.development:
        return warning(
            "payments", f"go to {called} from a development installation.",
            "Set ENVIRONMENT=production, or COFFRET_PROVIDER=sandbox.",
        )  # fmt: skip
    return passed("payments", f"go to {called} as {settings.mangopay_client_id}.")


def check_workers(settings: Settings) -> Finding:
    """Check the number of processes and where they store carts."""
    cores = os.cpu_count() or 1
    if settings.workers > cores:
        return warning("workers", f"{settings.workers} on {cores} cores.", f"Set COFFRET_WORKERS to {cores} or fewer.")
    if not settings.development and not settings.redis_url:
        return warning(
            "workers", "carts are stored in this process and lost when it ends.", "Set REDIS_URL to a Redis server."
        )
    return passed(
        "workers", f"{settings.workers}, with carts {'in Redis' if settings.redis_url else 'in the process'}."
    )


def check_addresses(settings: Settings) -> Finding:
    """Check that customers can reach the API and the checkout."""
    name = "addresses"
    if settings.development:
        return passed(name, f"the API at {settings.public_url}, checkouts below {settings.funnel_domain}.")
    if not settings.public_url.startswith("https://"):
        return failed(name, f"{settings.public_url} is not https.", "Set COFFRET_BASE_URL to the public https address.")
    if settings.funnel_scheme != "https":
        return failed(name, "checkouts would be opened over http.", "Unset FUNNEL_SCHEME.")
    if more := excess_length(settings):
        return warning(
            name, f"{settings.public_url} is {more} characters too long: no partner can prove an identity.",
            "Set COFFRET_BASE_URL to a shorter address.",
        )  # fmt: skip
    try:
        socket.getaddrinfo(f"any-partner.{settings.funnel_domain}", None)
    except OSError:
        return warning(
            name, f"no IP address is found for hosts below {settings.funnel_domain}.",
            f"Add a DNS record for *.{settings.funnel_domain}, unless every partner has a domain of its own.",
        )  # fmt: skip
    return passed(name, f"the API at {settings.public_url}, checkouts below {settings.funnel_domain}.")


def check_documents(settings: Settings) -> Finding:
    """Check that this release can execute the trusted documents."""
    from coffret.app import build_graph

    name = "documents"
    if settings.graphql_documents is None:
        return passed(name, "all are executed, within the limits.")
    try:
        found = build_graph(settings).documents
    except CommandError as error:
        return failed(name, str(error), "Generate the file again with the tool that created it.")
    if found.broken_trusted:
        id, problem = next(iter(found.broken_trusted.items()))
        told = f"{len(found.broken_trusted)} of {len(found.trusted_texts)} in {settings.graphql_documents} cannot be executed. {id}: {problem}"
        return failed(name, told, "Correct them in the client, and generate the file again.")
    others = "others are refused" if settings.graphql_trusted_only else "others are executed too"
    return passed(name, f"{len(found.trusted_texts)} are known by id; {others}.")


def check_traces(_settings: Settings) -> Finding:
    """Check that traces can be sent to the endpoint that the environment names."""
    variable = tracing.requested_endpoint_variable()
    if variable is None:
        return passed("traces", "are not configured.")
    if not tracing.is_installed():
        return warning("traces", f"{variable} is set, but the trace exporter is not installed.", tracing.REMEDY)
    return passed("traces", f"go to {os.environ[variable]}.")


SETTINGS_CHECKS: tuple[Callable[[Settings], Finding], ...] = (
    check_data_directory, check_port, check_secret, check_provider, check_workers, check_addresses, check_documents, check_wallet,
    check_apple_pay, check_traces,
)  # fmt: skip


async def check_redis(settings: Settings) -> Finding:
    """Check that Redis answers, is recent enough and does not evict carts."""
    if not settings.redis_url:
        return passed("carts", "are stored in the process; Redis is not used.")
    try:
        store = open_kv(settings.redis_url, clock)
    except ValueError as error:
        return failed("carts", "REDIS_URL cannot be read.", str(error))
    try:
        await store.ping()
    except Unavailable as error:
        return failed(
            "carts", f"Redis does not answer: {str(error.__cause__).rstrip('.')}.", "Start it, or correct REDIS_URL."
        )
    finally:
        await store.aclose()
    if "+cluster" in settings.redis_url:
        return passed("carts", "are stored in a Redis Cluster, which answers.")
    try:
        async with Redis.from_url(settings.redis_url) as client:
            told = await client.info()
    except NoPermissionError:
        return passed("carts", "are stored in Redis, which answers but does not permit reading its version.")
    version = str(told["redis_version"])
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        oldest = ".".join(map(str, OLDEST_REDIS))
        return failed(
            "carts", f"are stored in Redis {version}.", f"Upgrade it to Redis {oldest} or newer, or to Valkey."
        )
    if told.get("maxmemory") and told["maxmemory_policy"] != "noeviction":
        return warning(
            "carts", f"are evicted by Redis when it is full (maxmemory-policy {told['maxmemory_policy']}).",
            "Set maxmemory-policy to noeviction, on a server that stores nothing else.",
        )  # fmt: skip
    return passed("carts", f"are stored in Redis {version}, which answers.")


async def check_mail(settings: Settings) -> Finding:
    """Check that the mail server accepts our connection, TLS and credentials."""
    server = settings.mail_server
    if server is None and settings.development:
        return passed("mail", f"is stored in {settings.data_dir / 'mail'} and shown at {settings.public_url}/_mail/")
    if server is None:
        return warning(
            "mail",
            "is not sent; messages wait until a mail server is set.",
            "Set COFFRET_SMTP_URL and COFFRET_MAIL_FROM.",
        )
    mailer = SmtpMailer(server, ca_file=settings.smtp_ca_file)
    try:
        await mailer.check()
    except MailError as error:
        return failed("mail", f"{server} cannot be used: {error}", "Correct COFFRET_SMTP_URL, or the mail server.")
    finally:
        await mailer.aclose()
    return passed("mail", f"is sent by {server}, from {settings.mail_from}.")


async def check_files(settings: Settings) -> Finding:
    """Check that the file store returns what was written, and that its clock agrees with ours."""
    key, content = f"doctor/{uuid.uuid4()}", os.urandom(64)
    try:
        store = open_store(settings)
        await store.put(key, content, "application/octet-stream")
        kept = {file.key: file.changed_on async for file in store.list_files("doctor")}
        same = await store.get(key) == content
        await store.delete(key)
    except UnusableStore as error:
        return failed("files", f"FILES_URL cannot be used: {error}", "Correct FILES_URL and COFFRET_FILES_….")
    except Unavailable as error:
        told = str(error.__cause__).partition("\n")[0]
        return failed(
            "files", f"cannot be stored: {told}", "Correct FILES_URL and COFFRET_FILES_…, or the permissions there."
        )
    if not same or key not in kept:
        return failed("files", f"are not read back from {store.place} as written.", "Name another place in FILES_URL.")
    if abs(kept[key] - clock.now()) > MAX_CLOCK_SKEW:
        told = f"{store.place} has another time: {kept[key]:%H:%M:%S}."
        return warning("files", told, "Set both machines by NTP; S3 refuses requests that are 15 minutes off.")
    return passed("files", f"are stored in {store.place}, which can be written and read.")


async def check_database(settings: Settings) -> AsyncIterator[Finding]:
    """Check that the database answers, is recent enough, has this release's tables and agrees on the time."""
    try:
        with database_url(settings) as url:
            async with connect_database(url) as db:
                yield await check_server_version(db)
                yield await check_tables(db, embedded=not settings.database_url)
                yield await check_time(db)
                async for finding in check_moved_clock(db, settings):
                    yield finding
                if await current_revision(db) == head_revision():
                    yield await check_users(db, settings)
    except CommandError as error:
        yield failed("database", str(error), "Correct it and run coffret doctor again.")


async def check_server_version(db: Database) -> Finding:
    number = int((await db.rows(text("SELECT current_setting('server_version_num')")))[0][0])
    major = number // 10000
    if major < OLDEST_POSTGRES:
        return failed("database", f"is PostgreSQL {major}.", f"Upgrade it to PostgreSQL {OLDEST_POSTGRES} or newer.")
    return passed("database", f"PostgreSQL {major} answers.")


async def check_tables(db: Database, *, embedded: bool) -> Finding:
    """Check that the tables are at this release's revision."""
    found = await current_revision(db)
    if found == head_revision():
        return passed("tables", f"are at revision {found}, the newest.")
    if embedded:
        return passed("tables", "will be brought up to date at the next start.")
    return failed("tables", f"are at revision {found or 'none'}, not {head_revision()}.", "Run: coffret migrate")


async def check_time(db: Database) -> Finding:
    """Check that the database's clock agrees with ours. The expiry of links and holds depends on it."""
    theirs: dt.datetime = (await db.rows(text("SELECT clock_timestamp()")))[0][0]
    apart = abs(theirs - clock.now())
    told = f"{apart.total_seconds():.1f} s between this machine and the database."
    return passed("clock", told) if apart <= MAX_CLOCK_SKEW else failed("clock", told, "Set both machines by NTP.")


async def check_moved_clock(db: Database, settings: Settings) -> AsyncIterator[Finding]:
    """Report a clock offset that a development installation stored in this database."""
    if (await db.rows(text("SELECT to_regclass('development_clock')")))[0][0] is None:
        return
    ahead = await stored_offset(db)
    if ahead and settings.development:
        yield passed("moved time", f"this installation is {ahead} ahead of the real time.")
    elif ahead:
        yield warning(
            "moved time", f"a development installation has advanced the clock of this database by {ahead}.",
            "Production uses the real time, so some rows may lie in the future. Use a separate database.",
        )  # fmt: skip


async def check_users(db: Database, settings: Settings) -> Finding:
    """Check that no user has the public password of the demo data."""
    found = () if settings.development else await public_users(db)
    if found:
        told = f"{', '.join(found)} still have the public password of the demo data; coffret serve does not start."
        return failed("users", told, f"Run: coffret user deactivate {' '.join(found)}")
    return passed("users", "none has a public password." if not settings.development else "may be the demo data's.")
