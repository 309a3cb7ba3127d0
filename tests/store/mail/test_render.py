"""What messages say: in eight languages, whole, with the shop's look, whatever names people have."""

import dataclasses
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Message

from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.legal.legal_document import LegalDocumentKind
from schema.mail import MailKind
from schema.validation.languages import LANGUAGES
from store.core.localization.legal_texts import LEGAL_NAMES
from store.core.localization.sale_texts import SHOP_KIND_NAMES
from store.mail.content import CONTENTS as CLASSES
from store.mail.content import GiftRole, content_of
from store.mail.link_content import EndpointContent
from store.mail.render import TEXTS
from store.mail.subjects import SUBJECTS, TEST_MAIL
from tests.catalogues import texts_in
from tests.store.mail.examples import (
    CONTENTS,
    KINDS,
    PRIVACY_URL,
    PUBLIC_URL,
    SHOP,
    TERMS_PATH,
    USED,
    USED_FOR_NETWORK,
    VOUCHER_USED,
    VOUCHER_USED_FOR_NETWORK,
    delivery,
    everywhere,
    example,
    gift,
    order,
)
from tests.store.mail.page_reader import PageReader

ROOT = Path(__file__).parents[3]
TRANSLATED = [language for language in LANGUAGES if language != "en"]
PLACEHOLDER = re.compile(r"%\(\w+\)s")
SAME = {"Total", "Date", "Data", "Code", "Coupon %(code)s"}
"""Words that are the same in English and somewhere else."""


# ---- the catalogues ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_every_text_and_no_other(language: str) -> None:
    source = texts_in("store/mail")
    messages = [message for message in TEXTS.catalogue(language) if message.id]
    assert len(source) > 45
    assert {str(message.id) for message in messages} == source
    assert [m.id for m in messages if m.fuzzy or not m.string] == []
    assert not TEXTS.catalogue(language).obsolete


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_keeps_its_gaps_and_is_one(language: str) -> None:
    for message in filter(_has_text, TEXTS.catalogue(language)):
        text = str(message.string)
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(str(message.id))), text
        assert "%" not in PLACEHOLDER.sub("", text), text
        assert text != message.id or str(message.id) in SAME, text
        assert text[-1:] in ".:?" or str(message.id)[-1:] not in ".:?", text


def _has_text(message: Message) -> bool:
    return bool(message.id)


# ---- every message -----------------------------------------------------------------------------------------------------


def test_every_kind_has_its_content_subject_and_example() -> None:
    assert set(CLASSES) == set(CONTENTS) == set(MailKind) == set(SUBJECTS) - {TEST_MAIL}


@pytest.mark.parametrize("kind", MailKind)
def test_what_a_message_tells_survives_being_kept(kind: MailKind) -> None:
    content = CONTENTS[kind]
    assert content_of(kind, content.model_dump(mode="json", exclude_none=True)) == content


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_message_says_the_same_in_both_parts(kind: str, language: str) -> None:
    message = example(kind, language)
    html = PageReader(message.html)
    assert f'<html lang="{language}">' in message.html
    assert message.subject
    assert "\n" not in message.subject
    title = html.tags.count("h1")
    assert title == 1
    for line in message.text.splitlines():
        words = (
            re.sub(
                r"https://\S+/(documents|network|orders|parcels|legal|privacy|account|forgot-password)/\S*", "", line
            )
            .strip()
            .lstrip("123. ")
        )  # behind a button in HTML
        if line.strip() not in {"", "--"} and "×" not in line and "·" not in line:
            for word in re.findall(r"[^\W\d_]{4,}", words):
                assert word in html.text, (word, line)
    assert "%(" not in message.html + message.text + message.subject
    assert "None" not in html.text


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_in_english(kind: str, language: str) -> None:
    message = example(kind, language)
    said = f"{message.subject}\n{PageReader(message.html).text}\n{message.text}"
    pieces = [piece.strip(" .:") for text in texts_in("store/mail") - SAME for piece in PLACEHOLDER.split(str(text))]
    assert len(pieces) > 60
    assert [piece for piece in pieces if len(piece) > 8 and piece in said] == []


