"""The pages under `/docs/`: complete, true of where they are served, and nobody else's."""

import functools
import html
import re
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from coffret.http.middleware import RequestId
from rest_compat.docs import DocsOptions
from rest_compat.docs.entries import entry_of
from rest_compat.docs.graph import sections
from rest_compat.docs.pages import DocsGroup, DocsPages
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import reference_of
from rest_compat.router import rest_routes
from rest_compat.routes import ROUTES
from schema.root import sdl
from tests.described import GROUPS, described
from tests.documents import ROOT, blocks
from tests.rest_compat.clients import client_of, made_up_words
from tests.rest_compat.openapi.test_openapi import DOCUMENT
from tests.rest_compat.things import ROUTES as THINGS

BASE = "https://api.shop.example"
FILES = {"docs.css": "/docs/docs.css", "docs.js": "/docs/docs.js"}
OF_NETWORKS = {
    "create_network_giftcard",
    "get_network_giftcard_deprecated",
    "get_network_giftcard",
    "find_network_giftcards_by_email",
}
"""The routes that answer a network gift card."""
PAGES = DocsPages(DOCUMENT, GROUPS, reference_of, FILES)
PATHS = [group.path for group in PAGES.groups]
BARE_PATHS = [path.rstrip("/") for path in PATHS]


async def no_context(_: Any) -> Any:
    """Nothing is asked."""
    raise AssertionError


@functools.cache
def documentation() -> Starlette:
    """What serves the documentation. It is made once, and with it what is rendered at the first visit."""
    return Starlette(routes=rest_routes(no_context, DocsOptions(sdl=sdl)), middleware=[Middleware(RequestId)])


@pytest.fixture
async def anyone() -> httpx.AsyncClient:
    """Somebody without a token."""
    return client_of(documentation())


async def test_the_description_is_served_to_anyone_and_names_where_it_was_asked(anyone: httpx.AsyncClient) -> None:
    response = await anyone.get("/openapi.json")
    assert response.status_code == 200
    assert response.json() == {**DOCUMENT, "servers": [{"url": "http://api.test"}]}
    there = await anyone.get("/openapi.json", headers={"Host": "other.test:8443"})
    assert there.json()["servers"] == [{"url": "http://other.test:8443"}]


@pytest.mark.parametrize(
    "path", ["/docs", "/docs/", "/docs/?q=voucher", "/docs/integrate/", "/docs/graphql/", *PATHS, *BARE_PATHS]
)
async def test_a_page_needs_nobody_and_runs_nothing_but_ours(anyone: httpx.AsyncClient, path: str) -> None:
    response = await anyone.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    policy = response.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script>|<style|style=|onclick|src=\"(?!/docs/)|href=\"(?!/|#|data:,)", response.text)


async def test_whatever_a_page_leads_to_is_there(anyone: httpx.AsyncClient) -> None:
    waiting, seen = {"/docs/", "/docs/?q=voucher"}, {"/graphql/"}
    while waiting:
        seen.add(address := waiting.pop())
        response = await anyone.get(address)
        assert response.status_code == 200, address
        if response.headers["content-type"].startswith("text/html"):
            waiting |= set(re.findall(r'(?:href|src)="(/[^"#]*)', response.text)) - seen
    assert seen >= {*PATHS, "/docs/integrate/", "/docs/graphql/", "/openapi.json"}


@pytest.mark.parametrize(
    "path", ["/docs/", "/docs/?q=voucher", "/docs/carts/", "/docs/graphql/", "/graphql/schema.graphql", "/openapi.json"]
)
async def test_a_page_is_sent_compressed_to_whom_can_take_it(anyone: httpx.AsyncClient, path: str) -> None:
    small = await anyone.get(path)
    plain = await anyone.get(path, headers={"Accept-Encoding": "identity"})
    assert small.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert small.content == plain.content
    assert "Accept-Encoding" in small.headers["vary"]
    assert 3 * int(small.headers["content-length"]) < len(plain.content)


async def test_files_are_kept_for_good_under_the_name_of_what_is_in_them(anyone: httpx.AsyncClient) -> None:
    names = re.findall(r'"(/docs/docs\.[0-9a-f]{12}\.(?:css|js))"', (await anyone.get("/docs/")).text)
    assert len(names) == 2
    for name in names:
        assert "immutable" in (await anyone.get(name)).headers["cache-control"]


@pytest.mark.parametrize("path", PATHS)
async def test_every_example_names_where_it_was_asked(anyone: httpx.AsyncClient, path: str) -> None:
    page = (await anyone.get(path, headers={"Host": "shop.test:8443"})).text
    addresses = re.findall(r"curl (?:-X \w+ )?'?(https?://[^/]+)", text_of(page))
    assert len(addresses) == page.count("<article")
    assert set(addresses) == {"http://shop.test:8443"}
    assert "127.0.0.1:8000" not in page


async def test_the_guide_is_that_of_the_repository_for_where_it_was_asked(anyone: httpx.AsyncClient) -> None:
    page = (await anyone.get("/docs/integrate", headers={"Host": "shop.test:8443"})).text
    shown = text_of(page)
    found = list(blocks(ROOT / "docs/integrate.md"))
    assert len(found) > 15
    for block in found:
        assert block.text.replace("http://127.0.0.1:8000", "http://shop.test:8443").strip() in shown
    assert '<h2 id="4-the-way-back">' in page
    assert 'href="events.md"' not in page
    assert "Events (docs/events.md)" in shown
    assert "127.0.0.1:8000" not in page


