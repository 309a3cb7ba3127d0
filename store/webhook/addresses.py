"""Where webhooks may be sent: to addresses of the public internet, and to networks that the installation names."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import httpx

from store.core.hosts import USUAL_PORTS

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

LONGEST_URL = 2048
FREE_PORTS = range(1024, 65536)
SERVICE_PORTS = frozenset(
    {
        1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443,
        6667, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 15672, 25672, 26379, 27017, 50000,
    }
)  # fmt: skip
"""Ports at which databases, queues and managers of machines listen, and no receiver of webhooks does."""
CLOSED: Sequence[Network] = tuple(
    map(
        ipaddress.ip_network,
        (
            # Told apart by the registry of the day, which a release of Python may or may not know.
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
            "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "224.0.0.0/4", "240.0.0.0/4",
            "2001::/23", "2001:db8::/32", "3fff::/20",
            "168.63.129.16/32",  # what machines at Azure ask about themselves: the one such address that looks public
        ),
    )
)  # fmt: skip
UNICAST = ipaddress.IPv6Network("2000::/3")
"""All of IPv6 that is given out. What lies elsewhere is reserved, or stands for addresses of another kind."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
ISATAP = (0x00005EFE, 0x02005EFE)


class BadUrl(ValueError):
    """This is no address that webhooks are sent to; the message says why."""


class ForbiddenAddress(OSError):
    """A name leads to an address that webhooks are not sent to."""


@dataclass(frozen=True)
class Target:
    """A URL, read once: what is checked is what is asked."""

    scheme: str
    host: str
    """In ASCII, without the brackets of IPv6."""
    port: int
    path: str
    """With its query."""


def target_of(url: str, *, plain: bool) -> Target:
    """Where a URL leads; BadUrl where nothing is sent to. `plain` allows http."""
    if len(url) > LONGEST_URL:
        raise BadUrl(f"Use at most {LONGEST_URL} characters.")
    try:
        read = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise BadUrl("This is no URL.") from error
    schemes = ("https", "http") if plain else ("https",)
    if read.scheme not in schemes:
        raise BadUrl(f"Begin with {' or '.join(f'{scheme}://' for scheme in schemes)}.")
    if not read.raw_host:  # `host` would have to be decoded, which not every name can be
        raise BadUrl("Name a host.")
    if read.userinfo:
        raise BadUrl("Leave out user and password: the signature says who is sending.")
    if read.fragment or url.endswith("#"):
        raise BadUrl("Leave out what begins with #: it is never sent.")
    usual = USUAL_PORTS[read.scheme]
    port = usual if read.port is None else read.port
    if port != usual and (port not in FREE_PORTS or port in SERVICE_PORTS):
        raise BadUrl(f"Port {port} is not for webhooks: use {usual}, or one from {FREE_PORTS.start}.")
    return Target(read.scheme, read.raw_host.decode("ascii"), port, read.raw_path.decode("ascii"))


def check(addresses: Sequence[str], allowed: Sequence[Network]) -> Sequence[Address]:
    """The addresses of a name, when webhooks may be sent to every one of them; ForbiddenAddress otherwise."""
    if not addresses:
        raise ForbiddenAddress("The name has no address.")
    read = [ipaddress.ip_address(address) for address in addresses]
    if not all(is_open(address, allowed) for address in read):
        raise ForbiddenAddress("The name leads to an address that is private or reserved.")
    return read


def is_open(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether webhooks may be sent to an address: a public one, or one of a network that is allowed."""
    if any(address in network for network in allowed):
        return True
    return all(_is_public(each) for each in (address, *_within(address)))


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in UNICAST and address not in NAT64:
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in CLOSED)


def _within(address: Address) -> Iterator[ipaddress.IPv4Address]:
    """The addresses of IPv4 that one of IPv6 stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped:
        yield address.ipv4_mapped
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo
    number = int(address)
    if address in NAT64 or (number >> 32) & 0xFFFFFFFF in ISATAP:
        yield ipaddress.IPv4Address(number & 0xFFFFFFFF)
