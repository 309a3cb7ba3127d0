"""What of an input may be kept for good."""

import datetime as dt
import re
import uuid
from decimal import Decimal
from typing import Any

import orjson
import pytest
import strawberry
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from sqlalchemy import text
from starlette.datastructures import UploadFile

from schema.core.permission import Permission
from schema.product.input import UpdateProductVariant
from store.account.credentials import new_secret
from store.audit.masking import mask, mask_start
from store.core.codes import check_character, format_code
from store.database.db import Database

CODE = "ABCD-EFGH-2345-WXYZ"
IBAN = "GB82 WEST 1234 5698 7654 32"
CARD = "4970107111111119"
OURS = format_code("ABCDEFGHJKMNPQR" + check_character("ABCDEFGHJKMNPQR"))


class Card(BaseModel):
    """A card."""

    card_number: str
    pin: str = "0000"
    holder: str = ""


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "hunter2"}, {"password": "***"}),
        ({"newPassword": "hunter2", "password_again": ""}, {"newPassword": "***", "password_again": ""}),
        ({"api_key": "k", "apiKey": "k", "client_secret": "s"}, {"api_key": "***", "apiKey": "***", "client_secret": "***"}),
        ({"token": {"value": "t", "deep": ["t"]}}, {"token": "***"}),
        ({"tokens": ["a", "b"]}, {"tokens": "***"}),
        ({"pin": 1234, "cvv": "123", "cvx": 999}, {"pin": "***", "cvv": "***", "cvx": "***"}),
        ({"code": CODE}, {"code": "***WXYZ"}),
        ({"giftCardCode": CODE, "normal_code": "ABCDEFGH"}, {"giftCardCode": "***WXYZ", "normal_code": "***GH"}),
        ({"codes": [CODE, "SHORT", "ABC"]}, {"codes": ["***WXYZ", "***T", "***"]}),
        ({"codes": [None, {"code": CODE}]}, {"codes": [None, {"code": "***WXYZ"}]}),
        ({"code": None, "codes": []}, {"code": None, "codes": []}),
        ({"card_number": int(CARD)}, {"card_number": "***1119"}),
        ({"iban": IBAN, "hq_iban": IBAN.replace(" ", "")}, {"iban": "***5432", "hq_iban": "***5432"}),
        ({"comment": f"pay to {IBAN} please"}, {"comment": "pay to ***5432 please"}),
        ({"comment": f"{OURS} and {OURS.lower().replace('-', ' ')}"}, {"comment": f"***{OURS[-4:]} and ***{OURS[-4:]}"}),
        ({"note": f"Authorization: Token {'x' * 20}"}, {"note": "Authorization: Token ***"}),
        ({"note": "coffret_abcDEF-123_x."}, {"note": "coffret_***."}),
        ({"a": [{"b": ({"secret": "s"},)}]}, {"a": [{"b": [{"secret": "***"}]}]}),
        ({"postal_code": "75011", "countryCode": "FR"}, {"postal_code": "75011", "countryCode": "FR"}),
        ({"siret": "73282932000074", "email": "ada@example.com"}, {"siret": "73282932000074", "email": "ada@example.com"}),
        ({"pdf": b"%PDF"}, {"pdf": "4 bytes"}),
        ({"n": 2**70, "d": Decimal("1.50"), "f": 0.5}, {"n": str(2**70), "d": "1.50", "f": "0.5"}),
        ({"on": dt.date(2026, 1, 2), "id": uuid.UUID(int=7)}, {"on": "2026-01-02", "id": str(uuid.UUID(int=7))}),
        ({"may": Permission.VIEW_AUDIT}, {"may": "view_audit"}),
        ({"t": "a\x00b\ud800", "\x00": 1}, {"t": "a�b�", "�": 1}),
        ({"t": "x" * 1500}, {"t": "x" * 1000 + "… (1500 characters)"}),
        ({"t": "x" * 950 + f" {OURS} " + "y" * 300}, {"t": "x" * 950 + f" ***{OURS[-4:]} " + "y" * 29 + "… (1271 characters)"}),
        (Card(card_number=CARD, holder="Ada"), {"card_number": "***1119", "holder": "Ada"}),
        ({"file": UploadFile(file=None, filename="kyc.pdf", size=9)}, {"file": {"size": 9, "content_type": None}}),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_secrets_are_hidden_and_the_rest_is_told(value: object, masked: object) -> None:
    assert mask(value) == masked


def test_of_an_input_only_what_was_sent_is_told() -> None:
    sent = UpdateProductVariant.model_validate({"id": 1, "name": {"fr": "Grand", "de": None}, "stock": None})
    assert mask(sent) == {"id": 1, "name": {"fr": "Grand", "de": None}, "stock": None}
    assert mask({"name": strawberry.Some(None)}) == {"name": None}


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals() | st.datetimes()
)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)
SECRETS = st.sampled_from([new_secret(), OURS, OURS.replace("-", ""), IBAN.replace(" ", "")])
NAMES = st.sampled_from(["password", "code", "voucherCode", "token", "apiKey", "iban", "comment", "x", "items"])


@given(ANYTHING)
async def test_whatever_is_sent_becomes_data_that_can_be_stored(anything: Any) -> None:
    written = orjson.dumps(mask({"anything": anything}))
    assert b"\\u0000" not in written


@given(SECRETS, st.lists(NAMES, min_size=1, max_size=5), st.booleans())
def test_no_secret_is_left_at_any_depth(secret: str, path: list[str], listed: bool) -> None:
    value: Any = secret
    for name in path:
        value = {name: [value] if listed else value}
    assert secret not in orjson.dumps(mask(value)).decode()


async def test_what_is_left_is_taken_by_the_database(database: Database) -> None:
    nasty = mask({"a\x00": "\ud800\x00\\u0000", "n": 2**80, "f": float("nan"), "z": Decimal("sNaN")})
    ((kept,),) = await database.rows(text("SELECT CAST(:it AS jsonb)"), {"it": orjson.dumps(nasty).decode()})
    assert kept == nasty


def test_what_begins_another_secret_is_hidden_with_it() -> None:
    code = "YXGF-43E6-P4HH-ES52"  # whose end, with the words after it, has the check digits of an account number
    kept = mask({"comment": f"{code} and {code.lower().replace('-', ' ')}"})["comment"]
    assert not {"YXGF", "43E6", "P4HH"} & set(re.split(r"[ -]", kept.upper()))


@pytest.mark.parametrize(
    "secret", [OURS, IBAN, f"Token {'x' * 40}", new_secret()], ids=["code", "iban", "header", "token"]
)
@pytest.mark.parametrize("before", range(380, 501, 7))
def test_a_secret_across_the_cut_is_not_half_visible(secret: str, before: int) -> None:
    left = mask_start("y" * before + f" {secret} " + "z" * 900, 500)
    assert len(left) <= 501
    assert secret[8:16] not in left
