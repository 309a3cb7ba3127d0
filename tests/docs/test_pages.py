"""The documentation is true: its examples run, its code is the project's, its links lead somewhere."""

import pathlib
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from resolvers.account.tokens import me
from rest_compat.routes import ROUTES
from schema.core.errors import AppError
from schema.root import Query
from tests.contract.declarations import Declared, Surface, documented, published, report
from tests.contract.test_error_catalogue import catalogue
from tests.documents import PAGES, ROOT, Example, Installation, blocks, demo_installation, examples, fits, links
from tests.servers.databases import Databases

DOCS = ROOT / "docs"


@pytest_asyncio.fixture
async def installation(databases: Databases, tmp_path: pathlib.Path) -> AsyncIterator[Installation]:
    """A demo installation, as a reader has it."""
    async with databases.one() as url, demo_installation(url, tmp_path, with_payments=True) as found:
        log_in = {"username": "partner@demo.localhost", "password": "coffret-demo"}
        answer = await found.client.post("/api-token-auth/", json=log_in)
        found.remembered["TOKEN"] = answer.json()["token"]
        yield found


async def test_every_example_is_answered_as_shown(installation: Installation) -> None:
    for page in ("graphql.md", "rest.md", "webhooks.md"):
        await _is_answered_as_shown(installation, page)


async def _is_answered_as_shown(installation: Installation, page: str) -> None:
    found = examples(DOCS / page)
    assert len(found) >= 5
    for example in found:
        ask = installation.graphql if example.asked.language == "graphql" else installation.curl
        answer = await ask(example)
        told = f"{page}, line {example.line}: {answer}"
        if example.answer is None:
            assert "errors" not in answer, told
        else:
            assert fits(example.answer, answer), told


def test_what_fits_an_answer() -> None:
    assert fits({"a": ["…", "x…z", 1, None]}, {"a": ["anything", "xyz", 1, None]})
    for shown, real in [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1}, {"b": 1}),
        ([1], [1, 2]),
        ("x…z", "xy"),
        (1, True),
        ("1", 1),
        (1795241993114, 3),
    ]:
        assert not fits(shown, real), (shown, real)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_is_that_of_the_project(page: pathlib.Path) -> None:
    for block in blocks(page):
        marker = re.match(r"# (\S+\.(?:py|toml))\n", block.text)
        if block.language in {"python", "toml"} and marker:
            code = block.text[marker.end() :]
            assert code in (ROOT / marker[1]).read_text(), f"{page.name}, line {block.line} differs from {marker[1]}."


def test_the_page_about_operations_has_code_of_all_four_things() -> None:
    text = (DOCS / "contributing/adding-an-operation.md").read_text()
    for file in (
        "resolvers/",
        "schema/root.py",
        "rest_compat/routes.py",
        "tests/behaviours/",
        "store/product/products.py",
    ):
        assert f"```python\n# {file}" in text, file


def test_what_is_told_when_something_is_forgotten_is_told_in_these_words() -> None:
    it = Declared("account.tokens", "me", me)
    text = (DOCS / "contributing/adding-an-operation.md").read_text()
    fields, tests = published(Query), {"tests/resolvers/account/test_tokens.py": "tokens.me"}
    assert report(Surface([], ROUTES, documented(), "", {}), [it]) in text
    assert report(Surface(fields, [], documented(), "", tests), [it]) in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: pathlib.Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{page.name} leads to {link}."
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-") for h in headings}, link


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text()
    for page in DOCS.rglob("*.md"):
        if page.name != "README.md":
            assert f"({page.relative_to(DOCS)})" in index, f"docs/README.md does not lead to {page.relative_to(DOCS)}."


def test_every_code_that_a_program_may_meet_is_explained() -> None:
    text = (DOCS / "graphql.md").read_text()
    codes = {error.code() for error in catalogue(AppError) if not error.is_user_error}
    missing = {code for code in codes - {"MALFORMED_BODY"} if f"`{code}`" not in text}
    assert not missing, f"docs/graphql.md does not explain {', '.join(sorted(missing))}."


def test_the_examples_are_found() -> None:
    found: list[Example] = examples(DOCS / "graphql.md")
    assert any(example.variables for example in found)
    assert all(example.answer for example in found)
