"""Documents, levels and identity verifications as clients ask for them, over both transports; and that no file stays."""

import pathlib
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest

from schema.kyc.kyc import KycDocumentType
from store.core.clock import clock
from store.core.rates import rate_of
from store.limits.rate_limits import RateLimit
from store.partner.partners import PartnerRow
from tests.behaviours.test_activation import activate, newcomer
from tests.fixtures.kyc import DOCUMENTS, ENTRY, FILE, IBAN, LEVEL, MARKER, level, open_identity, pdf, push
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")
Stored = Callable[[], Awaitable[Any]]
SANDBOX = "/_provider/_sb"
PUSHED = ["id", "partner", "partner_uuid", "comment", "document_type"]
REGISTER = """mutation ($input: RegisterBankAccountInput!) { registerBankAccount(input: $input) {
    registeredBankAccount { id status ibanEnd redirectUrl partner { uuid } } userErrors { field code message } } }"""


async def active(tenants: Tenants, **columns: Any) -> PartnerRow:
    """A partner of marketplace `a` whose payments are active."""
    partner = await newcomer(tenants, legal_representative_email=f"accept-{uuid4().hex[:8]}@shop.example", **columns)
    done = await activate(OverRest(tenants), "market a", partner.uuid)
    assert done.result["status"] == "COMPLETED"
    return partner


async def decide(tenants: Tenants, document: int, **decision: Any) -> None:
    """The provider decides over a document."""
    id = await tenants.one("SELECT provider_id FROM kyc_document WHERE id = :id", id=document)
    answer = await tenants.client.post(f"{SANDBOX}/kyc/{id}", json=decision)
    assert answer.is_success, answer.text


# ---- documents


@pytest.mark.parametrize("kind", KycDocumentType)
async def test_a_document_is_handed_in(transport: Transport, tenants: Tenants, kind: KycDocumentType) -> None:
    partner = await active(tenants)
    sent = {"partner_uuid": partner.uuid, "document_type": kind.value, "comment": "Scan, recto-verso"}
    answer = await push(transport, "market a", sent)
    assert answer.done, answer
    assert list(answer.result) == PUSHED
    assert answer.result == {
        "id": answer.result["id"],
        "partner": partner.id,
        "partner_uuid": str(partner.uuid),
        "comment": "Scan, recto-verso",
        "document_type": kind.value,
    }
    assert isinstance(answer.result["id"], int)
    assert (await tenants.row("kyc_document", answer.result["id"]))["status"] == "VALIDATION_ASKED"


@pytest.mark.parametrize("left_out", ["partner_uuid", "document_type", "comment", "file"])
async def test_what_is_left_out_is_named(transport: Transport, tenants: Tenants, stored: Stored, left_out: str) -> None:
    partner = await active(tenants)
    before = await stored()
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    sent.pop(left_out, None)
    answer = await push(transport, "market a", sent, file=None if left_out == "file" else FILE)
    assert answer.status == 400
    if isinstance(transport, OverRest):
        assert answer.fields == {left_out}
    assert await stored() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("partner_uuid", "no uuid"),
        ("document_type", "DRIVING_LICENCE"),
        ("comment", ""),
        ("comment", "x" * 1001),
        ("file", ("a.pdf", b"%PDF-1.7", "application/pdf")),
        ("file", ("a.docx", b"PK" + bytes(3000), "application/pdf")),
        ("file", ("a.pdf", pdf(7 * 1024 * 1024 + 1), "application/pdf")),
        ("file", (None, "a text")),
    ],
    ids=["uuid", "type", "blank comment", "long comment", "small file", "other file", "large file", "text as a file"],
)
async def test_what_is_wrong_is_named(
    transport: Transport, tenants: Tenants, stored: Stored, field: str, value: Any
) -> None:
    partner = await active(tenants)
    before = await stored()
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    file = value if field == "file" else FILE
    answer = await push(transport, "market a", sent if field == "file" else {**sent, field: value}, file)
    by_its_types = field in {"partner_uuid", "document_type"} or value == (None, "a text")
    told = set() if isinstance(transport, OverGraphQL) and by_its_types else {field}
    assert (answer.status, answer.fields) == (400, told)
    assert await stored() == before


