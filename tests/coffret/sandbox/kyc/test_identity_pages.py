"""The page of a hosted identity check: every choice, and where it leads, first and again."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest

from coffret.sandbox.kyc.checks import CheckRefusalReason
from coffret.sandbox.pages.texts import CATALOGUES, LANGUAGES
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import level, owner

RETURN = "https://shop.example/k/abcdefgh"
WEEK = 7 * 24 * 3600


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running(token_lifetime=52 * WEEK) as api:
        yield api


async def open_session(api: MangopayApi, kind: str = "BUSINESS") -> Json:
    """A session of a new owner."""
    user = await owner(api, kind)
    return await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})


def path(session: Json) -> str:
    """Where the session's page is, for the client."""
    return urlsplit(session["HostedUrl"]).path.removeprefix("/_provider")


async def choose(api: MangopayApi, session: Json, choice: str) -> httpx.Response:
    """Press one of the page's buttons."""
    return await api.http.post(path(session), data={"choice": choice})


async def status(api: MangopayApi, session: Json) -> str:
    """Where the session stands."""
    stands: str = (await api.read(f"/identity-verifications/{session['Id']}"))["Status"]
    return stands


async def test_the_page_shows_who_and_until_when(api: MangopayApi) -> None:
    session = await open_session(api)
    page = await api.http.get(path(session))
    assert page.status_code == 200
    assert "Maison Soleil" in page.text
    assert f'<a href="{RETURN}">Leave' in page.text
    assert "UTC" in page.text
    assert await status(api, session) == "PENDING"


@pytest.mark.parametrize(
    ("choice", "at_once", "later", "known"),
    [
        ("validate", "VALIDATED", "VALIDATED", "REGULAR"),
        *((f"refuse:{reason}", "REFUSED", "REFUSED", "LIGHT") for reason in CheckRefusalReason),
        ("review_validate", "REVIEW", "VALIDATED", "REGULAR"),
        ("review_refuse:DOCUMENT_NOT_ACCEPTED", "REVIEW", "REFUSED", "LIGHT"),
    ],
)
async def test_every_button_is_there_and_works(
    api: MangopayApi, choice: str, at_once: str, later: str, known: str
) -> None:
    session = await open_session(api)
    assert f'name="choice" value="{choice}"' in (await api.http.get(path(session))).text
    answer = await choose(api, session, choice)
    assert (answer.status_code, answer.headers["location"]) == (303, RETURN)
    assert await status(api, session) == at_once
    await api.advance(61)
    assert await status(api, session) == later
    assert await level(api, session["UserId"]) == known


async def test_a_person_is_not_reviewed(api: MangopayApi) -> None:
    session = await open_session(api, "NATURAL")
    page = await api.http.get(path(session))
    assert "Joana Dupont" in page.text
    assert "review" not in page.text
    assert (await choose(api, session, "review_validate")).status_code == 400
    assert await status(api, session) == "PENDING"


@pytest.mark.parametrize("choice", ["", "refuse", "refuse:BAD_MOOD", "out_of_date", "nonsense"])
async def test_what_no_button_says_changes_nothing(api: MangopayApi, choice: str) -> None:
    session = await open_session(api)
    answer = await choose(api, session, choice)
    assert answer.status_code == 400
    assert 'value="validate"' in answer.text
    assert await api.read(f"/identity-verifications/{session['Id']}") == session


async def test_a_second_choice_leads_to_where_the_first_one_led(api: MangopayApi) -> None:
    session = await open_session(api)
    await choose(api, session, "refuse:FACE_MATCH_FAIL")
    again = await choose(api, session, "validate")
    assert (again.status_code, again.headers["location"]) == (303, RETURN)
    assert await status(api, session) == "REFUSED"
    assert await level(api, session["UserId"]) == "LIGHT"


@pytest.mark.parametrize(
    ("choice", "code", "title"),
    [
        ("validate", 410, "This check is done"),
        ("refuse:FACE_MATCH_FAIL", 410, "This check is done"),
        ("review_validate", 200, "This check is being reviewed"),
    ],
)
async def test_a_page_that_was_used_says_so(api: MangopayApi, choice: str, code: int, title: str) -> None:
    session = await open_session(api)
    await choose(api, session, choice)
    page = await api.http.get(path(session))
    assert page.status_code == code
    assert title in page.text
    assert f'href="{RETURN}"' in page.text
    assert 'name="choice"' not in page.text


async def test_a_page_whose_time_is_up(api: MangopayApi) -> None:
    session = await open_session(api)
    await api.advance(WEEK - 5)
    assert (await api.http.get(path(session))).status_code == 200
    await api.advance(6)
    for page in (await api.http.get(path(session)), await choose(api, session, "validate")):
        assert page.status_code == 410
        assert "This page has expired" in page.text
    assert await status(api, session) == "EXPIRED"
    assert await level(api, session["UserId"]) == "LIGHT"


async def test_a_check_that_is_out_of_date(api: MangopayApi) -> None:
    session = await open_session(api)
    for outcome in ("validate", "out_of_date"):
        await api.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": outcome})
    for page in (await api.http.get(path(session)), await choose(api, session, "validate")):
        assert page.status_code == 410
        assert "This check is out of date" in page.text
    assert await status(api, session) == "OUT_OF_DATE"


async def test_a_page_that_never_was(api: MangopayApi) -> None:
    for page in (
        await api.http.get("/identity/unknown"),
        await api.http.post("/identity/unknown", data={"choice": "validate"}),
    ):
        assert page.status_code == 404
        assert "This page does not exist" in page.text


async def test_names_are_shown_as_text(api: MangopayApi) -> None:
    user = await owner(api, Name="<script>x</script>")
    session = await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    page = await api.http.get(path(session))
    assert "<script>" not in page.text
    assert "&lt;script&gt;x" in page.text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_page_in_every_language(api: MangopayApi, language: str) -> None:
    session = await open_session(api)
    for page in (
        await api.http.get(path(session), headers={"Accept-Language": language}),
        await api.http.get(path(session), params={"lang": language}),
    ):
        assert f'<html lang="{language}">' in page.text
        assert CATALOGUES[language]["identity_review"] in page.text.replace("&#39;", "'")
    assert f'action="/_provider{path(session)}?lang={language}"' in page.text
