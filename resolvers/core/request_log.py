"""Records the requests of programs that were refused or that failed, in the API log."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import orjson

from resolvers.core.caller import Caller, Transport
from resolvers.core.context import RequestFailure
from store.audit.masking import mask

MOST_FAILURES = 20
"""Errors of a request that are recorded."""
LONGEST_QUERY = 2_000
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request that was refused or that failed, with what its record needs: the record is built later."""

    occurred_on: dt.datetime
    request_id: str
    caller: Caller | None
    transport: Transport
    method: str
    path: str
    """The path of the route, with the names of its parameters in braces."""
    path_values: Mapping[str, str]
    query: bytes
    operation: str
    """The operation of the route; empty for GraphQL, where each failure names its own."""
    status: int
    failures: Sequence[RequestFailure]
    duration_ms: int
    client: str
    address: str

    def to_bytes(self) -> bytes:
        """The record as bytes, with secrets masked."""
        failures = self.failures[:MOST_FAILURES]
        return orjson.dumps(
            {
                **self._caller_columns(),
                "occurred_on": self.occurred_on,
                "request_id": self.request_id,
                "transport": self.transport,
                "method": mask(self.method),
                "path": self._target(),
                "operations": _distinct(self.operation or failure.operation for failure in failures),
                "status": self.status,
                "error_codes": _distinct(failure.code for failure in failures),
                "messages": [mask(_with_field(failure)) for failure in failures],
                "duration_ms": self.duration_ms,
                "client": mask(self.client),
                "address": self.address,
            }
        )

    def _caller_columns(self) -> Mapping[str, Any]:
        caller = self.caller
        if caller is None:
            return {}
        return {name: getattr(caller, name) for name in ("user_id", "token_id", "partner_id", "marketplace_id")}

    def _target(self) -> str:
        """The path, with the query of a caller with a valid token: that of others may be about people of any tenant."""
        path = self.path.format(**{name: mask(value, name) for name, value in self.path_values.items()})
        if self.caller is None or not self.query:
            return path
        pairs = parse_qsl(self.query[:LONGEST_QUERY].decode("latin-1"), keep_blank_values=True)
        return f"{path}?{'&'.join(f'{mask(name)}={mask(value, name)}' for name, value in pairs)}"


def _distinct(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(mask(name)[:LONGEST_NAME] for name in names if name))


def _with_field(failure: RequestFailure) -> str:
    """The message after the input field that it is about."""
    field = ".".join(map(str, failure.field))
    return f"{field}: {failure.message}" if field else failure.message
