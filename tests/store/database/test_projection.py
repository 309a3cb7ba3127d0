"""Wanted fields, compiled: the same answer from rows and from objects, nulls and relations included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from schema.core.field_source import Relation
from store.database.projection import Projection, enum_names_of
from store.database.projection_fields import (
    CannotCompile,
    ConstantField,
    CursorField,
    ListField,
    LoadSource,
    MissingValue,
    ObjectField,
    RelationField,
    ScalarField,
    SelectedField,
)
from tests.example_cards import CardStatus, Issuer, Use

ISSUER = Relation(Issuer, "issuer_id")
USES = Relation(Use, "card_id", many=True)


@dataclass
class Loads:
    """Answers loads out of a table of rows by relation, and counts them."""

    rows: Mapping[LoadSource, Mapping[Any, Any]]
    asked: list[tuple[LoadSource, list[Any], Any]] = field(default_factory=list)

    async def level(self, link: LoadSource, keys: Sequence[Any], columns: Sequence[str] | None) -> Mapping[Any, Any]:
        self.asked.append((link, list(keys), columns))
        return {key: self.rows[link][key] for key in keys if key in self.rows[link]}


async def nothing(*_: Any) -> Mapping[Any, Any]:
    raise AssertionError("nothing is to be loaded")


async def render_rows(fields: Sequence[SelectedField], rows: Sequence[Any], **options: Any) -> list[Any]:
    """What is written of rows, and the same of objects with the columns as attributes."""
    projection = Projection(fields)
    assert projection.rows is not None
    assert projection.objects is not None
    objects = [
        SimpleNamespace(**{"id": row[1]} | dict(zip(projection.rows.columns, row[2:], strict=True))) for row in rows
    ]
    from_rows = await projection.render(rows, options.get("load", nothing), columns=True)
    if "load" not in options:
        assert await projection.render(objects, nothing) == from_rows
    return from_rows


async def test_leaves() -> None:
    wanted: list[SelectedField] = [
        ConstantField("__typename", "Card"),
        ScalarField("a", "code"),
        ScalarField("b", "rate", str),
        ScalarField("c", "status", enum_names_of(CardStatus)),
    ]
    rows = [(1, 1, "X", 1.5, "a"), (2, 2, None, None, CardStatus.BLOCKED)]
    assert await render_rows(wanted, rows) == [
        {"__typename": "Card", "a": "X", "b": "1.5", "c": "ACTIVE"},
        {"__typename": "Card", "a": None, "b": None, "c": "BLOCKED"},
    ]


async def test_a_column_is_selected_once() -> None:
    projection = Projection(
        [
            ScalarField("a", "code"),
            ScalarField("b", "code", str.lower),
            ObjectField("c", None, (ScalarField("d", "code"),)),
        ]
    )
    assert projection.rows is not None
    assert projection.rows.columns == ["code"]
    assert await projection.render([(1, 1, "X")], nothing, columns=True) == [{"a": "X", "b": "x", "c": {"d": "X"}}]


async def test_what_must_be_there() -> None:
    for wanted in (ScalarField("a", "code", required=True), ScalarField("a", "code", str, required=True)):
        with pytest.raises(MissingValue, match="a"):
            await render_rows([wanted], [(1, 1, None)])


async def test_paths_within_structured_values() -> None:
    wanted: list[SelectedField] = [
        ScalarField("en", "title.en"),
        ObjectField("title", "title", (ScalarField("fr", "fr"), ScalarField("it", "it"))),
    ]
    rows = [(1, 1, {"en": "Gift", "fr": "Cadeau"}), (2, 2, None)]
    projection = Projection(wanted)
    from_rows = await projection.render(rows, nothing, columns=True)
    assert from_rows == [{"en": "Gift", "title": {"fr": "Cadeau", "it": None}}, {"en": None, "title": None}]
    texts = [SimpleNamespace(title=SimpleNamespace(en="Gift", fr="Cadeau", it=None)), SimpleNamespace(title=None)]
    assert await projection.render(texts, nothing) == from_rows


async def test_embedded_columns_are_absent_together() -> None:
    money = (ScalarField("amount", "balance", str), ScalarField("currency", "currency"))
    rows = [(1, 1, 5, "EUR"), (2, 2, None, "EUR")]
    assert await render_rows([ObjectField("m", None, money, presence="balance")], rows) == [
        {"m": {"amount": "5", "currency": "EUR"}},
        {"m": None},
    ]
    with pytest.raises(MissingValue):
        await render_rows([ObjectField("m", None, money, required=True, presence="balance")], rows)


async def test_only_objects_have_methods_properties_and_lists() -> None:
    kinds: list[SelectedField] = [
        ScalarField("a", "shout()"),
        ScalarField("a", "shout", in_rows=False),
        ObjectField("a", "inner", (ScalarField("b", "b"),), in_rows=False),
        ListField("a", "items", (ScalarField("b", "b"),)),
    ]
    for wanted in kinds:
        projection = Projection([wanted])
        assert projection.rows is None
        with pytest.raises(CannotCompile):
            await projection.render([], nothing, columns=True)
    items = [SimpleNamespace(b=1), SimpleNamespace(b=2)]
    each = Projection([ListField("a", "items", (ScalarField("b", "b"),)), ScalarField("c", "shout()")])
    thing = SimpleNamespace(items=items, shout=lambda: "HI")
    assert await each.render([thing], nothing) == [{"a": [{"b": 1}, {"b": 2}], "c": "HI"}]
    with pytest.raises(MissingValue):
        await each.render([SimpleNamespace(items=[None], shout=str)], nothing)


async def test_rows_have_lists_that_are_kept_as_json() -> None:
    each = Projection([ListField("a", "items", (ScalarField("b", "b"), ScalarField("c", "d.e", str)), in_rows=True)])
    rows = [(1, 1, [{"b": 1, "d": {"e": 5}}, {"b": 2, "d": None}]), (2, 2, []), (3, 3, None)]
    assert await each.render(rows, nothing, columns=True) == [
        {"a": [{"b": 1, "c": "5"}, {"b": 2, "c": None}]},
        {"a": []},
        {"a": None},
    ]


async def test_stored_values_are_written_their_own_way() -> None:
    projection = Projection([ScalarField("a", "code", str.upper, serialize_stored=None)])
    assert await projection.render([(1, 1, "x")], nothing, columns=True) == [{"a": "x"}]
    assert await projection.render([SimpleNamespace(code="x")], nothing) == [{"a": "X"}]


async def test_cursors_and_bare_values() -> None:
    projection = Projection([CursorField("at"), ScalarField("id", "id")])
    rows = [("k", 7, 7)]
    assert await projection.render(rows, nothing, columns=True, cursor=lambda by, key: f"{by}{key}") == [
        {"at": "k7", "id": 7}
    ]
    assert await Projection([ScalarField("a", "code")], bare=True).render([(1, 1, "x")], nothing, columns=True) == ["x"]


async def test_one_load_for_a_whole_level() -> None:
    slug = Projection([ScalarField("slug", "slug")])
    uses = Projection([ScalarField("label", "label"), RelationField("issuer", ISSUER, slug)])
    loads = Loads(
        {
            ISSUER: {1: (1, 1, "one"), 2: (2, 2, "two")},
            USES: {10: [(10, 1, "a", 1), (10, 2, "b", 2)], 11: [(11, 3, "c", 1)]},
        }
    )
    wanted: list[SelectedField] = [
        ScalarField("code", "code"),
        ObjectField("at", None, (RelationField("issuer", ISSUER, slug),)),
        RelationField("uses", USES, uses),
    ]
    rows = [(0, 10, "X", 1, 10), (0, 11, "Y", None, 11), (0, 12, "Z", 9, 12)]
    assert await render_rows(wanted, rows, load=loads.level) == [
        {
            "code": "X",
            "at": {"issuer": {"slug": "one"}},
            "uses": [{"label": "a", "issuer": {"slug": "one"}}, {"label": "b", "issuer": {"slug": "two"}}],
        },
        {"code": "Y", "at": {"issuer": None}, "uses": [{"label": "c", "issuer": {"slug": "one"}}]},
        {"code": "Z", "at": {"issuer": None}, "uses": []},
    ]
    assert [(link, columns) for link, _, columns in loads.asked] == [
        (ISSUER, ["slug"]),
        (USES, ["label", "issuer_id"]),
        (ISSUER, ["slug"]),
    ]


async def test_what_is_wanted_twice_through_one_relation_is_loaded_once() -> None:
    """From rows each takes its columns out of what was loaded for all; related objects have everything."""
    wanted: list[SelectedField] = [
        RelationField(
            "name", ISSUER, Projection([ScalarField("name", "slug"), ScalarField("id", "id")]), merge_keys=True
        ),
        ObjectField(
            "at",
            None,
            (RelationField("issuer", ISSUER, Projection([ScalarField("tag", "tag"), ScalarField("slug", "slug")])),),
        ),
        RelationField("labels", USES, Projection([ScalarField("label", "label")], bare=True)),
        RelationField("uses", USES, Projection([ScalarField("count", "count")])),
    ]
    answer = [
        {
            "name": "one",
            "id": 1,
            "at": {"issuer": {"tag": "t", "slug": "one"}},
            "labels": ["a", "b"],
            "uses": [{"count": 3}, {"count": 4}],
        }
    ]
    from_rows = Loads({ISSUER: {1: (1, 1, "one", 1, "t")}, USES: {10: [(10, 1, "a", 3), (10, 2, "b", 4)]}})
    assert await Projection(wanted).render([(0, 10, 1, 10)], from_rows.level, columns=True) == answer
    assert [(link, columns) for link, _, columns in from_rows.asked] == [
        (ISSUER, ["slug", "id", "tag"]),
        (USES, ["label", "count"]),
    ]
    only_objects: list[SelectedField] = [
        *wanted,
        RelationField("shown", ISSUER, Projection([ScalarField("shown", "shown()")])),
    ]
    issuer = SimpleNamespace(slug="one", id=1, tag="t", shown=lambda: "One")
    both = Loads({ISSUER: {1: issuer}, USES: {10: []}})
    seen: list[Any] = []

    async def load(link: LoadSource, keys: Sequence[Any], columns: Sequence[str] | None) -> Mapping[Any, Any]:
        seen.append((link, columns))
        return await (both if columns is None else from_rows).level(link, keys, columns)

    shown = [{**answer[0], "shown": {"shown": "One"}}]
    assert await Projection(only_objects).render([SimpleNamespace(id=10, issuer_id=1)], load) == shown
    assert seen == [(ISSUER, ["slug", "id", "tag"]), (USES, ["label", "count"]), (ISSUER, None)]


async def test_a_required_relation_must_be_there() -> None:
    loads = Loads({ISSUER: {}})
    with pytest.raises(MissingValue, match="issuer"):
        await Projection(
            [RelationField("issuer", ISSUER, Projection([ScalarField("slug", "slug")]), required=True)]
        ).render([(0, 1, 5)], loads.level, columns=True)


async def test_a_relation_spread_among_our_keys() -> None:
    loads = Loads({ISSUER: {1: (1, 1, "one")}})
    inner = Projection([ScalarField("issuer_slug", "slug")])
    wanted: list[SelectedField] = [
        ConstantField("issuer_slug", None),
        ScalarField("code", "code"),
        RelationField("issuer", ISSUER, inner, merge_keys=True),
    ]
    found = await render_rows(wanted, [(0, 1, "X", 1), (0, 2, "Y", None)], load=loads.level)
    assert [row["issuer_slug"] for row in found] == ["one", None]


async def test_relations_of_an_object_within_another() -> None:
    loads = Loads({ISSUER: {1: (1, 1, "one")}})
    link = RelationField("issuer", ISSUER, Projection([ScalarField("slug", "slug")]))
    projection = Projection([ObjectField("card", "card", (ScalarField("code", "code"), link))])
    payloads = [SimpleNamespace(card=SimpleNamespace(code="X", issuer_id=1)), SimpleNamespace(card=None)]
    assert await projection.render(payloads, loads.level) == [
        {"card": {"code": "X", "issuer": {"slug": "one"}}},
        {"card": None},
    ]


async def test_relations_of_the_objects_of_all_lists_are_one_level() -> None:
    loads = Loads({ISSUER: {1: (1, 1, "one"), 2: (2, 2, "two")}})
    link = RelationField("issuer", ISSUER, Projection([ScalarField("slug", "slug")]))
    cards = ListField("cards", "cards", (ScalarField("code", "code"), link))
    projection = Projection([ObjectField("wallet", "wallet", (ScalarField("name", "name"), cards))])
    assert projection.rows is None

    def wallet(*cards: tuple[str, int] | None) -> Any:
        held = [card and SimpleNamespace(code=card[0], issuer_id=card[1]) for card in cards]
        return SimpleNamespace(wallet=SimpleNamespace(name="W", cards=held))

    nothing = SimpleNamespace(wallet=SimpleNamespace(name="W", cards=None))
    wallets = [wallet(("X", 1), ("Y", 2)), SimpleNamespace(wallet=None), wallet(), nothing, wallet(("Z", 1))]
    one, two = {"issuer": {"slug": "one"}}, {"issuer": {"slug": "two"}}
    assert await projection.render(wallets, loads.level) == [
        {"wallet": {"name": "W", "cards": [{"code": "X", **one}, {"code": "Y", **two}]}},
        {"wallet": None},
        {"wallet": {"name": "W", "cards": []}},
        {"wallet": {"name": "W", "cards": None}},
        {"wallet": {"name": "W", "cards": [{"code": "Z", **one}]}},
    ]
    assert len(loads.asked) == 1
    with pytest.raises(MissingValue):
        await projection.render([wallet(("X", 1), None)], loads.level)
    with pytest.raises(MissingValue):
        await Projection([replace(cards, path="wallet.cards", required=True)]).render([nothing], loads.level)


async def test_a_relation_within_an_owner_finds_its_own_rows_only() -> None:
    within = Relation(None, by="issuer_id", scope_column="partner_id")
    link = RelationField("issuer", within, Projection([ScalarField("slug", "slug")]))
    loads = Loads({within: {(7, 1): (1, 1, "one")}})
    rows = [SimpleNamespace(partner_id=partner, issuer_id=id) for partner, id in ((7, 1), (8, 1), (7, None))]
    found = await Projection([link]).render(rows, loads.level)
    assert found == [{"issuer": {"slug": "one"}}, {"issuer": None}, {"issuer": None}]
    assert loads.asked[0][1] == [(7, 1), (8, 1), None]


async def test_keys_are_only_ever_text() -> None:
    key = "'] + __import__('os').getcwd() #\"\\"
    assert await render_rows([ScalarField(key, "code")], [(1, 1, "x")]) == [{key: "x"}]
