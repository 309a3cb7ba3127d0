"""Pictures, over REST and GraphQL: uploaded, listed, renamed; each refusal leaves rows and files as they were."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.text import Text
from store.catalogue.catalogue import PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.network.boxes import BoxImageRow
from tests.fixtures.box import new_box
from tests.fixtures.media import PATH, Medias, drawn, files_of, medias_over
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, ONLY_REST, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")
SIZES = ("thumb", "card", "cover", "full")


@pytest.fixture
def medias(transport: Transport) -> Medias:
    """The pictures, by a way to ask."""
    return medias_over(transport)


@pytest.fixture
def snapshot_with_files(tenants: Tenants, stored: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """All rows, and all files of pictures."""

    async def look() -> Any:
        return await stored(), await files_of(tenants)

    return look


async def used_by_a_product(tenants: Tenants, media: dict[str, Any], of: str) -> str:
    """Let a shop's product show a picture; answers the statement that ends it."""
    product = tenants.owned[of].product
    await tenants.execute(
        "UPDATE product SET picture_url = :path WHERE id = :id", path=f"/media/{media['uuid']}/cover.webp", id=product
    )
    return f"UPDATE product SET picture_url = '' WHERE id = {product}"  # noqa: S608 - a number of ours


async def used_by_a_prototype(tenants: Tenants, media: dict[str, Any], of: str) -> str:
    """Let a voucher prototype show a picture; answers the statement that ends it."""
    prototype = await new_prototype(tenants, of)
    image = await tenants.add(
        PrototypeImageRow(
            partner_id=prototype.partner_id, voucher_prototype_id=prototype.id, media_id=media["id"], position=1
        )
    )
    return f"DELETE FROM voucher_prototype_image WHERE id = {image.id}"  # noqa: S608 - a number of ours


async def used_by_a_box(tenants: Tenants, media: dict[str, Any], of: str) -> str:
    """Let a box of the partner's marketplace show a picture; answers the statement that ends it."""
    box = await new_box(tenants, of[0])
    image = await tenants.add(BoxImageRow(box_id=box.id, media_id=media["id"], position=1, is_cover=True))
    return f"DELETE FROM box_image WHERE id = {image.id}"  # noqa: S608 - a number of ours


async def new_prototype(tenants: Tenants, of: str) -> Any:
    """A prototype of a partner, with nothing but what it must have."""
    said: dict[str, Any] = {name: Text(en="One night") for name in ("name", "description", "long_description")}
    universe = await tenants.add(
        UniverseRow(marketplace_id=tenants.partners[of].marketplace_id, name=Text(en="Hotels"))
    )
    return await tenants.add(
        VoucherPrototypeRow(
            **said,
            slug=uuid4().hex,
            partner_id=tenants.partners[of].id,
            universe_id=universe.id,
            type=VoucherPrototypeType.STANDARD,
            stay_price_amount=Decimal(10),
            currency="EUR",
        )
    )


async def test_a_picture_is_uploaded_read_renamed_and_listed(medias: Medias, tenants: Tenants) -> None:
    made = await medias.create("a1", drawn(), "  The terrace é 露台  ")
    assert made.done, made
    media = made.result
    assert set(media) == {"id", "uuid", "name", "created_on", "archived_on"}
    assert (media["name"], media["archived_on"], str(UUID(media["uuid"]))) == (
        "The terrace é 露台",
        None,
        media["uuid"],
    )
    row = await tenants.row("media", media["id"])
    assert (row["partner_id"], row["content_type"], row["width"], row["height"]) == (
        tenants.owned["a1"].partner, "image/webp", 60, 40,
    )  # fmt: skip
    assert await files_of(tenants, media["uuid"]) == {f"media/{media['uuid']}/{size}.webp" for size in SIZES}
    for who in ("a1", "market a", "master"):
        assert (await medias.get(who, media["id"])).result == media
    renamed = await medias.update("a1", media["id"], "By night")
    assert renamed.result == {**media, "name": "By night"}
    assert (await tenants.row("media", media["id"]))["updated_on"] > row["updated_on"]
    second = (await medias.create("a1", drawn(), "Second")).result
    assert (await medias.list_ids("a1")).result[:2] == [second["id"], media["id"]]
    assert not {second["id"], media["id"]} & set((await medias.list_ids("a2")).result)
    assert second["uuid"] != media["uuid"]  # the same file again is another picture: nobody learns who has it


