"""A GraphQL client of a Coffret server, with error messages for the operator."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Self

import httpx

from coffret.command_error import CommandError

TIMEOUT = dt.timedelta(seconds=15)
RETRY_PAUSE = dt.timedelta(seconds=2)
"""Wait after a failed request whose answer has no Retry-After."""
MAX_RETRY_PAUSE = dt.timedelta(minutes=1)
TOO_MANY_REQUESTS = httpx.codes.TOO_MANY_REQUESTS


class ApiUnavailable(Exception):
    """The server cannot be reached or refuses for now; retry after `retry_after`."""

    def __init__(self, why: str, after: dt.timedelta = RETRY_PAUSE) -> None:
        super().__init__(why)
        self.retry_after = after


class ApiClient:
    """A GraphQL client with a token. Use it in `async with`."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url = url.rstrip("/")
        self.token = token
        self._client = httpx.AsyncClient(timeout=TIMEOUT.total_seconds())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def log_in(self, username: str, password: str) -> bool:
        """Get a new token for a user. Returns False if the name or the password is wrong."""
        answer = await self._post("/api-token-auth/", {"username": username, "password": password})
        if answer.status_code == httpx.codes.BAD_REQUEST:
            return False
        self.token = str(self._read(answer)["token"])
        return True

    async def execute(self, query: str, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """The `data` of the answer. Raises ApiUnavailable, or CommandError for an error that a retry cannot fix."""
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
            f"{self.url} does not know this token. Create one there with `coffret token create`, "
            "and pass it with --token or COFFRET_TOKEN."
        )

    async def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        headers = {"Authorization": f"Token {self.token}"} if self.token else {}
        try:
            answer = await self._client.post(f"{self.url}{path}", json=body, headers=headers)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            raise CommandError(f"{self.url} is no address of a Coffret: use one such as https://pay.example.") from None
        except httpx.TransportError as error:
            raise ApiUnavailable(f"Nothing answers at {self.url} ({str(error) or type(error).__name__})") from error
        if answer.status_code == TOO_MANY_REQUESTS or answer.is_server_error:
            raise ApiUnavailable(
                f"{self.url} answers {answer.status_code}", _retry_pause(answer.headers.get("retry-after", ""))
            )
        return answer

    def _read(self, answer: httpx.Response) -> Mapping[str, Any]:
        try:
            told = answer.json()
        except ValueError:
            told = None
        if not isinstance(told, dict) or not {"data", "errors", "token"} & told.keys():
            raise CommandError(f"There is no Coffret at {self.url}: {answer.url} answers {answer.status_code}.")
        return told


def _retry_pause(retry_after: str) -> dt.timedelta:
    """The pause that a Retry-After header asks for, in seconds only, between RETRY_PAUSE and MAX_RETRY_PAUSE."""
    seconds = int(retry_after) if retry_after.isascii() and retry_after.isdecimal() else 0
    return min(max(RETRY_PAUSE, dt.timedelta(seconds=min(seconds, 3600))), MAX_RETRY_PAUSE)
