"""Printable documents at their addresses: made once, kept, made anew when what they show changed, and guessed by nobody."""

import asyncio
import dataclasses
import datetime as dt
import io
import re
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from pypdf import PdfReader

from coffret.http.documents import HEADERS
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCardStatus
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import document_token
from store.document import rendering
from store.document.addresses import DocumentKind, document_path, document_url
from store.document.source import document_source_of, find_printable
from store.media import pictures
from tests.fixtures.document import UNTIL, colours, gift_card, includes, picture, pictured, prototype, voucher, words
from tests.fixtures.network_prints import design_of
from tests.fixtures.shop import Shop


@dataclasses.dataclass
class Press:
    """Counts the documents that are made."""

    count: int = 0


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Press:
    """How often a document was made."""
    counted, real = Press(), rendering.render_pdf

    async def counting(*of: Any) -> bytes:
        counted.count += 1
        return await real(*of)

    monkeypatch.setattr("store.document.cache.render_pdf", counting)
    return counted


def path(row: Any, kind: DocumentKind = DocumentKind.VOUCHER) -> str:
    return document_path(kind, row.document_token)


async def read(client: httpx.AsyncClient, row: Any, kind: DocumentKind = DocumentKind.VOUCHER) -> str:
    answer = await client.get(path(row, kind))
    assert answer.status_code == 200, answer.text
    return words(answer.content)


async def change(shop: Shop, row: Any, **values: Any) -> None:
    written = ", ".join(f"{name} = :{name}" for name in values)
    await shop.execute(f"UPDATE {row.__tablename__} SET {written} WHERE id = :id", id=row.id, **values)  # noqa: S608


# ---- what is served


