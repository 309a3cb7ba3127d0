"""What axe is asked, and how often a document gets it."""

from playwright.async_api import Browser

from tests.servers.chromium import needs_chromium, violations

pytestmark = needs_chromium

HEAD = "<html lang=en><head><title>Prices</title></head><body><main><h1>Prices</h1>"
SOUND = f"{HEAD}<label>Price <input></label></main></body></html>"
PALE = f"{HEAD}<p style='color: #ddd; background: #fff'>Ten euros</p></main></body></html>"
WITHOUT_LABEL = f"{HEAD}<input id=price></main></body></html>"


async def test_what_is_wrong_is_told_with_its_element(browser: Browser) -> None:
    page = await browser.new_page()
    await page.set_content(SOUND)
    assert await violations(page) == []
    await page.set_content(WITHOUT_LABEL)
    ((rule, element, explanation),) = await violations(page)
    assert (rule, element) == ("label", '<input id="price">')
    assert "label" in explanation


async def test_contrast_is_left_out_where_colours_are(browser: Browser) -> None:
    page = await browser.new_page()
    await page.set_content(PALE)
    assert [rule for rule, _, _ in await violations(page)] == ["color-contrast"]
    assert await violations(page, colours=False) == []


async def test_a_document_gets_axe_once_and_the_next_one_again(browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto("about:blank")
    await page.set_content(SOUND)
    await violations(page)
    await page.evaluate("axe.isTheFirst = true")
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.evaluate("document.querySelector('label').replaceWith(document.createElement('input'))")
    assert [rule for rule, _, _ in await violations(page)] == ["label"]
    assert await page.evaluate("axe.isTheFirst") is True
    await page.goto("data:text/html,<p>Another")
    assert await page.evaluate("'axe' in window") is False
    assert {rule for rule, _, _ in await violations(page)} >= {"document-title", "html-has-lang"}