async def test_an_upload_that_is_too_large_is_not_read(transport: Transport, tenants: Tenants, stored: Stored) -> None:
    before = await stored()
    sent = {"partner_uuid": tenants.partners["a1"].uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    answer = await push(transport, "market a", sent, ("a.pdf", pdf(10 * 1024 * 1024), "application/pdf"))
    assert answer.status == 413
    assert await stored() == before


async def test_json_is_no_upload(tenants: Tenants) -> None:
    answer = await tenants.client.post(DOCUMENTS, content="{}", headers=OverRest(tenants).headers("market a"))
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("who", "status"), [(NO_TOKEN, 401), (BAD_TOKEN, 401), ("a1", 403), ("powerless", 403), ("market b", 404)]
)
async def test_only_who_may_hands_in_and_opens(
    transport: Transport, tenants: Tenants, stored: Stored, who: str, status: int
) -> None:
    partner = await active(tenants)
    before = await stored()
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    assert (await push(transport, who, sent)).status == status
    assert (await open_identity(transport, who, partner.uuid)).status == status
    if isinstance(transport, OverGraphQL):
        assert (await transport.changed(REGISTER, who, {"partnerUuid": str(partner.uuid)})).status == status
    assert await stored() == before


async def test_a_partner_that_is_not_activated_is_told_so(
    transport: Transport, tenants: Tenants, stored: Stored
) -> None:
    partner = await newcomer(tenants)
    before = await stored()
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    for answer in (await push(transport, "market a", sent), await open_identity(transport, "market a", partner.uuid)):
        assert (answer.status, answer.code) == (409, "ACTIVATION_REQUIRED")
        assert "activate-payments" in answer.message
    assert await stored() == before
    told = await level(transport, "market a", partner.uuid)
    assert (told.result["status"], told.result["errors"]) == ("error", [])


async def test_a_repetition_gets_the_first_answer_and_no_second_document(
    transport: Transport, tenants: Tenants
) -> None:
    partner, key = await active(tenants), uuid4().hex
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    first = await push(transport, "market a", sent, key=key)
    again = await push(transport, "market a", sent, key=key)
    assert again.replayed
    assert again.result == first.result
    count = "SELECT count(*) FROM kyc_document WHERE partner_id = :id"
    assert await tenants.one(count, id=partner.id) == 1
    other = ("passport.pdf", pdf(3001), "application/pdf")
    if isinstance(transport, OverRest):
        assert (await push(transport, "market a", sent, other, key=key)).code == "IDEMPOTENCY_MISMATCH"
    assert await tenants.one(count, id=partner.id) == 1


def _holding(folder: pathlib.Path, mark: bytes) -> list[pathlib.Path]:
    return [path for path in folder.rglob("*") if path.is_file() and mark in path.read_bytes()]


async def test_no_byte_of_a_file_stays(
    transport: Transport, tenants: Tenants, capsys: pytest.CaptureFixture[str]
) -> None:
    partner = await active(tenants)
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    large = ("face.pdf", pdf(3 * 1024 * 1024, salt=uuid4().hex), "application/pdf")
    assert (await push(transport, "market a", sent, large, key=uuid4().hex)).done
    await push(transport, "market a", sent, ("face.txt", MARKER * 100, "text/plain"), key=uuid4().hex)
    marks = (MARKER.decode(), MARKER.hex(), "VEhFIEZBQ0U")
    tables = await tenants.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for (table,) in tables:
        for mark in marks:
            query = f"SELECT count(*) FROM {table} t WHERE t::text LIKE :mark"  # noqa: S608 - a name from the database
            assert await tenants.one(query, mark=f"%{mark}%") == 0, table
    assert await tenants.one("SELECT count(*) FROM audit_entry WHERE operation = 'push_kyc_document'") > 0
    assert not _holding(tenants.services.settings.data_dir, MARKER)
    printed = capsys.readouterr()
    assert not any(mark in printed.out + printed.err for mark in marks)


# ---- the level


async def test_a_refused_document_is_told_with_the_providers_reason(transport: Transport, tenants: Tenants) -> None:
    partner = await active(tenants)
    sent = {"partner_uuid": partner.uuid, "document_type": "IDENTITY_PROOF", "comment": "x"}
    document = (await push(transport, "market a", sent)).result["id"]
    await decide(tenants, document, outcome="refuse", reason="DOCUMENT_HAS_EXPIRED")
    told = await level(transport, "market a", partner.uuid)
    assert list(told.result) == LEVEL
    assert (told.result["status"], told.result["partner"], told.result["partner_uuid"]) == (
        "error",
        partner.id,
        str(partner.uuid),
    )
    refused, *missing = told.result["errors"]
    assert list(refused) == ENTRY
    assert refused == {
        "id": document,
        "partner": partner.id,
        "partner_uuid": str(partner.uuid),
        "refused_reason": "DOCUMENT_HAS_EXPIRED",
        "document_type": "IDENTITY_PROOF",
        "status": "REFUSED",
    }
    assert [(error["id"], error["status"], error["refused_reason"]) for error in missing] == [
        (None, "", "DOCUMENT_MISSING")
    ] * 3
    assert "DOCUMENT_HAS_EXPIRED" in told.result["detail"]


