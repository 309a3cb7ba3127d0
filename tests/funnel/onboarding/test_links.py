"""Links to the onboarding pages: which are good, that they leak nowhere, in which language they open, how often."""

import dataclasses
import datetime as dt
import uuid
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest

from funnel.core.languages import translations
from funnel.onboarding.texts import ACTIVE
from schema.partner.partner import PartnerStatus
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.settings.provider import ProviderName
from store.onboarding.links import onboarding_url_for
from tests.fixtures.activation import Newcomer
from tests.funnel.checkout.customer import Customer
from tests.funnel.conftest import ApplicationState, checkout_app
from tests.funnel.onboarding.fixtures import Visitors, link

DEAD = "This link does not work"


def token_of(url: str) -> str:
    """What of a link nobody else may know."""
    return url.rstrip("/").rpartition("/")[2]


# ---- good ones and others


async def test_a_link_that_is_damaged_leads_to_a_way_out_and_names_nobody(
    newcomer: Newcomer, representative: Customer
) -> None:
    url = await link(newcomer)
    token = token_of(url)
    swapped = token[:5] + ("a" if token[5] != "a" else "b") + token[6:]
    for wrong in (token[:-1], swapped, token.swapcase(), f"{token}x", "x", "a.b.c", "%00", "é"):
        for page in ("", "return/", "leaving/"):
            await representative.open(url.replace(token, wrong) + page)
            assert (representative.response.status_code, representative.h1) == (404, DEAD), wrong
            assert "Chez Ada" not in representative.response.text
            assert "ask whoever sent it to you for a new one" in representative.page.one("main").text
        answer = await representative.http.post(url.replace(token, wrong) + "provider/", data={})
        assert answer.status_code == 404
    assert await newcomer.calls() == 0


async def test_a_link_dies_with_the_address_it_was_sent_to(newcomer: Newcomer, representative: Customer) -> None:
    old = await link(newcomer)
    await newcomer.change(legal_representative_email="grace@chez-ada.example")
    await representative.open(old)
    assert representative.h1 == DEAD
    await representative.open(await link(newcomer))
    assert representative.response.status_code == 200


async def test_the_link_of_one_partner_opens_nothing_of_another(newcomer: Newcomer, representative: Customer) -> None:
    other = await newcomer.now()
    other.uuid = uuid.uuid4()
    await representative.open(onboarding_url_for(newcomer.services.settings, other))
    assert representative.h1 == DEAD


async def test_every_form_is_checked(newcomer: Newcomer, representatives: Visitors) -> None:
    representative, stranger = representatives(), representatives()
    url = await link(newcomer)
    await stranger.open(url)
    foreign = stranger.page.all("input", name="csrf")[0].attributes["value"]
    await representative.open(url)
    own = representative.page.all("input", name="csrf")[0].attributes["value"]
    for path in (url, f"{url}provider/", "/onboarding/language/"):
        for csrf, headers in (
            (foreign, {}),
            (own, {"Origin": "http://evil.example"}),
            (own, {"Sec-Fetch-Site": "cross-site"}),
        ):
            await representative.post(path, {"csrf": csrf, "language": "fr", "next": "/onboarding/x/"}, **headers)
            assert (representative.response.status_code, representative.h1) == (403, "This page was open for too long")
            (way,) = representative.page.one("main").all("a")
            assert way.attributes["href"] in {urlsplit(url).path, "/onboarding/x/"}
    assert (await newcomer.sessions(), await newcomer.calls()) == (0, 0)
    assert "__Host-coffret-language" not in representative.http.cookies