@pytest.mark.parametrize("kind", DeliveryKind)
def test_each_delivery_has_its_words(kind: DeliveryKind) -> None:
    buyer = PageReader(example(MailKind.ORDER_CONFIRMATION, content=order(kind)).html).text
    shop = PageReader(example(MailKind.NEW_ORDER, content=order(kind)).html).text
    told = {
        DeliveryKind.DIGITAL: ("Everything goes to ada@example.com.", "To be sent to ada@example.com."),
        DeliveryKind.CLICK_AND_COLLECT: ("Please bring your order number", "The buyer collects it from you."),
        DeliveryKind.HOME_DELIVERY: ("It goes to this address:", "To be sent to this address:"),
    }
    for words, own in zip((buyer, shop), told[kind], strict=True):
        assert own in words
        assert ("1 rue des Lilas" in words) is ("France" in words) is (kind is DeliveryKind.HOME_DELIVERY)


def test_the_partner_reads_which_company_has_bought() -> None:
    for content, is_told in ((order(), True), (order(billing=None), False)):
        made = example(MailKind.NEW_ORDER, content=content)
        for words in (made.text, PageReader(made.html).text):
            for part in ("Invoice to", "Analytical Engines", "1000 Bruxelles", "Belgium", "VAT number BE0403019261"):
                assert (part in words) is is_told
    before = order().model_dump(mode="json", exclude={"billing"})
    assert "Invoice to" not in example(MailKind.NEW_ORDER, content=content_of(MailKind.NEW_ORDER, before)).text


@pytest.mark.parametrize("kind", [MailKind.ORDER_CONFIRMATION, MailKind.NEW_ORDER])
def test_what_goes_to_its_giftees_is_not_said_to_go_to_the_buyer(kind: MailKind) -> None:
    for way in (DeliveryKind.DIGITAL, DeliveryKind.HOME_DELIVERY):
        to_giftees = delivery(way).model_copy(update={"to_giftees": True, "address": (), "country": ""})
        made = example(kind, content=order(way, delivery=to_giftees))
        for words in (made.text, PageReader(made.html).text):
            assert "Delivery mode" in words
            for untrue in ("Everything goes to", "o be sent to", "It goes to this address"):
                assert untrue not in words


@pytest.mark.parametrize("kind", [MailKind.ORDER_CONFIRMATION, MailKind.NEW_ORDER])
def test_what_was_bought_is_called_what_it_is(kind: MailKind) -> None:
    for goods, named in SHOP_KIND_NAMES.items():
        for language in LANGUAGES:
            made = example(kind, language, content=order().model_copy(update={"kind": goods}))
            for words in (made.text, PageReader(made.html).text):
                assert named.in_language(language) in words
                others = {other.in_language(language) for other in SHOP_KIND_NAMES.values() if other != named}
                assert not [other for other in others if other in words]
    before = order().model_dump(mode="json", exclude={"kind"})
    assert "Products" in example(kind, content=content_of(kind, before)).text, "written before it was told"


def test_amounts_and_dates_are_written_as_the_language_does() -> None:
    german = example(MailKind.ORDER_CONFIRMATION, "de").text.replace("\xa0", " ")
    assert "Gesamtbetrag: 1.032,90 €" in german
    assert "24. August 2026" in german  # in Paris it was past midnight
    assert "Rabattcode WELCOME10: \N{MINUS SIGN}114,00 €" in german
    assert "Enthaltene MwSt. 5,5 % auf 20,00 €: 1,10 €" in german
    french = example(MailKind.ORDER_CONFIRMATION, "fr").text
    assert "Numéro de commande\xa0: 1042" in french


