"""The addresses that settlement files are sent to, `PUT /uploads/{token}`: without a token of the interface."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coffret.sandbox.core import Sandbox
from coffret.sandbox.intents import settlements


def routes(sandbox: Sandbox) -> list[Route]:
    """The route of the addresses."""

    async def upload(request: Request) -> Response:
        """Takes a file."""
        await request.body()
        taken = await sandbox.run(settlements.upload, request.path_params["token"])
        return Response(status_code=200 if taken else 404)

    return [Route("/uploads/{token}", upload, methods=["PUT"])]
