"""Who shares an address, as far as counting goes."""

import ipaddress

PREFIX = 64
"""What a provider gives one customer of IPv6, who may then use any address in it."""


def origin_of(address: str) -> str:
    """What is counted for an address: an IPv4 address itself, of IPv6 its /64; what is no address as it stands."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), PREFIX), strict=False))
