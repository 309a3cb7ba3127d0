"""Records the requests of programs that were refused or that failed, in the API log."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import orjson

from resolvers.core.caller import Caller, Transport
from resolvers.core.context import LONGEST_MESSAGE, LONGEST_NAME, RequestFailure
from store.audit.masking import mask, mask_start
from store.core.telemetry.logs import is_secret

LONGEST_TEXT = 600
"""Characters of the query, of a value in the path and of the client's name that are looked at."""
LONGEST_CLIENT = 200
LONGEST_VALUE = 300
MOST_BYTES = 2_000
"""Bytes of all messages of a request together."""


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request that was refused or that failed, with what its record needs: the record is built later.

    Its texts are cut before, so that a waiting record does not hold what was sent.
    """

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
        failures = self.failures
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
                "messages": _messages(failures),
                "duration_ms": self.duration_ms,
                "client": mask_start(self.client, LONGEST_CLIENT),
                "address": self.address,
            }
        )

    @property
    def size(self) -> int:
        """About the bytes of the record."""
        texts = sum(len(each.code) + len(each.message) + len(each.operation) for each in self.failures)
        return texts + len(self.path) + len(self.query) + sum(map(len, self.path_values.values())) + len(self.client)

    def _caller_columns(self) -> Mapping[str, Any]:
        caller = self.caller
        if caller is None:
            return {}
        return {name: getattr(caller, name) for name in ("user_id", "token_id", "partner_id", "marketplace_id")}

    def _target(self) -> str:
        """The path, with the query of a caller with a valid token: that of others may be about people of any tenant."""
        path = self.path.format(**{name: _value(value, name) for name, value in self.path_values.items()})
        if self.caller is None or not self.query:
            return path
        pairs = parse_qsl(self.query.decode("latin-1"), keep_blank_values=True)
        if len(self.query) >= LONGEST_TEXT:
            del pairs[-1:]  # a secret that was cut is not recognized
        return f"{path}?{'&'.join(f'{mask(name)}={_value(value, name)}' for name, value in pairs)}"


def _value(value: str, name: str) -> str:
    """A masked parameter. A long one is cut before it is masked."""
    masked: str = mask(value[:LONGEST_VALUE], name) if is_secret(name) else mask_start(value, LONGEST_VALUE)
    return masked


def _distinct(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(mask(name)[:LONGEST_NAME] for name in names if name))


def _messages(failures: Sequence[RequestFailure]) -> list[str]:
    """The messages, each once, as far as there is room."""
    messages, room = [], MOST_BYTES
    for message in dict.fromkeys(map(_with_field, failures)):
        room -= len(message.encode())
        if room < 0:
            break
        messages.append(message)
    return messages


def _with_field(failure: RequestFailure) -> str:
    """The message after the input field that it is about. The field's name does not say that what follows is secret."""
    field, message = ".".join(map(str, failure.field)), mask_start(failure.message, LONGEST_MESSAGE - 1)
    return f"{mask_start(field, LONGEST_NAME)}: {message}" if field else message
