"""The demo shops: complete in every language, safe to serve, and holding every special case."""

import io
import re
import shutil
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from coffret.demo.content import (
    FOLDER,
    PARTNERS,
    DemoDelivery,
    DemoPartner,
    DemoPicture,
    DemoProduct,
    load_content,
    load_partner,
)
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from store.core.brand_colours import MIN_CONTRAST, contrast

CONTENT = load_content()
SHOPS = pytest.mark.parametrize("partner", CONTENT.partners, ids=lambda partner: partner.key)
PRODUCTS = {f"{partner.key}/{product.key}": product for partner in CONTENT.partners for product in partner.products}
PICTURES = {name: product.picture for name, product in PRODUCTS.items()}
MARKS = {f"{p.key}/{mark.name}": mark for p in CONTENT.partners for mark in (p.logo, p.symbol)}
WORDS = {
    "en": "the of and with by in for from a an it on per at to is",
    "fr": "le la les des de du et au aux une un en avec dans par sur est à sous pour",
    "es": "el la los las del de y con en por un una es sobre durante al muy para",
    "it": "il la lo gli dei di a e con alla della dal da in per un una è sul entro",
    "de": "der die das und mit von in für ein eine dem den einer am zu aus ist bei im",
    "nl": "de het een en van met voor in op uit is bij door per naar die zes",
    "ca": "el la els les del de i amb dels al per un una és sense a durant als",
    "pt": "o a os as do da dos de e com em na no um uma por sem à ao para",
}
"""Small words by which a reader tells one language from another; one that n languages have counts 1/n."""


def score(text: str, language: str) -> Fraction:
    """How much a text looks like a language."""
    words = re.findall(r"\w+", text.lower())
    shared = {word: sum(word in small.split() for small in WORDS.values()) for word in WORDS[language].split()}
    return sum((Fraction(1, shared[word]) for word in words if word in shared), Fraction())


def prose() -> Iterator[tuple[str, dict[str, str]]]:
    """Every text of a sentence or more, and where it stands."""
    for partner in CONTENT.partners:
        yield f"{partner.key}/tagline", partner.tagline
        for product in partner.products:
            yield f"{partner.key}/{product.key}", product.description
        for mode in partner.delivery:
            yield f"{partner.key}/{mode.kind}", mode.description
            if mode.opening_hours:
                yield f"{partner.key}/{mode.kind}/hours", mode.opening_hours


def passages() -> Iterator[tuple[str, dict[str, str]]]:
    """Texts long enough to tell their language by: a product's, or all that a partner says of itself."""
    for partner in CONTENT.partners:
        for product in partner.products:
            name, description = product.name, product.description
            yield f"{partner.key}/{product.key}", {lang: f"{name[lang]} {description[lang]}" for lang in LANGUAGES}
        said = [partner.tagline, *(mode.details for mode in partner.delivery)]
        yield partner.key, {lang: " ".join(texts[lang] for texts in said) for lang in LANGUAGES}


def labels() -> Iterator[tuple[str, dict[str, str]]]:
    """Every other text."""
    for partner in CONTENT.partners:
        for mode in partner.delivery:
            yield f"{partner.key}/{mode.kind}", mode.name
        for product in partner.products:
            where = f"{partner.key}/{product.key}"
            yield where, product.name
            yield from ((f"{where}/{variant.key}", variant.name) for variant in product.variants)
            for attribute in product.attributes:
                yield f"{where}/{attribute.key}", attribute.name
                yield from ((f"{where}/{attribute.key}/{v.value}", v.label) for v in attribute.values)


def home(partner: DemoPartner) -> DemoDelivery:
    return next(mode for mode in partner.delivery if mode.kind is DeliveryKind.HOME_DELIVERY)


def having(partner: DemoPartner, test: Callable[[DemoProduct], object]) -> list[str]:
    return [product.key for product in partner.products if test(product)]


# ---- texts


@pytest.mark.parametrize(("where", "texts"), [*prose(), *labels()])
def test_texts_are_complete_and_well_set(where: str, texts: dict[str, str]) -> None:
    assert tuple(texts) == LANGUAGES
    for language, text in texts.items():
        assert text.strip() == text != "", f"{where} {language}"
        assert not re.search(r"""['"]|\.\.\.|  | [.,;:!?]|\d (g|cl|l|°C|h)\b""", text), f"{where} {language}: {text}"
        assert language != "fr" or not re.search(r"(?<!\u00a0)[:;!?]", text), f"{where}: {text}"


