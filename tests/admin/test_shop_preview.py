"""Previews: the pages of a shop before customers see them."""

import pytest

from resolvers.checkout.network_shop import preview_box
from resolvers.core.caller import Caller
from resolvers.core.context import Context
from schema.core.errors import NotFound
from schema.partner.partner import PartnerStatus
from store.core.brand_colours import UNREADABLE_TINT
from tests.admin.office import ROOT, Office, notices, send, typed
from tests.fixtures.box import new_box
from tests.fixtures.voucher import sell


def partner_page(office: Office, name: str = "a1") -> str:
    """The page of a partner."""
    return f"{ROOT}partners/{office.tenants.partners[name].uuid}/"


LOOK = {
    "accentColour": "#8a1f5c",
    "theme.headingFont": "JOST",
    "theme.cornerRadius": "NONE",
    "theme.pageTint": "#fbf6ef",
    "startPage.headline.fr": "Une table <b>pour vous</b>",
    "_lang": "fr",
}


async def test_a_look_is_shown_on_the_real_page_before_it_is_saved(office: Office) -> None:
    staff = await office.open("market a", f"{partner_page(office)}update-partner-look/")
    assert "frame-src 'self'" in staff.response.headers["content-security-policy"]
    assert staff.page.one("iframe").attributes["src"] == f"{partner_page(office)}shop-page/"
    (button,) = (it for it in staff.page.all("button") if "data-preview" in it.attributes)
    assert (button.attributes["formaction"], button.attributes["formtarget"]) == (
        f"{partner_page(office)}shop-page/",
        staff.page.one("iframe").attributes["name"],
    )
    assert {name.partition(".")[0] for name in typed(staff) if name[0] != "_"} == {
        *("csrf", "accentColour", "logoUrl", "theme", "startPage")
    }
    before = await office.tenants.snapshot()
    fields = typed(staff) | LOOK
    await staff.post(button.attributes["formaction"], fields)
    answer = staff.response
    assert answer.status_code == 200
    assert staff.h1 == "Une table <b>pour vous</b>"
    sheets = [link.attributes["href"] for link in staff.page.all("link", rel="stylesheet")]
    (sheet,) = (href for href in sheets if "/colours/" in href)
    assert sheet.endswith("/8a1f5c-jost-none-fbf6ef.css")
    assert (await staff.http.get(sheet)).status_code == 200
    assert any(href.startswith("/static/") and "funnel" in href for href in sheets)
    assert "inert" in staff.page.one("body").attributes
    assert not [it for it in staff.page.all("script") if it.attributes.get("type") == "module"]
    policy = answer.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "frame-ancestors 'none'" not in policy
    assert answer.headers["x-robots-tag"] == "noindex"
    by_address = await office.browser("market a").http.get(f"{partner_page(office)}shop-page/", params=LOOK)
    assert "Une table" in by_address.text
    assert await office.tenants.snapshot() == before, "nothing is saved"


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("theme.pageTint", "#888888", UNREADABLE_TINT),
        ("theme.pageTint", "red", "Send a colour as #rrggbb, such as #1f4e5f."),
        ("accentColour", "", "Send a colour as #rrggbb, such as #1f4e5f."),
    ],
)
async def test_a_look_that_is_refused_is_told_in_its_place(
    office: Office, field: str, value: str, problem: str
) -> None:
    staff = await office.open("market a", f"{partner_page(office)}update-partner-look/")
    fields = typed(staff) | {field: value}
    await staff.post(f"{partner_page(office)}shop-page/", fields)
    assert staff.response.status_code == 400
    assert [told.text.partition(": ")[2] for told in staff.page.all(role="alert")] == [problem]
    assert "frame-ancestors 'self'" in staff.response.headers["content-security-policy"]
    await office.open("market a", f"{partner_page(office)}update-partner-look/")
    await send(staff, **{field: value})
    assert staff.response.status_code == 400, "the form refuses it as well"


async def test_garbage_in_a_look_is_left_out(office: Office) -> None:
    staff = office.browser("market a")
    odd = {"theme.headingFont": "COMIC", "logoUrl": "https://evil.example/x.png", "_lang": "xx", "page": "-1"}
    answer = await staff.http.get(f"{partner_page(office)}shop-page/", params=odd)
    assert answer.status_code == 200
    assert 'src="https://evil.example' not in answer.text