async def test_a_marketplace_says_for_whom(medias: Medias, tenants: Tenants) -> None:
    made = await medias.create("market a", drawn(), partner_uuid=tenants.owned["a2"].partner_uuid)
    assert (await tenants.row("media", made.result["id"]))["partner_id"] == tenants.owned["a2"].partner
    assert (await medias.get("a2", made.result["id"])).done
    assert (await medias.create("market a", drawn())).fields == {"partner_uuid"}
    for foreign in (tenants.owned["b1"].partner_uuid, uuid4()):
        assert (await medias.create("market a", drawn(), partner_uuid=foreign)).fields == {"partner_uuid"}


@pytest.mark.parametrize(
    ("who", "status"),
    [(NO_TOKEN, 401), (BAD_TOKEN, 401), ("powerless", 403), ("a2", 404), ("b1", 404), ("market b", 404)],
)
async def test_others_reach_nothing(
    medias: Medias, snapshot_with_files: Callable[[], Awaitable[Any]], who: str, status: int
) -> None:
    media = (await medias.create("a1", drawn())).result
    before = await snapshot_with_files()
    assert (await medias.get(who, media["id"])).status == status
    assert (await medias.update(who, media["id"], "Mine")).status == status
    if status != 404:
        assert (await medias.create(who, drawn())).status == status
        assert (await medias.list_ids(who)).status == status
    else:
        assert media["id"] not in (await medias.list_ids(who)).result
    assert await snapshot_with_files() == before


@pytest.mark.parametrize(
    ("content", "name", "wrong"),
    [
        (drawn(), None, "name"),
        (drawn(), "", "name"),
        (drawn(), "   ", "name"),
        (drawn(), "n" * 201, "name"),
        (None, "No file", "file"),
        (b"", "Nothing", "file"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "Drawing", "file"),
        (b"<html><script>alert(1)</script>", "Page", "file"),
        (drawn()[:60], "Half", "file"),
        (drawn(kind="BMP"), "Old", "file"),
        (drawn(12_001, 1), "Long", "file"),
    ],
    ids=["no name", "empty", "blank", "long", "no file", "nothing", "svg", "page", "half", "bmp", "large"],
)
async def test_what_cannot_be_used_is_refused_at_its_field(
    medias: Medias,
    snapshot_with_files: Callable[[], Awaitable[Any]],
    content: bytes | None,
    name: str | None,
    wrong: str,
) -> None:
    before = await snapshot_with_files()
    answer = await medias.create("a1", content, name)
    assert (answer.status, answer.fields <= {wrong}) == (400, True)
    assert answer.fields == {wrong} or not answer.wrong  # GraphQL's types have refused it already
    assert await snapshot_with_files() == before


async def test_a_drawing_is_stored_as_a_picture(
    medias: Medias, tenants: Tenants, snapshot_with_files: Callable[[], Awaitable[Any]]
) -> None:
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 20 10'>%s<rect width='9' height='9'/></svg>"
    made = (await medias.create("a1", drawing % b"<script>alert(1)</script>", "Logo")).result
    row = await tenants.newest("media")
    assert (row["width"], row["height"], row["content_type"]) == (1414, 707, "image/webp")
    assert await files_of(tenants, made["uuid"]) == {f"media/{made['uuid']}/{size}.webp" for size in SIZES}
    before = await snapshot_with_files()
    for hostile in (b"<image href='file:///etc/passwd'/>", b"<use href='https://example.com/a.svg#a'/>"):
        assert (await medias.create("a1", drawing % hostile)).fields == {"file"}
    assert await snapshot_with_files() == before