@pytest.mark.parametrize(("where", "texts"), list(prose()))
def test_prose_is_translated_sentences(where: str, texts: dict[str, str]) -> None:
    assert len(set(texts.values())) == len(LANGUAGES), f"{where} says the same in two languages"
    for language, text in texts.items():
        assert re.fullmatch(r"\w.*\.", text), f"{where} {language}"
        assert not text[0].islower(), f"{where} {language}"


@pytest.mark.parametrize(("where", "texts"), list(passages()))
def test_texts_stand_under_their_own_language(where: str, texts: dict[str, str]) -> None:
    for language, text in texts.items():
        scores = {other: score(text, other) for other in LANGUAGES}
        assert scores[language] == max(scores.values()), f"{where} {language}: {text}"


@pytest.mark.parametrize("name", PRODUCTS)
def test_product_names_are_translated(name: str) -> None:
    texts = PRODUCTS[name].name
    assert [language for language in LANGUAGES[1:] if texts[language] == texts["en"]] == []


# ---- what is sold


def test_the_shops_hold_enough() -> None:
    assert tuple(partner.key for partner in CONTENT.partners) == PARTNERS
    first, second = CONTENT.partners
    assert len(first.products) >= 9
    assert len(second.products) >= 4


@SHOPS
def test_every_special_case_of_a_product_is_there(partner: DemoPartner) -> None:
    assert having(partner, lambda p: p.is_active and p.stock == 0), "none out of stock"
    assert having(partner, lambda p: not p.is_active), "none inactive"
    assert having(partner, lambda p: p.is_active and p.stock in {1, 2, 3}), "none with little stock"
    assert having(partner, lambda p: p.is_active and not p.is_physical and p.stock is None), "none digital, uncounted"
    assert having(partner, lambda p: p.is_active and p.attributes), "none with attributes"
    assert having(partner, lambda p: p.is_active and len(p.variants) > 1), "none with variants"
    assert len({p.vat_rate for p in partner.products}) >= 3


def test_special_cases_of_variants_and_attributes_are_there() -> None:
    variants = [variant for product in PRODUCTS.values() if product.is_active for variant in product.variants]
    assert any(not variant.is_active for variant in variants)
    assert any(variant.stock == 0 for variant in variants)
    assert {a.is_required for product in PRODUCTS.values() for a in product.attributes} == {True, False}
    assert any(len(product.attributes) > 1 for product in PRODUCTS.values())


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_agrees_with_itself(name: str) -> None:
    product = PRODUCTS[name]
    for amount in (product.price, *(variant.price for variant in product.variants)):
        assert isinstance(amount, Decimal)
        assert amount > 0
        assert amount.as_tuple().exponent == -2
    assert product.vat_rate in {Decimal("20.00"), Decimal("10.00"), Decimal("5.50")}
    if product.variants:
        assert product.price == min(variant.price for variant in product.variants if variant.is_active)
        assert product.stock is None, "its variants are counted"
        assert {variant.weight_grams > 0 for variant in product.variants} == {product.is_physical}
    assert len({variant.key for variant in product.variants}) == len(product.variants)
    assert all(len({v.value for v in a.values}) == len(a.values) for a in product.attributes)


@SHOPS
def test_products_stand_in_the_order_of_their_ranking(partner: DemoPartner) -> None:
    assert [product.ranking for product in partner.products] == list(range(1, len(partner.products) + 1))


# ---- delivery and codes


@SHOPS
def test_delivery_goes_all_three_ways(partner: DemoPartner) -> None:
    assert {mode.kind for mode in partner.delivery} == set(DeliveryKind)
    collected = next(mode for mode in partner.delivery if mode.kind is DeliveryKind.CLICK_AND_COLLECT)
    assert collected.address == partner.address
    for language in LANGUAGES:
        assert collected.opening_hours is not None
        assert collected.opening_hours[language] in collected.details[language]
        assert partner.address.city in collected.details[language]


