"""Documents, whose files pass through without being kept."""

import asyncio
import base64
import hashlib
import json
import tracemalloc
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.providers.accounts import CheckStatus, Content, DocumentType, Refusal, RefusalReason
from store.providers.errors import InvalidRequest, ProviderNotFound, TransientError, UnknownOutcome
from store.providers.keys import IdempotencyKey, new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.mangopay.documents import PageUpload
from tests.store.providers.mangopay.account import (
    CONFLICT,
    CREATED,
    KEY_NOT_KNOWN,
    TOKEN,
    Account,
    Answer,
    kept_answer,
    ok,
    refusal,
)
from tests.store.providers.mangopay.payees.people import MOMENT, document

OF = "/users/user_m_2/kyc/documents"
ONE = f"{OF}/kyc_1"
PAGES = f"{ONE}/pages"
KEY = IdempotencyKey("3b1e9a52-3c0b-4f0e-9d4e-0a8c1f4f2b11")
DONE = httpx.Response(204)
FILE = b"%PDF-1.4 " + bytes(range(256)) * 5


def content(*pieces: bytes) -> Content:
    """A file in pieces."""

    async def read() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return read


async def add(account: Account, file: Content) -> None:
    """Add a page."""
    await account.adapter.add_page("user_m_2", "kyc_1", file, key=KEY, sent_at=account.clock.now())


def file_in(request: httpx.Request) -> bytes:
    """The file that a request holds, which is all that it says."""
    body = json.loads(request.content)
    assert set(body) == {"File"}
    return base64.b64decode(body["File"], validate=True)


# What a document is


async def test_a_document_is_begun_under_our_name_for_it(account: Account) -> None:
    route = account.on("POST", OF, ok(document()))
    told = await account.adapter.create_document(
        "user_m_2", DocumentType.REGISTRATION_PROOF, reference="document-9", key=KEY, sent_at=account.clock.now()
    )
    assert json.loads(route.calls.last.request.content) == {"Type": "REGISTRATION_PROOF", "Tag": "document-9"}
    assert (told.id, told.account_id, told.type) == ("kyc_1", "user_m_2", DocumentType.REGISTRATION_PROOF)
    assert (told.status, told.created_at, told.reference) == (CheckStatus.CREATED, MOMENT, "document-9")
    assert (told.refusals, told.processed_at, told.flags) == ([], None, [])


@pytest.mark.parametrize("type", list(DocumentType))
async def test_every_type_is_told_as_it_was_asked_for(account: Account, type: DocumentType) -> None:
    account.on("GET", "/kyc/documents/kyc_1", ok(document(Type=type.value)))
    assert (await account.adapter.get_document("kyc_1")).type is type


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("CREATED", CheckStatus.CREATED),
        ("VALIDATION_ASKED", CheckStatus.PENDING),
        ("VALIDATED", CheckStatus.VALIDATED),
        ("REFUSED", CheckStatus.REFUSED),
        ("OUT_OF_DATE", CheckStatus.OUTDATED),
        ("LOST_IN_THE_POST", CheckStatus.UNKNOWN),
    ],
)
async def test_where_a_document_stands(account: Account, status: str, meaning: CheckStatus) -> None:
    account.on("GET", "/kyc/documents/kyc_1", ok(document(Status=status)))
    told = await account.adapter.get_document("kyc_1")
    assert (told.status, told.provider_status) == (meaning, status)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("DOCUMENT_UNREADABLE", RefusalReason.UNREADABLE),
        ("DOCUMENT_NOT_ACCEPTED", RefusalReason.NOT_ACCEPTED),
        ("DOCUMENT_HAS_EXPIRED", RefusalReason.HAS_EXPIRED),
        ("DOCUMENT_INCOMPLETE", RefusalReason.INCOMPLETE),
        ("DOCUMENT_MISSING", RefusalReason.MISSING),
        ("DOCUMENT_DO_NOT_MATCH_USER_DATA", RefusalReason.USER_DATA_MISMATCH),
        ("DOCUMENT_DO_NOT_MATCH_ACCOUNT_DATA", RefusalReason.ACCOUNT_DATA_MISMATCH),
        ("DOCUMENT_FALSIFIED", RefusalReason.FALSIFIED),
        ("UNDERAGE_PERSON", RefusalReason.UNDERAGE),
        ("SPECIFIC_CASE", RefusalReason.SPECIFIC_CASE),
        ("WRONG_COLOUR", RefusalReason.UNKNOWN),
    ],
)
async def test_a_refusal_says_why_in_our_words_and_theirs(account: Account, code: str, reason: RefusalReason) -> None:
    refused = document(
        Status="REFUSED",
        RefusedReasonType=code,
        RefusedReasonMessage="as they say",
        ProcessedDate=CREATED,
        Flags=["009000"],
    )
    account.on("GET", "/kyc/documents/kyc_1", ok(refused))
    told = await account.adapter.get_document("kyc_1")
    assert told.refusals == [Refusal(reason, code, "as they say")]
    assert (told.processed_at, told.flags) == (MOMENT, ["009000"])


