"""Addresses that the interface hands out besides those of its pages: to confirm a mandate, to send a settlement file to,
and to read a file of a document at. None needs a token of the interface.
"""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from coffret.sandbox.banking import mandates
from coffret.sandbox.core import Sandbox
from coffret.sandbox.intents import settlements
from coffret.sandbox.kyc import evidence
from coffret.sandbox.wire.errors import WireError


def routes(sandbox: Sandbox) -> list[Route]:
    """The routes of the addresses."""

    async def confirm(request: Request) -> Response:
        """Confirms a mandate and leads back to the platform."""
        try:
            address = await sandbox.run(mandates.confirm, request.path_params["token"])
        except WireError as error:
            return PlainTextResponse(error.message, error.status)
        return RedirectResponse(address, 303)

    async def upload(request: Request) -> Response:
        """Takes a settlement file."""
        try:
            await sandbox.run(settlements.upload, request.path_params["id"])
        except WireError as error:
            return PlainTextResponse(error.message, error.status)
        return Response()

    async def read(request: Request) -> Response:
        """Tells what is known of a file."""
        return PlainTextResponse(evidence.description(request.path_params["sha256"]))

    return [
        Route("/mandates/{token}", confirm),
        Route("/uploads/{id}", upload, methods=["PUT"]),
        Route("/documents/{sha256}", read),
    ]
