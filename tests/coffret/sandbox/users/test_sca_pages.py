"""The hosted pages of strong authentication: what each step refuses, where it leads, what it never shows or keeps."""

import html
import pathlib
import re
import sqlite3
from collections.abc import AsyncIterator, Mapping
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from coffret.sandbox.pages.texts import CATALOGUES, LANGUAGES
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.people import BACK, EMAIL, STEPS, enrolled, owner, page_of, step, token_of, walk


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def stage(api: MangopayApi, created_user: Json) -> str:
    return str((await api.control("GET", f"/sca/{token_of(created_user)}"))["stage"])


async def test_each_step_leads_to_the_next_and_the_last_one_back(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    for number, (name, typed) in enumerate(STEPS, 1):
        shown = await api.http.get(page)
        assert shown.status_code == 200
        assert f"Step {number} of 7" in shown.text
        assert f'name="stage" value="{name}"' in shown.text
        assert "Maison Soleil" in shown.text
        assert (await api.http.get(page)).text == shown.text
        answer = await step(api, page, name, typed)
        assert answer.status_code == 303
        target = answer.headers["Location"]
        if name == "code":
            assert target == BACK
        else:
            assert target.startswith("/_provider/sca?token=")
            assert parse_qs(urlsplit(target).query)["returnUrl"] == [BACK]


@pytest.mark.parametrize(
    ("at", "typed", "problem"),
    [
        ("terms", {}, "Accept the terms and conditions to go on."),
        ("terms", {"terms": "no"}, "Accept the terms and conditions to go on."),
        ("consents", {"consent_person": "yes"}, "Confirm that you may be recognised"),
        ("consents", {"consent_data": "yes"}, "Confirm that you act for Maison Soleil."),
        ("email", {"email": ""}, "Enter an e-mail address"),
        ("email", {"email": "contact@maison.example"}, "This is not the address of the person who acts for"),
        ("pin", {"pin": "12345", "pin_again": "12345"}, "Enter 6 digits."),
        ("pin", {"pin": "12345a", "pin_again": "12345a"}, "Enter 6 digits."),
        ("pin", {"pin": "١٢٣٤٥٦", "pin_again": "١٢٣٤٥٦"}, "Enter 6 digits."),
        ("pin", {"pin": "123456", "pin_again": "123457"}, "The two entries are not the same."),
        ("phone", {"phone": ""}, "This is not a telephone number."),
        ("phone", {"phone": "12"}, "This is not a telephone number."),
        ("phone", {"phone": "hello"}, "This is not a telephone number."),
        ("code", {"code": ""}, "Attempts left: 2."),
        ("code", {"code": "000001"}, "Attempts left: 2."),
    ],
)
async def test_a_wrong_answer_is_told_and_stays(
    api: MangopayApi, at: str, typed: Mapping[str, str], problem: str
) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until=at)
    answer = await step(api, page, at, typed)
    assert answer.status_code == 400
    assert problem in html.unescape(answer.text)
    assert "<title>Error: " in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert await stage(api, made) == at


async def test_all_that_is_missing_is_told_at_once(api: MangopayApi) -> None:
    made = await owner(api)
    await walk(api, page_of(made), until="consents")
    answer = await step(api, page_of(made), "consents", {})
    assert len(re.findall('class="problem"', answer.text)) == 2


@pytest.mark.parametrize("number", ["06 12 34 56 78", "+33612345678", "+34 600 00 00 00", "0033 6 12 34 56 78"])
async def test_telephone_numbers(api: MangopayApi, number: str) -> None:
    made = await owner(api)
    await walk(api, page_of(made), until="phone")
    assert (await step(api, page_of(made), "phone", {"phone": number})).status_code == 303
    assert f"ends in {number[-2:]}" in (await api.http.get(page_of(made))).text


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"returnURL": BACK},
        {"ReturnUrl": BACK},
        {"returnurl": BACK},
        {"returnUrl": ""},
        {"returnUrl": "/back"},
        {"returnUrl": "javascript:alert(1)"},
        {"returnUrl": "https://"},
        {"returnUrl": "https://["},
        {"returnUrl": "https://shop.example/" + "x" * 2000},
    ],
)
async def test_without_a_way_back_nothing_goes_on(api: MangopayApi, query: Mapping[str, str]) -> None:
    made = await owner(api)
    page = page_of(made, **(query or {"lang": "en"}))
    for answer in (await api.http.get(page), await step(api, page, "terms")):
        assert answer.status_code == 400
        assert "The way back is missing" in answer.text
        assert 'class="main button"' not in answer.text
        assert "javascript:" not in answer.text
        assert "<form" not in answer.text
    shortcut = await api.http.post(page, data={"outcome": "succeed"})
    assert shortcut.status_code == 400
    assert await stage(api, made) == "terms"
    assert (await api.read(f"/sca/users/{made['Id']}"))["UserStatus"] == "PENDING_USER_ACTION"


async def test_an_unknown_link_sends_nobody_anywhere(api: MangopayApi) -> None:
    for path in (f"/sca?returnUrl={quote(BACK)}", f"/sca?token=none&returnUrl={quote(BACK)}"):
        for answer in (await api.http.get(path), await api.http.post(path, data={"outcome": "succeed"})):
            assert answer.status_code == 404
            assert "This link is not known" in answer.text
            assert "shop.example" not in answer.text.split('class="bottom"')[0]


