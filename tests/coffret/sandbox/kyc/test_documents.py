"""Documents over the wire: made, filled, handed in, decided, and what a complete set does to the user."""

import base64
import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc.documents import BY_TAG, REFUSED_BY_TAG, DocumentRefusalReason
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import KINDS, assert_refused, level, list_events, owner

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
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def created(api: MangopayApi, user: str, type: str = "IDENTITY_PROOF", **more: Any) -> Json:
    """A document without pages."""
    return await api.create(f"/users/{user}/kyc/documents", {"Type": type, **more})


async def add(api: MangopayApi, document: Json, content: bytes = PDF, **more: Any) -> Any:
    """Send a page."""
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}/pages"
    return await api.call("POST", path, {"File": base64.b64encode(content).decode()}, **more)


async def submit(api: MangopayApi, document: Json, **more: Any) -> Any:
    """Hand a document in."""
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}"
    return await api.call("PUT", path, {"Status": "VALIDATION_ASKED", **more})


async def hand_in_document(api: MangopayApi, user: str, type: str = "IDENTITY_PROOF", **more: Any) -> Json:
    """A document that was handed in with a page."""
    document = await created(api, user, type, **more)
    assert (await add(api, document)).status_code == 204
    answer = await submit(api, document)
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    assert result["Status"] == "VALIDATION_ASKED"
    return result


async def decide(api: MangopayApi, id: str, outcome: str, **more: Any) -> Json:
    """A document that was decided over."""
    result: Json = await api.control("POST", f"/kyc/{id}", {"outcome": outcome, **more})
    return result


async def validated(api: MangopayApi, user: str, types: Sequence[str]) -> list[str]:
    """The ids of good documents of these types."""
    ids = [(await hand_in_document(api, user, type))["Id"] for type in types]
    for id in ids:
        await decide(api, id, "validate")
    return ids


async def read(api: MangopayApi, document: Json) -> Json:
    """The document now."""
    result: Json = await api.read(f"/kyc/documents/{document['Id']}")
    return result


@pytest.mark.parametrize("type", TYPES)
async def test_a_document_is_made(api: MangopayApi, type: str) -> None:
    user = await owner(api)
    made = await created(api, user, type, Tag="partner 7")
    assert made["Id"].startswith("kyc_")
    assert made == {
        "Id": made["Id"],
        "Tag": "partner 7",
        "CreationDate": int(api.clock.timestamp()),
        "ProcessedDate": None,
        "UserId": user,
        "Type": type,
        "Status": "CREATED",
        "RefusedReasonType": None,
        "RefusedReasonMessage": None,
        "Flags": [],
    }
    assert await read(api, made) == made
    assert await list_events(api, *EVENTS) == [("KYC_CREATED", made["Id"])]


@pytest.mark.parametrize(
    ("body", "field"), [({}, "Type"), ({"Type": "PASSPORT"}, "Type"), ({"Type": TYPES[0], "Tag": "x" * 256}, "Tag")]
)
async def test_a_wrong_document_is_refused(api: MangopayApi, body: Json, field: str) -> None:
    user = await owner(api)
    await assert_refused(api, await api.call("POST", f"/users/{user}/kyc/documents", body), 400, "param_error", field)
    assert await api.read("/kyc/documents") == []


async def test_a_payer_has_no_documents(api: MangopayApi) -> None:
    user = await api.payer()
    answer = await api.call("POST", f"/users/{user}/kyc/documents", {"Type": TYPES[0]})
    await assert_refused(api, answer, 400, "param_error", "UserId")
    assert await api.read("/kyc/documents") == []


async def test_what_is_not_known_is_not_found(api: MangopayApi) -> None:
    user, stranger = await owner(api), await owner(api)
    document = await created(api, user)
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
        await assert_refused(api, await api.call(method, path, body), 404, "ressource_not_found")
    assert await api.control("GET", f"/kyc/{document['Id']}") == {**document, "Pages": []}


