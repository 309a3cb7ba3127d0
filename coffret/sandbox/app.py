"""The sandbox as an ASGI application, and the functions its host calls."""

import asyncio
import logging
import sqlite3

from starlette.applications import Starlette
from starlette.routing import Mount, Route

from coffret.sandbox import client, events, hooks, registration, tokeniser, tokens
from coffret.sandbox.banking import accounts, bank_payins, mandates
from coffret.sandbox.control import Control
from coffret.sandbox.core import Sandbox
from coffret.sandbox.disputes import disputes, repudiations
from coffret.sandbox.disputes import documents as dispute_documents
from coffret.sandbox.exchange import conversions, quotes, rates
from coffret.sandbox.holds import captures, holds
from coffret.sandbox.intents import intents, settlements, splits
from coffret.sandbox.kyc import beneficial_owners, documents, identity, owners
from coffret.sandbox.pages import addresses, views
from coffret.sandbox.payments import (
    card_registrations,
    direct_payins,
    method_facts,
    payins,
    payment_methods,
    recurring,
    refunds,
    registered_cards,
    token_payins,
    transfers,
    wallets,
)
from coffret.sandbox.payouts import bank_accounts, payouts, recipients
from coffret.sandbox.reporting import downloads, emoney, reports
from coffret.sandbox.settings import SandboxSettings
from coffret.sandbox.users import countries, enrolment, formats, legacy, regulatory, users
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
        *formats.ENDPOINTS,
        *countries.ENDPOINTS,
        *emoney.ENDPOINTS,
        *legacy.ENDPOINTS,
        *identity.ENDPOINTS,
        *owners.ENDPOINTS,
        *documents.ENDPOINTS,
        *beneficial_owners.ENDPOINTS,
        *recipients.ENDPOINTS,
        *bank_accounts.ENDPOINTS,
        *payouts.ENDPOINTS,
        *client.ENDPOINTS,
        *wallets.ENDPOINTS,
        *card_registrations.ENDPOINTS,
        *registered_cards.ENDPOINTS,
        *direct_payins.ENDPOINTS,
        *holds.ENDPOINTS,
        *captures.ENDPOINTS,
        *recurring.ENDPOINTS,
        *method_facts.ENDPOINTS,
        *token_payins.ENDPOINTS,
        *payment_methods.ENDPOINTS,
        *accounts.ENDPOINTS,
        *mandates.ENDPOINTS,
        *bank_payins.ENDPOINTS,
        *payins.ENDPOINTS,
        *transfers.ENDPOINTS,
        *rates.ENDPOINTS,
        *quotes.ENDPOINTS,
        *conversions.ENDPOINTS,
        *refunds.ENDPOINTS,
        *disputes.ENDPOINTS,
        *dispute_documents.ENDPOINTS,
        *repudiations.ENDPOINTS,
        *reports.ENDPOINTS,
        *hooks.ENDPOINTS,
        *events.ENDPOINTS,
        *idempotency.ENDPOINTS,
        *UNMODELLED,
    )
)
INTERFACE_V3 = Interface((*settlements.ENDPOINTS, *splits.ENDPOINTS, *UNMODELLED_V3, *intents.ENDPOINTS))
VERSIONS = {"v2.01": INTERFACE, "V3.0": INTERFACE_V3}
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"]

logger = logging.getLogger(__name__)


class SandboxRefused(RuntimeError):
    """The sandbox moves no money and refuses to run in production."""


def sandbox_app(settings: SandboxSettings, *, production: bool = False) -> Starlette:
    """The sandbox application, to be mounted at `settings.public_url`. Raises SandboxRefused in production.

    It serves the provider's wire protocol under `/v2.01/`, hosted pages under `/pay/`, `/sca` and `/identity/`, and the
    control plane under `/_sb/`. The host calls `run_background`, or `tick` regularly, and finally `close`.
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
            *tokeniser.routes(sandbox),
            *downloads.routes(sandbox),
            *addresses.routes(sandbox),
            *views.routes(sandbox),
        ]
    )
    app.state.sandbox = sandbox
    return app


async def tick(app: Starlette) -> None:
    """End expired pay-ins and send due notifications."""
    await of(app).tick()


async def run_background(app: Starlette, stop: asyncio.Event, every: float = 0.5) -> None:
    """Call `tick` every `every` seconds until `stop` is set."""
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
    """Wait for running deliveries and close the state file."""
    await of(app).close()


def of(app: Starlette) -> Sandbox:
    """The sandbox of an application that `sandbox_app` created."""
    sandbox = app.state.sandbox
    assert isinstance(sandbox, Sandbox)
    return sandbox
