"""Requests that want an answer only if it is another than the one they know."""

from starlette.requests import Request


def is_known(request: Request, tag: str) -> bool:
    """Whether a reader has what an `ETag` names, by `If-None-Match`. Weak tags count: proxies that compress weaken them."""
    told = request.headers.get("if-none-match", "").split(",")
    return tag in (name.strip().removeprefix("W/") for name in told)