FILES = {
    "application/pdf": PDF,
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(2000),
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(2000),
    "image/gif": b"GIF89a" + bytes(2000),
}


@pytest.mark.parametrize("media_type", FILES)
async def test_a_page_is_recognised_and_only_its_hash_is_kept(api: MangopayApi, media_type: str) -> None:
    content = FILES[media_type]
    document = await created(api, await owner(api))
    answer = await add(api, document, content, key="page-of-document-1")
    assert (answer.status_code, answer.content) == (204, b"")
    assert "content-type" not in answer.headers
    assert (await api.control("GET", f"/kyc/{document['Id']}"))["Pages"] == [
        {"media_type": media_type, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    ]
    kept = await api.read("/responses/page-of-document-1")
    assert (kept["StatusCode"], kept["ContentLength"], kept["Resource"]) == ("204", "0", None)
    await assert_refused(api, await add(api, document, key="page-of-document-1"), 409, "idempotent_creation_conflict")
    assert len((await api.control("GET", f"/kyc/{document['Id']}"))["Pages"]) == 1


async def test_no_file_is_left_behind(tmp_path: Any) -> None:
    secret = b"%PDF-" + b"THE SECRET OF THE DOCUMENT " * 60
    async with running(tmp_path / "sandbox.db") as api:
        document = await created(api, await owner(api))
        assert (await add(api, document, secret, key="page-of-document-1")).status_code == 204
        await submit(api, document)
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
async def test_a_file_that_is_not_taken(api: MangopayApi, content: bytes, status: int, type: str) -> None:
    document = await created(api, await owner(api))
    await assert_refused(api, await add(api, document, content), status, type, *(["File"] if status == 400 else []))
    assert (await api.control("GET", f"/kyc/{document['Id']}"))["Pages"] == []


@pytest.mark.parametrize("size", [1024, 7 * MEGABYTE])
async def test_the_smallest_and_the_largest_file(api: MangopayApi, size: int) -> None:
    document = await created(api, await owner(api))
    assert (await add(api, document, b"%PDF-".ljust(size, b"\0"))).status_code == 204


@pytest.mark.parametrize(
    "file", ["data:application/pdf;base64," + base64.b64encode(PDF).decode(), "%%%" * 600, "JVBERi0" * 301, 7, None]
)
async def test_a_file_that_is_no_base64(api: MangopayApi, file: Any) -> None:
    document = await created(api, await owner(api))
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}/pages"
    await assert_refused(api, await api.call("POST", path, {"File": file}), 400, "param_error", "File")
    assert (await api.control("GET", f"/kyc/{document['Id']}"))["Pages"] == []


async def test_five_pages_and_no_more(api: MangopayApi) -> None:
    document = await created(api, await owner(api))
    for _ in range(5):
        assert (await add(api, document)).status_code == 204
    await assert_refused(api, await add(api, document), 400, "param_error", "File")
    assert len((await api.control("GET", f"/kyc/{document['Id']}"))["Pages"]) == 5


async def test_nothing_is_handed_in_without_a_page(api: MangopayApi) -> None:
    document = await created(api, await owner(api))
    await assert_refused(api, await submit(api, document), 400, "param_error", "Status")
    assert await read(api, document) == document


@pytest.mark.parametrize("body", [{}, {"Status": "VALIDATED"}, {"Status": "CREATED"}])
async def test_only_validation_can_be_asked_for(api: MangopayApi, body: Json) -> None:
    document = await created(api, await owner(api))
    await add(api, document)
    path = f"/users/{document['UserId']}/kyc/documents/{document['Id']}"
    await assert_refused(api, await api.call("PUT", path, body), 400, "param_error", "Status")
    assert await read(api, document) == document