async def test_the_schema_of_the_graph_is_shown_whole_and_each_name_leads_to_what_it_names(
    anyone: httpx.AsyncClient,
) -> None:
    written = await anyone.get("/graphql/schema.graphql")
    assert written.headers["content-type"] == "text/plain; charset=utf-8"
    assert written.text == sdl()
    page = (await anyone.get("/docs/graphql")).text
    targets = re.findall(r' id="([^"]+)"', page)
    assert len(targets) == len(set(targets))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(targets)
    shown = [html.unescape(re.sub(r"<[^>]+>", "", code)) for code in re.findall(r"<pre><code>([^\0]*?)</code>", page)]
    assert sorted("\n\n".join(shown).split("\n")) == sorted(sdl().strip().split("\n"))
    assert '<a href="#VoucherConnection">VoucherConnection</a>' in page
    assert page.index('id="Query"') < page.index('id="Mutation"') < page.index('id="Voucher"')


def test_words_in_a_description_and_members_of_an_enum_are_no_links() -> None:
    written = (
        '"""A Thing <b>."""\ntype Thing { kind(of: Kind = Thing): Kind }\nenum Kind { Thing }\ndirective @old on FIELD'
    )
    thing, kind, old = (found.definitions[0] for found in sections(written))
    assert thing.code == (
        '<span class="c">&#34;&#34;&#34;A Thing &lt;b&gt;.&#34;&#34;&#34;</span>\n'
        'type Thing { kind(of: <a href="#Kind">Kind</a> = Thing): <a href="#Kind">Kind</a> }'
    )
    assert kind.code == "enum Kind { Thing }"
    assert (old.section, old.code) == ("Others", "directive @old on FIELD")


def text_of(page: str) -> str:
    """What a page shows, without marks."""
    plain = re.sub(r"<[^>]+>", "", page)
    for name, sign in (("quot", '"'), ("#34", '"'), ("#39", "'"), ("lt", "<"), ("gt", ">"), ("amp", "&")):
        plain = plain.replace(f"&{name};", sign)
    return plain


def test_every_operation_is_shown_once_with_its_methods_and_keys() -> None:
    for group in PAGES.groups:
        page = PAGES.group(BASE, group.path)
        shown = page.replace("<wbr>", "")
        assert page.count("<article") == len(group.entries) == len(GROUPS[group.name])
        for route in GROUPS[group.name]:
            article = shown.split(f'<article id="{reference_of(route).id}"')[1].split("</article>")[0]
            assert re.findall(r'class="method \w+">(\w+)<', article) == route.verbs
            assert f"<code>{route.path}</code>" in article
            assert reference_of(route).field in article
            for key in route.shape.keys if route.file is None else ():
                assert (
                    f"<code>{key}<" in article or f"<code>[].{key}<" in article or f"<code>results[].{key}<" in article
                )
        links, targets = set(re.findall(r'href="#([^"]+)"', page)), re.findall(r' id="([^"]+)"', page)
        assert links <= set(targets)
        assert len(targets) == len(set(targets))


def test_the_overview_leads_to_every_operation() -> None:
    page = PAGES.overview(BASE)
    for group in PAGES.groups:
        for entry in group.entries:
            assert f'href="{group.path}#{entry.id}"' in page
    assert page.count('<li id="') == len(ROUTES)


@pytest.mark.parametrize(
    ("asked", "results"),
    [
        ("remaining_value code", {"get_giftcard_by_code", "list_giftcards", "get_giftcard", *OF_NETWORKS}),
        ("FUNNEL_URL", {"save_ecommerce_cart", "get_ecommerce_cart"}),
        ("openIdentityVerification", {"identity_verification_session"}),
        ("no such thing", set()),
    ],
)
def test_a_search_looks_at_titles_paths_keys_and_fields(asked: str, results: set[str]) -> None:
    page = PAGES.overview(BASE, asked)
    assert set(re.findall(r'<li id="(\w+)"', page)) == results
    assert f"{len(results)} with “{asked}”" in page


def test_a_put_says_what_only_it_must_send() -> None:
    route = next(route for route in ROUTES if route.path == "/api/voucher_option_categories/{id}/" and route.writes)
    entry = entry_of(DOCUMENT, route, reference_of(route))
    required = {row.names[0]: row.required for row in entry.request}
    assert required["name_en"] == "required by PUT"
    assert required["ranking"] == ""
    assert next(row.names for row in entry.request if row.names[0] == "name_en")[-1] == "name_pt"


def test_an_upload_is_shown_as_a_form() -> None:
    route = next(route for route in ROUTES if route.path == "/api/medias/" and route.writes)
    assert "-F file=@picture.jpg" in entry_of(DOCUMENT, route, reference_of(route)).request_to(BASE)


def test_old_forms_are_marked() -> None:
    document: Any = described({"Things": THINGS}, made_up_words)
    page = DocsPages(document, {"Things": THINGS}, made_up_words, FILES).group(BASE, "/docs/things/")
    assert '<span class="old">deprecated</span>' in page


def test_what_is_shown_is_escaped() -> None:
    evil = {"<b>": [RestRoute("GET", "/api/<b>/", ROUTES[1].operation, ROUTES[1].shape)]}
    pages = DocsPages(described(evil, made_up_words), evil, made_up_words, FILES)
    for page in (
        pages.overview("http://<b>"),
        pages.overview(BASE, "<b>"),
        pages.group(BASE, DocsGroup("<b>", ()).path),
    ):
        assert "<b>" not in page
