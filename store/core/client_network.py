"""The network under which a client's address is counted."""

import ipaddress
from functools import lru_cache

IPV6_PREFIX_LENGTH = 64
"""Providers give one customer a /64, and the customer may use any address in it."""


@lru_cache(maxsize=4096)  # parsing an address costs more than counting its request
def client_network_of(address: str) -> str:
    """The key under which an address is counted: an IPv4 address itself, the /64 of an IPv6 address.

    Text that is no address is returned unchanged.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), IPV6_PREFIX_LENGTH), strict=False))
