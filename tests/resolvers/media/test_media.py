"""Pictures: filters, addresses, what puts them away, who may use them, and files that no row claims."""

import asyncio
import os
import pathlib
import time
from collections.abc import Awaitable
from typing import Any

import pytest

from resolvers.media.media import archive_media, create_media, media, media_by_id, update_media
from resolvers.media.sweep import sweep_media
from schema.core.errors import InvalidInput, MediaInUse, Unavailable
from schema.media import ArchiveMedia, CreateMedia, MediaSize, UpdateMedia
from store.catalogue.catalogue import PrototypeImageRow
from store.media.media import MediaRow, media_key_of, media_path_of, parse_media_path
from tests.behaviours.test_media import new_prototype
from tests.fixtures.kyc import upload
from tests.fixtures.media import drawn, files_of
from tests.fixtures.tenants import Tenants
from tests.statements import executed, fetched

WEEK = 7 * 86_400


async def uploaded(tenants: Tenants, who: str = "a1", name: str = "Terrace") -> MediaRow:
    """A picture of a partner."""
    made = await create_media(await tenants.context(who), CreateMedia(name=name, file=upload(drawn())))
    assert isinstance(made, MediaRow)
    return made


async def archive(tenants: Tenants, row: MediaRow, who: str = "a1") -> Any:
    """Put a picture away."""
    return await archive_media(await tenants.context(who), ArchiveMedia(id=row.id))


async def test_pictures_are_filtered_and_ordered(tenants: Tenants) -> None:
    rows = {name: await uploaded(tenants, name=name) for name in ("Beach", "terrace", "TERRACE 100%", "Alps")}
    await archive(tenants, rows["Alps"])
    query = "query ($filter: MediaFilter, $by: MediaSort) { media(filter: $filter, orderBy: $by) { nodes { name } totalCount } }"

    async def list_names(filter: Any = None, by: str = "NEWEST") -> list[str]:
        found = (await tenants.graphql("a1", query, filter=filter, by=by))["data"]["media"]
        assert found["totalCount"] == len(found["nodes"])
        return [entry["name"] for entry in found["nodes"]]

    assert await list_names() == ["Alps", "TERRACE 100%", "terrace", "Beach"]
    assert await list_names(by="OLDEST") == ["Beach", "terrace", "TERRACE 100%", "Alps"]
    assert sorted(await list_names(by="NAME")) == sorted(rows)
    assert await list_names(by="NAME_DESCENDING") == list(reversed(await list_names(by="NAME")))
    assert await list_names({"nameContains": "TeRR"}) == ["TERRACE 100%", "terrace"]
    assert await list_names({"nameContains": "0%"}) == ["TERRACE 100%"]
    assert await list_names({"archived": True}) == ["Alps"]
    assert await list_names({"archived": False, "ids": [rows["Alps"].id, rows["Beach"].id]}) == ["Beach"]
    assert media.permission is media_by_id.permission


async def test_addresses_are_absolute_and_of_each_size(tenants: Tenants) -> None:
    row = await uploaded(tenants)
    query = (
        "query ($id: Int!) { mediaById(id: $id) { thumbUrl cardUrl coverUrl fullUrl contentType size width height } }"
    )
    found = (await tenants.graphql("a1", query, id=row.id))["data"]["mediaById"]
    for size in MediaSize:
        address = found[f"{size}Url"]
        assert address == f"http://127.0.0.1:8000/media/{row.uuid}/{size}.webp"
        assert (await tenants.client.get(address)).content == await tenants.services.files.get(
            media_key_of(row.uuid, size)
        )
    assert (found["contentType"], found["width"], found["height"]) == ("image/webp", 60, 40)
    assert found["size"] == len((await tenants.client.get(found["fullUrl"])).content)


async def test_a_picture_put_away_stays_served_and_can_be_used_no_more(tenants: Tenants) -> None:
    row = await uploaded(tenants)
    put_away = await archive(tenants, row)
    assert put_away.archived_on is not None
    assert (await archive(tenants, row)).archived_on == put_away.archived_on
    assert (await tenants.client.get(media_path_of(row.uuid, MediaSize.CARD))).status_code == 200
    await update_media(await tenants.context("a1"), UpdateMedia(id=row.id, name="Old terrace"))
    assert (await show(tenants, "a1", row))["userErrors"][0]["field"] == ["pictureUrl"]


PRODUCT = """mutation ($input: UpdateProductInput!) { updateProduct(input: $input) {
    product { pictureUrl } userErrors { field message } } }"""


async def show(tenants: Tenants, who: str, row: MediaRow, product: int | None = None) -> Any:
    """Let a partner's product show a picture."""
    given = {"id": product or tenants.owned[who].product, "pictureUrl": media_path_of(row.uuid, MediaSize.CARD)}
    return (await tenants.graphql(who, PRODUCT, input=given))["data"]["updateProduct"]