@SHOPS
def test_home_delivery_costs_by_country_and_weight(partner: DemoPartner) -> None:
    mode = home(partner)
    assert mode.free_above is not None
    assert {"FR", "MC", "BE", "LU", "DE", "ES", "IT", "NL", "CH"} <= {rate.country for rate in mode.rates}
    bands = [(rate.country, rate.max_weight_grams) for rate in mode.rates]
    assert len(set(bands)) == len(bands)
    for zone in mode.zones:
        assert [b.max_weight_grams for b in zone.bands] == sorted({b.max_weight_grams for b in zone.bands})
        assert [b.price for b in zone.bands] == sorted({b.price for b in zone.bands}), "heavier costs more"


def test_everything_physical_can_be_sent_to_france_and_somewhere_is_not_sent_to() -> None:
    for partner in CONTENT.partners:
        heaviest = max(rate.max_weight_grams for rate in home(partner).rates if rate.country == "FR")
        assert all(variant.weight_grams <= heaviest for product in partner.products for variant in product.variants)
    sent = [{rate.country for rate in home(partner).rates} for partner in CONTENT.partners]
    assert sent[0] - sent[1], "both partners deliver to the same countries"


@SHOPS
def test_coupons_of_each_kind_are_there(partner: DemoPartner) -> None:
    live = [
        c
        for c in partner.coupons
        if c.starts_in_days <= 0
        and (c.ends_in_days is None or c.ends_in_days > 0)
        and (c.max_usages is None or c.usage_count < c.max_usages)
    ]
    assert all((coupon.percentage is None) is not (coupon.amount is None) for coupon in partner.coupons)
    assert {coupon.amount is None for coupon in live} == {True, False}
    assert any(coupon.minimum is not None and coupon.minimum > (coupon.amount or 0) for coupon in live)
    assert any(coupon.ends_in_days is not None and coupon.ends_in_days < 0 for coupon in partner.coupons)
    codes = [coupon.code for shop in CONTENT.partners for coupon in shop.coupons]
    assert len(set(codes)) == len(codes)


def test_the_first_shop_has_the_coupons_and_gift_cards_that_a_walk_needs() -> None:
    first = CONTENT.partners[0]
    assert {"WELCOME10", "SPRING15"} <= {coupon.code for coupon in first.coupons}
    assert any(coupon.max_usages == coupon.usage_count for coupon in first.coupons), "none used up"
    assert {Decimal("5.00"), Decimal("50.00"), Decimal("150.00")} <= {
        card.value for card in first.gift_cards if card.expires_in_days > 0
    }


@SHOPS
def test_gift_cards_live_and_expired_are_there(partner: DemoPartner) -> None:
    assert {card.expires_in_days > 0 for card in partner.gift_cards} == {True, False}
    assert all(card.gifter_first_name and card.gifter_last_name for card in partner.gift_cards)


# ---- how it looks


@SHOPS
def test_a_partner_can_be_read_and_reaches_nobody(partner: DemoPartner) -> None:
    assert contrast(partner.accent_colour, "#ffffff") >= MIN_CONTRAST
    assert partner.email.endswith(".example")
    assert partner.phone.startswith("+33 4 65 71"), "the block set aside for fiction"


def test_partners_do_not_look_alike() -> None:
    assert len({partner.accent_colour for partner in CONTENT.partners}) == len(PARTNERS)
    contents = [picture.content for picture in (*PICTURES.values(), *MARKS.values())]
    assert len(set(contents)) == len(contents)


SHAPES = {"svg", "defs", "g", "use", "path", "rect", "circle", "ellipse", "clipPath"}
PAINT = {"linearGradient", "radialGradient", "stop"}


def elements(picture: DemoPicture) -> list[ET.Element]:
    return list(ET.fromstring(picture.content).iter())  # noqa: S314  our own file


