"""`coffret doctor`: what is wrong with this installation, and how to put it right."""

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

from coffret.commands.command_error import CommandError
from coffret.commands.environment import database_address, read_settings, unknown_variables
from coffret.commands.findings import Finding, doubtful, well, wrong
from coffret.commands.installation import OLDEST_POSTGRES, connected
from coffret.demo.public import public_users
from schema.core.errors import Unavailable
from store.core import tracing
from store.core.clock import clock
from store.core.files import UnusableStore, open_store
from store.core.settings import DEVELOPMENT_SECRET, ProviderName, Settings
from store.core.shared_clock import stored
from store.database.db import Database
from store.kv.connect import open_kv
from store.mail.mailer import MailError
from store.mail.smtp import SmtpMailer
from store.migrations.migrate import current, head
from store.onboarding.return_paths import excess
from store.providers.mangopay.tls import address, trust

ROOM = 1024**3
"""Bytes that the data directory's disk should have left."""
OLDEST_REDIS = (6, 2)
FILES = 4096
"""Open files that a process should be allowed: a connection of a client is one."""
SKEW = dt.timedelta(seconds=2)
"""Between our clock and the database's."""


async def examine() -> AsyncIterator[Finding]:
    """Every finding, as soon as it is made. Without usable settings only the first few can be."""
    yield python_version(sys.version_info[:3])
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])  # which `serve` takes
    unknown = unknown_variables(os.environ)
    for name, meant in unknown.items():
        yield doubtful("settings", f"{name} is no setting.", f"Set {meant} instead." if meant else f"Unset {name}.")
    try:
        settings = read_settings()
    except CommandError as error:
        for line in str(error).splitlines():
            yield wrong("settings", line, "Correct it; the README lists every setting.")
        return
    yield well("settings", f"can be used; this is a {settings.environment} installation.")
    for check in SETTINGS_CHECKS:
        yield check(settings)
    yield await redis(settings)
    yield await mail(settings)
    yield await files(settings)
    async for finding in database(settings):
        yield finding


def python_version(version: tuple[int, int, int]) -> Finding:
    """Whether Python is new enough."""
    told = ".".join(map(str, version))
    if version < (3, 11):
        return wrong("python", f"is {told}.", "Install Python 3.11 or newer, remove .venv, and run make again.")
    return well("python", f"is {told}.")


def open_files(limit: int) -> Finding:
    """Whether a process may have as many connections as a busy day brings."""
    if limit != resource.RLIM_INFINITY and limit < FILES:
        return doubtful("open files", f"at most {limit} for each process.", f"Raise the limit: ulimit -n {FILES * 4}")
    return well("open files", "as many as wanted." if limit == resource.RLIM_INFINITY else f"at most {limit}.")


def data_directory(settings: Settings) -> Finding:
    """Whether data can be written, and how much."""
    name = "data directory"
    folder = settings.data_dir.expanduser().resolve()
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        return wrong(name, f"{there} is not a directory.", "Set COFFRET_DATA_DIR to a directory.")
    if not os.access(there, os.W_OK | os.X_OK):
        return wrong(
            name,
            f"{there} cannot be written.",
            f"Give it to this account, or set COFFRET_DATA_DIR: chown {os.geteuid()} {there}",
        )
    free = shutil.disk_usage(there).free
    told = f"{folder} has {free / 1024**3:.1f} GiB free."
    return (
        well(name, told)
        if free >= ROOM
        else doubtful(name, told, "Make room, or set COFFRET_DATA_DIR to a larger disk.")
    )


def port(settings: Settings) -> Finding:
    """Whether the port is free for `coffret serve`."""
    with socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            return doubtful(
                "port", f"{settings.host} port {settings.port} cannot be had: {error.strerror}.",
                "If that is not Coffret itself, stop what uses it, or set PORT (and COFFRET_HOST).",
            )  # fmt: skip
    return well("port", f"{settings.host} port {settings.port} is free.")


def secret(settings: Settings) -> Finding:
    """Whether what signs sessions can be guessed."""
    value = settings.secret.get_secret_value()
    remedy = "Set COFFRET_SECRET to the output of: python3 -c 'import secrets; print(secrets.token_hex(32))'"
    if value == DEVELOPMENT_SECRET:
        return well("secret", "is the one for development, which production refuses.")
    if len(set(value)) < 8:
        return wrong("secret", f"repeats {len(set(value))} characters, so it can be guessed.", remedy)
    if len(value) < 32:
        return doubtful("secret", "is shorter than 32 characters.", remedy)
    return well("secret", f"has {len(value)} characters.")


