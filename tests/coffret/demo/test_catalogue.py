"""What the demo partners sell as vouchers: complete in all languages, true to itself, and laid as it says."""

import io
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image
from sqlmodel import col, select

from coffret.demo.catalogue_content import DemoCatalogue, load_catalogue, load_taxonomy
from coffret.demo.catalogue_rows import insert_catalogue, insert_taxonomy
from coffret.demo.content import PARTNERS, load_content
from coffret.demo.rows import insert_shop
from schema.catalogue.prototype import VoucherPrototypeType
from schema.media import LONGEST_SIDES, MediaSize
from schema.validation.html import clean_html
from schema.validation.languages import LANGUAGES
from schema.voucher.voucher import VoucherState
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.prices import Party, PrototypeRates, party_problems
from store.core.clock import clock
from store.core.files import FileStore
from store.database.db import Database
from store.media.media import MediaRow, media_key_of
from store.partner.partners import MarketplaceRow
from store.voucher.vouchers import VoucherRow

CATALOGUES = {partner: load_catalogue(partner) for partner in PARTNERS}
SORTINGS = load_taxonomy()
BY_PARTNER = pytest.mark.parametrize("catalogue", CATALOGUES.values(), ids=CATALOGUES)
MOST_BYTES = 60_000


def texts() -> Iterator[tuple[str, dict[str, str]]]:
    """Every text, with where it stands."""
    for sorting in (*SORTINGS.universes, *SORTINGS.environments):
        yield sorting.key, sorting.name
    yield from ((f"{each.minimum} on", each.name) for each in SORTINGS.price_ranges)
    for partner, catalogue in CATALOGUES.items():
        yield partner, catalogue.rent_conditions
        named: Any
        for named in (*catalogue.categories, *catalogue.options, *catalogue.prototypes):
            yield f"{partner}/{named.key}", named.name
            yield f"{partner}/{named.key}", named.description
        yield from ((f"{partner}/{each.key}", each.long_description) for each in catalogue.prototypes)


@pytest.mark.parametrize(("where", "said"), list(texts()))
def test_texts_are_well_set(where: str, said: dict[str, str]) -> None:
    for language, text in said.items():
        assert text.strip() == text != "", f"{where} {language}"
        assert not re.search(r"""['"]|\.\.\.|  | [.,;:!?]""", text), f"{where} {language}: {text}"
        assert language != "fr" or not re.search(r"(?<!\u00a0)[:;!?]", text), f"{where}: {text}"


@BY_PARTNER
def test_html_is_clean_and_sentences_are_translated(catalogue: DemoCatalogue) -> None:
    for html in catalogue.how_to_book_html.values():
        assert clean_html(html).replace(' rel="nofollow noopener noreferrer"', "") == html
    for each in catalogue.prototypes:
        for said in (each.name, each.description, each.long_description):
            assert len(set(said.values())) == len(LANGUAGES), f"{each.key} says the same in two languages"
        assert all(len(said) <= 300 for said in each.description.values())


@BY_PARTNER
def test_what_is_named_is_there_and_every_kind_is_shown(catalogue: DemoCatalogue) -> None:
    media, options = {each.key for each in catalogue.media}, {each.key for each in catalogue.options}
    used = {key for each in catalogue.prototypes for key in each.images}
    assert used == media
    assert {link.key for each in catalogue.prototypes for link in each.options} <= options
    assert {each.category for each in catalogue.options} - {None} == {each.key for each in catalogue.categories}
    assert {each.universe for each in catalogue.prototypes} <= {each.key for each in SORTINGS.universes}
    assert {each.environment for each in catalogue.prototypes} <= {each.key for each in SORTINGS.environments}
    assert any(link.included for each in catalogue.prototypes for link in each.options)
    assert any(option.is_global for option in catalogue.options)


def test_every_type_and_every_rule_of_categories_is_shown() -> None:
    prototypes = [each for catalogue in CATALOGUES.values() for each in catalogue.prototypes]
    categories = [each for catalogue in CATALOGUES.values() for each in catalogue.categories]
    assert {each.type for each in prototypes} == set(VoucherPrototypeType)
    assert any(each.min_options for each in categories)
    assert any(each.max_options for each in categories)
    assert {each.state for catalogue in CATALOGUES.values() for each in catalogue.vouchers} == {*VoucherState} - {
        VoucherState.ERROR
    }


@BY_PARTNER
def test_pictures_are_light_and_as_large_as_uploads_become(catalogue: DemoCatalogue) -> None:
    for media in catalogue.media:
        for size, content in media.files.items():
            with Image.open(io.BytesIO(content)) as image:
                assert image.format == "WEBP"
                assert max(image.size) == min(LONGEST_SIDES[size], 1600)
            assert len(content) < MOST_BYTES, f"{media.key}/{size}"


async def test_rows_say_what_the_content_says(database: Database, tmp_path: pathlib.Path) -> None:
    files, content = FileStore.in_folder(tmp_path), load_content().partners[0]
    catalogue, now = CATALOGUES[content.key], clock.now()
    async with database.sessions() as db, db.begin():
        marketplace = MarketplaceRow(name="Demo")
        db.add(marketplace)
        await db.flush()
        sortings = await insert_taxonomy(db, marketplace, SORTINGS)
        partner = await insert_shop(db, marketplace, "demo.localhost", content, now)
        await insert_catalogue(db, files, partner, sortings, catalogue, now)
    async with database.sessions() as db:
        rows = (await db.exec(select(VoucherPrototypeRow).order_by(col(VoucherPrototypeRow.ranking)))).all()
        vouchers = (await db.exec(select(VoucherRow).order_by(col(VoucherRow.id)))).all()
        media = (await db.exec(select(MediaRow))).all()
    assert [row.name.en for row in rows] == [each.name["en"] for each in catalogue.prototypes]
    assert [row.state for row in vouchers] == [each.state for each in catalogue.vouchers]
    sold = {each.prototype for each in catalogue.vouchers if each.state is not VoucherState.DRAFT}
    assert [row.nb_orders for row in rows] == [each.key in sold for each in catalogue.prototypes]
    for voucher in vouchers:
        (row,) = [row for row in rows if row.id == voucher.voucher_prototype_id]
        party = Party(voucher.nb_adults, voucher.nb_children, nights=voucher.nb_nights)
        assert party_problems(row, PrototypeRates.from_row(row), party) == []
        works = voucher.state in {VoucherState.PAID, VoucherState.USING}
        assert voucher.expires_on is None or (voucher.expires_on > now) is (voucher.state is not VoucherState.EXPIRED)
        assert voucher.activated_on is not None or not works
    for each in media:
        kept: Any = await files.get(media_key_of(each.uuid, MediaSize.CARD))
        assert kept is not None
        assert (each.width, each.height) == (1600, 1200)
