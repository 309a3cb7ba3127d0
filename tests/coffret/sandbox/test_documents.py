"""Documents over the wire: made, filled, handed in, decided, and what a complete set does to the user."""

import base64
import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from coffret.sandbox.database import Session
from coffret.sandbox.documents import BY_TAG, REFUSED_BY_TAG, Reason
from tests.coffret.sandbox.owners import KINDS, level, owner, refused, told
from tests.coffret.sandbox.world import Json, World, running

PDF = b"%PDF-1.7\n" + b"\0" * 1024
MEGABYTE = 1024 * 1024
TYPES = ("IDENTITY_PROOF", "REGISTRATION_PROOF", "ARTICLES_OF_ASSOCIATION", "SHAREHOLDER_DECLARATION", "ADDRESS_PROOF")
NEEDED = {
    "NATURAL": TYPES[:1],
    "SOLETRADER": TYPES[:2],
    "ORGANIZATION": TYPES[:3],
    "PARTNERSHIP": TYPES[:4],
    "BUSINESS": TYPES[:4],
}
EVENTS = [f"KYC_{name}" for name in ("CREATED", "VALIDATION_ASKED", "SUCCEEDED", "FAILED", "OUTDATED")]
LEVELS = ["USER_KYC_REGULAR", "USER_KYC_LIGHT"]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def created(world: World, user: str, type: str = "IDENTITY_PROOF", **more: Any) -> Json:
    """A document without pages."""
    return await world.made(f"/users/{user}/kyc/documents", {"Type": type, **more})


async def add(world: World, document: Json, content: bytes = PDF, **more: Any) -> Any:
    """Send a page."""
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}/pages"
    return await world.call("POST", path, {"File": base64.b64encode(content).decode()}, **more)


async def submit(world: World, document: Json, **more: Any) -> Any:
    """Hand a document in."""
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}"
    return await world.call("PUT", path, {"Status": "VALIDATION_ASKED", **more})


async def asked(world: World, user: str, type: str = "IDENTITY_PROOF", **more: Any) -> Json:
    """A document that was handed in with a page."""
    document = await created(world, user, type, **more)
    assert (await add(world, document)).status_code == 204
    answer = await submit(world, document)
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    assert result["Status"] == "VALIDATION_ASKED"
    return result


async def decide(world: World, id: str, outcome: str, **more: Any) -> Json:
    """A document that was decided over."""
    result: Json = await world.control("POST", f"/kyc/{id}", {"outcome": outcome, **more})
    return result


async def validated(world: World, user: str, types: Sequence[str]) -> list[str]:
    """The ids of good documents of these types."""
    ids = [(await asked(world, user, type))["Id"] for type in types]
    for id in ids:
        await decide(world, id, "validate")
    return ids


async def read(world: World, document: Json) -> Json:
    """The document now."""
    result: Json = await world.read(f"/kyc/documents/{document['Id']}")
    return result


@pytest.mark.parametrize("type", TYPES)
async def test_a_document_is_made(world: World, type: str) -> None:
    user = await owner(world)
    made = await created(world, user, type, Tag="partner 7")
    assert made["Id"].startswith("kyc_")
    assert made == {
        "Id": made["Id"],
        "Tag": "partner 7",
        "CreationDate": int(world.clock.timestamp()),
        "ProcessedDate": None,
        "UserId": user,
        "Type": type,
        "Status": "CREATED",
        "RefusedReasonType": None,
        "RefusedReasonMessage": None,
        "Flags": [],
    }
    assert await read(world, made) == made
    assert await told(world, *EVENTS) == [("KYC_CREATED", made["Id"])]


@pytest.mark.parametrize(
    ("body", "field"), [({}, "Type"), ({"Type": "PASSPORT"}, "Type"), ({"Type": TYPES[0], "Tag": "x" * 256}, "Tag")]
)
async def test_a_wrong_document_is_refused(world: World, body: Json, field: str) -> None:
    user = await owner(world)
    await refused(world, await world.call("POST", f"/users/{user}/kyc/documents", body), 400, "param_error", field)
    assert await world.read("/kyc/documents") == []


async def test_a_payer_has_no_documents(world: World) -> None:
    user = await world.payer()
    answer = await world.call("POST", f"/users/{user}/kyc/documents", {"Type": TYPES[0]})
    await refused(world, answer, 400, "param_error", "UserId")
    assert await world.read("/kyc/documents") == []


