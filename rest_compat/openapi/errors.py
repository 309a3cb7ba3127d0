"""What the description says of errors and of headers."""

from collections.abc import Mapping
from dataclasses import dataclass

from rest_compat.openapi.schemas import Json


@dataclass(frozen=True)
class Error:
    """A kind of error: its name among the components, what it means, an example, the schemas that its body may have."""

    name: str
    meaning: str
    example: Json
    schemas: tuple[str, ...] = ("Detail",)


ERRORS: Mapping[int, Error] = {
    400: Error(
        "BadRequest",
        "What was sent cannot be used: every problem stands under its key. What cannot be read at all has a `detail`.",
        {"items": [{}, {"quantity": ["Send a whole number."]}]},
        ("Problems", "Detail"),
    ),
    401: Error(
        "Unauthorized", "There is no token, or not a good one.", {"detail": "Send `Authorization: Token <token>`."}
    ),
    403: Error(
        "Forbidden", "The caller lacks the permission.", {"detail": "This needs a token that belongs to a partner."}
    ),
    404: Error("NotFound", "There is no such thing for this caller.", {"detail": "Cart not found"}),
    402: Error(
        "PaymentDeclined",
        "The payment was declined. Nothing was charged.",
        {"detail": "The payment was declined.", "code": "payment_declined"},
        ("Coded",),
    ),
    409: Error(
        "Conflict",
        "The state of things does not allow this; or the `Idempotency-Key` belongs to another request, or to this one while "
        "it is still running (then `Retry-After` says how many seconds to wait).",
        {"detail": "Use a new key for a new request.", "code": "idempotency_mismatch"},
        ("Coded",),
    ),
    413: Error("TooLarge", "The body is too large.", {"detail": "The request is larger than 1 MiB."}),
    415: Error("UnsupportedMediaType", "The body is of another media type.", {"detail": "Send application/json."}),
    429: Error(
        "TooManyRequests",
        "Too many requests, or attempts; `Retry-After` says how many seconds to wait.",
        {"detail": "Too many attempts. Try again in 30 seconds."},
    ),
    500: Error(
        "Failure",
        "A bug of ours.",
        {"detail": "Something went wrong on our side.", "request_id": "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"},
        ("Failure",),
    ),
    502: Error(
        "ProviderFailed",
        "The payment provider failed. Nothing was done twice: send the same request again, with its `Idempotency-Key`.",
        {"detail": "The payment provider failed. Nothing was charged twice; try again.", "code": "provider_failed"},
        ("Coded",),
    ),
    503: Error(
        "Unavailable",
        "Something that we need cannot be reached; `Retry-After` says how many seconds to wait. After the code "
        "`outcome_unknown` look first, or send the same `Idempotency-Key` again.",
        {"detail": "The database cannot be reached at the moment. Try again shortly.", "code": "unavailable"},
        ("Coded",),
    ),
    504: Error(
        "ProviderTimedOut",
        "The payment provider did not answer in time. The same request, with its `Idempotency-Key`, is done, or answered, once.",
        {
            "detail": "The payment provider did not answer in time. The outcome is being looked up; nothing is charged twice.",
            "code": "provider_timed_out",
        },
        ("Coded",),
    ),
}

HEADERS: Mapping[str, Json] = {
    "X-Request-Id": {
        "description": "Names the request, in our logs too.",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
    },
    "Cache-Control": {
        "description": "What is answered belongs to its token: nobody keeps it.",
        "required": True,
        "schema": {"type": "string", "const": "no-store"},
    },
    "RateLimit": {
        "description": "How many more requests there may be (`r`) in how many seconds (`t`), for the token, or the address.",
        "schema": {"type": "string"},
        "example": '"token";r=5987;t=31',
    },
    "RateLimit-Policy": {
        "description": "How many requests there may be (`q`) in a window of so many seconds (`w`).",
        "schema": {"type": "string"},
        "example": '"token";q=6000;w=60',
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}},
    "WWW-Authenticate": {
        "description": "How to say who asks.",
        "required": True,
        "schema": {"type": "string", "const": "Token"},
    },
    "Idempotent-Replayed": {
        "description": "This is the answer that an earlier request with the same `Idempotency-Key` had.",
        "schema": {"type": "string", "const": "true"},
    },
    "Link": {
        "description": "Addresses of pages of this list: `first`, `last`, `prev` and `next`, where they are.",
        "schema": {"type": "string"},
        "example": '<https://shop.example/api/vouchers/?page=2>; rel="next"',
    },
    "Deprecation": {
        "description": "Since when there is a better form of this address, in seconds since 1970; `Link` names it.",
        "required": True,
        "schema": {"type": "string"},
        "example": "@1893456000",
    },
}
TOLD = ("X-Request-Id", "Cache-Control", "RateLimit", "RateLimit-Policy")
"""Headers of every answer that is counted."""
HEADERS_OF: Mapping[int, tuple[str, ...]] = {
    401: (*TOLD, "WWW-Authenticate"),
    409: (*TOLD, "Retry-After"),
    429: (*TOLD, "Retry-After"),
    503: (*TOLD, "Retry-After"),
}
"""Those of an error, where it has others."""


def error_schemas() -> Json:
    """The bodies of errors."""
    text, detail = {"type": "string"}, {"detail": {"type": "string"}}
    problems = {"$ref": "#/components/schemas/Problems"}
    return {
        "Problems": {
            "type": "object",
            "description": "Messages by key. Objects nest; a list is aligned with its items, `{}` for a good one.",
            "additionalProperties": {"anyOf": [{"type": "array", "items": {"anyOf": [text, problems]}}, problems]},
        },
        "Detail": {"type": "object", "properties": detail, "required": ["detail"]},
        "Coded": {
            "type": "object",
            "description": "An error that a program acts on, by its code.",
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
    """What an error answers."""
    error = ERRORS[status]
    schemas = [{"$ref": f"#/components/schemas/{name}"} for name in error.schemas]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {
        "description": error.meaning,
        "headers": headers(*HEADERS_OF.get(status, TOLD)),
        "content": {"application/json": {"schema": schema, "example": error.example}},
    }


def headers(*names: str) -> Json:
    """References to headers."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