@pytest.mark.parametrize(("name", "picture"), MARKS.items())
def test_a_logo_is_plain_shapes_and_reaches_outside_for_nothing(name: str, picture: DemoPicture) -> None:
    parts = elements(picture)
    assert {part.tag.removeprefix("{http://www.w3.org/2000/svg}") for part in parts} <= SHAPES | PAINT, name
    assert not any((part.text or "").strip() for part in parts), "text depends on the fonts of the reader"
    attributes = [(key, value) for part in parts for key, value in part.attrib.items()]
    assert not [key for key, _ in attributes if key == "style" or key.startswith("on")]
    ids = [value for key, value in attributes if key == "id"]
    assert len(set(ids)) == len(ids)
    used = [value[1:] for key, value in attributes if key.endswith("href") and value.startswith("#")]
    assert len(used) == len([key for key, _ in attributes if key.endswith("href")]), "a link out of the file"
    painted = [re.fullmatch(r"url\(#(\w+)\)", value) for _, value in attributes if "url(" in value]
    assert all(painted)
    assert {*used, *(match[1] for match in painted if match)} == set(ids), "a missing or an unused part"


@pytest.mark.parametrize(("name", "picture"), PICTURES.items())
def test_a_product_picture_is_four_to_three_and_light(name: str, picture: DemoPicture) -> None:
    with Image.open(io.BytesIO(picture.content)) as drawn:
        assert (drawn.format, drawn.mode, drawn.size) == ("WEBP", "RGB", (640, 480)), name
        assert not {"exif", "icc_profile", "xmp"} & set(drawn.info), "nothing but pixels"
    assert 3_000 <= len(picture.content) <= 25_000, name


@pytest.mark.parametrize(("name", "mark"), MARKS.items())
def test_logos_are_light_and_symbols_square(name: str, mark: DemoPicture) -> None:
    _, _, width, height = map(float, elements(mark)[0].attrib["viewBox"].split())
    assert width == height if mark.name == "symbol.svg" else width > 3 * height, name
    assert len(mark.content) <= 4_000, name


def test_no_picture_is_left_over() -> None:
    files = {f"{path.parts[-3]}/{path.stem}" for path in FOLDER.glob("*/pictures/*")}
    assert files == set(PICTURES)


# ---- mistakes are named


def broken(folder: Path, file: str, old: str, new: str) -> Path:
    """A copy of the first partner with one thing wrong in one file."""
    copy = folder / PARTNERS[0]
    shutil.copytree(FOLDER / PARTNERS[0], copy)
    before = (copy / file).read_text(encoding="utf-8")
    assert old in before
    (copy / file).write_text(before.replace(old, new, 1), encoding="utf-8")
    return copy


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("products/honey.toml", 'pt = "', '# pt = "', "exactly the languages"),
        ("products/honey.toml", 'de = "Lavendelhonig"', 'de = " "', "is empty in de"),
        ("products/honey.toml", 'price = "9.50"', "price = 9.5", "in quotes"),
        ("products/honey.toml", 'price = "9.50"', 'price = "9.505"', "decimal places"),
        ("products/honey.toml", 'price = "9.50"', 'price = "-9.50"', "greater than or equal to 0"),
        ("products/honey.toml", "stock = 30", "stock = -1", "greater than or equal to 0"),
        ("products/honey.toml", "ranking", "rank", "Unexpected keyword argument"),
        ("products/honey.toml", "ranking =", "ranking", "Expected '='"),
        ("products/gift-box.toml", '["ribbon"]', '["bow"]', "attributes.toml has no bow"),
        ("delivery.toml", '"click_and_collect"', '"pigeon"', "'home_delivery'"),
        ("delivery.toml", '"MC"', '"Monaco"', "pattern"),
        ("codes.toml", "[[gift_cards]]", "[[cards]]", "cards"),
        ("codes.toml", 'percentage = "10.00"', 'percentage = "110.00"', "less than or equal to 100"),
        ("attributes.toml", 'key = "size"', 'key = "Size of it"', "pattern"),
        ("partner.toml", '"#6a4c9c"', '"purple"', "pattern"),
    ],
)
def test_a_mistake_is_refused_with_its_file(tmp_path: Path, file: str, old: str, new: str, message: str) -> None:
    folder = broken(tmp_path, file, old, new)
    with pytest.raises(ValueError, match=re.escape(message)) as refusal:
        load_partner(folder)
    assert str(folder / file) in str(refusal.value)


@pytest.mark.parametrize("file", ["pictures/honey.webp", "logo.svg", "codes.toml"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    folder = tmp_path / PARTNERS[0]
    shutil.copytree(FOLDER / PARTNERS[0], folder)
    (folder / file).unlink()
    with pytest.raises(ValueError, match=re.escape(file)):
        load_partner(folder)