def provider(settings: Settings) -> Finding:
    """Whether money moves, and where."""
    if settings.provider is ProviderName.SANDBOX:
        return well("payments", "go to the sandbox inside this program; no money moves.")
    if not settings.mangopay_base_url.startswith("https://"):
        return wrong("payments", f"{settings.mangopay_base_url} is not https.", "Correct COFFRET_MANGOPAY_BASE_URL.")
    try:
        trust(settings.mangopay_certificate)
    except ValueError as error:
        return wrong("payments", str(error), "Correct COFFRET_MANGOPAY_CERT_FILE and COFFRET_MANGOPAY_KEY_FILE.")
    called = address(settings.mangopay_base_url, settings.mangopay_certificate)
    if settings.development:
        return doubtful(
            "payments", f"go to {called} from a development installation.",
            "Set ENVIRONMENT=production, or COFFRET_PROVIDER=sandbox.",
        )  # fmt: skip
    return well("payments", f"go to {called} as {settings.mangopay_client_id}.")


def workers(settings: Settings) -> Finding:
    """Whether the processes share what they must."""
    cores = os.cpu_count() or 1
    if settings.workers > cores:
        return doubtful("workers", f"{settings.workers} on {cores} cores.", f"Set COFFRET_WORKERS to {cores} or fewer.")
    if not settings.development and not settings.redis_url:
        return doubtful("workers", "carts live in this process and end with it.", "Set REDIS_URL to a Redis server.")
    return well("workers", f"{settings.workers}, with carts {'in Redis' if settings.redis_url else 'in the process'}.")


def addresses(settings: Settings) -> Finding:
    """Whether customers are sent where they can get."""
    name = "addresses"
    if settings.development:
        return well(name, f"the API at {settings.public_url}, checkouts below {settings.funnel_domain}.")
    if not settings.public_url.startswith("https://"):
        return wrong(name, f"{settings.public_url} is not https.", "Set COFFRET_BASE_URL to the public https address.")
    if settings.funnel_scheme != "https":
        return wrong(name, "checkouts would be opened over http.", "Unset FUNNEL_SCHEME.")
    if more := excess(settings):
        return doubtful(
            name, f"{settings.public_url} is {more} characters too long: no partner can prove an identity.",
            "Set COFFRET_BASE_URL to a shorter address.",
        )  # fmt: skip
    try:
        socket.getaddrinfo(f"any-partner.{settings.funnel_domain}", None)
    except OSError:
        return doubtful(
            name, f"no address is found for hosts below {settings.funnel_domain}.",
            f"Add a DNS record for *.{settings.funnel_domain}, unless every partner has a domain of its own.",
        )  # fmt: skip
    return well(name, f"the API at {settings.public_url}, checkouts below {settings.funnel_domain}.")


def documents(settings: Settings) -> Finding:
    """Whether the trusted documents are ones that this release can answer."""
    from coffret.app import graph

    name = "documents"
    if settings.graphql_documents is None:
        return well(name, "any is answered, within the limits.")
    try:
        found = graph(settings).documents
    except CommandError as error:
        return wrong(name, str(error), "Write the file anew with the tool that made it.")
    if found.broken:
        id, problem = next(iter(found.broken.items()))
        told = f"{len(found.broken)} of {len(found.texts)} in {settings.graphql_documents} cannot be answered. {id}: {problem}"
        return wrong(name, told, "Correct them in the client, and write the file anew.")
    others = "no other is answered" if settings.graphql_trusted_only else "others are answered too"
    return well(name, f"{len(found.texts)} are known by id; {others}.")


def traces(_settings: Settings) -> Finding:
    """Whether traces go where the environment wants them."""
    variable = tracing.wanted()
    if variable is None:
        return well("traces", "are not asked for.")
    if not tracing.installed():
        return doubtful("traces", f"{variable} is set, but what sends traces is not installed.", tracing.REMEDY)
    return well("traces", f"go to {os.environ[variable]}.")


SETTINGS_CHECKS: tuple[Callable[[Settings], Finding], ...] = (
    data_directory, port, secret, provider, workers, addresses, documents, traces,
)  # fmt: skip


async def redis(settings: Settings) -> Finding:
    """Whether the cart store answers, and keeps what it is given."""
    if not settings.redis_url:
        return well("carts", "are kept in the process; no Redis is needed.")
    try:
        store = open_kv(settings.redis_url, clock)
    except ValueError as error:
        return wrong("carts", "REDIS_URL cannot be read.", str(error))
    try:
        await store.ping()
    except Unavailable as error:
        return wrong(
            "carts", f"Redis does not answer: {str(error.__cause__).rstrip('.')}.", "Start it, or correct REDIS_URL."
        )
    finally:
        await store.aclose()
    if "+cluster" in settings.redis_url:
        return well("carts", "are kept in a Redis Cluster, which answers.")
    try:
        async with Redis.from_url(settings.redis_url) as client:
            told = await client.info()
    except NoPermissionError:
        return well("carts", "are kept in Redis, which answers, but may not be asked for its version.")
    version = str(told["redis_version"])
    if tuple(map(int, version.split(".")[:2])) < OLDEST_REDIS:
        oldest = ".".join(map(str, OLDEST_REDIS))
        return wrong("carts", f"are kept in Redis {version}.", f"Upgrade it to Redis {oldest} or newer, or to Valkey.")
    if told.get("maxmemory") and told["maxmemory_policy"] != "noeviction":
        return doubtful(
            "carts", f"are thrown away by Redis when it is full (maxmemory-policy {told['maxmemory_policy']}).",
            "Set maxmemory-policy to noeviction, on a server that holds nothing else.",
        )  # fmt: skip
    return well("carts", f"are kept in Redis {version}, which answers.")