async def test_what_is_not_known_is_not_found(world: World) -> None:
    user, stranger = await owner(world), await owner(world)
    document = await created(world, user)
    page = {"File": base64.b64encode(PDF).decode()}
    for method, path, body in (
        ("GET", "/kyc/documents/kyc_none", None),
        ("GET", "/users/none/kyc/documents", None),
        ("POST", "/users/none/kyc/documents", {"Type": TYPES[0]}),
        ("POST", f"/users/{user}/kyc/documents/kyc_none/pages", page),
        ("POST", f"/users/{stranger}/kyc/documents/{document['Id']}/pages", page),
        ("POST", f"/users/none/kyc/documents/{document['Id']}/pages", page),
        ("PUT", f"/users/{stranger}/kyc/documents/{document['Id']}", {"Status": "VALIDATION_ASKED"}),
    ):
        await refused(world, await world.call(method, path, body), 404, "ressource_not_found")
    assert await world.control("GET", f"/kyc/{document['Id']}") == {**document, "Pages": []}


FILES = {
    "application/pdf": PDF,
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(2000),
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(2000),
    "image/gif": b"GIF89a" + bytes(2000),
}


@pytest.mark.parametrize("media_type", FILES)
async def test_a_page_is_recognised_and_only_its_hash_is_kept(world: World, media_type: str) -> None:
    content = FILES[media_type]
    document = await created(world, await owner(world))
    answer = await add(world, document, content, key="page-of-document-1")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers
    assert (await world.control("GET", f"/kyc/{document['Id']}"))["Pages"] == [
        {"media_type": media_type, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    ]
    kept = await world.read("/responses/page-of-document-1")
    assert (kept["StatusCode"], kept["ContentLength"], kept["Resource"]) == ("204", "0", None)
    await refused(world, await add(world, document, key="page-of-document-1"), 409, "idempotent_creation_conflict")
    assert len((await world.control("GET", f"/kyc/{document['Id']}"))["Pages"]) == 1


async def test_no_file_is_left_behind(tmp_path: Any) -> None:
    secret = b"%PDF-" + b"THE SECRET OF THE DOCUMENT " * 60
    async with running(tmp_path / "sandbox.db") as world:
        document = await created(world, await owner(world))
        assert (await add(world, document, secret, key="page-of-document-1")).status_code == 204
        await submit(world, document)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        left = path.read_bytes()
        assert b"THE SECRET OF THE DOCUMENT" not in left
        assert base64.b64encode(secret)[:40] not in left


@pytest.mark.parametrize(
    ("content", "status", "type"),
    [
        (PDF[:1023], 400, "param_error"),
        (b"", 400, "param_error"),
        (b"%PDF-" + bytes(7 * MEGABYTE - 4), 413, "payload_too_large"),
        (b"%PDF-" + bytes(8 * MEGABYTE), 413, "payload_too_large"),
        (b"PK\x03\x04" + bytes(2000), 415, "unsupported_media_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>" + bytes(2000), 415, "unsupported_media_type"),
        (b"\n%PDF-1.7" + bytes(2000), 415, "unsupported_media_type"),
    ],
)
async def test_a_file_that_is_not_taken(world: World, content: bytes, status: int, type: str) -> None:
    document = await created(world, await owner(world))
    await refused(world, await add(world, document, content), status, type, *(["File"] if status == 400 else []))
    assert (await world.control("GET", f"/kyc/{document['Id']}"))["Pages"] == []


@pytest.mark.parametrize("size", [1024, 7 * MEGABYTE])
async def test_the_smallest_and_the_largest_file(world: World, size: int) -> None:
    document = await created(world, await owner(world))
    assert (await add(world, document, b"%PDF-".ljust(size, b"\0"))).status_code == 204


@pytest.mark.parametrize(
    "file", ["data:application/pdf;base64," + base64.b64encode(PDF).decode(), "%%%" * 600, "JVBERi0" * 301, 7, None]
)
async def test_a_file_that_is_no_base64(world: World, file: Any) -> None:
    document = await created(world, await owner(world))
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}/pages"
    await refused(world, await world.call("POST", path, {"File": file}), 400, "param_error", "File")
    assert (await world.control("GET", f"/kyc/{document['Id']}"))["Pages"] == []


async def test_five_pages_and_no_more(world: World) -> None:
    document = await created(world, await owner(world))
    for _ in range(5):
        assert (await add(world, document)).status_code == 204
    await refused(world, await add(world, document), 400, "param_error", "File")
    assert len((await world.control("GET", f"/kyc/{document['Id']}"))["Pages"]) == 5


