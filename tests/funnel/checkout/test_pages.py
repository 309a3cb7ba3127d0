"""Every page in every state: semantics, headers, weight, and nothing that a strict policy would block."""

import itertools
import re
from collections.abc import AsyncIterator

import pytest

from funnel.core.brand_sheets import brand_path, brand_sheet
from funnel.core.static_files import FOLDER, Assets
from schema.cart.cart import CartItem
from schema.checkout.brand import Brand
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.core.brand_colours import DARK_PANEL, DARK_PAPER, build_brand, dark_accent_colours
from store.product.products import AttributeValueRow, ProductAttributeRow
from tests.fixtures.shop import DECLINED_CARD, GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element
from tests.servers.production import NOBODYS_URL

CONTROLS = ("input", "select", "textarea", "button")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
KILOBYTE = 1024
NOBODY = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def step(name: str, cart_id: object) -> str:
    """The address of a step."""
    return f"/ecommerce/shop/{name}/?cart={cart_id}"


async def every_page(shop: Shop, customer: Customer) -> AsyncIterator[str]:
    """Walk through all pages and states; each time one is open, its name is told."""
    for part in (choosing, paying, ending):
        async for name in part(shop, customer):
            yield name
    for name, path in (("unknown", "/ecommerce/shop/nowhere/"), ("gone", step("customization", NOBODY))):
        await customer.open(path)
        yield name
    await customer.open(f"{NOBODYS_URL}{step('customization', NOBODY)}")
    yield "no shop"


async def choosing(shop: Shop, customer: Customer) -> AsyncIterator[str]:
    """The first step."""
    candle = await shop.product("20.00", stock=9, picture_url="/media/candle.svg", is_physical=True)
    await shop.variant(candle, "30.00")
    size = await shop.add(
        ProductAttributeRow(partner_id=shop.partner.id, product_id=candle.id, name=Text(en="Size"), is_required=False)
    )
    await shop.add(AttributeValueRow(partner_id=shop.partner.id, attribute_id=size.id, value="s", label=Text(en="S")))
    soap = await shop.product("5.00", name=Text(en="Soap"))
    await shop.product("7.00", name=Text(en="Oil"), stock=0)
    await customer.open(step("customization", (await shop.cart()).id))
    yield "empty"
    broken = await shop.cart(CartItem(candle.id, 1), CartItem(999999, 2, 5, {3: "x"}), CartItem(soap.id, 1))
    await customer.open(step("customization", broken.id))
    await customer.send("/ecommerce/shop/customization/", {"line-2-quantity": "x"}, ("do", "continue"))
    yield "mistyped"
    await customer.send("/ecommerce/shop/customization/", {"line-2-quantity": "1"}, ("do", "continue"))
    yield "problems"
    cart = await shop.cart(CartItem(soap.id, 4))
    await customer.open(step("customization", cart.id))
    yield "customization"
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")


async def paying(shop: Shop, customer: Customer) -> AsyncIterator[str]:
    """From the second step to the provider."""
    card = await shop.gift_card("15.00")
    yield "information"
    await customer.identify(email="nobody", city="")
    yield "information, wrong"
    await customer.identify(message="Hello", phone="+33612345678")
    yield "payment"
    await customer.use_code("NOTHING")
    yield "payment, wrong code"
    await customer.use_code(card.code)
    yield "payment, code used"
    await customer.send("/ecommerce/shop/payment/?", {"total": "1"})
    yield "payment, refused"
    payment = customer.path
    await customer.press_pay()
    yield "leaving"
    await customer.open(payment)
    yield "payment, begun"


async def ending(shop: Shop, customer: Customer) -> AsyncIterator[str]:
    """Back from the provider, first without, then with the money."""
    payment = customer.path
    yield await come_back(shop, customer, "waiting")
    yield await come_back(shop, customer, "declined", DECLINED_CARD)
    await customer.open(payment)
    yield "payment, declined"
    await customer.press_pay()
    yield await come_back(shop, customer, "order", GOOD_CARD)
    assert customer.step == "order"


async def come_back(shop: Shop, customer: Customer, name: str, card: str = "") -> str:
    """Come back from the open payment, having paid or not; answers the name of the page."""
    attempt = await shop.one("SELECT id FROM checkout_attempt WHERE state = 'open'")
    cart = await shop.one("SELECT cart_id FROM checkout_attempt WHERE state = 'open'")
    if card:
        payin = await shop.payin_of(attempt)
        await shop.control("POST", f"/payins/{payin}/pay", {"card": card, "challenge": "confirm"})
    await customer.open(f"/ecommerce/shop/payment/return/{cart}/{attempt}/")
    return name


