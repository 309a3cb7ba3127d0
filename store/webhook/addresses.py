"""Addresses that webhooks may be sent to: the public internet, and networks that the installation allows."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import httpx

from schema.core.message_names import TemplatedMessage
from store.core.hosts import DEFAULT_PORTS

IpAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
IpNetwork: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_URL_LENGTH = 2048
UNPRIVILEGED_PORTS = range(1024, 65536)
SERVICE_PORTS = frozenset(
    {
        1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443,
        6667, 8086, 8500, 9042, 9092, 9200, 9300, 10250, 11211, 15672, 25672, 26379, 27017, 50000,
    }
)  # fmt: skip
"""Ports of databases, queues and machine management, which no webhook receiver uses."""
FORBIDDEN_NETWORKS: Sequence[IpNetwork] = tuple(
    map(
        ipaddress.ip_network,
        (
            # Listed here because the registry changes, and a release of Python may not know its current state.
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
            "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
            "224.0.0.0/4", "240.0.0.0/4",
            "2001::/23", "2001:db8::/32", "3fff::/20",
            "168.63.129.16/32",  # Azure's address for its virtual machines, the only such address that looks public
        ),
    )
)  # fmt: skip
UNICAST = ipaddress.IPv6Network("2000::/3")
"""All assigned unicast addresses of IPv6. Others are reserved, or embed addresses of another kind."""
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
ISATAP = (0x00005EFE, 0x02005EFE)


class InvalidUrl(ValueError):
    """Webhooks cannot be sent to this URL; the message says why."""


class ForbiddenAddress(OSError):
    """A host name resolves to an address that webhooks must not be sent to."""


@dataclass(frozen=True)
class Target:
    """A URL, parsed once, so that the checked target is the requested one."""

    scheme: str
    host: str
    """In ASCII, without the brackets of IPv6."""
    port: int
    path: str
    """With its query."""


def parse_target(url: str, *, allow_http: bool) -> Target:
    """Parse the URL of a webhook endpoint. InvalidUrl if webhooks cannot be sent there."""
    if len(url) > MAX_URL_LENGTH:
        raise InvalidUrl(TemplatedMessage("Use at most {most} characters.", most=MAX_URL_LENGTH))
    try:
        read = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InvalidUrl("This is no URL.") from error
    schemes = ("https", "http") if allow_http else ("https",)
    if read.scheme not in schemes:
        raise InvalidUrl(TemplatedMessage("Begin with {schemes}.", schemes=[f"{scheme}://" for scheme in schemes]))
    if not read.raw_host:  # `host` would decode the name, which fails for some names
        raise InvalidUrl("Name a host.")
    if read.userinfo:
        raise InvalidUrl("Leave out user and password: the signature says who is sending.")
    if read.fragment or url.endswith("#"):
        raise InvalidUrl("Leave out what begins with #: it is never sent.")
    usual = DEFAULT_PORTS[read.scheme]
    port = usual if read.port is None else read.port
    if port != usual and (port not in UNPRIVILEGED_PORTS or port in SERVICE_PORTS):
        raise InvalidUrl(
            TemplatedMessage(
                "Port {port} is not for webhooks: use {usual}, or one from {least}.",
                port=port,
                usual=usual,
                least=UNPRIVILEGED_PORTS.start,
            )
        )
    return Target(read.scheme, read.raw_host.decode("ascii"), port, read.raw_path.decode("ascii"))


def check_addresses(addresses: Sequence[str], allowed: Sequence[IpNetwork]) -> Sequence[IpAddress]:
    """Parse the addresses of a host name.

    ForbiddenAddress if there are none, or if webhooks must not be sent to one of them.
    """
    if not addresses:
        raise ForbiddenAddress("The name has no address.")
    read = [ipaddress.ip_address(address) for address in addresses]
    if not all(is_allowed(address, allowed) for address in read):
        raise ForbiddenAddress("The name resolves to a private or reserved address.")
    return read


def is_allowed(address: IpAddress, allowed: Sequence[IpNetwork]) -> bool:
    """True for public addresses and for addresses in an allowed network."""
    if any(address in network for network in allowed):
        return True
    return all(_is_public(each) for each in (address, *_embedded_ipv4(address)))


def _is_public(address: IpAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in UNICAST and address not in NAT64:
        return False
    return (
        address.is_global and not address.is_multicast and not any(address in network for network in FORBIDDEN_NETWORKS)
    )


def _embedded_ipv4(address: IpAddress) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address embeds."""
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
