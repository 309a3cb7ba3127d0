"""Where a customer may be sent back to: what browsers take for another address is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.cart.return_urls import MAX_LENGTH, is_allowed, return_url_problem

HOSTS = ("shop.example", "local.example:8443")

ADDRESS = "Give a full address"
NOT_ONE = "This is not an address"
USER = "user information"
ELSEWHERE = "can be sent back to shop.example, local.example:8443 only"


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example",
        "http://shop.example/",
        "HTTPS://SHOP.EXAMPLE/thanks",
        "https://shop.example/thanks?order=1&x=%20y#end",
        "https://shop.example:8080/any-port",
        "https://local.example:8443/a",
        "https://shop.example/é",
        "https://shop.example/" + "a" * (MAX_LENGTH - 21),
    ],
)
def test_addresses_of_the_partner_are_taken(url: str) -> None:
    assert return_url_problem(url, HOSTS) is None
    assert return_url_problem(url, ()) is None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", ADDRESS),
        ("shop.example", ADDRESS),
        ("//shop.example/", ADDRESS),
        ("/thanks", ADDRESS),
        ("https:shop.example", ADDRESS),
        ("https:/shop.example", ADDRESS),
        ("https:///shop.example", ADDRESS),
        ("https://", ADDRESS),
        ("https://:443/", ADDRESS),
        ("javascript:alert(1)//https://shop.example", ADDRESS),
        ("data:text/html,https://shop.example", ADDRESS),
        ("ftp://shop.example/", ADDRESS),
        (" https://shop.example/", ADDRESS),
        ("https://shop.example/\r\nSet-Cookie: a=b", ADDRESS),
        ("https://shop.example/a b", ADDRESS),
        ("https://shop.example/\x00", ADDRESS),
        ("https://shop\texample/", ADDRESS),
        ("https://shop.example/\u202e", ADDRESS),
        ("https://shop.example/\ud800", ADDRESS),
        ("https://[::1/", NOT_ONE),
        ("https://shop.example:port/", NOT_ONE),
        ("https://shop.example:99999/", NOT_ONE),
        ("https://user@shop.example/", USER),
        ("https://user:secret@shop.example/", USER),
        ("https://shop.example:443@evil.example/", USER),
        ("https://@shop.example/", USER),
        ("https://evil.example\\@shop.example/", USER),
        ("https://shop.example/\\evil.example", USER),
        ("https://shop.example/" + "a" * MAX_LENGTH, f"at most {MAX_LENGTH}"),
    ],
)
def test_what_is_no_plain_address_is_refused(url: str, message: str) -> None:
    for hosts in (HOSTS, ()):
        assert message in (return_url_problem(url, hosts) or "taken")
        assert not is_allowed(url, hosts)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "https://evil.example/shop.example",
        "https://evil.example?shop.example",
        "https://evil.example#shop.example",
        "https://shop.example.evil.example/",
        "https://evilshop.example/",
        "https://sub.shop.example/",
        "https://shop.example./",
        "https://local.example/",
        "https://local.example:8444/",
        "https://shop%2eexample/",
        "https://xn--shp-fka.example/",
    ],
)
def test_another_host_is_refused_where_hosts_are_named(url: str) -> None:
    assert ELSEWHERE in (return_url_problem(url, HOSTS) or "")
    assert is_allowed(url, ())


@given(st.text(max_size=60), st.sampled_from(["", "https://", "http://shop.example", "https://shop.example/"]))
def test_any_text_is_taken_or_refused(text: str, before: str) -> None:
    url = before + text
    if is_allowed(url, HOSTS):
        assert url.lower().startswith(("https://", "http://"))
        assert "\n" not in url
