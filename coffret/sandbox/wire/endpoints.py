"""HTTP calls and the routing of paths to handlers."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.bodies import Body
from coffret.sandbox.wire.errors import (
    MethodNotAllowed,
    NotModelled,
    ParamError,
    ResourceNotFound,
    WireError,
    WireUnsupportedMediaType,
)

Json = dict[str, Any]
Checked = TypeVar("Checked", bound=Body)
MULTIPART_FIELD = re.compile(r'name="(\w+)"\r\n\r\n(.*?)\r\n--', re.DOTALL)


@dataclass(frozen=True, slots=True)
class WirePage:
    """One page of a list, with the total number of items."""

    items: list[Json]
    total: int
    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Empty:
    """A response without a body."""

    status: int = 204


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """One HTTP call. `path` contains the path parameters, `query` the values of each query parameter in order. Names of
    query parameters are read in every case: the provider's SDK for Python sends `sort`.
    """

    method: str
    address: str
    url: str
    authorization: str = ""
    key: str | None = None
    content_type: str = ""
    content: bytes = b""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    errors_name: str = "errors"
    """How the version of the interface spells the errors of single fields."""
    fail_with: str | None = None
    """The result code with which the created object must end, if a fault demands one."""

    def json(self, shape: type[Checked]) -> Checked:
        """The JSON body, validated."""
        return shape.read(self.object())

    def object(self) -> Json:
        """The JSON body as a dict. Raises ParamError and WireUnsupportedMediaType."""
        if self.content_type and "json" not in self.content_type:
            raise WireUnsupportedMediaType("Send application/json.")
        return self._decode_object()

    def form(self) -> dict[str, str]:
        """The form body. JSON and multipart bodies labelled as a form are accepted, because the provider's SDKs for
        Python and PHP send them.
        """
        if self.content_type and "application/x-www-form-urlencoded" not in self.content_type:
            raise WireUnsupportedMediaType("Send application/x-www-form-urlencoded.")
        if self.content.startswith(b"{"):
            return {name: str(value) for name, value in self._decode_object().items()}
        text = self.content.decode("latin-1")
        if text.startswith("--"):
            return dict(MULTIPART_FIELD.findall(text))
        return {name: values[-1] for name, values in parse_qs(text).items()}

    def basic(self) -> tuple[str, str] | None:
        """User name and password of Basic authentication; None without it."""
        scheme, _, value = self.authorization.partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            name, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return name, secret

    def one(self, name: str) -> str | None:
        """The last value of a query parameter; None if it is absent."""
        values = self.values(name)
        return values[-1] if values else None

    def values(self, name: str) -> list[str]:
        """All values of a query parameter."""
        return [value for given, values in self.query.items() if given.lower() == name.lower() for value in values]

    def _decode_object(self) -> Json:
        try:
            value = json.loads(self.content or b"{}")
        except ValueError:
            raise ParamError({"Body": "The body is not valid JSON."}) from None
        if not isinstance(value, dict):
            raise ParamError({"Body": "The body must be a JSON object."})
        return value


Handler = Callable[[SandboxSession, HttpCall], "Json | WirePage | Empty | WireError"]
"""Handles a call. A raised error rolls back the call's writes; a returned one commits them."""


def not_modelled(_session: SandboxSession, call: HttpCall) -> Json:
    """Raise NotModelled."""
    raise NotModelled(f"The provider has {call.method} {call.address}, the sandbox does not model it yet.")


@dataclass(frozen=True, slots=True)
class WireEndpoint:
    """One endpoint of the interface.

    `path` is relative to `/v2.01/{ClientId}` (or another version), or to `/v2.01` if `public`.
    """

    method: str
    path: str
    handle: Handler = not_modelled
    public: bool = False

    @property
    def kind(self) -> str:
        """The name in the statistics."""
        return f"{self.method} {self.path}"

    @property
    def is_modelled(self) -> bool:
        """True if the sandbox implements it."""
        return self.handle is not not_modelled

    def pattern(self) -> re.Pattern[str]:
        """Matches paths case-insensitively, with or without a final slash."""
        return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path)) + "/?", re.IGNORECASE)


class Interface:
    """All endpoints of a version."""

    def __init__(self, endpoints: Sequence[WireEndpoint]) -> None:
        self.endpoints = tuple(endpoints)
        self._patterns = [(endpoint.pattern(), endpoint) for endpoint in self.endpoints]

    def find(self, method: str, address: str, *, public: bool) -> tuple[WireEndpoint, dict[str, str]]:
        """The endpoint and its path parameters. Raises MethodNotAllowed and ResourceNotFound.

        The first match wins, so modelled endpoints must precede others. Double slashes are accepted: the provider's
        Python SDK requests `/responses//{key}`.
        """
        allowed: list[str] = []
        address = re.sub("/{2,}", "/", address)
        for pattern, endpoint in self._patterns:
            if endpoint.public is public and (match := pattern.fullmatch(address)):
                if endpoint.method == method:
                    return endpoint, match.groupdict()
                allowed.append(endpoint.method)
        if allowed:
            raise MethodNotAllowed(sorted(set(allowed)))
        raise ResourceNotFound("The route does not exist.")
