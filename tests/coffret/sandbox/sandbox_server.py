"""A sandbox on a port, beside a page that people come back to, for tests in a browser."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Mount, Route

from coffret.sandbox import SandboxSettings, close, sandbox_app
from store.core.clock import Clock
from tests.coffret.sandbox.mangopay_api import MangopayApi

BACK = "/k/abcdefgh"


async def back(_request: Request) -> HTMLResponse:
    """Where people come back to."""
    return HTMLResponse(
        "<!doctype html><html lang='en'><title>Back</title><main><h1>Back at the shop</h1></main></html>"
    )


@asynccontextmanager
async def serve_sandbox() -> AsyncIterator[tuple[str, MangopayApi]]:
    """The origin of a sandbox that is served, and the calls that tests make of it."""
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    clock = Clock()
    app = sandbox_app(SandboxSettings(public_url=f"{origin}/_provider", clock=clock))
    host = Starlette(routes=[Mount("/_provider", app), Route(BACK, back)])
    server = uvicorn.Server(uvicorn.Config(host, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with httpx.AsyncClient(base_url=f"{origin}/_provider") as http:
            yield origin, MangopayApi(app, clock, http, [])
    finally:
        server.should_exit = True
        await serving
        await close(app)