async def test_a_validated_partner_is_ok_and_hangs_on_the_partner(transport: Transport, tenants: Tenants) -> None:
    partner = await active(tenants)
    for kind in ("IDENTITY_PROOF", "REGISTRATION_PROOF", "ARTICLES_OF_ASSOCIATION", "SHAREHOLDER_DECLARATION"):
        sent = {"partner_uuid": partner.uuid, "document_type": kind, "comment": kind}
        await decide(tenants, (await push(transport, "market a", sent)).result["id"], outcome="validate")
    told = await level(transport, "market a", partner.uuid)
    assert (told.result["status"], told.result["errors"]) == ("ok", [])
    query = "query ($uuid: UUID!) { partner(uuid: $uuid) { kyc { status detail checks { documentType status } } } }"
    found = (await tenants.graphql("market a", query, uuid=str(partner.uuid)))["data"]["partner"]["kyc"]
    assert (found["status"], found["detail"]) == ("OK", told.result["detail"])
    assert {check["status"] for check in found["checks"]} == {"VALIDATED"}


@pytest.mark.parametrize(
    ("who", "status"), [(NO_TOKEN, 401), (BAD_TOKEN, 401), ("powerless", 403), ("a2", 404), ("market b", 404)]
)
async def test_only_who_may_sees_the_level(transport: Transport, tenants: Tenants, who: str, status: int) -> None:
    assert (await level(transport, who, tenants.partners["a1"].uuid)).status == status


async def test_its_own_user_sees_the_level(transport: Transport, tenants: Tenants) -> None:
    assert (await level(transport, "a1", tenants.partners["a1"].uuid)).result["partner"] == tenants.partners["a1"].id


async def test_a_provider_that_is_down_is_a_504_and_nothing_half_done(transport: Transport, tenants: Tenants) -> None:
    partner = await active(tenants)
    fault = {"path": "*", "kind": "status", "status": 503, "times": 200}
    for path in ("/users/*/kyc/documents", "/users/*/identity-verifications"):
        await tenants.client.post(f"{SANDBOX}/faults", json={**fault, "path": path})
    try:
        assert (await level(transport, "market a", partner.uuid)).status == 504
        assert (await open_identity(transport, "market a", partner.uuid)).status == 504
    finally:
        await tenants.client.delete(f"{SANDBOX}/faults")
    assert (await open_identity(transport, "market a", partner.uuid)).done


# ---- identity verification


async def test_an_open_session_is_answered_again(transport: Transport, tenants: Tenants) -> None:
    partner = await active(tenants)
    first = await open_identity(transport, "market a", partner.uuid)
    assert first.done
    assert list(first.result) == ["redirect_url"]
    assert await open_identity(transport, "master", partner.uuid) == first
    assert await open_identity(OverRest(tenants), "market a", partner.uuid, "GET") == first
    assert await tenants.one("SELECT count(*) FROM identity_check WHERE partner_id = :id", id=partner.id) == 1


async def test_head_opens_nothing(tenants: Tenants, stored: Stored) -> None:
    partner = await active(tenants)
    before = await stored()
    headers = OverRest(tenants).headers
    path = f"/api/payment_hub/partner/{partner.uuid}/identity_verification/"
    for who, status in {"market a": 200, "market b": 404, "a1": 403, NO_TOKEN: 401}.items():
        answer = await tenants.client.head(path, headers=headers(who))
        assert (answer.status_code, answer.content) == (status, b"")
        assert ("content-length" in answer.headers) is (status != 200), (
            "only opening one would tell how long its address is"
        )
    assert await stored() == before
    get = await tenants.client.get(path, headers=headers("market a"))
    head = await tenants.client.head(path, headers=headers("market a"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.content))


async def test_head_tells_what_get_would_refuse(tenants: Tenants) -> None:
    headers = OverRest(tenants).headers("market a")
    unknown = await newcomer(tenants)
    path = "/api/payment_hub/partner/{}/identity_verification/"
    answer = await tenants.client.head(path.format(unknown.uuid), headers=headers)
    assert (answer.status_code, answer.content) == (409, b"")
    known = await active(tenants)
    fault = {"path": "/users/*/identity-verifications", "kind": "status", "status": 503, "times": 200}
    await tenants.client.post(f"{SANDBOX}/faults", json=fault)
    try:
        answer = await tenants.client.head(path.format(known.uuid), headers=headers)
    finally:
        await tenants.client.delete(f"{SANDBOX}/faults")
    assert (answer.status_code, answer.content) == (504, b"")


# ---- bank accounts


