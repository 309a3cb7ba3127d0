"""Web pay-ins and their hosted pages: what each card does, what time does, what a second visit does."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from coffret.sandbox.payments.cards import CARDS
from tests.coffret.sandbox.mangopay_api import CHALLENGE, SHOP, SUCCESS, Json, MangopayApi, page_path, running
from tests.store.providers.mangopay.account import payin as as_the_adapter_reads_it

LATE = "4970109000001104"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


def back(payin: Json) -> str:
    """Where the buyer comes back to."""
    return f"{SHOP}&transactionId={payin['Id']}"


async def state(api: MangopayApi, payin: Json) -> tuple[str, str | None]:
    read = await api.read(f"/payins/{payin['Id']}")
    return read["Status"], read["ResultCode"]


async def charges(api: MangopayApi) -> int:
    """How often a card was charged."""
    charged: int = (await api.control("GET", "/stats"))["charged"]
    return charged


async def test_open_payin(api: MangopayApi) -> None:
    payin = await api.payin(Tag="order 7")
    expected = as_the_adapter_reads_it(
        Tag="order 7",
        CreationDate=int(api.clock.timestamp()),
        CreditedUserId="partner",
        CreditedWalletId="wallet",
        DebitedFunds={"Currency": "EUR", "Amount": 2500},
        CreditedFunds={"Currency": "EUR", "Amount": 2250},
        Fees={"Currency": "EUR", "Amount": 250},
        CardType="CB_VISA_MASTERCARD",
        SecureMode="DEFAULT",
        Culture="EN",
        ReturnURL=SHOP,
    )
    for made_by_the_sandbox in ("Id", "AuthorId", "RedirectURL"):
        del expected[made_by_the_sandbox]
    assert {name: payin[name] for name in expected} == expected
    assert payin["Id"].startswith("payin_m_")
    assert await api.read(f"/payins/{payin['Id']}") == payin
    assert (await api.read(f"/payins/card/web/{payin['Id']}/extended"))["Alias"] is None
    assert (await api.call("GET", "/payins/none")).status_code == 404


async def test_frictionless(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.submit(payin)
    assert (answer.status_code, answer.headers["Location"]) == (303, back(payin))
    read = await api.read(f"/payins/{payin['Id']}")
    assert (read["Status"], read["ResultCode"], read["ResultMessage"]) == ("SUCCEEDED", "000000", "Success")
    assert read["ExecutionDate"] == int(api.clock.timestamp())
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250
    ledger = await api.control("GET", "/ledger/check")
    assert {row["account"]: row["balance"] for row in ledger["accounts"]} == {
        "wallet:wallet": 2250,
        "fees": 250,
        "outside": -2500,
    }
    extended = await api.read(f"/payins/card/web/{payin['Id']}/extended")
    assert (extended["Alias"], extended["CardType"], extended["Country"]) == (
        "497010XXXXXX1119",
        "CB_VISA_MASTERCARD",
        "FRA",
    )
    assert extended["Fingerprint"]


async def test_transaction_id_joins_any_return_address(api: MangopayApi) -> None:
    for address, expected in (
        ("https://shop.example/back", "https://shop.example/back?transactionId="),
        ("https://shop.example/back?a=1#end", "https://shop.example/back?a=1&transactionId="),
    ):
        payin = await api.payin(ReturnURL=address)
        assert (await api.submit(payin)).headers["Location"].startswith(expected + payin["Id"])


async def challenged(api: MangopayApi, card: str = CHALLENGE) -> Json:
    payin = await api.payin()
    answer = await api.submit(payin, card)
    assert answer.status_code == 303
    assert answer.headers["Location"].endswith("/challenge")
    assert await state(api, payin) == ("CREATED", None)
    return payin


async def test_challenge_confirmed(api: MangopayApi) -> None:
    payin = await challenged(api)
    page = await api.http.get(page_path(payin, "/challenge"))
    assert "In the sandbox the code is always 000000." in page.text
    assert "•••• 8183" in page.text
    answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
    assert (answer.status_code, answer.headers["Location"]) == (303, back(payin))
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_challenge_refused(api: MangopayApi) -> None:
    payin = await challenged(api)
    answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "", "choice": "refuse"})
    assert (answer.status_code, answer.headers["Location"]) == (303, back(payin))
    assert await state(api, payin) == ("FAILED", "101301")


async def test_third_wrong_code_ends_the_challenge(api: MangopayApi) -> None:
    payin = await challenged(api)
    for left in (2, 1):
        answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "123456", "choice": "confirm"})
        assert answer.status_code == 400
        assert f"This code is wrong. Attempts left: {left}." in answer.text
    answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "123456", "choice": "confirm"})
    assert answer.headers["Location"] == back(payin)
    assert await state(api, payin) == ("FAILED", "101301")


async def test_challenge_left_and_resumed(api: MangopayApi) -> None:
    payin = await challenged(api)
    left = await api.http.get(page_path(payin, "/left"))
    assert "Nothing is decided yet" in left.text
    assert f'href="{back(payin).replace("&", "&amp;")}"' in left.text
    assert await state(api, payin) == ("CREATED", None)
    await api.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_challenge_left_for_good(api: MangopayApi) -> None:
    payin = await challenged(api)
    await api.advance(901)
    assert await state(api, payin) == ("FAILED", "101304")


async def test_challenge_that_never_returns(api: MangopayApi) -> None:
    payin = await challenged(api, "4970109000000601")
    answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
    page = await api.http.get(page_path(payin, "/challenge"))
    assert answer.headers["Location"].endswith("/challenge")
    assert "The bank does not answer" in page.text
    await api.advance(899)
    assert await state(api, payin) == ("CREATED", None)
    await api.advance(2)
    assert await state(api, payin) == ("FAILED", "101304")


ENDINGS = {
    "4970107111111119": ("SUCCEEDED", "000000"),
    "4970105181818183": ("SUCCEEDED", "000000"),
    "5033951000000004": ("SUCCEEDED", "000000"),
    "375989111111119": ("SUCCEEDED", "000000"),
    "4970109000000106": ("FAILED", "101101"),
    "4970109000000205": ("FAILED", "101102"),
    "4970109000000304": ("FAILED", "101105"),
    "4970109000000403": ("FAILED", "008002"),
    "4970109000000502": ("FAILED", "101301"),
    "4970109000000601": ("CREATED", None),
    "4970109000000700": ("FAILED", "101399"),
    "4970109000000809": ("SUCCEEDED", "000000"),
    "4970109000000908": ("CREATED", None),
    "4970109000001005": ("SUCCEEDED", "000000"),
    "4970109000001104": ("CREATED", None),
    "4970109000001203": ("SUCCEEDED", "000000"),
    "4970109000001302": ("FAILED", "009101"),
    "4970109000001500": ("SUCCEEDED", "000000"),
}
REFUSED = "4970109000001401"


def luhn(number: str) -> bool:
    digits = [int(digit) for digit in reversed(number)]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


def test_the_table_of_cards() -> None:
    assert {card.number for card in CARDS} == {*ENDINGS, REFUSED}
    assert all(luhn(card.number) for card in CARDS)


@pytest.mark.parametrize("number", ENDINGS)
async def test_each_card_ends_as_it_says(api: MangopayApi, number: str) -> None:
    brand = "AMEX" if number.startswith("37") else "MAESTRO" if number.startswith("50") else "CB_VISA_MASTERCARD"
    payin = await api.payin(CardType=brand)
    answer = await api.submit(payin, number, cvc="1234" if brand == "AMEX" else "123")
    if answer.headers.get("Location", "").endswith("/challenge"):
        answer = await api.http.post(page_path(payin, "/challenge"), data={"code": "000000", "choice": "confirm"})
    assert await state(api, payin) == ENDINGS[number]
    assert await charges(api) == (1 if ENDINGS[number][0] == "SUCCEEDED" else 0)


async def test_answer_lost_after_the_charge(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.submit(payin, "4970109000000809")
    assert answer.status_code == 200
    assert "Do not pay again" in answer.text
    assert await state(api, payin) == ("SUCCEEDED", "000000")
    again = await api.submit(payin, "4970109000000809")
    assert again.headers["Location"] == back(payin)
    assert await charges(api) == 1


async def test_request_lost_can_be_tried_again(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.submit(payin, "4970109000000908")
    assert "the card was not charged" in answer.text
    assert await state(api, payin) == ("CREATED", None)
    await api.submit(payin)
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_error_page_after_the_charge(api: MangopayApi) -> None:
    payin = await api.payin()
    assert (await api.submit(payin, "4970109000001005")).status_code == 502
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_late_result(api: MangopayApi) -> None:
    payin = await api.payin()
    await api.hook("PAYIN_NORMAL_SUCCEEDED")
    assert (await api.submit(payin, LATE)).headers["Location"] == back(payin)
    page = await api.http.get(page_path(payin))
    assert "Your payment is being processed" in page.text
    await api.http.post(page_path(payin, "/cancel"))
    await api.advance(29)
    assert await state(api, payin) == ("CREATED", None)
    assert await api.notices() == []
    await api.advance(1)
    assert await state(api, payin) == ("SUCCEEDED", "000000")
    assert await api.notices() == [("PAYIN_NORMAL_SUCCEEDED", payin["Id"])]


async def test_late_result_near_the_end_of_the_page(api: MangopayApi) -> None:
    payin = await api.payin()
    await api.advance(890)
    await api.submit(payin, LATE)
    await api.advance(3600)
    await api.log_in()
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_open_until_the_last_second(api: MangopayApi) -> None:
    payin = await api.payin()
    await api.advance(14 * 60 + 59)
    page = await api.http.get(page_path(payin))
    assert page.status_code == 200
    assert "1 min" in page.text
    assert (await api.submit(payin)).headers["Location"] == back(payin)
    assert await state(api, payin) == ("SUCCEEDED", "000000")


async def test_expires_after_fifteen_minutes(api: MangopayApi) -> None:
    payin = await api.payin()
    created = payin["CreationDate"]
    await api.advance(15 * 60 + 1)
    answer = await api.submit(payin)
    assert answer.status_code == 410
    assert "This payment page has expired" in answer.text
    assert "Return to the shop" in answer.text
    assert await state(api, payin) == ("FAILED", "101109")
    assert (await api.read(f"/payins/{payin['Id']}"))["ExecutionDate"] is None
    assert (await api.http.get(page_path(payin))).status_code == 410
    event = (await api.read("/events?EventType=PAYIN_NORMAL_FAILED"))[0]
    assert created + 900 <= event["Date"] <= created + 901
    assert await charges(api) == 0


async def test_cancelled(api: MangopayApi) -> None:
    payin = await api.payin()
    answer = await api.http.post(page_path(payin, "/cancel"))
    assert (answer.status_code, answer.headers["Location"]) == (303, back(payin))
    assert await state(api, payin) == ("FAILED", "101002")
    assert (await api.submit(payin)).headers["Location"] == back(payin)
    assert await charges(api) == 0


async def test_cancelled_at_the_bank_and_after_the_end(api: MangopayApi) -> None:
    payin = await challenged(api)
    await api.http.post(page_path(payin, "/cancel"))
    assert await state(api, payin) == ("FAILED", "101002")
    paid = await api.paid()
    await api.http.post(page_path(paid, "/cancel"))
    assert await state(api, paid) == ("SUCCEEDED", "000000")


async def test_a_used_address_shows_the_way_back(api: MangopayApi) -> None:
    paid = await api.paid()
    page = await api.http.get(page_path(paid))
    assert page.status_code == 410
    assert "This payment is done" in page.text
    assert "Return to the shop" in page.text
    declined = await api.paid("4970109000000403")
    page = await api.http.get(page_path(declined, "/challenge"))
    assert "no money was taken" in page.text
    assert "lost" not in page.text
    unknown = await api.http.get("/pay/0000")
    assert unknown.status_code == 404
    for step in ("", "/cancel", "/challenge"):
        assert (await api.http.post(f"/pay/0000{step}")).status_code == 404


async def test_fifty_submissions_charge_once(api: MangopayApi) -> None:
    payin = await api.payin()
    answers = await asyncio.gather(*(api.submit(payin) for _ in range(50)))
    assert {(answer.status_code, answer.headers["Location"]) for answer in answers} == {(303, back(payin))}
    assert (await api.control("GET", "/stats"))["charges"] == {payin["Id"]: 1}
    assert len(await api.read("/events?EventType=PAYIN_NORMAL_SUCCEEDED")) == 1


async def test_fifty_confirmations_charge_once(api: MangopayApi) -> None:
    payin = await challenged(api)
    path = page_path(payin, "/challenge")
    answers = await asyncio.gather(
        *(api.http.post(path, data={"code": "000000", "choice": "confirm"}) for _ in range(50))
    )
    assert {answer.headers["Location"] for answer in answers} == {back(payin)}
    assert await charges(api) == 1


async def test_two_cards_at_once_charge_one(api: MangopayApi) -> None:
    payin = await api.payin()
    await asyncio.gather(
        api.submit(payin, SUCCESS), api.submit(payin, "4970109000000106"), api.submit(payin, CHALLENGE)
    )
    status, code = await state(api, payin)
    assert await charges(api) == (1 if status == "SUCCEEDED" else 0)
    assert code in {"000000", "101101", None}
