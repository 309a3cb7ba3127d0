"""What those who run the service ask: is it alive, can it serve, how is it doing."""

import asyncio

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coffret.http.metrics import metrics
from resolvers.core.context import Services
from schema.core.errors import Unavailable

PATIENCE = 3.0


async def health(_request: Request) -> Response:
    """The process is alive."""
    return JSONResponse({"status": "ok"})


async def database_answers(services: Services) -> bool:
    """Whether the database does."""
    try:
        async with asyncio.timeout(PATIENCE), services.db.reading.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except (TimeoutError, SQLAlchemyError, Unavailable):
        return False
    return True


async def store_answers(services: Services) -> bool:
    """Whether the cart store does."""
    try:
        async with asyncio.timeout(PATIENCE):
            await services.kv.ping()
    except (TimeoutError, Unavailable):
        return False
    return True


async def readiness(request: Request) -> Response:
    """Whether requests can be served; 503 names what cannot be reached."""
    services: Services = request.app.state.house.services
    database, store = await asyncio.gather(database_answers(services), store_answers(services))
    words = {True: "ok", False: "unreachable"}
    parts = {"database": words[database], "redis": words[store]}
    ready = database and store
    return JSONResponse({"status": "ok" if ready else "unavailable", **parts}, 200 if ready else 503)


ROUTES = [
    Route("/healthz", health),
    Route("/readyz", readiness),
    Route("/metrics", metrics),
]