async def test_nothing_is_handed_in_without_a_page(world: World) -> None:
    document = await created(world, await owner(world))
    await refused(world, await submit(world, document), 400, "param_error", "Status")
    assert await read(world, document) == document


@pytest.mark.parametrize("body", [{}, {"Status": "VALIDATED"}, {"Status": "CREATED"}])
async def test_only_validation_can_be_asked_for(world: World, body: Json) -> None:
    document = await created(world, await owner(world))
    await add(world, document)
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}"
    await refused(world, await world.call("PUT", path, body), 400, "param_error", "Status")
    assert await read(world, document) == document


@pytest.mark.parametrize("state", ["VALIDATION_ASKED", "VALIDATED", "REFUSED", "OUT_OF_DATE"])
async def test_a_document_is_never_opened_again(world: World, state: str) -> None:
    document = await asked(world, await owner(world))
    if state == "REFUSED":
        await decide(world, document["Id"], "refuse", reason="DOCUMENT_MISSING")
    elif state != "VALIDATION_ASKED":
        await decide(world, document["Id"], "validate")
        if state == "OUT_OF_DATE":
            await decide(world, document["Id"], "out_of_date")
    before = await world.control("GET", f"/kyc/{document['Id']}")
    assert before["Status"] == state
    for answer in (await submit(world, document), await add(world, document)):
        await refused(world, answer, 400, "param_error", "Status")
    assert await world.control("GET", f"/kyc/{document['Id']}") == before


async def test_undecided_documents_are_good_after_a_minute(world: World) -> None:
    user = await owner(world, "NATURAL")
    document = await asked(world, user, Tag="partner 7")
    await world.advance(55)
    assert (await read(world, document))["Status"] == "VALIDATION_ASKED"
    assert await level(world, user) == "LIGHT"
    await world.advance(6)
    done = await read(world, document)
    assert done["Status"] == "VALIDATED"
    assert document["CreationDate"] + 60 <= done["ProcessedDate"] <= document["CreationDate"] + 61
    assert await level(world, user) == "REGULAR"
    assert await told(world, *EVENTS, *LEVELS) == [
        ("KYC_CREATED", document["Id"]),
        ("KYC_VALIDATION_ASKED", document["Id"]),
        ("KYC_SUCCEEDED", document["Id"]),
        ("USER_KYC_REGULAR", user),
    ]


@pytest.mark.parametrize("tag", BY_TAG)
async def test_the_tag_decides(world: World, tag: str) -> None:
    document = await asked(world, await owner(world), Tag=tag)
    done = await read(world, document)
    if tag == "accept":
        assert (done["Status"], done["RefusedReasonType"], done["Flags"]) == ("VALIDATED", None, [])
    else:
        assert (done["Status"], done["RefusedReasonType"]) == ("REFUSED", REFUSED_BY_TAG[tag])
        assert done["RefusedReasonMessage"]
    assert done["ProcessedDate"] is not None
    await world.advance(120)
    assert await read(world, document) == done


async def test_a_tag_that_comes_with_the_submission_decides_too(world: World) -> None:
    document = await created(world, await owner(world), Tag="partner 7")
    await add(world, document)
    await submit(world, document, Tag="refuse_falsified")
    done = await read(world, document)
    assert (done["Tag"], done["RefusedReasonType"], done["Flags"]) == (
        "refuse_falsified",
        "DOCUMENT_FALSIFIED",
        ["009000"],
    )


@pytest.mark.parametrize("reason", Reason)
async def test_every_reason_can_be_told(world: World, reason: Reason) -> None:
    user = await owner(world)
    document = await asked(world, user, "REGISTRATION_PROOF")
    done = await decide(world, document["Id"], "refuse", reason=reason, message="Page 2 is missing.")
    assert (done["Status"], done["RefusedReasonType"], done["RefusedReasonMessage"], done["Flags"]) == (
        "REFUSED",
        reason,
        "Page 2 is missing.",
        [],
    )
    assert await told(world, "KYC_FAILED", *LEVELS) == [("KYC_FAILED", document["Id"])]
    await world.advance(120)
    assert (await read(world, document))["Status"] == "REFUSED"