async def test_a_bank_account_is_registered(tenants: Tenants) -> None:
    partner = await active(tenants, iban=IBAN)
    answer = await OverGraphQL(tenants).changed(REGISTER, "market a", {"partnerUuid": str(partner.uuid)})
    assert answer.done, answer
    assert (answer.result["ibanEnd"], answer.result["partner"]["uuid"]) == (IBAN[-4:], str(partner.uuid))
    assert answer.result["status"] in {"PENDING", "ACTIVE"}
    without = await active(tenants)
    refused = await OverGraphQL(tenants).changed(REGISTER, "market a", {"partnerUuid": str(without.uuid)})
    assert (refused.status, refused.code) == (409, "IBAN_MISSING")


# ---- the page


async def test_the_page_says_how_it_stands_and_leads_on(tenants: Tenants) -> None:
    partner = await active(tenants)
    url = (await open_identity(OverRest(tenants), "market a", partner.uuid)).result["redirect_url"]
    path = await tenants.one("SELECT path FROM identity_check WHERE partner_id = :id", id=partner.id)
    page = await tenants.client.get(f"/k/{path}", headers={"Accept-Language": "fr"})
    assert page.status_code == 200
    assert "Votre identité n’est pas encore vérifiée" in page.text
    assert f'href="{url}"' in page.text
    assert (await tenants.client.get("/k/aaaaaaaa")).status_code == 404
    id = await tenants.one("SELECT provider_id FROM identity_check WHERE path = :path", path=path)
    decision = {"outcome": "refuse", "reason": "DOCUMENT_UNREADABLE"}
    await tenants.client.post(f"{SANDBOX}/identity-verifications/{id}", json=decision)
    page = await tenants.client.get(f"/k/{path}/", headers={"Accept-Language": "de"})
    assert "Ihre Identität konnte nicht bestätigt werden" in page.text
    token = page.text.split('name="csrf" value="')[1].split('"')[0]
    on = await tenants.client.post(f"/k/{path}/", data={"csrf": token}, headers={"Origin": "http://127.0.0.1:8000"})
    assert on.status_code == 303
    assert on.headers["location"] != f"/k/{path}/"
    assert (await tenants.client.get(on.headers["location"])).status_code == 200


async def walk(tenants: Tenants, link: str, outcome: str) -> None:
    """Go through a session of the provider."""
    (token,) = parse_qs(urlsplit(link).query)["token"]
    assert (await tenants.client.post(f"{SANDBOX}/sca/{token}", json={"outcome": outcome})).is_success


async def unconfirmed(tenants: Tenants) -> str:
    """The address that a representative came back to without having confirmed a bank account."""
    partner = await newcomer(tenants, iban=IBAN)
    begun = await activate(OverRest(tenants), "market a", partner.uuid)
    await walk(tenants, begun.result["pending_user_action"], "succeed")
    assert (await activate(OverRest(tenants), "market a", partner.uuid)).result["status"] == "COMPLETED"
    answer = await OverGraphQL(tenants).changed(REGISTER, "market a", {"partnerUuid": str(partner.uuid)})
    await walk(tenants, answer.result["redirectUrl"], "fail")
    await tenants.execute("UPDATE partner SET iban = '' WHERE id = :id", id=partner.id)
    return str(await tenants.one("SELECT '/k/' || path || '/' FROM bank_account WHERE partner_id = :id", id=partner.id))


async def test_a_representative_who_can_do_nothing_is_told_who_can(tenants: Tenants) -> None:
    path = await unconfirmed(tenants)
    page = await tenants.client.get(path)
    token = page.text.split('name="csrf" value="')[1].split('"')[0]
    told = await tenants.client.post(path, data={"csrf": token}, headers={"Origin": "http://127.0.0.1:8000"})
    assert told.status_code == 409
    assert "The bank account was not confirmed" in told.text
    assert "The platform that your shop sells on can correct that." in told.text


async def test_looks_and_guesses_count_before_anybody_is_asked(
    tenants: Tenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = await unconfirmed(tenants)
    rate = rate_of("1/hour")
    assert rate is not None
    limits = tenants.services.limits
    monkeypatch.setattr(limits, "forms", RateLimit("look", rate, limits.counters, clock))
    assert (await tenants.client.get("/k/aaaaaaaa")).status_code == 404
    calls = (await tenants.client.get(f"{SANDBOX}/stats")).json()["calls"]
    for path in ("/k/aaaaaaaa", good):
        answer = await tenants.client.get(path)
        assert answer.status_code == 429
        assert "Too many attempts" in answer.text
        assert int(answer.headers["retry-after"]) > 0
    assert (await tenants.client.get(f"{SANDBOX}/stats")).json()["calls"] == calls
