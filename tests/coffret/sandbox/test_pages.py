"""The hosted pages' forms: what is refused, what is filled in, what is never shown."""

import re
from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import CHALLENGE, SUCCESS, Json, MangopayApi, page_path, running

REFUSED = "4970109000001401"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def untouched(api: MangopayApi, payin: Json) -> bool:
    """Whether the pay-in is still open and nothing was charged."""
    status = (await api.read(f"/payins/{payin['Id']}"))["Status"]
    charged = (await api.control("GET", "/stats"))["charged"]
    return (status, charged) == ("CREATED", 0)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ({"number": ""}, "Enter a card number"),
        ({"number": "4111 1111 1111 1111"}, "This is not one of the test cards"),
        ({"number": "375989111111119"}, "does not take cards of this kind"),
        ({"number": REFUSED}, "02625"),
        ({"expiry": "13/27"}, "Enter month and year"),
        ({"expiry": ""}, "Enter month and year"),
        ({"expiry": "01/20"}, "This date is not possible"),
        ({"expiry": "12/99"}, "This date is not possible"),
        ({"cvc": "12"}, "Enter the 3 digits"),
        ({"cvc": "abc"}, "Enter the 3 digits"),
    ],
)
async def test_card_form_refused(api: MangopayApi, typed: dict[str, str], problem: str) -> None:
    payin = await api.payin()
    answer = await api.submit(
        payin, **{"card": typed.get("number", SUCCESS), **{k: v for k, v in typed.items() if k != "number"}}
    )
    assert answer.status_code == 400
    assert problem in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert await untouched(api, payin)


async def test_a_real_number_is_never_shown_again(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.submit(payin, "4111 1111 1111 1111", cvc="987")
    assert not re.search("4111 ?1111", answer.text)
    assert 'name="cvc" value=""' in answer.text
    assert "Error: Pay by card" in answer.text


async def test_all_problems_at_once(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.http.post(page_path(payin), data={})
    assert len(re.findall('class="problem"', answer.text)) == 3


async def test_picking_a_card_fills_in_the_form(api: MangopayApi) -> None:
    payin = await api.payin()
    page = await api.http.get(page_path(payin), params={"card": CHALLENGE})
    assert 'value="4970 1051 8181 8183"' in page.text
    assert 'value="123"' in page.text
    match = re.search(r'id="expiry" name="expiry" value="(\d\d/\d\d)"', page.text)
    assert match
    answer = await api.submit(payin, "4970 1051 8181 8183", expiry=match[1])
    assert answer.status_code == 303
    other = await api.http.get(page_path(await api.payin()), params={"card": "4111111111111111"})
    assert not re.search("4111 ?1111", other.text)


async def test_only_cards_of_the_payins_kind_are_offered(api: MangopayApi) -> None:
    for kind, count in (("CB_VISA_MASTERCARD", 17), ("AMEX", 1), ("MAESTRO", 1), ("BCMC", 1)):
        page = await api.http.get(page_path(await api.payin(CardType=kind)))
        assert len(re.findall(r'href="\?card=\d+#card"', page.text.split('id="cards"')[1])) == count


async def test_pages_are_kept_to_themselves(api: MangopayApi) -> None:
    payin = await api.payin()
    page = await api.http.get(page_path(payin))
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'")
    assert "unsafe" not in policy
    assert page.headers["Cache-Control"] == "no-store"
    assert "<script" not in page.text
    assert "style=" not in page.text
    style = re.search(r'rel="stylesheet" href="/_provider(/static/[\w.]+)"', page.text)
    assert style
    assert (await api.http.get(style[1])).headers["Content-Type"].startswith("text/css")


async def test_what_a_shop_writes_is_only_text(api: MangopayApi) -> None:
    await api.control("POST", "/seed", {"user_id": "evil", "wallet_id": "purse", "name": "<script>x</script>"})
    payin = await api.payin(CreditedWalletId="purse")
    assert "&lt;script&gt;x" in (await api.http.get(page_path(payin))).text