@pytest.mark.parametrize("kind", KINDS)
async def test_regular_when_all_that_is_needed_is_good(world: World, kind: str) -> None:
    user = await owner(world, kind)
    *first, last = NEEDED[kind]
    await validated(world, user, [*first, "ADDRESS_PROOF"])
    assert await level(world, user) == "LIGHT"
    refused_one = await asked(world, user, last)
    await decide(world, refused_one["Id"], "refuse", reason="DOCUMENT_INCOMPLETE")
    assert await level(world, user) == "LIGHT"
    await validated(world, user, [last])
    assert await level(world, user) == "REGULAR"
    assert await told(world, *LEVELS) == [("USER_KYC_REGULAR", user)]


async def test_light_again_when_a_needed_one_is_out_of_date(world: World) -> None:
    user = await owner(world, "SOLETRADER")
    identity, registration, address = await validated(world, user, [TYPES[0], TYPES[1], TYPES[4]])
    second = (await validated(world, user, [TYPES[0]]))[0]
    for id in (address, identity):
        assert (await decide(world, id, "out_of_date"))["Status"] == "OUT_OF_DATE"
        assert await level(world, user) == "REGULAR"
    await decide(world, second, "out_of_date")
    assert await level(world, user) == "LIGHT"
    assert await told(world, "KYC_OUTDATED", *LEVELS) == [
        *(("KYC_OUTDATED", id) for id in (address, identity, second)),
        ("USER_KYC_REGULAR", user),
        ("USER_KYC_LIGHT", user),
    ]
    await validated(world, user, [TYPES[0]])
    assert await level(world, user) == "REGULAR"
    assert registration


async def test_a_refused_document_takes_nothing_away(world: World) -> None:
    await world.seed()
    document = await asked(world, "partner")
    await decide(world, document["Id"], "refuse", reason="DOCUMENT_UNREADABLE")
    assert await level(world, "partner") == "REGULAR"


@pytest.mark.parametrize(
    ("state", "decision", "status"),
    [
        ("CREATED", {"outcome": "validate"}, 409),
        ("CREATED", {"outcome": "refuse", "reason": "DOCUMENT_MISSING"}, 409),
        ("VALIDATION_ASKED", {"outcome": "out_of_date"}, 409),
        ("VALIDATED", {"outcome": "validate"}, 409),
        ("VALIDATED", {"outcome": "refuse", "reason": "DOCUMENT_MISSING"}, 409),
        ("VALIDATION_ASKED", {"outcome": "refuse"}, 400),
        ("VALIDATION_ASKED", {"outcome": "refuse", "reason": "BAD_MOOD"}, 400),
        ("VALIDATION_ASKED", {"outcome": "lose"}, 400),
        ("VALIDATION_ASKED", {}, 400),
    ],
)
async def test_a_decision_out_of_turn(world: World, state: str, decision: Json, status: int) -> None:
    user = await owner(world)
    document = await (created if state == "CREATED" else asked)(world, user)
    if state == "VALIDATED":
        await decide(world, document["Id"], "validate")
    before = await world.control("GET", f"/kyc/{document['Id']}")
    answer = await world.http.post(f"/_sb/kyc/{document['Id']}", json=decision)
    assert answer.status_code == status, answer.text
    assert await world.control("GET", f"/kyc/{document['Id']}") == before
    assert (await world.http.get("/_sb/kyc/none")).status_code == 404


async def test_lists_and_their_filters(world: World) -> None:
    first, second = await owner(world), await owner(world)
    made = [
        await created(world, first, TYPES[0]),
        await created(world, first, TYPES[1]),
        await asked(world, second, TYPES[0]),
    ]
    ids = [document["Id"] for document in made]

    async def listed(path: str) -> list[str]:
        return [document["Id"] for document in await world.read(path)]

    assert await listed("/kyc/documents") == ids
    assert await listed("/kyc/documents?Sort=CreationDate:DESC&per_page=2") == ids[:0:-1]
    assert await listed(f"/users/{first}/kyc/documents") == ids[:2]
    assert await listed(f"/users/{first}/kyc/documents?Type=REGISTRATION_PROOF") == ids[1:2]
    assert await listed("/kyc/documents?Status=VALIDATION_ASKED,VALIDATED") == ids[2:]
    assert await listed("/KYC/documents?Type=IDENTITY_PROOF") == [ids[0], ids[2]]
    await refused(world, await world.call("GET", "/kyc/documents?Type=PASSPORT"), 400, "param_error", "Type")


async def test_the_sandbox_has_no_place_for_a_file(world: World) -> None:
    def columns(session: Session) -> set[str]:
        return {row["name"] for row in session.rows("SELECT name FROM pragma_table_info('kyc_page')")}

    assert await world.app.state.sandbox.run(columns) == {"seq", "document_id", "media_type", "size", "sha256"}
