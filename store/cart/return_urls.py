"""Validation of the URLs that customers are redirected back to."""

from collections.abc import Sequence
from urllib.parse import urlsplit

MAX_LENGTH = 2048


def return_url_problem(url: str, hosts: Sequence[str]) -> str | None:
    """An error message for the URL; None if it is valid. An empty `hosts` allows any host."""
    if len(url) > MAX_LENGTH:
        return f"Use at most {MAX_LENGTH} characters."
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


def is_allowed(url: str, hosts: Sequence[str]) -> bool:
    return return_url_problem(url, hosts) is None