@pytest.mark.parametrize("state", ["VALIDATION_ASKED", "VALIDATED", "REFUSED", "OUT_OF_DATE"])
async def test_a_document_is_never_opened_again(api: MangopayApi, state: str) -> None:
    document = await hand_in_document(api, await owner(api))
    if state == "REFUSED":
        await decide(api, document["Id"], "refuse", reason="DOCUMENT_MISSING")
    elif state != "VALIDATION_ASKED":
        await decide(api, document["Id"], "validate")
        if state == "OUT_OF_DATE":
            await decide(api, document["Id"], "out_of_date")
    before = await api.control("GET", f"/kyc/{document['Id']}")
    assert before["Status"] == state
    for answer in (await submit(api, document), await add(api, document)):
        await assert_refused(api, answer, 400, "param_error", "Status")
    assert await api.control("GET", f"/kyc/{document['Id']}") == before


async def test_undecided_documents_are_good_after_a_minute(api: MangopayApi) -> None:
    user = await owner(api, "NATURAL")
    document = await hand_in_document(api, user, Tag="partner 7")
    await api.advance(55)
    assert (await read(api, document))["Status"] == "VALIDATION_ASKED"
    assert await level(api, user) == "LIGHT"
    await api.advance(6)
    done = await read(api, document)
    assert done["Status"] == "VALIDATED"
    assert document["CreationDate"] + 60 <= done["ProcessedDate"] <= document["CreationDate"] + 61
    assert await level(api, user) == "REGULAR"
    assert await list_events(api, *EVENTS, *LEVELS) == [
        ("KYC_CREATED", document["Id"]),
        ("KYC_VALIDATION_ASKED", document["Id"]),
        ("KYC_SUCCEEDED", document["Id"]),
        ("USER_KYC_REGULAR", user),
    ]


@pytest.mark.parametrize("tag", BY_TAG)
async def test_the_tag_decides(api: MangopayApi, tag: str) -> None:
    document = await hand_in_document(api, await owner(api), Tag=tag)
    done = await read(api, document)
    if tag == "accept":
        assert (done["Status"], done["RefusedReasonType"], done["Flags"]) == ("VALIDATED", None, [])
    else:
        assert (done["Status"], done["RefusedReasonType"]) == ("REFUSED", REFUSED_BY_TAG[tag])
        assert done["RefusedReasonMessage"]
    assert done["ProcessedDate"] is not None
    await api.advance(120)
    assert await read(api, document) == done


async def test_a_tag_that_comes_with_the_submission_decides_too(api: MangopayApi) -> None:
    document = await created(api, await owner(api), Tag="partner 7")
    await add(api, document)
    await submit(api, document, Tag="refuse_falsified")
    done = await read(api, document)
    assert (done["Tag"], done["RefusedReasonType"], done["Flags"]) == (
        "refuse_falsified",
        "DOCUMENT_FALSIFIED",
        ["009000"],
    )


@pytest.mark.parametrize("reason", DocumentRefusalReason)
async def test_every_reason_can_be_told(api: MangopayApi, reason: DocumentRefusalReason) -> None:
    user = await owner(api)
    document = await hand_in_document(api, user, "REGISTRATION_PROOF")
    done = await decide(api, document["Id"], "refuse", reason=reason, message="Page 2 is missing.")
    assert (done["Status"], done["RefusedReasonType"], done["RefusedReasonMessage"], done["Flags"]) == (
        "REFUSED",
        reason,
        "Page 2 is missing.",
        [],
    )
    assert await list_events(api, "KYC_FAILED", *LEVELS) == [("KYC_FAILED", document["Id"])]
    await api.advance(120)
    assert (await read(api, document))["Status"] == "REFUSED"


