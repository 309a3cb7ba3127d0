"""Where webhooks are sent to, and where never."""

import ipaddress

import hypothesis
import pytest
from hypothesis import strategies

from store.webhook.addresses import (
    FORBIDDEN_NETWORKS,
    ForbiddenAddress,
    InvalidUrl,
    Target,
    check_addresses,
    is_allowed,
    parse_target,
)

INSIDE = [
    "0.0.0.0", "0.1.2.3",  # noqa: S104
    "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.8.8.8",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "168.63.129.16",
    "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::7f00:1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::808:808", "100::1",
    "2001::1", "2001:0:a9fe:a9fe::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1", "3fff::1",
    "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "2600::5efe:10.0.0.1", "2600::200:5efe:127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9a::1", "1fff::1", "4000::1", "abcd::1",
]  # fmt: skip
OUTSIDE = [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "192.167.1.1",
    "2606:4700:4700::1111", "2a00:1450:4007:80e::200e", "64:ff9b::8.8.8.8", "2002:808:808::1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_private_or_reserved_is_closed(address: str) -> None:
    assert not is_allowed(ipaddress.ip_address(address), [])
    with pytest.raises(ForbiddenAddress):
        check_addresses(["8.8.8.8", address], [])


@pytest.mark.parametrize("address", OUTSIDE)
def test_the_public_internet_is_open(address: str) -> None:
    assert is_allowed(ipaddress.ip_address(address), [])
    assert check_addresses([address], []) == [ipaddress.ip_address(address)]


@pytest.mark.parametrize("network", FORBIDDEN_NETWORKS, ids=str)
def test_a_closed_network_is_closed_from_end_to_end(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> None:
    assert not is_allowed(network[0], [])
    assert not is_allowed(network[-1], [])


@hypothesis.given(
    strategies.ip_addresses(v=4, network="10.0.0.0/8") | strategies.ip_addresses(v=4, network="127.0.0.0/8")
)
def test_no_disguise_of_a_private_address_is_open(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for disguise in (
        number,
        0xFFFF << 32 | number,
        int(ipaddress.ip_address("64:ff9b::")) | number,
        0x2002 << 112 | number << 80,
        0x2001 << 112 | 8 << 88 | (number ^ 0xFFFFFFFF),
        0x2600 << 112 | 0x5EFE << 32 | number,
    ):
        assert not is_allowed(ipaddress.IPv6Address(disguise), [])


def test_networks_that_are_allowed_are_open_and_nothing_beside_them() -> None:
    allowed = [ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("fd12::/16")]
    assert is_allowed(ipaddress.ip_address("10.1.2.3"), allowed)
    assert is_allowed(ipaddress.ip_address("fd12::1"), allowed)
    assert not is_allowed(ipaddress.ip_address("10.2.0.1"), allowed)
    assert not is_allowed(ipaddress.ip_address("::ffff:10.2.0.1"), allowed)


def test_a_name_without_addresses_leads_nowhere() -> None:
    with pytest.raises(ForbiddenAddress):
        check_addresses([], [])


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://Shop.Example/hooks?a=b", Target("https", "shop.example", 443, "/hooks?a=b")),
        ("https://shop.example:8443", Target("https", "shop.example", 8443, "/")),
        ("https://bücher.example/é", Target("https", "xn--bcher-kva.example", 443, "/%C3%A9")),
        ("https://xn--aaaaaaaa.example/", Target("https", "xn--aaaaaaaa.example", 443, "/")),
        ("https://[2606:4700::1]:9443/x", Target("https", "2606:4700::1", 9443, "/x")),
        ("http://shop.example/", Target("http", "shop.example", 80, "/")),
    ],
)
def test_a_url_is_read_once(url: str, target: Target) -> None:
    assert parse_target(url, allow_http=True) == target


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://shop.example/", "https"),
        ("ftp://shop.example/", "https"),
        ("file:///etc/passwd", "https"),
        ("gopher://shop.example:70/", "https"),
        ("shop.example/hooks", "https"),
        ("//shop.example/hooks", "https"),
        ("https://", "host"),
        ("https:///hooks", "host"),
        ("https://user:word@shop.example/", "password"),
        ("https://user@shop.example/", "password"),
        ("https://shop.example/#part", "#"),
        ("https://shop.example/#", "#"),
        ("https://shop.example:0/", "Port 0"),
        ("https://shop.example:80/", "Port 80"),
        ("https://shop.example:22/", "Port 22"),
        ("https://shop.example:6379/", "Port 6379"),
        ("https://shop.example:5432/", "Port 5432"),
        ("https://shop.example:99999/", "Port 99999"),
        ("https://shop.example:abc/", "no URL"),
        ("https://shop.example/\r\nx-injected: 1", "no URL"),
        ("https://[::1/", "no URL"),
        ("https://shop.example/" + "x" * 2048, "2048"),
    ],
)
def test_what_is_no_address_for_webhooks_is_told_why(url: str, why: str) -> None:
    with pytest.raises(InvalidUrl, match=why):
        parse_target(url, allow_http=False)