async def test_a_refusal_without_a_reason_is_still_one(account: Account) -> None:
    account.on("GET", "/kyc/documents/kyc_1", ok(document(Status="REFUSED", Flags=None)))
    told = await account.adapter.get_document("kyc_1")
    assert (told.refusals, told.flags) == ([Refusal(RefusalReason.UNKNOWN, "")], [])


async def test_all_documents_are_told_the_newest_first_and_unknown_types_among_them(account: Account) -> None:
    listed = [document(Id="old"), document(Id="new", CreationDate=CREATED + 9, Type="HOROSCOPE")]
    route = account.on("GET", OF, ok(listed))
    told = await account.adapter.list_documents("user_m_2")
    assert [(each.id, each.type, each.provider_type) for each in told] == [
        ("new", None, "HOROSCOPE"),
        ("old", DocumentType.REGISTRATION_PROOF, "REGISTRATION_PROOF"),
    ]
    assert route.calls.last.request.url.params["Sort"] == "CreationDate:DESC"


async def test_a_document_that_is_not_there_is_not_found(account: Account) -> None:
    account.on("GET", "/kyc/documents/none", refusal(404, "ressource_not_found"))
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_document("none")


# Handing in


async def test_a_document_is_handed_in(account: Account) -> None:
    route = account.on("PUT", ONE, ok(document(Status="VALIDATION_ASKED")))
    assert (await account.adapter.submit_document("user_m_2", "kyc_1")).status is CheckStatus.PENDING
    assert json.loads(route.calls.last.request.content) == {"Status": "VALIDATION_ASKED"}


@pytest.mark.parametrize("now", ["VALIDATION_ASKED", "VALIDATED", "REFUSED"])
async def test_handing_in_twice_tells_what_became_of_it(account: Account, now: str) -> None:
    route = account.on("PUT", ONE, httpx.ReadTimeout, refusal(400, "param_error"))
    account.on("GET", "/kyc/documents/kyc_1", ok(document(Status=now)))
    assert (await account.adapter.submit_document("user_m_2", "kyc_1")).provider_status == now
    assert route.call_count == 2


async def test_a_document_without_a_page_is_refused(account: Account) -> None:
    account.on("PUT", ONE, refusal(400, "param_error", errors={"Pages": "none"}))
    account.on("GET", "/kyc/documents/kyc_1", ok(document()))
    with pytest.raises(InvalidRequest) as told:
        await account.adapter.submit_document("user_m_2", "kyc_1")
    assert told.value.fields == {"Pages": "none"}


# Files


@given(pieces=st.lists(st.binary(max_size=40), max_size=12))
def test_however_a_file_is_cut_it_arrives_whole(pieces: list[bytes]) -> None:
    file = b"".join(pieces)
    page = PageUpload(content(*pieces), len(file))

    async def read_content() -> bytes:
        return b"".join([piece async for piece in page])

    for _ in range(2):
        body = asyncio.run(read_content())
        assert len(body) == page.size
        assert base64.b64decode(json.loads(body)["File"], validate=True) == file


@pytest.mark.parametrize("answer", [DONE, httpx.Response(200), httpx.Response(201), ok({})])
async def test_a_page_is_added_whatever_the_success_looks_like(account: Account, answer: httpx.Response) -> None:
    route = account.on("POST", PAGES, answer)
    await add(account, content(FILE[:7], b"", FILE[7:100], FILE[100:]))
    request = route.calls.last.request
    assert file_in(request) == FILE
    assert request.headers["Content-Length"] == str(len(request.content))
    assert "Transfer-Encoding" not in request.headers
    assert request.headers["Content-Type"] == "application/json"
    assert (request.headers["Idempotency-Key"], route.call_count) == (KEY, 1)


@pytest.mark.parametrize("lost", [httpx.ReadTimeout, refusal(502), httpx.Response(200, text="<html>")])
@pytest.mark.parametrize("resource", [None, {}, ""])
async def test_a_page_whose_answer_was_lost_is_not_added_twice(
    account: Account, lost: Answer, resource: object
) -> None:
    route = account.on("POST", PAGES, lost)
    account.on("GET", f"/responses/{KEY}", ok(kept_answer(resource, 204)))
    await add(account, content(FILE))
    assert route.call_count == 1