@pytest.mark.parametrize(
    ("outcome", "event", "title"),
    [
        ("succeed", "SCA_ENROLLMENT_SUCCEEDED", "This link was used"),
        ("fail", "SCA_ENROLLMENT_FAILED", "The authentication failed"),
        ("expire", "SCA_ENROLLMENT_EXPIRED", "This link has expired"),
    ],
)
async def test_shortcuts_of_testers(api: MangopayApi, outcome: str, event: str, title: str) -> None:
    made = await owner(api)
    answer = await api.http.post(page_of(made), data={"outcome": outcome})
    assert (answer.status_code, answer.headers["Location"]) == (303, BACK)
    assert [told["ResourceId"] for told in await api.read(f"/events?EventType={event}")] == [made["Id"]]
    for again in (await api.http.get(page_of(made)), await api.http.post(page_of(made), data={"outcome": "fail"})):
        assert again.status_code == 410
        assert title in again.text
        assert f'href="{BACK}"' in again.text
    assert len(await api.read(f"/events?EventType={event}")) == 1


async def test_leaving_ends_nothing(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="pin")
    shown = await api.http.get(page)
    assert f'<a class="way" href="{BACK}">' in shown.text
    assert await stage(api, made) == "pin"
    assert (await step(api, page, "pin")).status_code == 303


async def test_filled_in_for_testers(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    for name, _ in STEPS:
        shown = await api.http.get(page)
        filled = await api.http.get(f"{page}&fill=1")
        if name == "passkey":
            assert "fill=1" not in shown.text
            typed = {}
        else:
            assert html.escape(f"/_provider{page}&fill=1#form") in shown.text
            typed = dict(re.findall(r'<input id="(\w+)" name="\w+" value="([^"]*)"', filled.text))
            typed |= dict.fromkeys(re.findall(r'<input id="(\w+)"[^>]* checked', filled.text), "yes")
            assert typed
        assert (await step(api, page, name, typed)).status_code == 303
    assert (await api.read(f"/sca/users/{made['Id']}"))["UserStatus"] == "ACTIVE"


async def test_who_is_enrolled_only_types_pin_and_code(api: MangopayApi) -> None:
    user = await enrolled(api)
    await api.create("/wallets", {"Owners": [user["Id"]], "Description": "Main", "Currency": "EUR"})
    refused = await api.call("GET", f"/users/{user['Id']}/wallets")
    url = refused.headers["WWW-Authenticate"].split("RedirectUrl=")[1]
    page = f"/sca{url.split('/sca')[1]}&returnUrl={quote(BACK)}"
    shown = await api.http.get(page)
    assert "Step 1 of 2" in shown.text
    assert "Enter your PIN" in shown.text
    assert "pin_again" not in shown.text
    await step(api, page, "pin", {"pin": "975310"})
    assert "sent to your mobile phone" in (await api.http.get(page)).text
    assert (await step(api, page, "code")).headers["Location"] == BACK


async def test_nothing_that_is_typed_is_kept(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sandbox.sqlite"
    async with running(path) as api:
        made = await owner(api)
        await walk(api, page_of(made), until="pin")
        await step(api, page_of(made), "pin", {"pin": "864209", "pin_again": "864209"})
        await step(api, page_of(made), "phone", {"phone": "+33 6 98 76 54 32"})
        refused = await step(api, page_of(made), "code", {"code": "424242"})
        assert "424242" not in refused.text
    with sqlite3.connect(path) as file:
        kept = "\n".join(file.iterdump())
    file.close()
    assert token_of(made) in kept
    assert "864209" not in kept
    assert "6987654" not in kept.replace(" ", "")


async def test_what_was_right_stays_in_the_form(api: MangopayApi) -> None:
    made = await owner(api)
    await walk(api, page_of(made), until="consents")
    answer = await step(api, page_of(made), "consents", {"consent_data": "yes"})
    assert re.findall(r'<input id="(\w+)"[^>]* checked', answer.text) == ["consent_data"]
    await walk(api, page_of(made), until="phone")
    answer = await step(api, page_of(made), "phone", {"phone": "+33 6 12"})
    assert 'value="+33 6 12"' in answer.text


async def test_pins_are_not_shown_again(api: MangopayApi) -> None:
    made = await owner(api)
    await walk(api, page_of(made), until="pin")
    answer = await step(api, page_of(made), "pin", {"pin": "864209", "pin_again": "864208"})
    assert "86420" not in answer.text


async def test_pages_are_kept_to_themselves(api: MangopayApi) -> None:
    made = await owner(api, Name="<script>x</script>")
    page = await api.http.get(page_of(made))
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'self'; img-src 'self'")
    assert page.headers["Cache-Control"] == "no-store"
    assert "&lt;script&gt;x" in page.text
    assert "<script" not in page.text
    assert "style=" not in page.text
    assert "Sandbox: no real money" in page.text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_in_every_language(api: MangopayApi, language: str) -> None:
    texts = CATALOGUES[language]
    made = await owner(api)
    page = page_of(made)
    for name, _ in STEPS:
        shown = await api.http.get(page, headers={"Accept-Language": f"{language},en;q=0.5"})
        assert f'<html lang="{language}">' in shown.text
        assert texts[f"sca_{name}_title"] in html.unescape(shown.text)
        switched = await api.http.get(f"{page}&lang=pt")
        assert '<html lang="pt">' in switched.text
        assert html.escape(f"/_provider{page}&lang=pt") in switched.text
        answer = await step(api, f"{page}&lang=pt", name)
        assert answer.headers["Location"] == (BACK if name == "code" else f"/_provider{page}&lang=pt")
    used = await api.http.get(page, headers={"Accept-Language": language})
    assert texts["sca_done_title"] in html.unescape(used.text)
    assert f"?lang=fr&amp;{page.removeprefix('/sca?').replace('&', '&amp;')}" in used.text


async def test_the_expected_address_is_told_to_testers(api: MangopayApi) -> None:
    made = await owner(api)
    await walk(api, page_of(made), until="email")
    assert EMAIL in (await api.http.get(page_of(made))).text
