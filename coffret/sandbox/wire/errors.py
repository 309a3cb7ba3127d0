"""Refusals as the provider words them: an HTTP status and a body with `Message`, `Type`, `Id`, `Date` and `errors`."""

import http
from collections.abc import Mapping
from typing import Any


class WireError(Exception):
    """The call is refused; nothing was done."""

    status: int = 500
    type: str = "internal_error"

    def __init__(
        self, message: str, errors: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors
        self.headers = headers or {}

    def body(self, id: str, now: float) -> dict[str, Any]:
        """The body of the answer. Its `Date` is a float, which the provider's own error bodies have too."""
        return {
            "Message": self.message,
            "Type": self.type,
            "Id": f"{id}#{int(now)}",
            "Date": float(int(now)),
            "errors": dict(self.errors) if self.errors else None,
        }


class ParamError(WireError):
    """Parameters are missing or wrong."""

    status, type = 400, "param_error"

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(
            "One or several required parameters are missing or incorrect. An incorrect resource ID also raises this kind of error.",
            errors,
        )


class CorrelationIdNotFound(WireError):
    """No call was made with this idempotency key in the last 24 hours, or it is still running."""

    status, type = 400, "correlationid_not_found"


class UserClosed(WireError):
    """The user is closed for good."""

    status, type = 400, "user_closed"

    def __init__(self) -> None:
        super().__init__("User closed: No action can be performed")


class Unauthorized(WireError):
    """The token or the API key is wrong, or the token has ended."""

    status, type = 401, "unauthorized"

    def __init__(self, message: str, scheme: str = "Bearer") -> None:
        super().__init__(message, headers={"WWW-Authenticate": scheme})


class AuthenticationAsked(WireError):
    """The owner has to authenticate before this may be looked at. Where is told in a header only."""

    status, type = 401, "unauthorized"

    def __init__(self, url: str) -> None:
        super().__init__(
            "The user has to authenticate: see the header WWW-Authenticate.",
            headers={"WWW-Authenticate": f"PendingUserAction RedirectUrl={url}"},
        )


class ForbiddenResource(WireError):
    """The caller may not touch this."""

    status, type = 403, "forbidden_ressource"


class ResourceNotFound(WireError):
    """There is no such thing."""

    status, type = 404, "ressource_not_found"

    def __init__(self, message: str = "The ressource does not exist") -> None:
        super().__init__(message)


class MethodNotAllowed(WireError):
    """The address exists, with other methods."""

    status, type = 405, "method_not_allowed"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"Use {' or '.join(allowed)} here.", headers={"Allow": ", ".join(allowed)})


class IdempotentCreationConflict(WireError):
    """The idempotency key was used before."""

    status, type = 409, "idempotent_creation_conflict"


class OutOfTurn(WireError):
    """The control plane asked for something that does not follow from where the resource is."""

    status, type = 409, "out_of_turn"


class PayloadTooLarge(WireError):
    """The file is above what is taken."""

    status, type = 413, "payload_too_large"


class UnsupportedMediaType(WireError):
    """The body is not of the kind that is taken here."""

    status, type = 415, "unsupported_media_type"


class RateLimit(WireError):
    """Too many calls."""

    status, type = 429, "rate_limit"


class NotModelled(WireError):
    """The provider has this call; the sandbox does not, and says so rather than pretend."""

    status, type = 501, "not_modelled_by_sandbox"


class InjectedFailure(WireError):
    """A failure asked for at the control plane."""

    type = "injected_failure"

    def __init__(self, status: int) -> None:
        super().__init__(f"{http.HTTPStatus(status).phrase}, as asked for at /_sb/faults")
        self.status = status