def test_what_an_order_does_not_have_is_not_told() -> None:
    changes: dict[str, Any] = {
        "coupons": (),
        "gift_cards": (),
        "card_amount": Decimal("1032.90"),
        "message": "",
        "vat": (),
        "billing": None,
    }
    text = example(MailKind.ORDER_CONFIRMATION, content=order(**changes)).text
    for words in ("Coupon", "Gift card", "Paid online", "Your message", "VAT", "Invoice to"):
        assert words not in text
    free = example(MailKind.ORDER_CONFIRMATION, content=order(delivery_amount=Decimal("0.00"))).text
    assert "Delivery: Free" in free


def test_the_end_of_a_gift_card_is_all_that_is_told_of_it() -> None:
    assert "Gift card ending in 7K3P" in example(MailKind.ORDER_CONFIRMATION).text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_legal_texts_are_linked_to_in_every_message_to_a_buyer(language: str) -> None:
    for kind in (MailKind.ORDER_CONFIRMATION, MailKind.GIFT_CARD, MailKind.VOUCHER, MailKind.ORDER_REFUNDED):
        message = example(kind, language)
        for address in (f"{PUBLIC_URL}{TERMS_PATH}", PRIVACY_URL):
            assert address in PageReader(message.html).links
            assert address in message.text
        for name in (LEGAL_NAMES[LegalDocumentKind.TERMS], LEGAL_NAMES[LegalDocumentKind.PRIVACY]):
            assert name.in_language(language) in PageReader(message.html).text
    without = example(MailKind.ORDER_CONFIRMATION, language, brand=dataclasses.replace(SHOP, legal=()))
    assert "/legal/" not in without.html + without.text


def test_an_endpoint_that_is_gone_is_told_so() -> None:
    failing = EndpointContent(url="https://shop.example/hooks", endpoint_id=12, days=3)
    gone = failing.model_copy(update={"days": 0})
    for content, words in ((failing, "failed for 3 days"), (gone, "gone (410)")):
        message = example(MailKind.ENDPOINT_DISABLED, content=content)
        assert words in message.text
        assert PageReader(message.html).text.count(words) == 2  # once before the message is opened
    assert "0 days" not in example(MailKind.ENDPOINT_DISABLED, content=gone).text


@pytest.mark.parametrize("kind", [MailKind.VOUCHER, MailKind.GIFT_CARD, MailKind.NETWORK_GIFT_CARD])
def test_each_way_to_receive_it_has_its_words(kind: MailKind) -> None:
    value = None if kind is MailKind.VOUCHER else "150.00"
    subjects = set()
    for role in GiftRole:
        for language in LANGUAGES:
            message = example(kind, language, gift(role, value=value))
            assert PageReader(message.html).text.count(message.subject) == 1  # its title
            assert message.text.startswith(message.subject)
            assert ("Bonne fête !" in message.text) is (role is GiftRole.FOR_GIFTEE), "a buyer knows the message"
            subjects.add(message.subject)
        given = example(kind, "en", gift(role, value=value, first_name=""))
        assert "Hello" not in given.text + given.html
    assert len(subjects) == len(GiftRole) * len(LANGUAGES)
    several = example(kind, "en", gift(GiftRole.BOUGHT, value=value, count=3))
    assert several.subject.startswith(f"Your {kind.removeprefix('network_').replace('_', ' ')}s from")
    assert several.text.count("Open and print: ") == 3


def test_who_gives_what_to_whom_is_told_in_the_language_of_the_message() -> None:
    card = gift(value="150.00")
    for language, words in {
        "fr": ("Carte cadeau · 150,00 €", "Pour Claire Dubois · Offert par Ada Martin"),
        "de": ("Geschenkkarte · 150,00 €", "Für Claire Dubois · Von Ada Martin"),
    }.items():
        message = example(MailKind.GIFT_CARD, language, card)
        for text in (message.text, PageReader(message.html).text):
            assert all(each in " ".join(text.split()) for each in words)


