"""How a partner looks and speaks, where its customers go back to, and its network's words for it: who sets them, and what cannot be."""

import json
from typing import Any

from resolvers.media.media import archive_media
from resolvers.partner.partners import create_partner, update_partner
from store.media.media import MediaRow
from tests.changes import Transport
from tests.fixtures.tenants import Tenants
from tests.resolvers.partner.test_partners import LEAST

LOOK_INPUT: dict[str, Any] = {
    "accent_colour": " #FFE000 ",
    "language": "de",
    "return_hosts": ["Shop.Example", "café.example:8443", "shop.example"],
    "return_with_order_number": True,
    "tags": ["spa", "Alps", "  south  ", "spa"],
}
STORED_LOOK: dict[str, Any] = {
    "accent_colour": "#ffe000",
    "language": "de",
    "return_hosts": ["shop.example", "xn--caf-dma.example:8443"],
    "return_with_order_number": True,
    "tags": ["Alps", "south", "spa"],
}
SHOWN = "{ accentColour language returnHosts returnWithOrderNumber tags logoUrl }"


async def read_look(tenants: Tenants, id: int) -> dict[str, Any]:
    """What is kept of a partner."""
    row = await tenants.row("partner", id)
    return {name: row[name] for name in STORED_LOOK}


async def picture(tenants: Tenants, name: str) -> MediaRow:
    """A picture of a partner."""
    values: dict[str, Any] = {"content_type": "image/webp", "size": 1, "width": 1, "height": 1, "digest": "0" * 64}
    row: MediaRow = await tenants.add(MediaRow(partner_id=tenants.partners[name].id, name="Logo", **values))
    return row


async def test_they_are_set_when_it_is_made_and_later(tenants: Tenants, ask: Transport) -> None:
    assert (await ask.change("market a", create_partner, **LEAST)).done
    made = await tenants.newest("partner")
    plain = {
        "accent_colour": "#1f4e5f",
        "language": "en",
        "return_with_order_number": False,
        "return_hosts": [],
        "tags": [],
    }
    assert {name: made[name] for name in plain} == plain
    assert (await ask.change("market a", create_partner, **{**LEAST, "short_name": "b"}, **LOOK_INPUT)).done
    assert await read_look(tenants, (await tenants.newest("partner"))["id"]) == STORED_LOOK
    one, logo = tenants.partners["a1"], await picture(tenants, "a1")
    assert (await tenants.context("a1")).required_caller.return_hosts == ()
    path = f"/media/{logo.uuid}/card.webp"
    assert (await ask.change("market a", update_partner, uuid=str(one.uuid), logo_url=path, **LOOK_INPUT)).done
    assert await read_look(tenants, one.id) == STORED_LOOK
    assert (await tenants.context("a1")).required_caller.return_hosts == tuple(STORED_LOOK["return_hosts"]), (
        "carts are checked by them at once"
    )
    body = await tenants.graphql("a1", f"query ($uuid: UUID!) {{ partner(uuid: $uuid) {SHOWN} }}", uuid=one.uuid)
    assert body["data"]["partner"] == {
        "accentColour": "#ffe000",
        "language": "de",
        "returnHosts": STORED_LOOK["return_hosts"],
        "returnWithOrderNumber": True,
        "tags": STORED_LOOK["tags"],
        "logoUrl": path,
    }
    assert (await ask.change("a1", archive_media, id=logo.id)).wrong == {("", "MEDIA_IN_USE")}
    cleared = {"return_hosts": [], "tags": [], "logo_url": ""}
    assert (await ask.change("market a", update_partner, uuid=str(one.uuid), **cleared)).done
    row = await tenants.row("partner", one.id)
    assert {name: row[name] for name in cleared} == cleared
    assert row["accent_colour"] == "#ffe000", "what is left out stays"
    assert (await ask.change("a1", archive_media, id=logo.id)).done


async def test_what_they_cannot_be_changes_nothing(tenants: Tenants, ask: Transport) -> None:
    foreign = await picture(tenants, "a2")
    wrong: list[tuple[dict[str, Any], str]] = [
        *(
            ({"accent_colour": colour}, "accent_colour")
            for colour in ("", "red", "#fff", "#12345g", "1f4e5f", "#1f4e5f00")
        ),
        *(({"language": language}, "language") for language in ("", "xx", "EN", "english")),
        ({"tags": ["x" * 61]}, "tags.0"),
        ({"tags": ["spa", " "]}, "tags.1"),
        ({"tags": [str(n) for n in range(101)]}, "tags"),
        ({"return_hosts": ["shop.example", "https://shop.example"]}, "return_hosts.1"),
        ({"return_hosts": ["shop.example/a"]}, "return_hosts.0"),
        ({"return_hosts": [""]}, "return_hosts.0"),
        ({"return_hosts": [f"{n}.example" for n in range(51)]}, "return_hosts"),
    ]
    logos = (
        "logo.png",
        "https://shop.example/logo.png",
        f"/media/{foreign.uuid}/card.webp",
        f"/media/{foreign.uuid}/x",
    )
    uuid, before = str(tenants.partners["a1"].uuid), await tenants.snapshot()
    for sent, field in [*wrong, *(({"logo_url": logo}, "logo_url") for logo in logos)]:
        outcome = await ask.change("market a", update_partner, uuid=uuid, name="Other", **sent)
        assert {at for at, _ in outcome.wrong} == {field}, sent
    for sent, field in wrong:
        outcome = await ask.change("market a", create_partner, **LEAST, **sent)
        assert {at for at, _ in outcome.wrong} == {field}, sent
    assert (await ask.change("a1", update_partner, uuid=uuid, **LOOK_INPUT)).wrong == {("", "FORBIDDEN")}
    assert (await ask.change("market b", update_partner, uuid=uuid, **LOOK_INPUT)).wrong == {("", "NOT_FOUND")}
    assert await tenants.snapshot() == before


async def test_rest_has_no_keys_for_them(tenants: Tenants) -> None:
    one, headers = tenants.partners["a1"], {"Authorization": f"Token {tenants.tokens['market a']}"}
    logo, before = await picture(tenants, "a1"), await read_look(tenants, one.id)
    sent = {**LOOK_INPUT, "logo_url": f"/media/{logo.uuid}/card.webp", "hide_from_stats": True}
    address = f"/api/payment_hub/partner/{one.uuid}/"
    answer = await tenants.client.patch(address, content=json.dumps(sent), headers=headers)
    assert (answer.status_code, answer.json()["hide_from_stats"]) == (200, True)
    assert (await read_look(tenants, one.id), (await tenants.row("partner", one.id))["logo_url"]) == (before, "")
    known = {"status": "a", "commercial_name": "La Tisane", "short_name": "Tisane", "agency_email": "b@tisane.example"}
    new = {**known, "legal_representative_email": "ada@tisane.example", **LOOK_INPUT, "tags": 7, "language": "xx"}
    answer = await tenants.client.post("/api/payment_hub/partner/create/", content=json.dumps(new), headers=headers)
    assert answer.status_code == 201, answer.text
    made = await tenants.newest("partner")
    assert (made["tags"], made["language"], made["return_hosts"]) == ([], "en", [])