async def mail(settings: Settings) -> Finding:
    """Whether the mail server answers, encrypts where it must, and lets us in."""
    server = settings.mail_server
    if server is None and settings.development:
        return well("mail", f"is kept in {settings.data_dir / 'mail'} and shown at {settings.public_url}/_mail/")
    if server is None:
        return doubtful(
            "mail", "is not sent; messages wait until it can be.", "Set COFFRET_SMTP_URL and COFFRET_MAIL_FROM."
        )
    mailer = SmtpMailer(server, trusted=settings.smtp_ca_file)
    try:
        await mailer.check()
    except MailError as error:
        return wrong("mail", f"{server} cannot be used: {error}", "Correct COFFRET_SMTP_URL, or the mail server.")
    finally:
        await mailer.aclose()
    return well("mail", f"is taken by {server}, from {settings.mail_from}.")


async def files(settings: Settings) -> Finding:
    """Whether the file store keeps what it is given, and tells the same time."""
    key, content = f"doctor/{uuid.uuid4()}", os.urandom(64)
    try:
        store = open_store(settings)
        await store.put(key, content, "application/octet-stream")
        kept = {file.key: file.changed_on async for file in store.kept("doctor")}
        same = await store.get(key) == content
        await store.delete(key)
    except UnusableStore as error:
        return wrong("files", f"FILES_URL cannot be used: {error}", "Correct FILES_URL and COFFRET_FILES_….")
    except Unavailable as error:
        told = str(error.__cause__).partition("\n")[0]
        return wrong("files", f"cannot be kept: {told}", "Correct FILES_URL and COFFRET_FILES_…, or the rights there.")
    if not same or key not in kept:
        return wrong("files", f"are not read from {store.place} as written.", "Name another place in FILES_URL.")
    if abs(kept[key] - clock.now()) > SKEW:
        told = f"{store.place} tells another time: {kept[key]:%H:%M:%S}."
        return doubtful("files", told, "Set both machines by NTP; S3 refuses who is 15 minutes off.")
    return well("files", f"are kept in {store.place}, which can be written and read.")


async def database(settings: Settings) -> AsyncIterator[Finding]:
    """Whether the database answers, is new enough, has today's tables and tells the same time."""
    try:
        with database_address(settings) as url:
            async with connected(url) as db:
                yield await server_version(db)
                yield await tables(db, embedded=not settings.database_url)
                yield await time(db)
                async for finding in moved(db, settings):
                    yield finding
                if await current(db) == head():
                    yield await users(db, settings)
    except CommandError as error:
        yield wrong("database", str(error), "Correct it and run coffret doctor again.")


async def server_version(db: Database) -> Finding:
    """Whether PostgreSQL is new enough."""
    number = int((await db.rows(text("SELECT current_setting('server_version_num')")))[0][0])
    major = number // 10000
    if major < OLDEST_POSTGRES:
        return wrong("database", f"is PostgreSQL {major}.", f"Upgrade it to PostgreSQL {OLDEST_POSTGRES} or newer.")
    return well("database", f"PostgreSQL {major} answers.")


async def tables(db: Database, *, embedded: bool) -> Finding:
    """Whether the tables are those of this release."""
    found = await current(db)
    if found == head():
        return well("tables", f"are at revision {found}, the newest.")
    if embedded:
        return well("tables", "will be brought up to date at the next start.")
    return wrong("tables", f"are at revision {found or 'none'}, not {head()}.", "Run: coffret migrate")


async def time(db: Database) -> Finding:
    """Whether the database and we agree on the time; links and holds end by it."""
    theirs: dt.datetime = (await db.rows(text("SELECT clock_timestamp()")))[0][0]
    apart = abs(theirs - clock.now())
    told = f"{apart.total_seconds():.1f} s between this machine and the database."
    return well("clock", told) if apart <= SKEW else wrong("clock", told, "Set both machines by NTP.")


async def moved(db: Database, settings: Settings) -> AsyncIterator[Finding]:
    """Whether development has moved time in this database."""
    if (await db.rows(text("SELECT to_regclass('development_clock')")))[0][0] is None:
        return
    ahead = await stored(db)
    if ahead and settings.development:
        yield well("moved time", f"this installation is {ahead} ahead of the real time.")
    elif ahead:
        yield doubtful(
            "moved time", f"a development installation has moved time in this database, by {ahead}.",
            "Production goes by the real time; rows from then may lie in the future. Use a database of its own.",
        )  # fmt: skip


async def users(db: Database, settings: Settings) -> Finding:
    """Whether anybody could log in."""
    found = () if settings.development else await public_users(db)
    if found:
        told = f"{', '.join(found)} still have the public password of the demo data; coffret serve does not start."
        return wrong("users", told, f"Run: coffret user deactivate {' '.join(found)}")
    return well("users", "nobody has a public password." if not settings.development else "may be the demo data's.")
