"""A client of a Coffret, here or elsewhere, that tells in sentences why it can't be asked."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Self

import httpx

from coffret.commands.command_error import CommandError

PATIENCE = dt.timedelta(seconds=15)
PAUSE = dt.timedelta(seconds=2)
"""Before asking again one that is away and does not say for how long."""
LONGEST_PAUSE = dt.timedelta(minutes=1)
LIMITED = httpx.codes.TOO_MANY_REQUESTS


class Away(Exception):
    """It can't be asked now, but may be later."""

    def __init__(self, why: str, after: dt.timedelta = PAUSE) -> None:
        super().__init__(why)
        self.after = after


class Api:
    """GraphQL at an address, asked with a token. To be used in `async with`."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._client = httpx.AsyncClient(timeout=PATIENCE.total_seconds())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def log_in(self, username: str, password: str) -> bool:
        """Use a new token of a user; False when name or password is wrong."""
        answer = await self._post("/api-token-auth/", {"username": username, "password": password})
        if answer.status_code == httpx.codes.BAD_REQUEST:
            return False
        self.token = str(self._read(answer)["token"])
        return True

    async def ask(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """The `data` of an answer. Raises Away, or CommandError when asking again would be useless."""
        answer = await self._post("/graphql/", {"query": query, "variables": dict(variables)})
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise self._unknown_token
        told = self._read(answer)
        for error in told.get("errors") or ():
            if error.get("extensions", {}).get("code") == "UNAUTHENTICATED":
                raise self._unknown_token
            raise CommandError(f"{self.url} refuses: {error.get('message')}")
        data: Mapping[str, Any] = told["data"]
        return data

    @property
    def _unknown_token(self) -> CommandError:
        return CommandError(
            f"{self.url} does not know this token. Make one there with `coffret token create`, "
            "and give it with --token or COFFRET_TOKEN."
        )

    async def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        headers = {"Authorization": f"Token {self.token}"} if self.token else {}
        try:
            answer = await self._client.post(f"{self.url}{path}", json=body, headers=headers)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise CommandError(f"{self.url} is no address of a Coffret: use one such as https://pay.example.") from None
        except httpx.TransportError as error:
            raise Away(f"Nothing answers at {self.url} ({str(error) or type(error).__name__})") from error
        if answer.status_code == LIMITED or answer.is_server_error:
            raise Away(f"{self.url} answers {answer.status_code}", _pause(answer.headers.get("retry-after", "")))
        return answer

    def _read(self, answer: httpx.Response) -> Mapping[str, Any]:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if not isinstance(told, dict) or not {"data", "errors", "token"} & told.keys():
            raise CommandError(f"There is no Coffret at {self.url}: {answer.url} answers {answer.status_code}.")
        return told


def _pause(retry_after: str) -> dt.timedelta:
    """How long a server asks us to wait."""
    seconds = int(retry_after) if retry_after.isascii() and retry_after.isdecimal() else 0
    return min(max(PAUSE, dt.timedelta(seconds=min(seconds, 3600))), LONGEST_PAUSE)
