"""Documented filters and orders of lists of vouchers, and what a plain filter gives of some rows."""

import datetime as dt
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from store.core.clock import clock
from store.voucher.vouchers import VoucherRow

# ---- lists


START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
"""When the first of the vouchers was made."""


def _texts(row: VoucherRow) -> dict[str, list[str]]:
    """What is searched of a voucher, by the documented name of the parameter."""
    return {
        "voucher_prototype_name": [text for text in row.prototype_name.model_dump().values() if text],
        "gifter": [f"{row.gifter_first_name} {row.gifter_last_name}", row.gifter_email],
        "giftee": [f"{row.giftee_first_name or ''} {row.giftee_last_name or ''}", row.giftee_email or ""],
        "origin_url": [row.origin],
    }


LETTERS = str.maketrans({**dict(zip("øłđðħŧı", "olddhti", strict=True)), "ß": "ss", "æ": "ae", "œ": "oe", "þ": "th"})


def searched(text: str) -> str:
    """A text without case and accents."""
    bare = "".join(letter for letter in unicodedata.normalize("NFD", text) if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare).lower().translate(LETTERS)


def plainly(rows: Sequence[VoucherRow], asked: Mapping[str, Any]) -> list[VoucherRow]:
    """What a plain filter gives."""

    def passes(row: VoucherRow) -> bool:
        found = all(
            any(searched(asked[name]) in searched(text) for text in texts)
            for name, texts in _texts(row).items()
            if name in asked
        )
        since, until = (
            asked.get("creation_date__gte", START - dt.timedelta(1)),
            asked.get("creation_date__lte", clock.now()),
        )
        return (
            found
            and asked.get("code", row.code) == row.code
            and since <= row.created_on <= max(until, since if "creation_date__lte" not in asked else until)
            and asked.get("state", row.state) == row.state
        )

    return [row for row in rows if passes(row)]


def ordered(rows: Sequence[VoucherRow], by: str) -> list[int]:
    """The ids of rows by a column, `-` for the latest first; what never ends ends last."""
    column = by.lstrip("-")
    latest = dt.datetime.max.replace(tzinfo=dt.UTC)
    return [
        row.id
        for row in sorted(rows, key=lambda row: (getattr(row, column) or latest, row.id), reverse=by.startswith("-"))
    ]


TERMS = ["a", "é", "la", "lac", "LAKE", "für", "100%", "_", "%", "\\", "o'n", "van d", "e martin", "mail.example", "buyer7@", "zzz", "", "nights above the lake", "counter", "EXAMPLE/X"]  # fmt: skip
REST_ORDERS = {"creation_date": "created_on", "expiration_date": "expires_on"}
ORDERS = {"NEWEST": "-created_on", "OLDEST": "created_on", "ENDING": "expires_on", "ENDING_DESCENDING": "-expires_on"}
FIELDS = {
    "code": "code",
    "voucher_prototype_name": "prototypeName",
    "gifter": "gifter",
    "giftee": "giftee",
    "origin_url": "origin",
    "creation_date__gte": "createdFrom",
    "creation_date__lte": "createdUntil",
    "state": "state",
}


@st.composite
def filters(draw: Callable[[Any], Any]) -> dict[str, Any]:
    """Some of the documented parameters."""
    texts = ["voucher_prototype_name", "gifter", "giftee", "origin_url"]
    asked: dict[str, Any] = draw(
        st.dictionaries(st.sampled_from(texts), st.sampled_from(TERMS[:-4] + TERMS[-3:]), max_size=2)
    )
    asked = {name: term for name, term in asked.items() if term}
    moments = st.integers(0, 70).map(lambda hours: START + dt.timedelta(hours=hours))
    for bound in ("creation_date__gte", "creation_date__lte"):
        if draw(st.integers(0, 3)) == 0:
            asked[bound] = draw(moments)
    return asked


WHO = st.sampled_from(["a1", "a1", "a2", "market a", "master"])
