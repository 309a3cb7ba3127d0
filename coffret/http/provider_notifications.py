"""Receives the payment provider's notifications. A notification is a hint: a job reads the current state later."""

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from resolvers.core.provider.events import enqueue_event
from resolvers.core.services import Services
from store.providers.base import InboundWebhook, WebhookRejected

log = structlog.get_logger(__name__)


async def receive_notification(request: Request) -> Response:
    """Queue a job for each resource that a notification names. Answers 404 to a forged one."""
    services: Services = request.app.state.container.services
    said = InboundWebhook(
        method=request.method,
        path=request.url.path,
        query=request.url.query,
        headers=dict(request.headers),
        body=await request.body(),
    )
    try:
        hints = services.provider.read_webhook(said)
    except WebhookRejected as error:
        log.warning("a notification was refused", reason=str(error))
        return PlainTextResponse("Not found", 404)
    async with services.db.sessions() as db, db.begin():
        for hint in hints:
            await enqueue_event(db, hint, notified=True)
    return PlainTextResponse("ok")


ROUTES = [
    Route("/provider/hooks/{secret}", receive_notification),
    Route("/provider/hooks/{secret}/", receive_notification),
]
