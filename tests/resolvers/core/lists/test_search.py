"""What is searched for is found whatever the case and the accents, on both sides alike."""

import pathlib
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from store.database.text_search import MIN_TERM_LENGTH, _has_trigrams
from tests.fixtures.tenants import Tenants, open_tenants
from tests.fixtures.voucher import sell, voucher_of
from tests.store.migrations.revisions import at

ALIKE = {
    "Zoë": "zoe",
    "Straße": "STRASSE",
    "GROẞ": "gross",
    "Łódź": "lodz",
    "Ærø": "aero",
    "Œuvre": "oeuvre",
    "Crème brûlée à la française": "creme brulee a la francaise",
    "Þórður": "thordur",
    "İstanbul ışık": "istanbul isik",
    "Nguyễn": "nguyen",
    "ЁЛКА": "елка",
    "Ἀθῆναι": "αθηναι",
    "がんばる": "がんばる",
    "한국": "한국",
    "100%_\\": "100%_\\",
}


async def test_a_text_is_searched_without_case_and_accents(tenants: Tenants) -> None:
    for text, plain in ALIKE.items():
        for form in ("NFC", "NFD"):
            asked = unicodedata.normalize(form, text)
            assert await tenants.one("SELECT search_text(:text)", text=asked) == plain.lower(), (text, form)
    assert await tenants.one("SELECT search_text(NULL)") is None


@given(st.text(max_size=6))
@example("e\u0301e\u0301")
def test_a_term_is_looked_for_along_the_index_only_where_it_has_trigrams(term: str) -> None:
    """What has no trigrams would be found on every page of the index."""
    plain = "".join(c for c in unicodedata.normalize("NFD", term) if not "\u0300" <= c <= "\u036f")
    lengths = [len(line) for line in unicodedata.normalize("NFC", plain).split("\n")]
    assert _has_trigrams(term) is (max(lengths) >= MIN_TERM_LENGTH)


@pytest.mark.parametrize("term", ["zoe", "ZOË", "ZOE", "Zoe\u0308", "oe m", "strasse", "straße", "müll", "mull", "oë"])
async def test_people_are_found_however_their_name_is_written(
    database_url: str, tmp_path: pathlib.Path, term: str
) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        row = voucher_of(await sell(tenants, "a1"))
        row.gifter_first_name, row.gifter_last_name, row.giftee_last_name = "Zoë", "Müller-Straße", "Bøe"
        await tenants.add(row)
        query = "query ($filter: VoucherFilter!) { vouchers(filter: $filter) { totalCount nodes { id } } }"
        for name, sought, count in (
            ("gifter", term, 1),
            ("giftee", "boe", 1),
            ("gifter", "zoa", 0),
            ("giftee", "b_e", 0),
            ("gifter", "\u0301", 0),
            ("gifter", "\u0301\u0308\u0301", 0),
        ):
            found = (await tenants.graphql("a1", query, filter={name: sought}))["data"]["vouchers"]
            assert (found["totalCount"], len(found["nodes"])) == (count, count), sought


async def test_every_text_filter_leaves_case_and_accents_aside(tenants: Tenants) -> None:
    await tenants.execute("UPDATE partner SET commercial_name = 'Café Zoë' WHERE source_id = 'a1'")
    await tenants.execute("""UPDATE voucher_option SET name = '{"de": "Große Flasche"}'""")
    for who, query in (
        ("market a", """{ partners(filter: { nameContains: "CAFE zoé" }) { totalCount } }"""),
        ("a1", """{ voucherOptions(filter: { nameContains: "grosse FLÄsche" }) { totalCount } }"""),
    ):
        (found,) = (await tenants.graphql(who, query))["data"].values()
        assert found == {"totalCount": 1}, query
    none = """{ partners(filter: { nameContains: "caf_" }) { totalCount } }"""
    assert (await tenants.graphql("market a", none))["data"]["partners"] == {"totalCount": 0}


async def test_what_stood_before_is_found_after_the_migration(tenants: Tenants) -> None:
    row = voucher_of(await sell(tenants, "a1"))
    row.gifter_first_name, row.gifter_last_name, row.gifter_email = "Zoë", "Straße", "zoe@mail.example"
    await tenants.add(row)
    kept = "SELECT gifter_text FROM voucher"
    index = "SELECT indexdef FROM pg_indexes WHERE indexname = 'voucher_search_idx'"
    before, indexed = await tenants.one(kept), await tenants.one(index)
    await at(tenants.services.db, "0017", down=True)
    assert await tenants.one(kept) == "zoë straße\nzoe@mail.example"
    await at(tenants.services.db, "head")
    assert (await tenants.one(kept), await tenants.one(index)) == (before, indexed)
    assert before == "zoe strasse\nzoe@mail.example"