def test_a_networks_gift_card_shows_its_design_and_where_it_is_accepted() -> None:
    kind, themed = (
        MailKind.NETWORK_GIFT_CARD,
        {"name": everywhere("Happy birthday"), "picture": "/media/abc/cover.webp"},
    )
    card = gift(value="150.00").items[0]
    plain, designed = (
        example(kind, "fr", gift(items=(item,), accent="#8a2846")) for item in (card, card.model_copy(update=themed))
    )
    for message in (plain, designed):
        for text in (message.text, PageReader(message.html).text):
            assert "Chez tous les partenaires de Maison Valserène qui l’acceptent." in text
            assert "https://valserene.example/" in text
    assert "Happy birthday (fr)" not in plain.html + plain.text
    for text in (designed.text, PageReader(designed.html).text):
        assert "Carte cadeau · 150,00 € · Happy birthday (fr)" in " ".join(text.split())
    assert ["img" in PageReader(message.html).tags for message in (plain, designed)] == [False, True]
    assert f"{PUBLIC_URL}/media/abc/cover.webp" in PageReader(designed.html).links
    assert "Where to use it" not in example(MailKind.GIFT_CARD).text, "a shop's own card is used in the shop"
    homeless = example(kind, brand=dataclasses.replace(SHOP, website="")).text
    assert "At all partners of Maison Valserène that accept it." in homeless


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_usage_is_told_to_its_network_and_to_who_has_the_card(language: str) -> None:
    kind = MailKind.NETWORK_GIFT_CARD_USED
    theirs, own = example(kind, language), example(kind, language, USED_FOR_NETWORK)
    assert theirs.subject != own.subject
    for message in (theirs, own):
        for text in (message.text, PageReader(message.html).text):
            for said in ("Auberge du Lac", "7K3P", "40", "110", "R-2041", "2026"):
                assert said in text, said
            assert ("Claire Dubois" in text) is ("Table 7 <b>" in text) is (message is own)
            assert (SHOP.phone in text) is (message is theirs), "the network does not write to itself"
        for text in (message.text, message.html):
            assert (f"{PUBLIC_URL}/network/token-7/" in text) is (message is theirs)
    anonymous = example(kind, "en", USED.model_copy(update={"first_name": "", "reservation_id": ""}))
    assert "Hello" not in anonymous.text + anonymous.html
    assert "Booking" not in anonymous.text + anonymous.html
    used_up = example(kind, "en", USED.model_copy(update={"remaining": Decimal("0.00")}))
    assert "Left on it: €0.00" in used_up.text
    assert "Valid" not in used_up.text + used_up.html
    unreachable = example(kind, "en", USED_FOR_NETWORK.model_copy(update={"partner_email": ""}))
    assert "Reply" not in unreachable.text + unreachable.html


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_usage_of_a_voucher_is_told_to_its_network_and_to_who_has_it(language: str) -> None:
    kind = MailKind.NETWORK_VOUCHER_USED
    theirs, own = example(kind, language), example(kind, language, VOUCHER_USED_FOR_NETWORK)
    assert theirs.subject != own.subject
    for message in (theirs, own):
        assert f"Spa day for two ({language})" in message.subject
        for text in (message.text, PageReader(message.html).text):
            for said in ("Auberge du Lac", "7K3P", f"A massage ({language})", "R-2041", "2026", "2027"):
                assert said in text, said
            assert ("Claire Dubois" in text) is ("Table 7 <b>" in text) is (message is own)
        for text in (message.text, message.html):
            assert (f"{PUBLIC_URL}/network/token-7/" in text) is (message is theirs)
    unknown = example(kind, "en", VOUCHER_USED.model_copy(update={"offer": Text()}))
    assert "Offer" not in unknown.text + unknown.html
    used_up = example(kind, "en", VOUCHER_USED.model_copy(update={"usages_left": 0}))
    assert "Usages left: 0" in used_up.text
    assert "Valid" not in used_up.text + used_up.html
    assert "Valid until" in example(kind).text


def test_a_present_of_nobody_is_one_too() -> None:
    item = gift().items[0].model_copy(update={"sender": "", "to": "", "expires_on": None})
    message = example(MailKind.VOUCHER, "en", gift(items=(item,)))
    assert message.subject == "A present for you from Maison Valserène"
    assert "Somebody has a present for you" in message.text
    assert "From " not in message.text
    assert "Valid" not in message.text
