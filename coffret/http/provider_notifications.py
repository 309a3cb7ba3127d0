"""Where the payment provider tells that something happened. A notification is a hint: it is queued and read again later."""

import structlog
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from resolvers.core.context import Services
from store.job.jobs import Job, enqueue
from store.providers.base import InboundWebhook, WebhookRejected

log = structlog.get_logger(__name__)


async def notified(request: Request) -> Response:
    """Queue a look at what the provider names; a forged notification is not found here."""
    services: Services = request.app.state.house.services
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
            payload = {"subject": hint.subject, "id": hint.resource_id}
            await enqueue(db, Job.PROVIDER_HINT, payload, once=f"{hint.subject}:{hint.resource_id}")
    return PlainTextResponse("ok")


ROUTES = [Route("/provider/hooks/{secret}", notified), Route("/provider/hooks/{secret}/", notified)]
