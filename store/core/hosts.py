"""Host names as operators of shops type them."""

import re

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
MAX_NAME_LENGTH = 253
DEFAULT_PORTS = {"http": 80, "https": 443}
"""The ports that URLs of a scheme may omit."""


def host_of(text: str, *, with_port: bool = False) -> str | None:
    """A host as browsers send it: lower case, other scripts as `xn--…`, with a port if `with_port` allows one.

    None for anything else, such as an address with a scheme or a path, or an IP address.
    """
    name, colon, port = text.strip().lower().rstrip(".").partition(":")
    if colon and not (with_port and re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 2**16):
        return None
    try:
        name = name.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    labels = name.split(".")
    if not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdecimal() or len(name) > MAX_NAME_LENGTH:
        return None
    return name + colon + port
