"""Health endpoints: liveness, readiness and metrics."""

import asyncio

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coffret.http.metrics import metrics
from resolvers.core.services import Services
from schema.core.errors import Unavailable

TIMEOUT = 3.0


async def health(_request: Request) -> Response:
    """Liveness."""
    return JSONResponse({"status": "ok"})


async def is_database_ready(services: Services) -> bool:
    try:
        async with asyncio.timeout(TIMEOUT), services.db.autocommit_engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except (TimeoutError, SQLAlchemyError, Unavailable):
        return False
    return True


async def is_cart_store_ready(services: Services) -> bool:
    try:
        async with asyncio.timeout(TIMEOUT):
            await services.kv.ping()
    except (TimeoutError, Unavailable):
        return False
    return True


async def readiness(request: Request) -> Response:
    """Readiness. Status 503 names what is unreachable."""
    services: Services = request.app.state.container.services
    database, store = await asyncio.gather(is_database_ready(services), is_cart_store_ready(services))
    words = {True: "ok", False: "unreachable"}
    parts = {"database": words[database], "redis": words[store]}
    ready = database and store
    return JSONResponse({"status": "ok" if ready else "unavailable", **parts}, 200 if ready else 503)


ROUTES = [
    Route("/healthz", health),
    Route("/readyz", readiness),
    Route("/metrics", metrics),
]
