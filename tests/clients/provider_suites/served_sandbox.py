"""A sandbox on a port, for programs that only know an address."""

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import Clock

CLIENT = "sdk-unit-tests"
"""The client that the suites of the SDKs expect to be."""
KEY = "cqFfFrWfCcb7UadHNxx2C9Lo6Djw8ZduLi7J9USTmu8bhxxpju"
"""The key that the suites send, published in each of them."""


async def accept(_url: str) -> int:
    """Answer every notification: no address of a suite is called."""
    return 200


def fill_account(origin: str) -> None:
    """Put money into the platform's own wallets: the suites expect an account that was used before."""
    with httpx.Client(base_url=origin, trust_env=False) as client:
        granted = client.post("/v2.01/oauth/token", auth=(CLIENT, KEY), data={"grant_type": "client_credentials"})
        client.headers["Authorization"] = f"Bearer {granted.json()['access_token']}"
        for currency in ("EUR", "GBP"):
            funds = {"Currency": currency, "Amount": 100_000}
            body = {"CreditedWalletId": f"FEES_{currency}", "DeclaredDebitedFunds": funds}
            wire = client.post(f"/v2.01/{CLIENT}/clients/payins/bankwire/direct", json=body).raise_for_status().json()
            client.post(f"/_sb/payins/{wire['Id']}/pay", json={"challenge": "confirm"}).raise_for_status()


@contextmanager
def served_sandbox() -> Iterator[str]:
    """The origin of a sandbox that is served until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = sandbox_app(SandboxSettings(public_url=origin, clock=Clock(), deliver=accept, client_id=CLIENT, api_key=KEY))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await close(app)

    host = Starlette(routes=[Mount("/", app)], lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(host, log_level="error", lifespan="on"))
    serving = threading.Thread(target=server.run, args=([listening],))
    serving.start()
    try:
        fill_account(origin)
        yield origin
    finally:
        server.should_exit = True
        serving.join()
        listening.close()
