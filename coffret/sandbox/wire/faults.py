"""Faults requested at the control plane: failures of matching calls."""

import asyncio
import fnmatch
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

import httpx
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from coffret.sandbox.database import SandboxSession


class FaultKind(StrEnum):
    """The effect of a fault."""

    DROP = "drop"
    """The connection is closed without an answer."""
    HANG = "hang"
    """No answer for `seconds`; then the connection is closed."""
    STATUS = "status"
    """An answer with `status`: 500, 502 or 503."""
    RATE_LIMIT = "rate_limit"
    """Status 429 with no calls remaining."""
    TRUNCATED = "truncated"
    """The first half of the JSON."""
    HTML = "html"
    """Status 200 with an HTML page instead of JSON."""
    FAILED = "failed"
    """The call succeeds; the object that it creates is `FAILED` with `code`."""
    SLOW = "slow"
    """The correct answer, after `seconds`."""


class Fault(BaseModel):
    """One fault. It applies to the next `times` calls whose method and path match, before or after they are executed.

    `path` is relative to the client's root and may contain `*`, for example `/payins/card/web`. A call with a fault
    `before` is not executed, except for `slow` and `failed`, which execute it late or with a failed result.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str = "*"
    path: str = "*"
    times: Annotated[int, Field(ge=1, le=10_000)] = 1
    when: Literal["before", "after"] = "before"
    kind: FaultKind
    status: Literal[500, 502, 503] = 500
    seconds: Annotated[float, Field(ge=0, le=600)] = 60
    code: Annotated[str, Field(pattern=r"^\d{6}$")] = "009199"

    @property
    def executes(self) -> bool:
        """True if the call is executed despite the fault."""
        return self.when == "after" or self.kind in {FaultKind.SLOW, FaultKind.FAILED}


def add(session: SandboxSession, fault: Fault) -> None:
    """Make the next matching calls fail."""
    session.change(
        "INSERT INTO fault (method, path, times, spec) VALUES (?, ?, ?, ?)",
        fault.method,
        fault.path,
        fault.times,
        fault.model_dump_json(),
    )


def list_faults(session: SandboxSession) -> list[Fault]:
    """Remaining faults, with the remaining number of times."""
    rows = session.rows("SELECT * FROM fault ORDER BY id")
    return [Fault.model_validate_json(row["spec"]).model_copy(update={"times": row["times"]}) for row in rows]


def clear(session: SandboxSession) -> None:
    """Remove all faults."""
    session.change("DELETE FROM fault")


def take(session: SandboxSession, method: str, path: str) -> Fault | None:
    """The fault of this call; its counter is decremented."""
    for row in session.rows("SELECT * FROM fault ORDER BY id"):
        if fnmatch.fnmatchcase(method, row["method"].upper()) and fnmatch.fnmatchcase(
            path.lower().rstrip("/"), row["path"].lower().rstrip("/")
        ):
            if row["times"] > 1:
                session.change("UPDATE fault SET times = times - 1 WHERE id = ?", row["id"])
            else:
                session.change("DELETE FROM fault WHERE id = ?", row["id"])
            return Fault.model_validate_json(row["spec"])
    return None


class ConnectionCut(httpx.ReadError):
    """The error that a client in the same process gets for a closed connection.

    A client on a socket sees the socket close.
    """


class CutResponse(Response):
    """Starts an answer and fails, so that the server closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's three
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
        raise ConnectionCut("The sandbox cut the connection, as asked for at /_sb/faults")


async def spoil(fault: Fault, answer: Response | None) -> Response | None:
    """The client's answer instead of `answer`, which is None before execution. Returns None to continue."""
    match fault.kind:
        case FaultKind.DROP:
            return CutResponse()
        case FaultKind.HANG:
            await asyncio.sleep(fault.seconds)
            return CutResponse()
        case FaultKind.SLOW:
            await asyncio.sleep(fault.seconds)
            return answer
        case FaultKind.TRUNCATED:
            content = bytes(answer.body) if answer else b'{"Id":"truncated"}'
            return Response(content[: len(content) // 2], media_type="application/json", headers=kept_headers(answer))
        case FaultKind.HTML:
            page = "<!doctype html><title>Sorry</title><p>The service is being looked after.</p>"
            return Response(page, media_type="text/html", headers=kept_headers(answer))
        case _:
            return answer


def kept_headers(
    answer: Response | None, names: Iterable[str] = ("x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset")
) -> dict[str, str]:
    """The rate limit headers of the replaced answer."""
    return {name: answer.headers[name] for name in names if name in answer.headers} if answer else {}