def label_of(control: Element, page: Element) -> str:
    """What a screen reader calls a control."""
    if named := control.attributes.get("aria-label"):
        return named
    if control.tag == "button":
        return control.text
    labels = page.all("label", for_=control.attributes.get("id", "")) if control.attributes.get("id") else []
    return labels[0].text if len(labels) == 1 else ""


def check_headings(page: Element) -> None:
    """One title, and no level left out below it."""
    levels = [int(element.tag[1]) for element in page if element.tag in HEADINGS]
    assert levels.count(1) == 1
    below = levels[levels.index(1) :]
    assert all(after <= before + 1 for before, after in itertools.pairwise(below)), levels


def check_controls(page: Element) -> None:
    """Each control has a name; each button belongs to a form, or opens one; each reference leads to one element."""
    for control in page:
        if (
            control.tag in CONTROLS
            and control.attributes.get("type") != "hidden"
            and "aria-hidden" not in control.attributes
        ):
            assert label_of(control, page), control
        if control.tag == "button":
            opened = control.attributes.get("popovertarget")
            of_form = opened or control.attributes.get("form", "")
            assert control.inside("form") or page.all("form", id=of_form)
    ids = [element.attributes["id"] for element in page if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    for element in page:
        for name in ("aria-describedby", "aria-labelledby", "for"):
            for target in element.attributes.get(name, "").split():
                assert target in ids, (element.tag, name, target)
        if element.tag == "a" and element.attributes["href"].startswith("#"):
            assert element.attributes["href"][1:] in ids, element.attributes["href"]


def check_policy(page: Element) -> None:
    """Nothing inline, nothing from elsewhere."""
    for element in page:
        assert element.tag != "style"
        assert "style" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]
        if element.tag == "script":
            assert element.text == ""
        if element.tag == "form":
            assert element.attributes["action"].startswith(("/ecommerce/shop/", "/orders/"))
            assert element.attributes["method"] == "post"
            assert len([f for f in element.all("input", name="csrf") if f.inside("form") is element]) == 1
        source = element.attributes.get("src") or (element.attributes.get("href") if element.tag == "link" else "")
        assert not source or re.match(r"/[^/]", source), source


def check_headers(customer: Customer) -> None:
    """What every page tells the browser. Only public pages are cached."""
    headers = customer.response.headers
    if "etag" in headers:
        assert headers["cache-control"].startswith(("public, max-age=0", "private, no-cache"))
        assert "set-cookie" not in headers
    else:
        assert headers["cache-control"] == "no-store"
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'",
        **dict.fromkeys(("style-src", "script-src", "img-src", "font-src", "connect-src", "form-action"), "'self'"),
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    assert headers["referrer-policy"] == "same-origin"
    assert headers["x-content-type-options"] == "nosniff"
    assert "payment=()" in headers["permissions-policy"]


async def test_every_page_is_sound(shop: Shop, customer: Customer) -> None:
    seen = []
    async for name in every_page(shop, customer):
        seen.append(name)
        page = customer.page
        assert customer.response.text.startswith("<!doctype html>"), name
        assert page.one("html").attributes["lang"] == "en"
        assert page.one("title").text.split(" – ")[0] not in ("", "Error:")
        assert len(page.all("main")) == 1
        check_headings(page)
        check_controls(page)
        check_policy(page)
        check_headers(customer)
        linked = [file for file in FOLDER.iterdir() if f"/{file.stem}." in customer.response.text]
        assert {"funnel.css", "funnel.js"} <= {file.name for file in linked}
        assert len(customer.response.content) + sum(file.stat().st_size for file in linked) < 60 * KILOBYTE, name
    assert len(seen) == 19


async def test_the_steps_tell_where_one_is(shop: Shop, customer: Customer) -> None:
    async for name in every_page(shop, customer):
        steps = customer.page.all("nav", class_="steps")
        if name in ("unknown", "gone", "no shop", "order"):
            assert not steps
            continue
        here = [li for li in steps[0].all("li") if li.attributes.get("aria-current") == "step"]
        assert len(here) == 1
        expected = {"e": "Your order", "m": "Your order", "c": "Your order", "i": "Your details"}
        wanted = "Your order" if name == "problems" else expected.get(name[0], "Payment")
        assert here[0].text.endswith(wanted), name
        assert all(a.attributes["href"].startswith("/ecommerce/shop/") for a in steps[0].all("a"))


