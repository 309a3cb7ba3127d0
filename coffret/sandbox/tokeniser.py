"""The tokeniser, `POST /tokenise`: the only address that a buyer's browser sends a card to when it is registered."""

from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from coffret.sandbox.core import Sandbox
from coffret.sandbox.payments import card_registrations

HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
"""Scripts of every shop may send cards here and read the answer."""


def routes(sandbox: Sandbox) -> list[Route]:
    """The tokeniser's route."""

    async def tokenise(request: Request) -> PlainTextResponse:
        """Answers `data=…` or `errorCode=…` to a form with `data`, `accessKeyRef` and the fields of the card."""
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        return PlainTextResponse(await sandbox.run(card_registrations.tokenise, form), headers=HEADERS)

    return [Route("/tokenise", tokenise, methods=["POST"])]
