"""The errors and headers of the OpenAPI document."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_compat.openapi.schemas import Json


@dataclass(frozen=True)
class Error:
    """A kind of error: its component name, description, example, and the schemas of its body."""

    name: str
    meaning: str
    example: Json
    schemas: tuple[str, ...] = ("Detail",)


ERRORS: Mapping[int, Error] = {
    400: Error(
        "BadRequest",
        "The request is invalid. Each problem is listed under its key; a body that cannot be parsed has a `detail`.",
        {"items": [{}, {"quantity": ["Send a whole number."]}]},
        ("Problems", "Detail"),
    ),
    401: Error("Unauthorized", "The token is missing or invalid.", {"detail": "Send `Authorization: Token <token>`."}),
    403: Error(
        "Forbidden", "The caller lacks the permission.", {"detail": "This needs a token that belongs to a partner."}
    ),
    404: Error(
        "NotFound", "The resource does not exist or is not visible to the caller.", {"detail": "Cart not found"}
    ),
    402: Error(
        "PaymentDeclined",
        "The payment was declined. Nothing was charged.",
        {"detail": "The payment was declined.", "code": "payment_declined"},
        ("Coded",),
    ),
    409: Error(
        "Conflict",
        "The current state does not allow the request. Or the `Idempotency-Key` belongs to another request, or to this "
        "request while it is still running: `Retry-After` then gives the seconds to wait.",
        {"detail": "Use a new key for a new request.", "code": "idempotency_mismatch"},
        ("Coded",),
    ),
    413: Error("TooLarge", "The body is too large.", {"detail": "The request is larger than 1 MiB."}),
    415: Error(
        "UnsupportedMediaType", "The media type of the body is not supported.", {"detail": "Send application/json."}
    ),
    429: Error(
        "TooManyRequests",
        "Too many requests or attempts. `Retry-After` gives the seconds to wait.",
        {"detail": "Too many attempts. Try again in 30 seconds."},
    ),
    500: Error(
        "Failure",
        "An unexpected error of the service.",
        {"detail": "Something went wrong on our side.", "request_id": "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"},
        ("Failure",),
    ),
    502: Error(
        "ProviderFailed",
        "The payment provider failed. Nothing was done twice. Send the same request again with its `Idempotency-Key`.",
        {"detail": "The payment provider failed. Nothing was charged twice; try again.", "code": "provider_failed"},
        ("Coded",),
    ),
    503: Error(
        "Unavailable",
        "The database or another dependency cannot be reached. `Retry-After` gives the seconds to wait. After the code "
        "`outcome_unknown`, read the current state first, or send the request again with the same `Idempotency-Key`.",
        {"detail": "The database cannot be reached at the moment. Try again shortly.", "code": "unavailable"},
        ("Coded",),
    ),
    504: Error(
        "ProviderTimedOut",
        "The payment provider did not answer in time. Send the same request again with its `Idempotency-Key`: it is executed "
        "at most once.",
        {
            "detail": "The payment provider did not answer in time. The outcome is being looked up; nothing is charged twice.",
            "code": "provider_timed_out",
        },
        ("Coded",),
    ),
}

HEADERS: Mapping[str, Json] = {
    "X-Request-Id": {
        "description": "Id of the request, also in the logs of the service.",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    },
    "Cache-Control": {
        "description": "Responses belong to their token and must not be cached.",
        "required": True,
        "schema": {"type": "string", "const": "no-store"},
    },
    "RateLimit": {
        "description": "Remaining requests (`r`) in the next seconds (`t`), for the token or the address.",
        "schema": {"type": "string"},
        "example": '"token";r=5987;t=31',
    },
    "RateLimit-Policy": {
        "description": "Allowed requests (`q`) per window in seconds (`w`).",
        "schema": {"type": "string"},
        "example": '"token";q=6000;w=60',
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}},
    "WWW-Authenticate": {
        "description": "The authentication scheme.",
        "required": True,
        "schema": {"type": "string", "const": "Token"},
    },
    "Content-Disposition": {
        "description": "The name to save the file with.",
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "The stored response of an earlier request with the same `Idempotency-Key`.",
        "schema": {"type": "string", "const": "true"},
    },
    "Link": {
        "description": "URLs of pages of this list: `first` and `last`; `prev` and `next` if they exist. Or an address "
        "of the resource: `payment`, where the customer pays; `wallet`, the transfers of its wallet.",
        "schema": {"type": "string"},
        "example": '<https://shop.example/api/vouchers/?page=2>; rel="next"',
    },
    "Deprecation": {
        "description": "Time since which this URL has a successor, in seconds since 1970; `Link` gives the successor.",
        "required": True,
        "schema": {"type": "string"},
        "example": "@1893456000",
    },
}
COMMON_HEADERS = ("X-Request-Id", "Cache-Control", "RateLimit", "RateLimit-Policy")
"""Headers of every response that counts towards the rate limit."""
HEADERS_BY_STATUS: Mapping[int, tuple[str, ...]] = {
    401: (*COMMON_HEADERS, "WWW-Authenticate"),
    409: (*COMMON_HEADERS, "Retry-After"),
    429: (*COMMON_HEADERS, "Retry-After"),
    503: (*COMMON_HEADERS, "Retry-After"),
}
"""The headers of errors that have more than the common ones."""


def error_schemas() -> Json:
    """The schemas of error bodies."""
    text, detail = {"type": "string"}, {"detail": {"type": "string"}}
    problems = {"$ref": "#/components/schemas/Problems"}
    return {
        "Problems": {
            "type": "object",
            "description": "Messages by key. Objects nest; a list is aligned with its items, `{}` for a valid item.",
            "additionalProperties": {"anyOf": [{"type": "array", "items": {"anyOf": [text, problems]}}, problems]},
        },
        "Detail": {"type": "object", "properties": detail, "required": ["detail"]},
        "Coded": {
            "type": "object",
            "description": "An error with a code for programs.",
            "properties": {**detail, "code": text},
            "required": ["detail", "code"],
        },
        "Failure": {
            "type": "object",
            "properties": {**detail, "request_id": text},
            "required": ["detail", "request_id"],
        },
    }


def error_response(status: int) -> Json:
    """The response of an error status."""
    error = ERRORS[status]
    schemas = [{"$ref": f"#/components/schemas/{name}"} for name in error.schemas]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {
        "description": error.meaning,
        "headers": header_refs(*HEADERS_BY_STATUS.get(status, COMMON_HEADERS)),
        "content": {"application/json": {"schema": schema, "example": error.example}},
    }


def header_refs(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
