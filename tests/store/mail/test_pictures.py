"""The pictures that are enclosed in a message, and what it tells of the document of a present."""

import email
import io
from email import policy
from email.message import EmailMessage

import pytest
from PIL import Image

from schema.core.text import Text
from schema.mail import MailKind
from store.mail.gift_details import GiftDetails
from store.mail.message import build_message
from store.mail.picture_files import MAX_COVER_BYTES, UNREADABLE, picture_file
from store.mail.pictures import EnclosedPicture, MailPictures, PictureUse
from store.mail.render import MailLinks, render_mail
from tests.store.mail.examples import PUBLIC_URL, SHOP, gift
from tests.store.mail.test_message import ENVELOPE

SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" width="40" height="20">'
    b'<rect width="10" height="20" fill="#111"/><rect x="10" width="10" height="20" fill="#b03010"/></svg>'
)


def drawn(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content)).convert("RGBA")


def test_a_drawn_logo_becomes_a_transparent_png_of_twice_its_shown_height() -> None:
    content, subtype = picture_file(PictureUse.LOGO, SVG)
    logo = drawn(content)
    assert (subtype, logo.size) == ("png", (176, 88))
    assert [logo.getpixel((x, 44)) for x in (20, 150)] == [(17, 17, 17, 255), (0, 0, 0, 0)]


def test_on_dark_its_black_is_light_and_its_dark_colour_is_brighter() -> None:
    logo = drawn(picture_file(PictureUse.DARK_LOGO, SVG)[0])
    assert logo.getpixel((20, 44)) == (238, 238, 238, 255)
    assert logo.getpixel((66, 44)) == (211, 141, 123, 255)


def test_a_logo_with_a_ground_of_its_own_is_one_on_dark_too() -> None:
    written = io.BytesIO()
    Image.new("RGB", (100, 50), "#111").save(written, "JPEG")
    uses = (PictureUse.LOGO, PictureUse.DARK_LOGO)
    assert len({picture_file(use, written.getvalue()) for use in uses}) == 1


def test_a_tile_with_round_corners_has_a_ground_too() -> None:
    tile = Image.new("RGBA", (100, 50), (255, 255, 255, 255))
    for corner in ((0, 0), (99, 0), (0, 49), (99, 49)):
        tile.putpixel(corner, (0, 0, 0, 0))
    written = io.BytesIO()
    tile.save(written, "PNG")
    uses = (PictureUse.LOGO, PictureUse.DARK_LOGO)
    assert len({picture_file(use, written.getvalue()) for use in uses}) == 1, "black letters stay black on it"


def test_photographs_are_small_jpegs() -> None:
    written = io.BytesIO()
    Image.effect_noise((1900, 600), 90).convert("RGB").save(written, "WEBP")
    cover, subtype = picture_file(PictureUse.COVER, written.getvalue())
    assert (subtype, drawn(cover).size) == ("jpeg", (1040, 520)), "what is wider than two to one is cut"
    small, _ = picture_file(PictureUse.THUMBNAIL, written.getvalue())
    assert drawn(small).size == (128, 128)
    photograph = io.BytesIO()
    Image.linear_gradient("L").resize((1600, 1000)).save(photograph, "PNG")
    assert len(picture_file(PictureUse.COVER, photograph.getvalue())[0]) <= MAX_COVER_BYTES


@pytest.mark.parametrize("content", [b"", b"no picture", b"<svg <", SVG[:60]])
@pytest.mark.parametrize("use", PictureUse)
def test_what_is_no_picture_is_told_as_such(use: PictureUse, content: bytes) -> None:
    with pytest.raises(UNREADABLE):
        picture_file(use, content)


def test_pictures_are_beside_the_html_that_names_them() -> None:
    logo = EnclosedPicture("logo@coffret", picture_file(PictureUse.LOGO, SVG)[0], "png")
    dark = EnclosedPicture("dark@coffret", picture_file(PictureUse.DARK_LOGO, SVG)[0], "png")
    pictures = MailPictures({SHOP.logo_url: logo}, dark)
    rendered = render_mail(MailKind.VOUCHER, gift(), "en", SHOP, PUBLIC_URL, MailLinks(), pictures)
    sent = build_message(ENVELOPE, rendered, (), pictures.enclosed())
    read = email.message_from_bytes(sent.data, _class=EmailMessage, policy=policy.default)
    found = {part["Content-ID"]: part.get_payload(decode=True) for part in read.walk() if part["Content-ID"]}
    assert found == {"<logo@coffret>": logo.content, "<dark@coffret>": dark.content}
    html = read.get_body(("html",))
    assert html is not None
    for id in ("logo@coffret", "dark@coffret"):
        assert f'src="cid:{id}"' in html.get_content()
    assert not list(read.iter_attachments()), "they are no files to save"


def test_a_present_tells_its_code_and_its_conditions_in_both_parts() -> None:
    details = GiftDetails(
        "VALS-7K3P-22XQ", "For 2 adults", ["A glass of wine"], [("Conditions", "On weekdays")], ["Annecy"]
    )
    links = MailLinks(
        details={item.id: details for item in gift().items}, has_calendar=True, balance="https://b.example/"
    )
    told = render_mail(MailKind.VOUCHER, gift(), "en", SHOP, PUBLIC_URL, links)
    for text in (told.html, told.text):
        for words in (
            "VALS-7K3P-22XQ",
            "For 2 adults",
            "A glass of wine",
            "On weekdays",
            "Annecy",
            "https://b.example/",
        ):
            assert words in text, words
        assert "The calendar file reminds you of its last day." in text
        assert text.count("On weekdays") == 1, "once for all that have it"
    bare = render_mail(MailKind.VOUCHER, gift(), "en", SHOP, PUBLIC_URL)
    assert "Code" not in bare.html.replace("code", "") + bare.text


def test_a_gift_card_tells_the_name_of_its_design_once() -> None:
    (card,) = gift(value="150.00").items
    designed = card.model_copy(update={"name": Text(en="Up among the balloons")})
    details = GiftDetails("VALS-7K3P-22XQ", "Up among the balloons", [], [], [])
    links = MailLinks(details={card.id: details})
    told = render_mail(MailKind.GIFT_CARD, gift(items=(designed,)), "en", SHOP, PUBLIC_URL, links)
    for text in (told.html, told.text):
        assert text.count("Up among the balloons") == 1


def test_a_voucher_tells_its_facts_whatever_its_name_says() -> None:
    (voucher,) = gift().items
    for name in ("Stay of 11 nights", "1 night"):
        stay = voucher.model_copy(update={"name": Text(en=name)})
        links = MailLinks(details={voucher.id: GiftDetails("VALS-7K3P-22XQ", "1 night", [], [], [])})
        told = render_mail(MailKind.VOUCHER, gift(items=(stay,)), "en", SHOP, PUBLIC_URL, links)
        assert '2px 0 0;">1 night</p>' in told.html
        assert "1 night" in told.text.split("\n")
