"""The addresses that settlement files are sent to, `PUT /uploads/{id}`: without a token of the interface."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coffret.sandbox.core import Sandbox
from coffret.sandbox.intents import settlements
from coffret.sandbox.wire.errors import WireError


def routes(sandbox: Sandbox) -> list[Route]:
    """The route of the addresses."""

    async def upload(request: Request) -> Response:
        """Takes a file."""
        await request.body()
        try:
            await sandbox.run(settlements.upload, request.path_params["id"])
        except WireError as error:
            return Response(str(error), error.status)
        return Response()

    return [Route("/uploads/{id}", upload, methods=["PUT"])]
