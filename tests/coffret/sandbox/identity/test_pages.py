"""The page of a hosted identity check: every choice, and where it leads, first and again."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest

from coffret.sandbox.checks import Reason
from coffret.sandbox.pages.texts import CATALOGUES, LANGUAGES
from tests.coffret.sandbox.owners import level, owner
from tests.coffret.sandbox.world import Json, World, running

RETURN = "https://shop.example/k/abcdefgh"
WEEK = 7 * 24 * 3600


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running(token_lifetime=52 * WEEK) as world:
        yield world


async def opened(world: World, kind: str = "BUSINESS") -> Json:
    """A session of a new owner."""
    user = await owner(world, kind)
    return await world.made(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})


def path(session: Json) -> str:
    """Where the session's page is, for the client."""
    return urlsplit(session["HostedUrl"]).path.removeprefix("/_provider")


async def choose(world: World, session: Json, choice: str) -> httpx.Response:
    """Press one of the page's buttons."""
    return await world.http.post(path(session), data={"choice": choice})


async def status(world: World, session: Json) -> str:
    """Where the session stands."""
    stands: str = (await world.read(f"/identity-verifications/{session['Id']}"))["Status"]
    return stands


async def test_the_page_shows_who_and_until_when(world: World) -> None:
    session = await opened(world)
    page = await world.http.get(path(session))
    assert page.status_code == 200
    assert "Maison Soleil" in page.text
    assert f'<a href="{RETURN}">Leave' in page.text
    assert "UTC" in page.text
    assert await status(world, session) == "PENDING"


@pytest.mark.parametrize(
    ("choice", "at_once", "later", "known"),
    [
        ("validate", "VALIDATED", "VALIDATED", "REGULAR"),
        *((f"refuse:{reason}", "REFUSED", "REFUSED", "LIGHT") for reason in Reason),
        ("review_validate", "REVIEW", "VALIDATED", "REGULAR"),
        ("review_refuse:DOCUMENT_NOT_ACCEPTED", "REVIEW", "REFUSED", "LIGHT"),
    ],
)
async def test_every_button_is_there_and_works(world: World, choice: str, at_once: str, later: str, known: str) -> None:
    session = await opened(world)
    assert f'name="choice" value="{choice}"' in (await world.http.get(path(session))).text
    answer = await choose(world, session, choice)
    assert (answer.status_code, answer.headers["location"]) == (303, RETURN)
    assert await status(world, session) == at_once
    await world.advance(61)
    assert await status(world, session) == later
    assert await level(world, session["UserId"]) == known


async def test_a_person_is_not_reviewed(world: World) -> None:
    session = await opened(world, "NATURAL")
    page = await world.http.get(path(session))
    assert "Joana Dupont" in page.text
    assert "review" not in page.text
    assert (await choose(world, session, "review_validate")).status_code == 400
    assert await status(world, session) == "PENDING"


@pytest.mark.parametrize("choice", ["", "refuse", "refuse:BAD_MOOD", "out_of_date", "nonsense"])
async def test_what_no_button_says_changes_nothing(world: World, choice: str) -> None:
    session = await opened(world)
    answer = await choose(world, session, choice)
    assert answer.status_code == 400
    assert 'value="validate"' in answer.text
    assert await world.read(f"/identity-verifications/{session['Id']}") == session


async def test_a_second_choice_leads_to_where_the_first_one_led(world: World) -> None:
    session = await opened(world)
    await choose(world, session, "refuse:FACE_MATCH_FAIL")
    again = await choose(world, session, "validate")
    assert (again.status_code, again.headers["location"]) == (303, RETURN)
    assert await status(world, session) == "REFUSED"
    assert await level(world, session["UserId"]) == "LIGHT"


@pytest.mark.parametrize(
    ("choice", "code", "title"),
    [
        ("validate", 410, "This check is done"),
        ("refuse:FACE_MATCH_FAIL", 410, "This check is done"),
        ("review_validate", 200, "This check is being reviewed"),
    ],
)
async def test_a_page_that_was_used_says_so(world: World, choice: str, code: int, title: str) -> None:
    session = await opened(world)
    await choose(world, session, choice)
    page = await world.http.get(path(session))
    assert page.status_code == code
    assert title in page.text
    assert f'href="{RETURN}"' in page.text
    assert 'name="choice"' not in page.text


async def test_a_page_whose_time_is_up(world: World) -> None:
    session = await opened(world)
    await world.advance(WEEK - 5)
    assert (await world.http.get(path(session))).status_code == 200
    await world.advance(6)
    for page in (await world.http.get(path(session)), await choose(world, session, "validate")):
        assert page.status_code == 410
        assert "This page has expired" in page.text
    assert await status(world, session) == "EXPIRED"
    assert await level(world, session["UserId"]) == "LIGHT"


async def test_a_check_that_is_out_of_date(world: World) -> None:
    session = await opened(world)
    for outcome in ("validate", "out_of_date"):
        await world.control("POST", f"/identity-verifications/{session['Id']}", {"outcome": outcome})
    for page in (await world.http.get(path(session)), await choose(world, session, "validate")):
        assert page.status_code == 410
        assert "This check is out of date" in page.text
    assert await status(world, session) == "OUT_OF_DATE"


async def test_a_page_that_never_was(world: World) -> None:
    for page in (
        await world.http.get("/identity/unknown"),
        await world.http.post("/identity/unknown", data={"choice": "validate"}),
    ):
        assert page.status_code == 404
        assert "This page does not exist" in page.text


async def test_names_are_shown_as_text(world: World) -> None:
    user = await owner(world, Name="<script>x</script>")
    session = await world.made(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    page = await world.http.get(path(session))
    assert "<script>" not in page.text
    assert "&lt;script&gt;x" in page.text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_page_in_every_language(world: World, language: str) -> None:
    session = await opened(world)
    for page in (
        await world.http.get(path(session), headers={"Accept-Language": language}),
        await world.http.get(path(session), params={"lang": language}),
    ):
        assert f'<html lang="{language}">' in page.text
        assert CATALOGUES[language]["identity_review"] in page.text.replace("&#39;", "'")
    assert f'action="/_provider{path(session)}?lang={language}"' in page.text