async def test_a_voucher_says_all_that_was_bought(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    await includes(app_shop, row, Text(en="Breakfast", fr="Petit-déjeuner"), 2)
    answer = await client.get(path(row))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["content-disposition"] == (
        "inline; filename=\"Gift voucher The Shop.pdf\"; filename*=UTF-8''Gift%20voucher%20The%20Shop.pdf"
    )
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "private" in answer.headers["cache-control"]
    text = words(answer.content)
    for said in (
        "A night above the lake",
        "2 adults · 1 child · 1 night",
        "With dinner and breakfast.",
        "2 × Breakfast",
        "For Claire Dubois From Ada & Jean",
        "Bonne fête ! À bientôt",
        row.code,
        "Valid until 23 August 2027",
        "How to book Call us.",
        "Conditions Not on public holidays.",
        "France hello@shop.example · shop.example",
    ):
        assert said in text, said
    assert (await client.head(path(row))).headers["content-length"] == str(len(answer.content))
    assert document_url(app_shop.services.settings, DocumentKind.VOUCHER, "x").endswith("/documents/vouchers/x.pdf")


async def test_a_gift_card_says_what_it_is_worth(app_shop: Shop, client: httpx.AsyncClient) -> None:
    card = await gift_card(app_shop, language="fr", message="Pour toi", giftee_last_name="Dubois")
    text = await read(client, card, DocumentKind.GIFT_CARD)
    for said in ("150,00 €", "Pour Claire Dubois De la part de Ada Martin", "Pour toi", card.code, "23 août 2027"):
        assert said in text.replace("\xa0", " "), said
    answer = await client.get(path(card, DocumentKind.GIFT_CARD))
    assert "filename*=UTF-8''Carte%20cadeau%20The%20Shop.pdf" in answer.headers["content-disposition"]
    assert PdfReader(io.BytesIO(answer.content)).trailer["/Root"]["/Lang"] == "fr"  # type: ignore[index]


async def test_its_file_has_a_name_that_every_system_takes(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    await app_shop.execute("UPDATE partner SET commercial_name = :name", name='Spa "Ada"/Hôtel: 温泉\\; \r\nX-Evil: 1')
    (plain, whole) = (await client.get(path(row))).headers["content-disposition"].split("; filename*=UTF-8''")
    assert plain == 'inline; filename="Gift voucher Spa Ada H_tel _ _ X-Evil 1.pdf"'
    assert unquote(whole) == "Gift voucher Spa Ada Hôtel 温泉 ; X-Evil 1.pdf"


async def test_the_code_leads_to_where_it_is_redeemed(app_shop: Shop) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    async with app_shop.services.db.sessions() as db:
        found = await find_printable(db, DocumentKind.VOUCHER, row.document_token)
        assert found is not None
        source = await document_source_of(db, app_shop.services.settings, found, clock.now())
    assert source.sheet.scanned == f"http://shop.localhost/redeem/?code={row.normal_code}"


async def test_its_picture_is_the_cover_and_its_logo_the_shops(app_shop: Shop, client: httpx.AsyncClient) -> None:
    of = await prototype(app_shop, cover_image=2)
    await pictured(app_shop, of, "#aa0000", "#00aa00")
    row = await voucher(app_shop, of)
    (cover,) = colours((await client.get(path(row))).content)
    assert cover[1] > 150 > 60 > cover[0]
    async with app_shop.services.db.sessions() as db, db.begin():
        logo = await pictures.store_picture(db, app_shop.partner.id, picture("#0000aa", "PNG", (800, 200)), "png")
    await app_shop.execute("UPDATE partner SET logo_url = :url", url=logo)
    with_logo = (await client.get(path(row))).content
    assert [max(range(3), key=colour.__getitem__) for colour in sorted(colours(with_logo))] == [2, 1]
    (uploaded,) = await pictured(app_shop, await prototype(app_shop), "#aa0000")
    await app_shop.execute("UPDATE partner SET logo_url = :url", url=f"/media/{uploaded.uuid}/card.webp")
    uploaded_logo = (await client.get(path(row))).content
    assert sorted(max(range(3), key=colour.__getitem__) for colour in colours(uploaded_logo)) == [0, 1]
    await app_shop.execute("UPDATE partner SET logo_url = 'https://elsewhere.example/logo.png'")
    assert "The Shop" in words((await client.get(path(row))).content)


@pytest.mark.parametrize("language", ["en", "fr", "es", "it", "de", "nl", "ca", "pt"])
async def test_it_speaks_the_language_of_the_sale(app_shop: Shop, client: httpx.AsyncClient, language: str) -> None:
    row = await voucher(app_shop, await prototype(app_shop), language=language)
    card = await gift_card(app_shop, language=language)
    for text in (await read(client, row), await read(client, card, DocumentKind.GIFT_CARD)):
        assert ("Valid until" in text) is (language == "en")
    assert ("Une nuit sur le lac" in await read(client, row)) is (language == "fr")


# ---- where a voucher stands


NO_VOUCHER_YET = (VoucherState.DRAFT, VoucherState.ERROR)
NO_GIFT_CARD = (GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED)


@pytest.mark.parametrize("state", NO_VOUCHER_YET)
async def test_nothing_is_served_of_what_is_no_voucher_yet(
    app_shop: Shop, client: httpx.AsyncClient, state: VoucherState
) -> None:
    row = await voucher(app_shop, await prototype(app_shop), state=state)
    assert (await client.get(path(row))).status_code == 404


@pytest.mark.parametrize("status", NO_GIFT_CARD)
async def test_nothing_is_served_of_what_is_no_gift_card(
    app_shop: Shop, client: httpx.AsyncClient, status: GiftCardStatus
) -> None:
    card = await gift_card(app_shop, status=status)
    assert (await client.get(path(card, DocumentKind.GIFT_CARD))).status_code == 404


@pytest.mark.parametrize("state", sorted(set(VoucherState) - {*NO_VOUCHER_YET}))
async def test_what_is_served_of_a_voucher(app_shop: Shop, client: httpx.AsyncClient, state: VoucherState) -> None:
    used_on = clock.now() if state is VoucherState.USED else None
    row = await voucher(app_shop, await prototype(app_shop), state=state, used_on=used_on)
    text = await read(client, row)
    assert ("This voucher has been used." in text) is (state is VoucherState.USED)
    assert ("This voucher has expired." in text) is (state is VoucherState.EXPIRED)
    assert ("Show this voucher" in text) is (state in {VoucherState.PAID, VoucherState.USING})


@pytest.mark.parametrize("state", [VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED])
async def test_a_refunded_voucher_is_marked(app_shop: Shop, client: httpx.AsyncClient, state: VoucherState) -> None:
    used_on = clock.now() if state is VoucherState.USED else None
    sold = await prototype(app_shop)
    row = await voucher(app_shop, sold, state=state, used_on=used_on, refunded_on=clock.now())
    text = await read(client, row)
    assert "This voucher was refunded." in text
    assert "Show this voucher" not in text


@pytest.mark.parametrize("status", sorted(set(GiftCardStatus) - {*NO_GIFT_CARD}))
async def test_what_is_served_of_a_gift_card(app_shop: Shop, client: httpx.AsyncClient, status: GiftCardStatus) -> None:
    card = await gift_card(app_shop, status=status)
    text = await read(client, card, DocumentKind.GIFT_CARD)
    assert ("All of this gift card has been spent." in text) is (status is GiftCardStatus.USED)
    assert ("This gift card has expired." in text) is (status is GiftCardStatus.EXPIRED)


async def test_its_last_day_counts_before_the_nightly_job_has_come_by(
    app_shop: Shop, client: httpx.AsyncClient
) -> None:
    row = await voucher(app_shop, await prototype(app_shop), expires_on=clock.now() + dt.timedelta(hours=1))
    assert "expired" not in await read(client, row)
    clock.advance(dt.timedelta(hours=2))
    assert "This voucher has expired." in await read(client, row)


# ---- made once


async def test_it_is_made_once_and_anew_when_it_changed(
    app_shop: Shop, client: httpx.AsyncClient, press: Press
) -> None:
    of = await prototype(app_shop)
    row = await voucher(app_shop, of)
    first = await client.get(path(row))
    again = await client.get(path(row))
    assert (press.count, again.content, again.headers["etag"]) == (1, first.content, first.headers["etag"])
    unchanged = await client.get(path(row), headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["cache-control"] == first.headers["cache-control"]
    changes = (
        ("voucher", "message = 'Another'"),
        ("partner", "accent_colour = '#ff0000'"),
        ("partner", "agency_phone = '+33 1 23 45 67 89'"),
        ("voucher_prototype", 'pdf_description = \'{"en": "Another"}\''),
        ("voucher", f"expires_on = '{UNTIL + dt.timedelta(days=9)}'"),
        ("voucher", "state = 'exprd'"),
    )
    tags = {first.headers["etag"]}
    for number, (table, what) in enumerate(changes, start=2):
        await app_shop.execute(f"UPDATE {table} SET {what}")  # noqa: S608 - the test's own words
        tags.add((await client.get(path(row))).headers["etag"])
        assert (await client.get(path(row))).status_code == 200
        assert press.count == number
    await pictured(app_shop, of, "#00aa00")
    tags.add((await client.get(path(row))).headers["etag"])
    assert press.count == len(tags) == len(changes) + 2
    await app_shop.execute("UPDATE voucher SET updated_on = now()")
    await client.get(path(row))
    assert press.count == len(tags)
    listed = [file.key async for file in app_shop.services.files.list_files("documents")]
    assert listed == [f"documents/vouchers/{row.id}.pdf"]


async def test_many_first_readers_get_the_same(app_shop: Shop, client: httpx.AsyncClient, press: Press) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    answers = await asyncio.gather(*(client.get(path(row)) for _ in range(6)))
    assert len({answer.content for answer in answers}) == 1
    await client.get(path(row))
    made = press.count
    assert (await client.get(path(row))).content == answers[0].content
    assert press.count == made


async def test_what_was_kept_and_is_spoilt_is_made_anew(
    app_shop: Shop, client: httpx.AsyncClient, press: Press
) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    first = await client.get(path(row))
    files, key = app_shop.services.files, f"documents/vouchers/{row.id}.pdf"
    kept = await files.get(key)
    assert kept is not None
    for spoilt in (b"", b"0" * 64 + b"%PDF", b"%PDF-1.7", kept[:-2000], kept[:-2000] + bytes(2000)):
        await files.put(key, spoilt, "application/octet-stream")
        assert (await client.get(path(row))).content == first.content
    assert press.count == 6


# ---- guessed by nobody


async def test_unknown_addresses_are_all_the_same_and_few(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await voucher(app_shop, await prototype(app_shop), state=VoucherState.DRAFT)
    card = await gift_card(app_shop)
    unknown = (
        path(row),
        document_path(DocumentKind.VOUCHER, card.document_token),
        document_path(DocumentKind.GIFT_CARD, row.document_token),
        document_path(DocumentKind.VOUCHER, document_token()),
        document_path(DocumentKind.VOUCHER, "%00"),
        document_path(DocumentKind.VOUCHER, "x" * 5000),
        "/documents/vouchers/.pdf",
        "/documents/orders/x.pdf",
        "/documents/vouchers/..%2f..%2fx.pdf",
    )
    answers = [await client.get(one) for one in unknown]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.text for answer in answers[:5]} == {answers[0].text}
    missed = [await client.get(document_path(DocumentKind.VOUCHER, document_token())) for _ in range(25)]
    assert missed[-1].status_code == 429
    assert int(missed[-1].headers["retry-after"]) > 0
    known = await client.get(path(card, DocumentKind.GIFT_CARD))
    assert known.status_code == 429, "whoever guesses learns nothing, not even by what is there"


async def test_what_is_found_counts_against_nobody(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await voucher(app_shop, await prototype(app_shop), reception_mode=ReceptionMode.ON_SITE)
    answers = [await client.get(path(row)) for _ in range(30)]
    assert {answer.status_code for answer in answers} == {200}


def test_addresses_are_long() -> None:
    assert re.fullmatch(r"[\w-]{43}", document_token())


async def test_a_gift_card_has_the_look_of_its_design(app_shop: Shop, client: httpx.AsyncClient) -> None:
    design = await design_of(app_shop, partner_id=app_shop.partner.id)
    card, plain = await gift_card(app_shop, design_id=design.id), await gift_card(app_shop)
    pdf, other = [
        (await client.get(document_path(DocumentKind.GIFT_CARD, row.document_token))).content for row in (card, plain)
    ]
    assert "Happy birthday A year of good tables." in words(pdf)
    assert "The Shop" in words(pdf)
    (cover,) = colours(pdf)
    assert cover[2] > cover[1] > cover[0], "the picture of the design"
    assert "Happy birthday" not in words(other)
    assert colours(other) == []
    async with app_shop.services.db.sessions() as db:
        sources = [await document_source_of(db, app_shop.services.settings, row, clock.now()) for row in (card, plain)]
    assert [source.sheet.look.accent for source in sources] == ["#8a2846", app_shop.partner.accent_colour]
