"""Strict-Transport-Security."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Hsts:
    """Adds the header to answers over https. Browsers ignore it over http.

    Subdomains are not included: a partner's domain and its subdomains belong to the partner.
    """

    def __init__(self, app: ASGIApp, seconds: int) -> None:
        self.app = app
        self.header = (b"strict-transport-security", b"max-age=%d" % seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["scheme"] != "https":
            await self.app(scope, receive, send)
            return

        async def send_with_header(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), self.header]
            await send(message)

        await self.app(scope, receive, send_with_header)
