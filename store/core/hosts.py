"""Names of hosts, as whoever runs a shop types them."""

import re

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LONGEST_NAME = 253
USUAL_PORTS = {"http": 80, "https": 443}
"""Those that an address of the scheme leaves out."""


def host_of(text: str, *, with_port: bool = False) -> str | None:
    """A host as browsers send it: small letters, names in other scripts as `xn--…`; with a port where there may be one.

    None for what is no name of a host: an address with a scheme or a path, an IP address.
    """
    name, colon, port = text.strip().lower().rstrip(".").partition(":")
    if colon and not (with_port and re.fullmatch("[0-9]{1,5}", port) and 0 < int(port) < 2**16):
        return None
    try:
        name = name.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    labels = name.split(".")
    if not all(map(_LABEL.fullmatch, labels)) or labels[-1].isdecimal() or len(name) > LONGEST_NAME:
        return None
    return name + colon + port
