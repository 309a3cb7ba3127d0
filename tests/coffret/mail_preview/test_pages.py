"""The development mailbox, and the messages in it, in a client and in a browser."""

import asyncio
import pathlib
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from playwright.async_api import Browser, async_playwright
from pydantic import SecretStr
from starlette.applications import Starlette

from coffret import mail_preview
from resolvers.mail import delivery
from resolvers.payment.checkout import polling
from schema.checkout.checkout import ProductChoice
from schema.core.text import Text
from schema.mail import MailKind
from store.core.clock import clock
from store.core.settings import DeploymentEnvironment, Settings
from store.mail.mailer import FolderMailer
from store.mail.message import Attachment, Envelope, build_message
from store.mail.render import RenderedMail
from tests.fixtures.shop import BUYER, Shop
from tests.servers.chromium import fits, launched, sound, violations
from tests.store.mail.examples import KINDS, example, order

UUID = "5697aa3a-92b1-4303-82d8-e5d8baf28ba9"


async def store_message(
    folder: pathlib.Path,
    message: RenderedMail,
    number: int = 1,
    to: str = "ada@example.com",
    files: Sequence[Attachment] = (),
) -> str:
    """A message in the folder; answers its name."""
    message_id = f"<{UUID[:-2]}{number:02x}@coffret.test>"
    envelope = Envelope(message_id, "mail@coffret.test", "Maison Valserène", "b@v.example", to, "fr", clock.now())
    await FolderMailer(folder).send(build_message(envelope, message, files))
    return message_name(folder, number)


def message_name(folder: pathlib.Path, number: int) -> str:
    return next(folder.glob(f"*{UUID[:-2]}{number:02x}.eml")).stem


# ---- from an order to the page


async def test_an_order_is_read_in_the_mailbox(app_shop: Shop, client: httpx.AsyncClient) -> None:
    assert "There is no mail yet." in (await client.get("/_mail/")).text
    key, seen = await app_shop.ready(ProductChoice((await app_shop.product(name=Text(en="Candle <b>"))).id, 1))
    started = await app_shop.start(key, seen)
    await app_shop.pay(started)
    await polling.CHECKS.poll(app_shop.services, started.attempt_id)
    for mail_id in (1, 2):
        await delivery.send(app_shop.services, mail_id)
    page = (await client.get("/_mail/")).text
    assert page.count("<li>") == 2
    assert "New order 1: €20.00" in page
    assert BUYER.email in page
    name = page.partition("Your order 1 at")[0].rpartition('href="/_mail/')[2].partition("/")[0]
    shown = await client.get(f"/_mail/{name}/")
    assert shown.status_code == 200
    for told in ("The Shop &lt;mail@coffret.test&gt;", "hello@shop.example", "auto-generated", "Candle &lt;b&gt;"):
        assert told in shown.text
    html = await client.get(f"/_mail/{name}/html")
    assert "Thank you for your order" in html.text
    raw = await client.get(f"/_mail/{name}/letter.eml")
    assert raw.headers["content-type"] == "message/rfc822"
    assert raw.headers["content-disposition"] == f'attachment; filename="{name}.eml"'
    assert raw.content.startswith(b"Message-ID: <")


async def test_what_a_message_may_do(client: httpx.AsyncClient, app_settings: Settings) -> None:
    name = await store_message(
        app_settings.data_dir / "mail", RenderedMail("Hi", "<head></head><script>alert(1)</script>", "Hi\n")
    )
    for path in ("/_mail/", f"/_mail/{name}/"):
        policy = (await client.get(path)).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src" not in policy
    html = await client.get(f"/_mail/{name}/html")
    policy = html.headers["content-security-policy"]
    assert "sandbox allow-popups allow-popups-to-escape-sandbox" in policy
    assert "allow-scripts" not in policy
    assert "allow-same-origin" not in policy


async def test_what_comes_with_a_message_is_listed_and_saved(client: httpx.AsyncClient, app_settings: Settings) -> None:
    files = [
        Attachment("Bon <b> é.pdf", "application/pdf", b"%PDF-1.7 x"),
        Attachment("b.pdf", "application/pdf", b"b"),
    ]
    name = await store_message(app_settings.data_dir / "mail", RenderedMail("Hi", "<p>Hi</p>", "Hi\n"), files=files)
    page = (await client.get(f"/_mail/{name}/")).text
    assert "Bon &lt;b&gt; é.pdf" in page
    saved = await client.get(f"/_mail/{name}/files/0")
    assert (saved.content, saved.headers["content-type"]) == (b"%PDF-1.7 x", "application/pdf")
    assert saved.headers["content-disposition"] == "attachment; filename*=UTF-8''Bon%20%3Cb%3E%20%C3%A9.pdf"
    assert saved.headers["x-content-type-options"] == "nosniff"
    assert (await client.get(f"/_mail/{name}/files/1")).content == b"b"
    assert (await client.get(f"/_mail/{name}/files/2")).status_code == 404
    assert "<p>Hi</p>" in (await client.get(f"/_mail/{name}/html")).text


