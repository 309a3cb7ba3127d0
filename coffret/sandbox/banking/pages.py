"""The page that a mandate's holder confirms it on. It confirms at once and leads back to the platform."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from coffret.sandbox.banking import mandates
from coffret.sandbox.core import Sandbox


def routes(sandbox: Sandbox) -> list[Route]:
    """The page's route."""

    async def confirm(request: Request) -> Response:
        """Confirms a mandate."""
        address = await sandbox.run(mandates.confirm, request.path_params["token"])
        if address is None:
            return PlainTextResponse("There is no such mandate.", 404)
        return RedirectResponse(address, 303)

    return [Route("/mandates/{token}", confirm)]