async def test_texts_of_a_shop_are_only_texts(shop: Shop, customer: Customer) -> None:
    nasty = Text(en="<script>alert(1)</script>\"'><img src=x>")
    candle = await shop.product("20.00", name=nasty, description=nasty)
    cart = await shop.cart(CartItem(candle.id, 1))
    await customer.choose(cart.id, shop.modes[DeliveryKind.CLICK_AND_COLLECT])
    await customer.identify(first_name="<b>Ada</b>", message="</textarea><script>")
    assert customer.step == "payment"
    assert "<b>Ada</b>" in customer.page.text
    assert len(customer.page.all("script")) == 1
    assert not customer.page.all("img")


async def test_a_full_cart_of_a_full_shop_stays_light(shop: Shop, customer: Customer) -> None:
    products = [await shop.product("20.00", name=Text(en=f"Product {n} of the shop")) for n in range(60)]
    cart = await shop.cart(*(CartItem(product.id, 1) for product in products[:15]))
    await customer.open(step("customization", cart.id), **{"Accept-Encoding": "gzip"})
    assert customer.response.headers["content-encoding"] == "gzip"
    sent = int(customer.response.headers["content-length"])
    for path in re.findall(r'(?:href|src)="(/static/[^"]+)"', customer.response.text):
        sent += int((await customer.http.get(path, headers={"Accept-Encoding": "gzip"})).headers["content-length"])
    assert sent < 30 * KILOBYTE


# ---- files -------------------------------------------------------------------------------------------------------------


def test_style_and_script_stay_small() -> None:
    assert (FOLDER / "funnel.css").stat().st_size <= 20 * KILOBYTE
    assert (FOLDER / "funnel.js").stat().st_size <= 6 * KILOBYTE


def test_dark_colours_are_worked_out_for_the_backgrounds_of_dark_pages() -> None:
    assert f"--tint:{DARK_PANEL};--paper:{DARK_PAPER};" in (FOLDER / "dark.css").read_text()


async def test_files_are_named_after_their_content_and_kept(shop: Shop, customer: Customer) -> None:
    cart = await shop.cart()
    await customer.open(step("customization", cart.id))
    files = [
        e.attributes.get("href") or e.attributes.get("src")
        for e in customer.page.one("head")
        if e.tag in ("link", "script") and e.attributes.get("rel") not in {"icon", "preload"}
    ]
    assert files == [Assets().path("funnel.css"), files[1], Assets().path("dark.css"), Assets().path("funnel.js")]
    for path in files:
        assert path is not None
        answer = await customer.http.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert re.search(r"\.[0-9a-f]{12}\.(css|js)$", path)
    assert (await customer.http.get("/static/funnel/funnel.000000000000.css")).status_code == 404
    assert (await customer.http.get("/static/funnel/..%2f__init__.py")).status_code == 404


async def test_the_colours_are_the_partners(shop: Shop, customer: Customer) -> None:
    cart = await shop.cart()
    await customer.open(step("customization", cart.id))
    link = customer.page.one("head").all("link", rel="stylesheet")[1]
    answer = await customer.http.get(link.attributes["href"])
    assert answer.headers["content-type"].startswith("text/css")
    assert f"--accent:{shop.partner.accent_colour}" in answer.text
    dark, ink, text = dark_accent_colours(shop.partner.accent_colour)
    of_dark = f"@media screen and (prefers-color-scheme:dark){{:root{{--accent:{dark};--accent-ink:{ink};--accent-text:{text}}}}}"
    assert of_dark in answer.text
    old = await customer.http.get("/ecommerce/shop/brand.000000000000.css")
    assert old.text == answer.text
    assert old.headers["cache-control"] == "no-store"
    nobody = await customer.http.get(f"{NOBODYS_URL}/ecommerce/shop/brand.000000000000.css")
    assert nobody.status_code == 404


@pytest.mark.parametrize("colour", ["red", "#fff", "#123456;}*{display:none", ""])
def test_a_colour_that_is_none_is_ours(colour: str) -> None:
    brand = Brand("Shop", "", colour, colour, colour, "", "", "")
    assert brand_sheet(brand) == brand_sheet(build_brand("", "#1f4e5f"))
    assert brand_sheet(brand).startswith(b":root{--accent:#1f4e5f;--accent-ink:#ffffff;--accent-text:#1f4e5f}\n")
    assert brand_path(brand).startswith("/ecommerce/shop/brand.")