async def test_a_page_that_got_lost_is_read_and_sent_again_under_the_same_key(account: Account) -> None:
    route = account.on("POST", PAGES, httpx.WriteError, httpx.ConnectError, DONE)
    account.on("GET", f"/responses/{KEY}", KEY_NOT_KNOWN)
    await add(account, content(FILE[:500], FILE[500:]))
    assert [file_in(call.request) for call in route.calls] == [FILE] * 3
    assert {call.request.headers["Idempotency-Key"] for call in route.calls} == {KEY}


async def test_a_page_that_was_added_before_is_added_no_more(account: Account) -> None:
    route = account.on("POST", PAGES, CONFLICT)
    account.on("GET", f"/responses/{KEY}", ok(kept_answer(None, 204)))
    await add(account, content(FILE))
    assert route.call_count == 1


async def test_a_page_is_sent_whole_again_when_the_token_was_refused(account: Account) -> None:
    route = account.on("POST", PAGES, refusal(401), DONE)
    await add(account, content(FILE))
    assert [file_in(call.request) for call in route.calls] == [FILE] * 2
    assert account.token.call_count == 2


@pytest.mark.parametrize("status", [400, 413, 415])
async def test_a_file_that_is_refused_is_not_sent_again(account: Account, status: int) -> None:
    route = account.on("POST", PAGES, refusal(status, "param_error"))
    with pytest.raises(InvalidRequest):
        await add(account, content(FILE))
    assert route.call_count == 1


@pytest.mark.parametrize("status", [400, 413])
async def test_a_kept_refusal_of_a_file_is_the_outcome(account: Account, status: int) -> None:
    account.on("POST", PAGES, httpx.ReadTimeout)
    account.on("GET", f"/responses/{KEY}", ok(kept_answer(refusal(status, "param_error").json(), status)))
    with pytest.raises(InvalidRequest):
        await add(account, content(FILE))


async def test_a_page_of_unknown_outcome_is_said_to_be_so(account: Account) -> None:
    account.on("POST", PAGES, httpx.ReadTimeout)
    account.on("GET", f"/responses/{KEY}", ok(kept_answer(None, 500)))
    with pytest.raises(UnknownOutcome):
        await add(account, content(FILE))


async def test_a_file_that_breaks_off_is_the_callers_own_trouble(account: Account) -> None:
    reads = 0

    async def broken() -> AsyncIterator[bytes]:
        nonlocal reads
        reads += 1
        yield FILE
        if reads > 1:
            raise OSError("the upload is gone")

    account.on("POST", PAGES, DONE)
    with pytest.raises(OSError, match="upload is gone"):
        await add(account, broken)


class Swallow(httpx.AsyncBaseTransport):
    """Reads what it is sent piece by piece, and keeps nothing but its length and its hash."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.largest, self.length, self.hash = 0, 0, hashlib.sha256()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Take a request in."""
        if str(request.url) == TOKEN:
            return httpx.Response(200, json={"access_token": "t", "token_type": "Bearer", "expires_in": 3600})
        assert isinstance(request.stream, httpx.AsyncByteStream)
        async for piece in request.stream:
            self.largest = max(self.largest, len(piece))
            self.length += len(piece)
            self.hash.update(piece)
        return httpx.Response(204)


async def test_a_large_file_takes_no_more_memory_than_a_piece_of_it(account: Account) -> None:
    piece, pieces = b"0123456789abcdef" * 4096, 600

    async def large() -> AsyncIterator[bytes]:
        for _ in range(pieces):
            yield piece

    transport = Swallow()
    adapter = Mangopay(
        base_url=TOKEN.removesuffix("/v2.01/oauth/token"),
        client_id="shop",
        api_key="key",
        hook_secret="s",
        transport=transport,
    )
    now = account.clock.now()
    await adapter.add_page("user_m_2", "kyc_1", content(b"warm"), key=new_idempotency_key(), sent_at=now)
    transport.forget()
    tracemalloc.start()
    await adapter.add_page("user_m_2", "kyc_1", large, key=new_idempotency_key(), sent_at=now)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    await adapter.aclose()
    expected = b'{"File":"' + base64.b64encode(piece * pieces) + b'"}'
    assert (transport.length, transport.hash.digest()) == (len(expected), hashlib.sha256(expected).digest())
    assert transport.largest < 2 * len(piece)
    assert peak < 10 * len(piece)


async def test_a_page_that_cannot_be_sent_at_all_is_certainly_not_added(account: Account) -> None:
    account.on("POST", PAGES, httpx.ConnectError)
    with pytest.raises(TransientError):
        await add(account, content(FILE))