async def test_a_form_with_characters_that_are_none_is_refused(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(hq_city="")
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/", {"hq_city": "Ly\x00on"})
    assert representative.response.status_code == 400
    assert (await newcomer.now()).hq_city == ""


async def test_a_button_that_leads_nowhere_says_so(newcomer: Newcomer, representative: Customer) -> None:
    """A partner that tries things out, where the provider is a real one."""
    await newcomer.change(status=PartnerStatus.TEST)
    newcomer.services.settings.provider = ProviderName.MANGOPAY
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/", {})
    assert [note.one("h2").text for note in representative.page.all("div", class_="note")] == [
        "The last attempt came to nothing"
    ]
    assert await newcomer.calls() == 0


# ---- nothing leaks


async def test_no_page_gives_the_link_away(newcomer: Newcomer, representative: Customer) -> None:
    url = await link(newcomer)
    for page in ("", "return/"):
        await representative.open(url + page)
        headers = representative.response.headers
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "form-action 'self'" in headers["content-security-policy"]
        assert representative.page.one("meta", name="robots").attributes["content"] == "noindex"
    await representative.open(f"{url}x/")
    assert (representative.response.status_code, representative.response.text) == (404, "Not Found")
    await representative.open(url)
    assert representative.page.all("a")
    for element in representative.page:
        for name in ("href", "src"):
            assert token_of(url) not in element.attributes.get(name, "")
    cookies = representative.response.headers.get_list("set-cookie")
    assert cookies
    for cookie in cookies:
        assert "HttpOnly" in cookie
        assert token_of(url) not in cookie


async def test_the_colours_of_a_partner_come_from_an_address_that_names_none(
    newcomer: Newcomer, representative: Customer
) -> None:
    await newcomer.change(accent_colour="#FFD54F", corner_radius="none", page_tint="#faf6ef")
    await representative.open(await link(newcomer))
    (sheet,) = [
        sheet.attributes["href"]
        for sheet in representative.page.all("link", rel="stylesheet")
        if "/colours/" in sheet.attributes["href"]
    ]
    assert sheet == "/onboarding/colours/ffd54f-fraunces-none-faf6ef.css"
    answer = await representative.http.get(sheet)
    assert "--accent:#ffd54f;--accent-ink:#000000" in answer.text
    assert "--paper:#faf6ef" in answer.text
    assert "--r:0;" in answer.text
    former = await representative.http.get("/onboarding/colours/ffd54f.css")
    assert "--accent:#ffd54f" in former.text
    assert "--paper" not in former.text
    assert "immutable" in answer.headers["cache-control"]
    other = await representative.http.get("/onboarding/colours/}body{.css")
    assert "body" not in other.text
    worse = await representative.http.get("/onboarding/colours/ffd54f-comic-}a{-%23fff-x.css")
    assert "comic" not in worse.text
    assert "}a{" not in worse.text


# ---- languages


async def test_pages_speak_the_browsers_language_else_the_partners(
    newcomer: Newcomer, representatives: Visitors
) -> None:
    await newcomer.change(language="pt")
    for header, spoken in (*((language, language) for language in LANGUAGES), ("ja", "pt")):
        representative = representatives()
        await representative.open(await link(newcomer), **{"Accept-Language": header})
        assert representative.page.one("html").attributes["lang"] == spoken
        told = translations(spoken).gettext("Activate payments for %(shop)s") % {"shop": "Chez Ada"}
        assert representative.h1 == told
        assert representative.response.headers["content-language"] == spoken


async def test_another_language_is_chosen_on_any_page_and_kept(newcomer: Newcomer, representative: Customer) -> None:
    url = await link(newcomer)
    token = token_of(url)
    for page in (url, f"{url}return/", url.replace(token, "damaged")):
        await representative.open(page)
        here = representative.path
        for language in ("de", "en"):
            await representative.send("/onboarding/language/", None, ("language", language))
            assert representative.page.one("html").attributes["lang"] == language
            assert representative.path == here
    await representative.send("/onboarding/language/", None, ("language", "ca"))
    await representative.open(url, **{"Accept-Language": "de"})
    assert representative.page.one("html").attributes["lang"] == "ca"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/onboarding/../x", "/", ""])
async def test_choosing_a_language_leads_nowhere_else(
    newcomer: Newcomer, representative: Customer, elsewhere: str
) -> None:
    await representative.open(await link(newcomer))
    await representative.send("/onboarding/language/", {"next": elsewhere}, ("language", "fr"))
    assert representative.response.status_code == 404
    assert not representative.response.history


async def test_countries_are_named_in_the_language_of_the_page(newcomer: Newcomer, representative: Customer) -> None:
    await newcomer.change(legal_representative_nationality="")
    await representative.open(await link(newcomer), **{"Accept-Language": "fr"})
    names = {
        option.attributes["value"]: option.text
        for option in representative.page.one("select", id="legal_representative_nationality").all("option")
    }
    assert (names["DE"], names[""]) == ("Allemagne", "Choisissez un pays")


# ---- limits


@pytest.fixture
async def hurried(newcomer: Newcomer) -> AsyncIterator[Customer]:
    """A representative where an address may send four forms a minute."""
    clock.advance(dt.timedelta(seconds=60 - clock.timestamp() % 60))
    settings = newcomer.services.settings.model_copy(update={"rate_limit_forms": "4/minute"})
    app = checkout_app(newcomer, settings)
    app.state.container = ApplicationState(dataclasses.replace(newcomer.services, settings=settings))
    transport = httpx.ASGITransport(app, client=("192.0.2.9", 1234))
    async with httpx.AsyncClient(transport=transport, base_url=settings.public_url) as client:
        yield Customer(client)


async def test_the_provider_is_not_asked_more_often_than_forms_may_be_sent(
    newcomer: Newcomer, hurried: Customer
) -> None:
    await newcomer.activate()
    url = await link(newcomer)
    for _ in range(4):
        await hurried.open(f"{url}return/")
        assert hurried.response.status_code == 200
    calls = await newcomer.calls()
    await hurried.open(f"{url}return/")
    assert (hurried.response.status_code, hurried.h1) == (429, "Too many attempts")
    assert 0 < int(hurried.response.headers["retry-after"]) <= 60
    assert await newcomer.calls() == calls
    await hurried.open(url)  # looking is free
    assert hurried.response.status_code == 200
    await hurried.send(f"{hurried.path}provider/")
    assert hurried.response.status_code == 429
    assert [
        way
        for way in hurried.page.one("main").all("a")
        if way.attributes["href"] == hurried.path.removesuffix("provider/")
    ]
    clock.advance(dt.timedelta(minutes=1))
    await hurried.open(f"{url}return/")
    assert hurried.response.status_code == 200


def test_what_is_told_with_a_name_keeps_its_place_for_it() -> None:
    for language in LANGUAGES:
        assert "%(shop)s" in translations(language).gettext(ACTIVE.text)
