"""Where a customer may be sent back to."""

from collections.abc import Sequence
from urllib.parse import urlsplit

LONGEST = 2048


def problem_of(url: str, hosts: Sequence[str]) -> str | None:
    """What is wrong with a return address, or None. Without hosts any will do."""
    if len(url) > LONGEST:
        return f"Use at most {LONGEST} characters."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "This is not an address."
    if parts.scheme not in {"http", "https"} or not host or " " in url or not url.isprintable():
        return "Give a full address that begins with https:// or http://."
    if "@" in parts.netloc or "\\" in url:
        return "An address with user information is not accepted."
    if hosts and host not in hosts and f"{host}:{port}" not in hosts:
        return f"Customers can be sent back to {', '.join(hosts)} only."
    return None


def allowed(url: str, hosts: Sequence[str]) -> bool:
    """Whether customers may be sent there."""
    return problem_of(url, hosts) is None
