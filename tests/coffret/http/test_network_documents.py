"""The printable document of a network's gift card: in the look of its design, with where it can be used."""

import datetime as dt

import httpx
import pytest

from resolvers.core.context import Context
from resolvers.document import find_document
from schema.core.errors import NotFound
from schema.gift_card.gift_card import GiftCardStatus
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.document.addresses import DocumentKind, document_path
from store.document.rendering import compile_sheet
from store.document.source import document_source_of
from store.gift_card.gift_cards import GiftCardRow
from store.media.pictures import store_picture
from tests.fixtures.document import UNTIL, colours, gift_card, picture, scanned, words
from tests.fixtures.network_prints import card_of, design_of
from tests.fixtures.shop import Shop

KIND = DocumentKind.GIFT_CARD
TERMS = "It pays at all partners of Market that accept it, at once or little by little."


async def pdf_of(client: httpx.AsyncClient, card: GiftCardRow) -> bytes:
    answer = await client.get(document_path(KIND, card.document_token))
    assert answer.status_code == 200, answer.text
    return answer.content


async def text_of(client: httpx.AsyncClient, card: GiftCardRow) -> str:
    return words(await pdf_of(client, card)).replace("\xa0", " ")


async def test_it_says_what_it_is_and_where_it_can_be_used(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await app_shop.execute("UPDATE marketplace SET domain = 'market.example', email = 'hello@market.example'")
    design = await design_of(app_shop)
    card = await card_of(app_shop, design_id=design.id)
    text = await text_of(client, card)
    for said in (
        "€150.00 Happy birthday A year of good tables.",
        "For Claire From Ada Martin Bonne fête ! À bientôt",
        card.code,
        "Valid until 23 August 2027",
        TERMS,
        "The partners of Market that accept it are listed at market.example.",
        "Market hello@market.example · market.example",
    ):
        assert said in text, said
    assert "The Shop" not in text
    answer = await client.head(document_path(KIND, card.document_token))
    assert "filename*=UTF-8''Gift%20card%20Market.pdf" in answer.headers["content-disposition"]
    (cover,) = colours(await pdf_of(client, card))
    assert cover[2] > cover[1] > cover[0], "the picture of the design"


async def test_its_code_is_what_is_scanned_and_its_colour_the_designs(app_shop: Shop) -> None:
    design = await design_of(app_shop, None)
    card, plain = await card_of(app_shop, design_id=design.id), await card_of(app_shop)
    async with app_shop.services.db.sessions() as db:
        sources = [await document_source_of(db, app_shop.services.settings, row, clock.now()) for row in (card, plain)]
    assert [source.sheet.look.accent for source in sources] == ["#8a2846", "#1f4e5f"]
    assert [source.cover for source in sources] == [None, None]
    assert scanned(compile_sheet(sources[0].sheet, {}, format="png", ppi=144)) == [card.code]


async def test_a_network_says_little_of_itself(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await app_shop.execute("UPDATE marketplace SET name = 'A <b>& Co'")
    text = await text_of(client, await card_of(app_shop, is_splittable=False, message=None))
    assert "It pays at one of the partners of A <b>& Co that accept it. It is used whole, in one payment." in text
    assert "Where to use it" not in text
    assert text.endswith("A <b>& Co")


async def test_when_it_begins_is_said_if_it_is_later(app_shop: Shop, client: httpx.AsyncClient) -> None:
    now = clock.now()
    at_once = await card_of(app_shop, starts_on=now, created_on=now)
    later = dt.datetime(2027, 2, 1, tzinfo=dt.UTC)
    assert "Valid until 23 August 2027" in await text_of(client, at_once)
    begins = await card_of(app_shop, starts_on=later)
    assert "Valid from 1 February 2027 to 23 August 2027" in await text_of(client, begins)
    endless = await card_of(app_shop, starts_on=later, expires_on=None)
    assert "Valid from 1 February 2027" in await text_of(client, endless)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_language_of_the_card(app_shop: Shop, client: httpx.AsyncClient, language: str) -> None:
    await app_shop.execute("UPDATE marketplace SET domain = 'market.example'")
    design = await design_of(app_shop)
    text = await text_of(client, await card_of(app_shop, language=language, design_id=design.id))
    assert ("Joyeux anniversaire" in text) is (language == "fr")
    for english in ("Valid until", "It pays at", "Where to use it", "are listed at", "Show this gift card"):
        assert (english in text) is (language == "en"), english


async def test_a_picture_of_demo_data_is_shown(app_shop: Shop, client: httpx.AsyncClient) -> None:
    async with app_shop.services.db.sessions() as db, db.begin():
        path = await store_picture(db, app_shop.partner.id, picture("#00aa00", "PNG"), "png")
    design = await design_of(app_shop, None, picture_url=path)
    (cover,) = colours(await pdf_of(client, await card_of(app_shop, design_id=design.id)))
    assert cover[1] > 150 > 60 > cover[0]


@pytest.mark.parametrize("status", GiftCardStatus)
async def test_what_is_served_of_it(app_shop: Shop, client: httpx.AsyncClient, status: GiftCardStatus) -> None:
    card = await card_of(app_shop, status=status)
    answer = await client.get(document_path(KIND, card.document_token))
    if status in (GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED):
        assert answer.status_code == 404
        with pytest.raises(NotFound):
            await find_document(Context(app_shop.services, address="192.0.2.1"), KIND, card.document_token)
        return
    text = words(answer.content)
    assert ("All of this gift card has been spent." in text) is (status is GiftCardStatus.USED)
    assert ("This gift card has expired." in text) is (status is GiftCardStatus.EXPIRED)


async def test_it_is_made_anew_when_its_design_or_its_network_changes(
    app_shop: Shop, client: httpx.AsyncClient
) -> None:
    design, other = await design_of(app_shop), await gift_card(app_shop)
    card = await card_of(app_shop, design_id=design.id)
    address = document_path(KIND, card.document_token)
    tags = [(await client.get(address)).headers["etag"]]
    for change in (
        "gift_card_design SET accent_colour = '#00ff00'",
        """gift_card_design SET name = '{"en": "Merry Christmas"}'""",
        "gift_card_design SET picture_url = ''",
        "marketplace SET name = 'Another'",
        "marketplace SET domain = 'another.example'",
        f"gift_card SET expires_on = '{UNTIL + dt.timedelta(days=9)}'",
    ):
        await app_shop.execute(f"UPDATE {change}")
        tags.append((await client.get(address)).headers["etag"])
    assert len(set(tags)) == len(tags)
    assert (await client.get(address)).headers["etag"] == tags[-1]
    assert "The Shop" in words((await client.get(document_path(KIND, other.document_token))).content)