@pytest.mark.parametrize("kind", KINDS)
async def test_regular_when_all_that_is_needed_is_good(api: MangopayApi, kind: str) -> None:
    user = await owner(api, kind)
    *first, last = NEEDED[kind]
    await validated(api, user, [*first, "ADDRESS_PROOF"])
    assert await level(api, user) == "LIGHT"
    refused_one = await hand_in_document(api, user, last)
    await decide(api, refused_one["Id"], "refuse", reason="DOCUMENT_INCOMPLETE")
    assert await level(api, user) == "LIGHT"
    await validated(api, user, [last])
    assert await level(api, user) == "REGULAR"
    assert await list_events(api, *LEVELS) == [("USER_KYC_REGULAR", user)]


async def test_light_again_when_a_needed_one_is_out_of_date(api: MangopayApi) -> None:
    user = await owner(api, "SOLETRADER")
    identity, registration, address = await validated(api, user, [TYPES[0], TYPES[1], TYPES[4]])
    second = (await validated(api, user, [TYPES[0]]))[0]
    for id in (address, identity):
        assert (await decide(api, id, "out_of_date"))["Status"] == "OUT_OF_DATE"
        assert await level(api, user) == "REGULAR"
    await decide(api, second, "out_of_date")
    assert await level(api, user) == "LIGHT"
    assert await list_events(api, "KYC_OUTDATED", *LEVELS) == [
        *(("KYC_OUTDATED", id) for id in (address, identity, second)),
        ("USER_KYC_REGULAR", user),
        ("USER_KYC_LIGHT", user),
    ]
    await validated(api, user, [TYPES[0]])
    assert await level(api, user) == "REGULAR"
    assert registration


async def test_a_refused_document_takes_nothing_away(api: MangopayApi) -> None:
    await api.seed()
    document = await hand_in_document(api, "partner")
    await decide(api, document["Id"], "refuse", reason="DOCUMENT_UNREADABLE")
    assert await level(api, "partner") == "REGULAR"


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
async def test_a_decision_out_of_turn(api: MangopayApi, state: str, decision: Json, status: int) -> None:
    user = await owner(api)
    document = await (created if state == "CREATED" else hand_in_document)(api, user)
    if state == "VALIDATED":
        await decide(api, document["Id"], "validate")
    before = await api.control("GET", f"/kyc/{document['Id']}")
    answer = await api.http.post(f"/_sb/kyc/{document['Id']}", json=decision)
    assert answer.status_code == status, answer.text
    assert await api.control("GET", f"/kyc/{document['Id']}") == before
    assert (await api.http.get("/_sb/kyc/none")).status_code == 404


async def test_lists_and_their_filters(api: MangopayApi) -> None:
    first, second = await owner(api), await owner(api)
    made = [
        await created(api, first, TYPES[0]),
        await created(api, first, TYPES[1]),
        await hand_in_document(api, second, TYPES[0]),
    ]
    ids = [document["Id"] for document in made]

    async def list_documents(path: str) -> list[str]:
        return [document["Id"] for document in await api.read(path)]

    assert await list_documents("/kyc/documents") == ids
    assert await list_documents("/kyc/documents?Sort=CreationDate:DESC&per_page=2") == ids[:0:-1]
    assert await list_documents(f"/users/{first}/kyc/documents") == ids[:2]
    assert await list_documents(f"/users/{first}/kyc/documents?Type=REGISTRATION_PROOF") == ids[1:2]
    assert await list_documents("/kyc/documents?Status=VALIDATION_ASKED,VALIDATED") == ids[2:]
    assert await list_documents("/KYC/documents?Type=IDENTITY_PROOF") == [ids[0], ids[2]]
    await assert_refused(api, await api.call("GET", "/kyc/documents?Type=PASSPORT"), 400, "param_error", "Type")


async def test_the_sandbox_has_no_place_for_a_file(api: MangopayApi) -> None:
    def columns(session: SandboxSession) -> set[str]:
        return {row["name"] for row in session.rows("SELECT name FROM pragma_table_info('kyc_page')")}

    assert await api.app.state.sandbox.run(columns) == {"seq", "document_id", "media_type", "size", "sha256"}
