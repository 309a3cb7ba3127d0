"""What a process opens at start and closes at stop."""

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import httpx
import structlog
from starlette.applications import Starlette

from coffret.http.stalls import watched_loop
from coffret.sandbox import Deliver, SandboxSettings, close, run_background, sandbox_app
from resolvers.core.authentication import Callers
from resolvers.core.context import Services
from resolvers.job.worker import work
from store.cart.carts import Carts
from store.checkout.sessions import Sessions
from store.core import tracing
from store.core.clock import clock
from store.core.dsn import dsn
from store.core.files import open_store
from store.core.settings import ProviderName, Settings
from store.core.shared_clock import keep_following, try_to_follow
from store.database.db import Database
from store.kv import Room, open_kv
from store.mail.mailer import Folder, Mailer
from store.mail.smtp import SmtpMailer
from store.providers.base import ProviderError
from store.providers.mangopay import Mangopay

log = structlog.get_logger(__name__)
SANDBOX_PATH = "/_provider"
HOOK_PATH = "/provider/hooks"


@dataclass(frozen=True)
class House:
    """The services of a process, and the sandbox where there is one."""

    services: Services
    sandbox: Starlette | None


def hook_secret(settings: Settings) -> str:
    """The part of the notification address that only the provider knows."""
    given = settings.hook_secret.get_secret_value()
    return (
        given
        or hmac.new(settings.secret.get_secret_value().encode(), b"provider hooks", hashlib.sha256).hexdigest()[:40]
    )


def make_sandbox(settings: Settings, deliver: Deliver | None = None) -> Starlette | None:
    """The sandbox provider, where it is the one that is used. `deliver` brings its notifications, by default over HTTP."""
    if settings.provider is not ProviderName.SANDBOX:
        return None
    sandbox = SandboxSettings(
        public_url=f"{settings.public_url}{SANDBOX_PATH}",
        path=settings.data_dir / "sandbox.sqlite",
        clock=clock,
        deliver=deliver,
    )
    return sandbox_app(sandbox, production=not settings.development)


def make_provider(settings: Settings, sandbox: Starlette | None) -> Mangopay:
    """The client of the payment provider. The sandbox is reached through the same one, inside this process."""
    secret = hook_secret(settings)
    if sandbox is not None:
        transport = httpx.ASGITransport(sandbox, raise_app_exceptions=True)
        return Mangopay(
            base_url="http://sandbox", client_id="sandbox", api_key="sandbox", hook_secret=secret, transport=transport
        )
    return Mangopay(
        base_url=settings.mangopay_base_url,
        client_id=settings.mangopay_client_id,
        api_key=settings.mangopay_api_key.get_secret_value(),
        hook_secret=secret,
        alert_email=settings.mangopay_alert_email,
        certificate=settings.mangopay_certificate,
    )


def make_mailer(settings: Settings) -> Mailer | None:
    """What takes mail: the mail server, a folder in development, or nothing yet."""
    server = settings.mail_server
    if server is not None:
        return SmtpMailer(server, trusted=settings.smtp_ca_file)
    if settings.development:
        return Folder(settings.data_dir / "mail")
    log.warning("no mail is sent until COFFRET_SMTP_URL is set; messages wait")
    return None


@contextlib.asynccontextmanager
async def open_house(settings: Settings, sandbox: Starlette | None) -> AsyncIterator[House]:
    """Open all services; close them in reverse order."""
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, tracing.end)
        db = Database(settings.database_url)
        stack.push_async_callback(db.aclose)
        if settings.development:
            await try_to_follow(db, clock)
        kv = open_kv(
            settings.redis_url, clock, Room(settings.carts_in_memory, settings.carts_in_memory_mb * 1024 * 1024)
        )
        stack.push_async_callback(kv.aclose)
        provider = make_provider(settings, sandbox)
        stack.push_async_callback(provider.aclose)
        mailer = make_mailer(settings)
        if mailer is not None:
            stack.push_async_callback(mailer.aclose)
        services = Services(
            settings=settings,
            clock=clock,
            db=db,
            kv=kv,
            carts=Carts(kv),
            customers=Sessions(kv),
            provider=provider,
            callers=Callers(db, clock),
            files=open_store(settings),
            mailer=mailer,
        )
        stack.push_async_callback(services.journal.aclose)
        stack.callback(services.webhooks.close)
        yield House(services, sandbox)


@contextlib.asynccontextmanager
async def background(house: House) -> AsyncIterator[None]:
    """What runs beside the requests: the worker, the sandbox's time, the provider's notifications, what watches the loop."""
    services, sandbox, stop = house.services, house.sandbox, asyncio.Event()
    tasks = [
        asyncio.create_task(work(services, dsn_of(services.settings)), name="worker"),
        asyncio.create_task(kept_running(lambda: ask_for_hooks(services)), name="hooks"),
    ]
    if services.settings.development:
        tasks.append(asyncio.create_task(keep_following(services.db, services.clock), name="clock"))
    if sandbox is not None:
        tasks.append(asyncio.create_task(kept_running(lambda: run_background(sandbox, stop)), name="sandbox"))
    try:
        with watched_loop():
            yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if sandbox is not None:
            await close(sandbox)


async def kept_running(begin: Callable[[], Awaitable[None]]) -> None:
    """Begin something, and begin it again whenever it fails, until it ends by itself."""
    while True:
        try:
            return await begin()
        except Exception:
            log.exception("something in the background begins anew")
        await asyncio.sleep(1)


async def ask_for_hooks(services: Services) -> None:
    """Have the provider notify us; asked for again every hour, and repaired where the provider has given up."""
    while True:
        try:
            await services.provider.ensure_webhooks(f"{services.settings.public_url}{HOOK_PATH}")
            await asyncio.sleep(3600)
        except ProviderError as error:
            log.warning("the provider could not be asked for notifications", error=str(error))
            await asyncio.sleep(30)


def dsn_of(settings: Settings) -> str:
    """The database address as asyncpg takes it."""
    return dsn(settings.database_url)