async def test_a_saved_look_is_that_of_the_preview(office: Office) -> None:
    staff = await office.open("market a", f"{partner_page(office)}update-partner-look/")
    await send(staff, **{name: value for name, value in LOOK.items() if name != "_lang"})
    assert notices(staff) == ["Done: Look and theme"]
    row = await office.tenants.row("partner", office.tenants.partners["a1"].id)
    assert (row["page_tint"], row["accent_colour"]) == ("#fbf6ef", "#8a1f5c")
    await office.open("market a", f"{partner_page(office)}update-partner/")
    assert not {"accentColour", "theme.pageTint"} & typed(staff).keys(), "the other form leaves it alone"
    await send(staff, shortName="Short")
    assert (await office.tenants.row("partner", office.tenants.partners["a1"].id))["page_tint"] == "#fbf6ef"


async def experience_page(office: Office, *, is_active: bool = True) -> str:
    """The page of an experience of the first shop."""
    stay = (await sell(office.tenants, "a1")).stay
    await office.tenants.execute(
        "UPDATE voucher_prototype SET is_active = :active WHERE id = :id", active=is_active, id=stay.id
    )
    return f"{ROOT}voucher-prototypes/{stay.id}/"


@pytest.mark.parametrize("status", [PartnerStatus.ACTIVE, PartnerStatus.NEW])
async def test_an_experience_is_seen_before_it_is_on_sale(office: Office, status: PartnerStatus) -> None:
    page = await experience_page(office, is_active=False)
    await office.tenants.execute(f"UPDATE partner SET status = '{status.value}'")  # noqa: S608 - a test's words
    staff = await office.open("a1", page)
    (link,) = (it for it in staff.page.all("a") if it.text == "Preview in the shop")
    await office.open("a1", link.attributes["href"])
    assert "Not on sale" in staff.page.one("main").text
    frame = staff.page.one("iframe").attributes["src"]
    before = await office.tenants.snapshot()
    for language, name in (("en", "Nights above the lake"), ("fr", "Nuits au-dessus du lac")):
        await office.open("a1", frame.partition("?")[0] + f"?_lang={language}")
        assert (staff.response.status_code, staff.h1) == (200, name)
        assert staff.page.one("html").attributes["lang"] == language
    slug = await office.tenants.one("SELECT slug FROM voucher_prototype")
    shop = await staff.http.get(f"http://a1.localhost/vouchers/{slug}/")
    assert shop.status_code in (404, 410), "customers do not see it"
    assert await office.tenants.snapshot() == before


async def test_previews_are_of_ones_own_shop_only(office: Office) -> None:
    page = await experience_page(office)
    csrf = await office.csrf("market b")
    for path in ("shop-preview/", "shop-page/"):
        for who, around in (("a2", page), ("b1", page), ("market b", page), ("market b", partner_page(office))):
            staff = await office.open(who, around + path)
            assert staff.response.status_code == 404, (who, around)
        nobody = await office.open(None, page + path)
        assert nobody.path.startswith(f"{ROOT}log-in/")
    staff = await office.browser("market b").post(f"{partner_page(office)}shop-page/", {**LOOK, "csrf": csrf})
    assert staff.response.status_code == 404
    await office.open("market a", ROOT)
    staff = await office.browser("market a").post(f"{partner_page(office)}shop-page/", LOOK)
    assert staff.response.status_code == 403, "without the token of a form"
    card = office.tenants.owned["a1"].gift_card
    assert (await office.open("a1", f"{ROOT}gift-cards/{card}/shop-page/")).response.status_code == 404


async def test_a_box_is_seen_in_the_shop_of_its_network(office: Office) -> None:
    box = await new_box(office.tenants)
    await office.tenants.execute("UPDATE box SET is_active = false WHERE id = :id", id=box.id)
    page = f"{ROOT}boxes/{box.id}/"
    staff = await office.open("market a", f"{page}shop-page/?_lang=en")
    assert staff.response.status_code == 404
    assert staff.page.one(role="alert").text == "Marketplace: The network has no shop of its own."
    own = office.tenants.partners["a1"].id
    await office.tenants.execute("UPDATE partner SET is_network_shop = true WHERE id = :id", id=own)
    await office.open("market a", f"{page}shop-preview/")
    assert "Not on sale" in staff.page.one("main").text
    await office.open("market a", staff.page.one("iframe").attributes["src"])
    assert staff.response.status_code == 200
    assert [card.one("h3").text for card in staff.page.all("li", class_="card")] == [box.name.en]
    assert (await office.open("market b", f"{page}shop-page/")).response.status_code == 404
    customer = Context(office.tenants.services, Caller.customer(own, office.tenants.marketplaces["a"].id))
    with pytest.raises(NotFound):
        await preview_box(customer, box.id)
