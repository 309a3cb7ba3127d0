"""Strict-Transport-Security: browsers that have come by https once are told to keep to it."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Hsts:
    """Adds the header to answers over https, and to no others: browsers ignore it there, and it would not be true.

    It names no subdomains: a partner's domain is the partner's, and what else lies below it is not ours to say.
    """

    def __init__(self, app: ASGIApp, seconds: int) -> None:
        self.app = app
        self.header = (b"strict-transport-security", b"max-age=%d" % seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["scheme"] != "https":
            await self.app(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), self.header]
            await send(message)

        await self.app(scope, receive, told)