async def test_what_the_part_says_of_itself_does_not_matter(medias: Medias, tenants: Tenants) -> None:
    for told in (
        {"file_name": "a.svg", "kind": "image/svg+xml"},
        {"file_name": "../../etc/passwd", "kind": "text/html"},
    ):
        made = await medias.create("a1", drawn(kind="JPEG"), **told)
        assert await files_of(tenants, made.result["uuid"]) == {f"media/{made.result['uuid']}/{s}.webp" for s in SIZES}


async def test_more_than_ten_mebibytes_are_refused_unread(
    medias: Medias, snapshot_with_files: Callable[[], Awaitable[Any]]
) -> None:
    before = await snapshot_with_files()
    assert (await medias.create("a1", bytes(10 * 1024 * 1024))).status == 413
    assert await snapshot_with_files() == before


@pytest.mark.parametrize("use", [used_by_a_product, used_by_a_prototype, used_by_a_box])
async def test_a_picture_in_use_keeps_its_name(
    medias: Medias,
    tenants: Tenants,
    snapshot_with_files: Callable[[], Awaitable[Any]],
    use: Callable[[Tenants, dict[str, Any], str], Awaitable[str]],
) -> None:
    media = (await medias.create("a1", drawn())).result
    end = await use(tenants, media, "a1")
    before = await snapshot_with_files()
    refused = await medias.update("a1", media["id"], "Another")
    assert (refused.status, refused.code) == (409, "MEDIA_IN_USE")
    assert (await medias.update("a1", media["id"], "")).status == 400  # fields before the state of things
    assert (await medias.update("a2", media["id"], "Another")).status == 404
    archived = await tenants.graphql("a1", ARCHIVE, input={"id": media["id"]})
    assert archived["data"]["archiveMedia"]["userErrors"][0]["code"] == "MEDIA_IN_USE"
    assert await snapshot_with_files() == before
    await tenants.execute(end)
    assert (await medias.update("a1", media["id"], "Another")).result["name"] == "Another"


ARCHIVE = """mutation ($input: ArchiveMediaInput!) { archiveMedia(input: $input) {
    media { id archivedOn } userErrors { field code message } } }"""


async def test_an_upload_sent_again_with_its_key_is_one_picture(
    medias: Medias, tenants: Tenants, snapshot_with_files: Callable[[], Awaitable[Any]]
) -> None:
    key, content = str(uuid4()), drawn(colour="red")
    first = await medias.create("a1", content, key=key)
    after = (await snapshot_with_files())[1], await tenants.one("SELECT count(*) FROM media")
    again = await medias.create("a1", content, key=key)  # in a form whose boundary is another
    assert (again.result, first.replayed, again.replayed) == (first.result, False, True)
    for answer in (
        await medias.create("a1", drawn(colour="blue"), key=key),
        await medias.create("a1", content, "Another name", key=key),
        await medias.create("a1", content, key=key, file_name="another.png"),
    ):
        assert (answer.status, answer.code) == (409, "IDEMPOTENCY_MISMATCH")
    assert ((await snapshot_with_files())[1], await tenants.one("SELECT count(*) FROM media")) == after


@ONLY_REST
async def test_a_form_has_one_file(
    transport: Transport, medias: Medias, snapshot_with_files: Callable[[], Awaitable[Any]]
) -> None:
    before = await snapshot_with_files()
    two = [("file", ("a.png", drawn(), "image/png")), ("file", ("b.png", drawn(), "image/png"))]
    ask = transport.tenants.client
    answer = await ask.post(PATH, data={"name": "Two"}, files=two, headers=medias.headers("a1"))
    assert (answer.status_code, set(answer.json())) == (400, {"detail"})
    answer = await ask.post(PATH, json={"name": "JSON"}, headers=medias.headers("a1"))
    assert answer.status_code == 415
    answer = await ask.post(PATH, data={"name": "T", "file": "text"}, files={"x": b""}, headers=medias.headers("a1"))
    assert answer.status_code == 400
    assert await snapshot_with_files() == before
