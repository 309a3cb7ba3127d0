"""Opens and closes the services of a process."""

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import structlog
from starlette.applications import Starlette
from starlette.routing import Mount

from coffret.http.stalls import detect_stalls
from resolvers.core.authentication import Authenticator
from resolvers.core.services import Services
from resolvers.job.worker import run_worker
from schema.graph.lists import SchemaLists
from store.cart.carts import Carts
from store.checkout.sessions import Sessions
from store.core.clock import clock
from store.core.files import open_store
from store.core.settings import Settings
from store.core.settings.provider import ProviderName
from store.core.telemetry import tracing
from store.database.db import Database, dsn
from store.database.shared_clock import keep_following, try_to_follow
from store.kv import MemoryLimit, open_kv
from store.limits.counters import SharedCounters
from store.limits.provider_budget import SharedCallBudget
from store.mail.mailer import FolderMailer, Mailer
from store.mail.smtp import SmtpMailer
from store.providers.call_budget import CallBudget, CallClass, calling_as
from store.providers.errors import ProviderError
from store.providers.mangopay import Mangopay

if TYPE_CHECKING:
    import strawberry

    from coffret.sandbox import Deliver

log = structlog.get_logger(__name__)
SANDBOX_PATH = "/_provider"
HOOK_PATH = "/provider/hooks"


@dataclass(frozen=True)
class Container:
    """The services of a process, and the sandbox provider if it is enabled."""

    services: Services
    sandbox: Starlette | None


def hook_secret(settings: Settings) -> str:
    """The secret part of the notification URL: the setting, or else a value derived from COFFRET_SECRET."""
    given = settings.hook_secret.get_secret_value()
    return (
        given
        or hmac.new(settings.secret.get_secret_value().encode(), b"provider hooks", hashlib.sha256).hexdigest()[:40]
    )


def make_sandbox(settings: Settings, deliver: "Deliver | None" = None) -> Starlette | None:
    """The sandbox provider; None unless the settings select it.

    `deliver` sends its notifications, by default over HTTP.
    """
    if settings.provider is not ProviderName.SANDBOX:
        return None
    from coffret.sandbox import SandboxSettings, sandbox_app  # installations with a real provider never need it

    sandbox = SandboxSettings(
        public_url=f"{settings.public_url}{SANDBOX_PATH}",
        path=settings.data_dir / "sandbox.sqlite",
        clock=clock,
        deliver=deliver,
    )
    return sandbox_app(sandbox, production=not settings.development)


def make_provider(settings: Settings, sandbox: Starlette | None, budget: CallBudget | None = None) -> Mangopay:
    """The client of the payment provider. The sandbox is called through the same client, in this process."""
    secret = hook_secret(settings)
    if sandbox is not None:
        # Calls are at its root, files at the public address.
        routed = Starlette(routes=[Mount(SANDBOX_PATH, sandbox), Mount("/", sandbox)])
        transport = httpx.ASGITransport(routed, raise_app_exceptions=True)
        return Mangopay(
            base_url="http://sandbox",
            client_id="sandbox",
            api_key="sandbox",
            hook_secret=secret,
            transport=transport,
            budget=budget,
        )
    return Mangopay(
        base_url=settings.mangopay_base_url,
        client_id=settings.mangopay_client_id,
        api_key=settings.mangopay_api_key.get_secret_value(),
        hook_secret=secret,
        alert_email=settings.mangopay_alert_email,
        certificate=settings.mangopay_certificate,
        budget=budget,
    )


def make_mailer(settings: Settings) -> Mailer | None:
    """The mail transport: the mail server, or a folder in development. None if production has no mail server yet."""
    server = settings.mail_server
    if server is not None:
        return SmtpMailer(server, ca_file=settings.smtp_ca_file)
    if settings.development:
        return FolderMailer(settings.data_dir / "mail")
    log.warning("mail is queued until COFFRET_SMTP_URL is set")
    return None


def _load_schema() -> "strawberry.Schema":
    from schema.root import schema  # commands that read no lists do without it

    return schema


@contextlib.asynccontextmanager
async def open_container(
    settings: Settings, sandbox: Starlette | None, *, synchronous_commit: bool = True
) -> AsyncIterator[Container]:
    """Open all services; close them in reverse order. `synchronous_commit` is that of `Database`."""
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(asyncio.to_thread, tracing.stop_tracing)
        db = Database(settings.database_url, synchronous_commit=synchronous_commit)
        stack.push_async_callback(db.aclose)
        if settings.development:
            await try_to_follow(db, clock)
        kv = open_kv(
            settings.redis_url, clock, MemoryLimit(settings.carts_in_memory, settings.carts_in_memory_mb * 1024 * 1024)
        )
        stack.push_async_callback(kv.aclose)
        budget = SharedCallBudget(SharedCounters(kv, clock), settings.provider_account, clock)
        provider = make_provider(settings, sandbox, budget)
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
            customer_sessions=Sessions(kv),
            provider=provider,
            authenticator=Authenticator(db, clock),
            files=open_store(settings),
            list_reader=SchemaLists(_load_schema),
            mailer=mailer,
        )
        stack.push_async_callback(services.limits.guesses.aclose)
        stack.push_async_callback(services.audit_buffer.aclose)
        stack.push_async_callback(services.api_log.aclose)
        stack.push_async_callback(services.apple_pay.aclose)
        stack.callback(services.webhook_sender.close)
        yield Container(services, sandbox)


@contextlib.asynccontextmanager
async def run_background_tasks(container: Container) -> AsyncIterator[None]:
    """Run the worker, the sandbox's background tasks, the webhook registration and the stall detection."""
    services, sandbox, stop = container.services, container.sandbox, asyncio.Event()
    tasks = [
        asyncio.create_task(run_worker(services, dsn_of(services.settings)), name="worker"),
        asyncio.create_task(run_with_restarts(lambda: register_hooks(services)), name="hooks"),
    ]
    if services.settings.development:
        tasks.append(asyncio.create_task(keep_following(services.db, services.clock), name="clock"))
    if sandbox is not None:
        from coffret.sandbox import close, run_background  # see make_sandbox

        tasks.append(asyncio.create_task(run_with_restarts(lambda: run_background(sandbox, stop)), name="sandbox"))
    try:
        with detect_stalls():
            yield
    finally:
        stop.set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if sandbox is not None:
            await close(sandbox)


async def run_with_restarts(begin: Callable[[], Awaitable[None]]) -> None:
    """Run `begin` until it returns. After an exception it is restarted, one second later."""
    while True:
        try:
            return await begin()
        except Exception:
            log.exception("a background task failed and is restarted")
        await asyncio.sleep(1)


async def register_hooks(services: Services) -> None:
    """Register our notification URL with the provider.

    Repeated every hour, to re-enable hooks that the provider has disabled.
    """
    while True:
        try:
            with calling_as(CallClass.SWEEP):
                await services.provider.ensure_webhooks(f"{services.settings.public_url}{HOOK_PATH}")
            await asyncio.sleep(3600)
        except ProviderError as error:
            log.warning("registering notifications with the provider failed", error=str(error))
            await asyncio.sleep(30)


def dsn_of(settings: Settings) -> str:
    """The database URL in asyncpg's form."""
    return dsn(settings.database_url)
