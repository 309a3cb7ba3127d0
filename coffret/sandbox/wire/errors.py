"""The provider's errors: an HTTP status and a body with `Message`, `Type`, `Id`, `Date` and `errors`."""

import http
from collections.abc import Mapping
from typing import Any


class WireError(Exception):
    """The call is refused. If the error is raised, its writes are rolled back."""

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
        """The response body. `Date` is a float, as in the provider's error bodies."""
        return {
            "Message": self.message,
            "Type": self.type,
            "Id": f"{id}#{int(now)}",
            "Date": float(int(now)),
            "errors": dict(self.errors) if self.errors else None,
        }


class ParamError(WireError):
    status, type = 400, "param_error"

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(
            "One or several required parameters are missing or incorrect. An incorrect resource ID also raises this kind of error.",
            errors,
        )


class CorrelationIdNotFound(WireError):
    """No completed call used this idempotency key in the last 24 hours."""

    status, type = 400, "correlationid_not_found"


class UserClosed(WireError):
    status, type = 400, "user_closed"

    def __init__(self) -> None:
        super().__init__("User closed: No action can be performed")


class MandateNotCancellable(WireError):
    status, type = 400, "mandate_cannot_be_cancelled"


class Unauthorized(WireError):
    """The token is missing or wrong, or has expired."""

    status, type = 401, "unauthorized"

    def __init__(self, message: str) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})


class InvalidClient(WireError):
    """The client id or the API key is wrong. The body is that of the OAuth standard, not that of other errors."""

    status, type = 401, "invalid_client"

    def body(self, id: str, now: float) -> dict[str, Any]:  # noqa: ARG002 - the signature of every error
        return {"error": self.type}


class AuthenticationAsked(WireError):
    """The owner must authenticate first. Only the WWW-Authenticate header contains the URL."""

    status, type = 401, "unauthorized"

    def __init__(self, url: str) -> None:
        super().__init__(
            "The user has to authenticate: see the header WWW-Authenticate.",
            headers={"WWW-Authenticate": f"PendingUserAction RedirectUrl={url}"},
        )


class ForbiddenResource(WireError):
    status, type = 403, "forbidden_ressource"


class ResourceNotFound(WireError):
    status, type = 404, "ressource_not_found"

    def __init__(self, message: str = "The ressource does not exist") -> None:
        super().__init__(message, {"RessourceNotFound": message})


class MethodNotAllowed(WireError):
    """The path exists with other methods."""

    status, type = 405, "method_not_allowed"

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"Use {' or '.join(allowed)} here.", headers={"Allow": ", ".join(allowed)})


class IdempotentCreationConflict(WireError):
    """The idempotency key was already used."""

    status, type = 409, "idempotent_creation_conflict"


class OutOfTurn(WireError):
    """The control plane requested a change that the resource's status does not allow."""

    status, type = 409, "out_of_turn"


class PayloadTooLarge(WireError):
    status, type = 413, "payload_too_large"


class WireUnsupportedMediaType(WireError):
    status, type = 415, "unsupported_media_type"


class RateLimitReached(WireError):
    status, type = 429, "rate_limit"


class NotModelled(WireError):
    """The provider supports this call; the sandbox does not."""

    status, type = 501, "not_modelled_by_sandbox"


class InjectedFailure(WireError):
    """A failure requested at the control plane."""

    type = "injected_failure"

    def __init__(self, status: int) -> None:
        super().__init__(f"{http.HTTPStatus(status).phrase}, as asked for at /_sb/faults")
        self.status = status
