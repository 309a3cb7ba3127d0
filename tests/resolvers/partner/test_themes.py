"""The theme of a partner and of a marketplace, and the start page of a shop: what is kept, and what is refused."""

from typing import Any

from resolvers.media.media import archive_media
from resolvers.partner.marketplaces import update_marketplace
from resolvers.partner.partners import update_partner
from schema.theme import CornerRadius, HeadingFont
from tests.changes import Transport
from tests.fixtures.tenants import Tenants
from tests.resolvers.partner.test_looks import picture

THEME: dict[str, Any] = {"heading_font": HeadingFont.JOST, "corner_radius": CornerRadius.NONE, "page_tint": " #FBF6EF "}
KEPT = {"heading_font": "jost", "corner_radius": "none", "page_tint": "#fbf6ef"}
PLAIN = {"heading_font": "fraunces", "corner_radius": "medium", "page_tint": ""}
SHOWN = "theme { headingFont cornerRadius pageTint } startPage { heroPictureUrl headline { en fr } }"
WRONG_THEMES: list[tuple[dict[str, Any], str]] = [
    ({"page_tint": "cream"}, "theme.page_tint"),
    ({"page_tint": "#fff"}, "theme.page_tint"),
    ({"page_tint": "#777777"}, "theme.page_tint"),
    ({"page_tint": "#101010"}, "theme.page_tint"),
    ({"page_tint": "#d8d8d8"}, "theme.page_tint"),
]


async def test_a_partner_has_a_theme_and_a_start_page(tenants: Tenants, ask: Transport) -> None:
    one, hero = tenants.partners["a1"], await picture(tenants, "a1")
    uuid, path = str(one.uuid), f"/media/{hero.uuid}/cover.webp"
    row = await tenants.row("partner", one.id)
    assert {name: row[name] for name in PLAIN} == PLAIN
    start_page = {"hero_picture_url": f"https://shop.example{path}", "headline": {"en": " A gift ", "fr": "Un cadeau"}}
    refused = await ask.change("market a", update_partner, uuid=uuid, theme=THEME, start_page=start_page)
    assert {at for at, _ in refused.wrong} == {"start_page.hero_picture_url"}, "it is on another host"
    start_page["hero_picture_url"] = path
    assert (await ask.change("market a", update_partner, uuid=uuid, theme=THEME, start_page=start_page)).done
    row = await tenants.row("partner", one.id)
    assert {name: row[name] for name in KEPT} == KEPT
    body = await tenants.graphql("a1", f"query ($uuid: UUID!) {{ partner(uuid: $uuid) {{ {SHOWN} }} }}", uuid=uuid)
    assert body["data"]["partner"] == {
        "theme": {"headingFont": "JOST", "cornerRadius": "NONE", "pageTint": "#fbf6ef"},
        "startPage": {"heroPictureUrl": path, "headline": {"en": "A gift", "fr": "Un cadeau"}},
    }
    assert (await ask.change("a1", archive_media, id=hero.id)).wrong == {("", "MEDIA_IN_USE")}
    changes: dict[str, Any] = {
        "theme": {"page_tint": ""},
        "start_page": {"hero_picture_url": "", "headline": {"fr": None}},
    }
    assert (await ask.change("market a", update_partner, uuid=uuid, **changes)).done
    row = await tenants.row("partner", one.id)
    assert {name: row[name] for name in KEPT} == KEPT | {"page_tint": ""}, "what is left out stays"
    assert (row["hero_picture_url"], row["headline"]) == ("", {"en": "A gift"})
    assert (await ask.change("a1", archive_media, id=hero.id)).done


async def test_what_cannot_be_read_or_shown_changes_nothing(tenants: Tenants, ask: Transport) -> None:
    foreign = await picture(tenants, "a2")
    uuid, before = str(tenants.partners["a1"].uuid), await tenants.snapshot()
    wrong: list[tuple[dict[str, Any], str]] = [
        *(({"theme": THEME | theme}, at) for theme, at in WRONG_THEMES),
        ({"start_page": {"headline": {"fr": "x" * 81}}}, "start_page.headline.fr"),
        ({"start_page": {"hero_picture_url": f"/media/{foreign.uuid}/cover.webp"}}, "start_page.hero_picture_url"),
        ({"start_page": {"hero_picture_url": "hero.png"}}, "start_page.hero_picture_url"),
    ]
    for sent, at in wrong:
        outcome = await ask.change("market a", update_partner, uuid=uuid, name="Other", **sent)
        assert {found for found, _ in outcome.wrong} == {at}, sent
    both = {"theme": {"page_tint": "#333333"}, "start_page": {"hero_picture_url": f"/media/{foreign.uuid}/card.webp"}}
    outcome = await ask.change("market a", update_partner, uuid=uuid, **both)
    assert {found for found, _ in outcome.wrong} == {"theme.page_tint", "start_page.hero_picture_url"}
    assert (await ask.change("a1", update_partner, uuid=uuid, theme=THEME)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change("market b", update_partner, uuid=uuid, theme=THEME)).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before


async def test_a_marketplace_has_a_theme(tenants: Tenants, ask: Transport) -> None:
    id = tenants.partners["a1"].marketplace_id
    before = await tenants.snapshot()
    for theme, at in WRONG_THEMES:
        outcome = await ask.change("market a", update_marketplace, id=id, theme=THEME | theme)
        assert {found for found, _ in outcome.wrong} == {at}, theme
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", update_marketplace, id=id, theme=THEME)).done
    row = await tenants.row("marketplace", id)
    assert {name: row[name] for name in KEPT} == KEPT