async def test_a_product_shows_pictures_of_its_own_partner_only(tenants: Tenants) -> None:
    row = await uploaded(tenants)
    address = f"{tenants.services.settings.public_url}/media/{row.uuid}/card.webp"
    assert (await show(tenants, "a1", row))["product"]["pictureUrl"] == address, "absolute, whatever was sent"
    mine = {"id": tenants.owned["a1"].product}
    again = (await tenants.graphql("a1", PRODUCT, input={**mine, "pictureUrl": address}))["data"]["updateProduct"]
    assert again == {"product": {"pictureUrl": address}, "userErrors": []}, "what is answered can be sent back"
    kept = await tenants.row("product", mine["id"])
    assert kept["picture_url"] == f"/media/{row.uuid}/card.webp"
    before = await tenants.snapshot()
    assert (await show(tenants, "a2", row))["userErrors"][0]["field"] == ["pictureUrl"]
    assert (await show(tenants, "market a", row, tenants.owned["a2"].product))["userErrors"]
    create = "mutation ($input: CreateProductInput!) { createProduct(input: $input) { userErrors { field } } }"
    for path in (
        media_path_of(row.uuid, MediaSize.CARD),
        f"/media/{row.uuid}/huge.webp",
        f"/media/{row.uuid}/../x.webp",
        f"https://elsewhere.example/media/{row.uuid}/card.webp",
    ):
        given = {"name": {"en": "Stolen"}, "price": "1.00", "pictureUrl": path}
        refused = (await tenants.graphql("a2", create, input=given))["data"]["createProduct"]["userErrors"]
        assert refused == [{"field": ["pictureUrl"]}], path
    assert await tenants.snapshot() == before


def test_paths_are_read_as_they_are_written() -> None:
    row = MediaRow(partner_id=1, name="x", content_type="", size=1, width=1, height=1, digest="")
    for size in MediaSize:
        assert parse_media_path(media_path_of(row.uuid, size)) == (row.uuid, size)
    for other in ("", "/media/candle.svg", f"/media/{'-' * 36}/card.webp", f"/media/{str(row.uuid).upper()}/card.webp",
                  f"/media/{row.uuid}/card.png", f"/other/{row.uuid}/card.webp", f"/media/{row.uuid}/card.webp\n"):  # fmt: skip
        assert parse_media_path(other) is None, other


@pytest.mark.parametrize("many", [1, 4])
async def test_pictures_are_read_with_as_many_statements_however_many_there_are(tenants: Tenants, many: int) -> None:
    """The prototypes, their covers, their pictures, and the media of these: one statement each."""
    shown = [await uploaded(tenants) for _ in range(many)]
    for _ in range(many):
        prototype = await new_prototype(tenants, "a1")
        of = {"partner_id": prototype.partner_id, "voucher_prototype_id": prototype.id}
        for position, row in enumerate(shown, 1):
            await tenants.add(PrototypeImageRow(**of, media_id=row.id, position=position))
    query = "{ voucherPrototypes { nodes { cover { cardUrl } images { position media { cardUrl } } } } }"
    with fetched(tenants.services.db) as of_lists, executed(tenants.services.db) as others:
        body = await tenants.graphql("a1", query)
    nodes = body["data"]["voucherPrototypes"]["nodes"]
    assert len(nodes) == many
    for node in nodes:
        assert [image["position"] for image in node["images"]] == list(range(1, many + 1))
        assert len({image["media"]["cardUrl"] for image in node["images"]}) == many
        assert node["cover"] == {"cardUrl": node["images"][0]["media"]["cardUrl"]}
    covers = sum("voucher_prototype_image" in sql for sql in others)  # which are read apart from the rest
    assert len(of_lists) + covers == 4
    with fetched(tenants.services.db) as of_lists:
        body = await tenants.graphql("a1", "{ media { nodes { thumbUrl fullUrl } } }")
    assert (len(of_lists), len(body["data"]["media"]["nodes"])) == (1, many)


# ---- files and rows


async def test_a_store_that_is_away_leaves_no_row(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await tenants.snapshot()

    async def away(*_: object) -> None:
        raise Unavailable(what="The file store")

    monkeypatch.setattr(tenants.services.files, "put", away)
    with pytest.raises(Unavailable):
        await uploaded(tenants)
    assert await tenants.snapshot() == before


async def test_files_of_an_upload_that_failed_are_let_go_after_a_week(
    tenants: Tenants, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await uploaded(tenants)

    class Lost(Exception):
        pass

    async def lost(*_: object) -> None:
        raise Lost

    with monkeypatch.context() as failing:
        failing.setattr("resolvers.core.operation.Call.store_response", lost)
        with pytest.raises(Lost):
            await uploaded(tenants, name="Lost")
    assert await tenants.one("SELECT count(*) FROM media") == 1
    await tenants.services.files.put("media/notes.txt", b"not ours to name", "text/plain")
    everything = await files_of(tenants)
    assert len(everything) == 9
    await sweep_media(tenants.services)
    assert await files_of(tenants) == everything
    for file in (tmp_path / "files" / "media").rglob("*.*"):
        os.utime(file, (time.time() - WEEK - 60,) * 2)
    await sweep_media(tenants.services)
    assert await files_of(tenants) == {media_key_of(kept.uuid, size) for size in MediaSize} | {"media/notes.txt"}


async def test_what_is_refused_touches_no_file(tenants: Tenants) -> None:
    with pytest.raises(InvalidInput):
        await create_media(await tenants.context("a1"), CreateMedia(name="x", file=upload(b"<svg/>")))
    assert await files_of(tenants) == set()


async def test_a_picture_is_never_put_away_and_taken_into_use_at_once(tenants: Tenants) -> None:
    """Whichever comes first, the other is refused: no product shows what was put away."""
    for _ in range(8):
        row = await uploaded(tenants)
        await tenants.execute("UPDATE product SET picture_url = ''")
        put_away, used = await asyncio.gather(refusal_of(archive(tenants, row)), show(tenants, "a1", row))
        shown = await tenants.one("SELECT count(*) FROM product WHERE picture_url <> ''")
        assert isinstance(put_away, MediaInUse) is (shown == 1)
        assert bool(used["userErrors"]) is (shown == 0)


async def refusal_of(doing: Awaitable[Any]) -> MediaInUse | None:
    """That a picture is in use, where it is."""
    try:
        await doing
    except MediaInUse as refused:
        return refused
    return None
