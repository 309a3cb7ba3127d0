"""The sandbox as an ASGI application, and what its host does with it."""

import asyncio
import logging
import sqlite3

from starlette.applications import Starlette
from starlette.routing import Mount, Route

from coffret.sandbox import (
    documents,
    enrolment,
    events,
    hooks,
    identity,
    payins,
    recipients,
    refunds,
    registration,
    regulatory,
    tokens,
    users,
    wallets,
)
from coffret.sandbox.control import Control
from coffret.sandbox.core import Sandbox
from coffret.sandbox.pages import views
from coffret.sandbox.settings import SandboxSettings
from coffret.sandbox.wire import idempotency
from coffret.sandbox.wire.dispatch import Wire
from coffret.sandbox.wire.endpoints import Interface
from coffret.sandbox.wire.unmodelled import UNMODELLED, UNMODELLED_V3

INTERFACE = Interface(
    (
        *tokens.ENDPOINTS,
        *registration.ENDPOINTS,
        *enrolment.ENDPOINTS,
        *regulatory.ENDPOINTS,
        *users.ENDPOINTS,
        *identity.ENDPOINTS,
        *documents.ENDPOINTS,
        *recipients.ENDPOINTS,
        *wallets.ENDPOINTS,
        *payins.ENDPOINTS,
        *refunds.ENDPOINTS,
        *hooks.ENDPOINTS,
        *events.ENDPOINTS,
        *idempotency.ENDPOINTS,
        *UNMODELLED,
    )
)
VERSIONS = {"v2.01": INTERFACE, "V3.0": Interface(UNMODELLED_V3)}
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"]

logger = logging.getLogger(__name__)


class SandboxRefused(RuntimeError):
    """The sandbox takes no real money and must not stand where real money is expected."""


def sandbox_app(settings: SandboxSettings, *, production: bool = False) -> Starlette:
    """The sandbox, to be mounted where `settings.public_url` leads.

    It serves the provider's wire protocol under `/v2.01/`, its hosted pages under `/pay/`, `/sca` and `/identity/`, and the
    control plane under `/_sb/`. In production it refuses to be made. Its host calls `run_background`, or `tick` now and
    then, and `close`.
    """
    if production:
        raise SandboxRefused(
            "The sandbox provider takes no real money and does not run in production: configure the real provider."
        )
    sandbox = Sandbox(settings)
    app = Starlette(
        routes=[
            *(
                Route(f"/{version}/{{path:path}}", Wire(sandbox, version, interface).answer, methods=METHODS)
                for version, interface in VERSIONS.items()
            ),
            Mount("/_sb", routes=Control(sandbox).routes()),
            *views.routes(sandbox),
        ]
    )
    app.state.sandbox = sandbox
    return app


async def tick(app: Starlette) -> None:
    """Let time pass: end pay-ins whose time is up, send notifications that are due."""
    await of(app).tick()


async def run_background(app: Starlette, stop: asyncio.Event, every: float = 0.5) -> None:
    """Tick every so many seconds until `stop` is set."""
    while not stop.is_set():
        try:
            await tick(app)
        except sqlite3.OperationalError:
            logger.exception("The sandbox's state is locked or unreadable; trying again")
        try:
            async with asyncio.timeout(every):
                await stop.wait()
        except TimeoutError:
            continue


async def close(app: Starlette) -> None:
    """Let notifications that are under way end, and close the state's file."""
    await of(app).close()


def of(app: Starlette) -> Sandbox:
    """The sandbox inside an application that `sandbox_app` made."""
    sandbox = app.state.sandbox
    assert isinstance(sandbox, Sandbox)
    return sandbox