@pytest.mark.parametrize(
    "path",
    [
        "/_mail/nothing/",
        "/_mail/..%2f..%2fpostgres/",
        f"/_mail/20260823T100000-{UUID}/",
        f"/_mail/20260823T100000-{UUID}/html",
        f"/_mail/20260823T100000-{UUID}/letter.eml",
        "/_mail/secret/letter.eml",
    ],
)
async def test_there_is_nothing_else(client: httpx.AsyncClient, app_settings: Settings, path: str) -> None:
    (app_settings.data_dir / "mail").mkdir()
    (app_settings.data_dir / "mail" / "secret.eml").write_text("Subject: x\n\n")
    assert (await client.get(path)).status_code == 404
    assert "secret" not in (await client.get("/_mail/")).text


@pytest.mark.parametrize("host", ["shop.localhost", "shop.localhost:8000", "demo.localhost:8000"])
async def test_a_shops_host_has_no_mailbox(client: httpx.AsyncClient, app_settings: Settings, host: str) -> None:
    name = await store_message(app_settings.data_dir / "mail", RenderedMail("Hi", "<p>Hi</p>", "Hi\n"))
    for path in ("/_mail/", f"/_mail/{name}/", f"/_mail/{name}/html", f"/_mail/{name}/letter.eml"):
        assert (await client.get(path, headers={"Host": host})).status_code == 404
        assert (await client.get(path, headers={"Host": "localhost:8000"})).status_code == 200


def test_production_has_no_mailbox(tmp_path: pathlib.Path) -> None:
    settings = Settings(data_dir=tmp_path)
    assert mail_preview.routes(settings)
    assert not mail_preview.routes(settings.model_copy(update={"environment": DeploymentEnvironment.PRODUCTION}))


async def test_where_mail_is_sent_the_page_says_so(tmp_path: pathlib.Path) -> None:
    settings = Settings(
        data_dir=tmp_path, smtp_url=SecretStr("smtp://me:secret@mail.example"), mail_from="a@shop.example"
    )
    transport = httpx.ASGITransport(Starlette(routes=mail_preview.routes(settings)))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        page = (await client.get("/_mail/")).text
    assert "mail.example:587" in page
    assert "secret" not in page


# ---- in a browser


@dataclass(frozen=True)
class Place:
    """The mailbox on a port of this machine."""

    origin: str
    folder: pathlib.Path
    browser: Browser


@pytest.fixture
async def place(tmp_path: pathlib.Path) -> AsyncIterator[Place]:
    """A mailbox that can be visited."""
    listener = socket.create_server(("127.0.0.1", 0))
    settings = Settings(data_dir=tmp_path, port=listener.getsockname()[1])
    config = uvicorn.Config(Starlette(routes=mail_preview.routes(settings)), log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    async with async_playwright() as playwright:
        browser = await launched(playwright)
        yield Place(settings.public_url, tmp_path / "mail", browser)
        await browser.close()
    server.should_exit = True
    await task


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
async def test_the_mailbox_is_sound(place: Place) -> None:
    page = await place.browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("request", lambda request: problems.append(request.url) if place.origin not in request.url else None)
    await page.goto(f"{place.origin}/_mail/")
    await sound(page, "mailbox empty")
    for number, kind in enumerate(KINDS):
        await store_message(place.folder, example(kind, "fr"), number)
    await page.reload()
    assert await page.locator(".messages li").count() == len(KINDS)
    await sound(page, "mailbox list")
    await page.get_by_text("Votre commande 1042 chez Maison Valserène", exact=True).click()
    inside = page.frame_locator("iframe")
    assert await inside.locator("h1").inner_text() == "Merci pour votre commande"
    await sound(page, "mailbox message")
    # Axe calls into the frame of a message, which has no origin.
    assert [problem for problem in problems if "'postMessage'" not in problem] == []


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
async def test_a_message_leads_elsewhere_in_a_new_tab_and_runs_nothing(place: Place) -> None:
    html = "<html><head></head><body><a href='/_mail/'>Away</a><script>document.title='run'</script></body></html>"
    name = await store_message(place.folder, RenderedMail("Hi", html, "Hi\n"))
    page = await place.browser.new_page()
    await page.goto(f"{place.origin}/_mail/{name}/")
    async with page.context.expect_page() as opened:
        await page.frame_locator("iframe").get_by_text("Away").click()
    assert urlsplit((await opened.value).url).path == "/_mail/"
    assert await page.frame_locator("iframe").locator("title").count() == 0


@pytest.mark.browser
@pytest.mark.usefixtures("chromium")
async def test_messages_are_sound_at_any_width(chromium: str) -> None:
    long = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 2
    async with async_playwright() as playwright:
        browser = await launched(playwright)
        page = await browser.new_page()
        for kind in KINDS:
            await page.set_content(example(kind, "en").html)
            await sound(page, f"mail {kind}")
            for language in ("de", "fr"):
                await page.set_content(example(kind, language).html)
                await fits(page, f"mail {kind} {language}")
        await page.set_content(example(MailKind.NEW_ORDER, content=order(message=long, first_name=long)).html)
        assert await violations(page) == []
        await sound(page, "mail with long words")
        await browser.close()
