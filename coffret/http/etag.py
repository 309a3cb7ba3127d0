"""Conditional requests."""

from starlette.requests import Request


def etag_matches(request: Request, tag: str) -> bool:
    """True if `If-None-Match` lists the tag. Weak tags match too: compressing proxies weaken them."""
    told = request.headers.get("if-none-match", "").split(",")
    return tag in (name.strip().removeprefix("W/") for name in told)
