"""What a call is and how its address finds the function that answers it."""

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import parse_qs

from coffret.sandbox.database import Session
from coffret.sandbox.wire.bodies import Body
from coffret.sandbox.wire.errors import (
    MethodNotAllowed,
    NotModelled,
    ParamError,
    ResourceNotFound,
    UnsupportedMediaType,
    WireError,
)

Json = dict[str, Any]
Checked = TypeVar("Checked", bound=Body)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list, and how many items there are on all of them."""

    items: list[Json]
    total: int
    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Empty:
    """An answer that is only a status, without a body."""

    status: int = 204


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One HTTP call. `path` holds what the address names, `query` each parameter's values in order."""

    method: str
    address: str
    url: str
    authorization: str = ""
    key: str | None = None
    content_type: str = ""
    content: bytes = b""
    query: Mapping[str, Sequence[str]] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    fail_with: str | None = None
    """The result code that the object made by this call must end with, when a fault asks for one."""

    def json(self, shape: type[Checked]) -> Checked:
        """The JSON body, checked."""
        return shape.read(self.object())

    def object(self) -> Json:
        """The JSON body as it came."""
        if self.content_type and "json" not in self.content_type:
            raise UnsupportedMediaType("Send application/json.")
        return self._decoded()

    def form(self) -> dict[str, str]:
        """The form body. The provider's own SDK for Python sends JSON and calls it a form, and is understood."""
        if self.content_type and "application/x-www-form-urlencoded" not in self.content_type:
            raise UnsupportedMediaType("Send application/x-www-form-urlencoded.")
        if self.content.startswith(b"{"):
            return {name: str(value) for name, value in self._decoded().items()}
        return {name: values[-1] for name, values in parse_qs(self.content.decode("latin-1")).items()}

    def basic(self) -> tuple[str, str] | None:
        """User name and password of the Basic scheme, if it was used."""
        scheme, _, value = self.authorization.partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            name, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return name, secret

    def one(self, name: str) -> str | None:
        """The last value of a query parameter."""
        values = self.query.get(name)
        return values[-1] if values else None

    def _decoded(self) -> Json:
        try:
            value = json.loads(self.content or b"{}")
        except ValueError:
            raise ParamError({"Body": "The body is not valid JSON."}) from None
        if not isinstance(value, dict):
            raise ParamError({"Body": "The body must be a JSON object."})
        return value


Handler = Callable[[Session, Call], "Json | Page | Empty | WireError"]
"""A refusal that is raised undoes what the call did; one that is answered leaves it."""


def not_modelled(_session: Session, call: Call) -> Json:
    """Refuse a call that the provider has and the sandbox does not."""
    raise NotModelled(f"The provider has {call.method} {call.address}, the sandbox does not model it yet.")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One line of the interface. `path` is relative to `/v2.01/{ClientId}` (or the version in its place), or to `/v2.01` when `public`."""

    method: str
    path: str
    handle: Handler = not_modelled
    public: bool = False

    @property
    def kind(self) -> str:
        """How statistics name it."""
        return f"{self.method} {self.path}"

    @property
    def modelled(self) -> bool:
        """Whether the sandbox answers it."""
        return self.handle is not not_modelled

    def pattern(self) -> re.Pattern[str]:
        """Addresses are matched whatever their case and with or without a final slash; ids keep their case."""
        return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path)) + "/?", re.IGNORECASE)


class Interface:
    """Every endpoint, found by method and address."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)
        self._patterns = [(endpoint.pattern(), endpoint) for endpoint in self.endpoints]

    def find(self, method: str, address: str, *, public: bool) -> tuple[Endpoint, dict[str, str]]:
        """The endpoint and what its address names. Modelled ones come first, so that `/x/{id}` never hides one.

        Slashes may be doubled: the provider's own SDK for Python asks for `/responses//{key}`.
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
