"""Documents on their way to the provider: every file it takes, each step that can be lost, and nothing of a file kept."""

import asyncio
import dataclasses
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.kyc.documents import push_kyc_document
from schema.core.errors import ActivationRequired, InvalidInput, NotFound, ProviderFailed, ProviderTimedOut
from schema.kyc.document import PushKycDocument
from schema.kyc.kyc import KycCheckStatus, KycDocumentType
from store.core.clock import clock
from store.core.document_steps import DocumentStep
from store.core.provider_process import KEY_LIFE
from store.providers.errors import InvalidRequest, NotAllowed
from tests.fixtures.activation import Newcomer
from tests.fixtures.kyc import MARKER, Payee, pdf, upload

T = KycDocumentType
PNG = b"\x89PNG\r\n\x1a\n" + bytes(2000)
JPEG = b"\xff\xd8\xff\xe0" + bytes(2000)
CREATE, PAGE, SUBMIT = "/users/*/kyc/documents", "/users/*/kyc/documents/*/pages", "/users/*/kyc/documents/*"


@pytest.fixture
async def payee(newcomer: Newcomer) -> Payee:
    """A partner that the provider knows."""
    return await Payee.of(newcomer)


@pytest.mark.parametrize("kind", T)
async def test_a_document_is_handed_in(payee: Payee, kind: T) -> None:
    document = await payee.push(pdf(5000), kind, "Scanned by the reception")
    (row,) = (await payee.rows()).documents
    assert (row.id, row.comment, row.media_type, row.size) == (
        document.id,
        "Scanned by the reception",
        "application/pdf",
        5000,
    )
    assert (row.status, row.step) == (KycCheckStatus.VALIDATION_ASKED, DocumentStep.SUBMITTED)
    (at_provider,) = await payee.at_the_provider("kyc_document")
    assert (at_provider["type"], at_provider["status"], at_provider["id"]) == (
        kind.value,
        "VALIDATION_ASKED",
        row.provider_id,
    )
    assert at_provider["tag"] == str(row.reference)
    (page,) = await payee.at_the_provider("kyc_page")
    assert (page["sha256"], page["size"]) == (row.digest, 5000)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        (b"GIF87a" + bytes(2000), "image/gif"),
        (b"GIF89a" + bytes(2000), "image/gif"),
        (pdf(1024), "application/pdf"),
        (pdf(7 * 1024 * 1024), "application/pdf"),
    ],
    ids=["png", "jpeg", "gif 87", "gif 89", "smallest", "largest"],
)
async def test_what_a_file_is_is_seen_by_its_first_bytes(payee: Payee, content: bytes, kind: str) -> None:
    await payee.push(content)
    (row,) = (await payee.rows()).documents
    assert (row.media_type, row.size, row.step) == (kind, len(content), DocumentStep.SUBMITTED)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "smaller than 1 kB"),
        (pdf(1023), "smaller than 1 kB"),
        (pdf(7 * 1024 * 1024 + 1), "larger than 7 MB"),
        (b"<html>" + bytes(2000), "PDF, PNG, JPEG or GIF"),
        (b"PK\x03\x04" + bytes(2000), "PDF, PNG, JPEG or GIF"),
        (b" %PDF-1.7" + bytes(2000), "PDF, PNG, JPEG or GIF"),
    ],
    ids=["empty", "small", "large", "html", "docx", "not at the start"],
)
async def test_a_file_that_no_provider_takes_is_refused_by_name(payee: Payee, content: bytes, says: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await payee.push(content)
    (problem,) = refused.value.problems
    assert problem.path == ("file",)
    assert says in problem.message
    assert not (await payee.rows()).documents
    assert not await payee.at_the_provider("kyc_document")


async def test_a_partner_that_the_provider_does_not_know_is_activated_first(newcomer: Newcomer) -> None:
    file = upload(pdf())
    sent = PushKycDocument(partner_uuid=newcomer.partner.uuid, document_type=T.IDENTITY_PROOF, comment="x", file=file)
    with pytest.raises(ActivationRequired, match="activate-payments"):
        await push_kyc_document(newcomer.manager, sent)
    assert await newcomer.one("SELECT count(*) FROM kyc_document") == 0


async def test_the_comment_is_not_told_to_the_provider(payee: Payee) -> None:
    await payee.push(comment="refuse_unreadable")
    assert "refuse_unreadable" not in str(await payee.at_the_provider("kyc_document"))
    assert "refuse_unreadable" not in str(await payee.at_the_provider("event"))


# ---- the same again


async def test_the_same_file_again_is_the_same_document(payee: Payee) -> None:
    first = await payee.push(comment="One")
    again = await payee.push(comment="Two")
    assert again.id == first.id
    assert again.comment == "Two"
    assert len(await payee.at_the_provider("kyc_document")) == len(await payee.at_the_provider("kyc_page")) == 1


async def test_the_same_file_for_something_else_is_another_document(payee: Payee) -> None:
    assert (await payee.push(kind=T.ADDRESS_PROOF)).id != (await payee.push(kind=T.IDENTITY_PROOF)).id
    assert len(await payee.at_the_provider("kyc_document")) == 2


async def test_a_refused_document_is_never_opened_again(payee: Payee) -> None:
    first = await payee.push()
    await payee.decide(first, "refuse", reason="DOCUMENT_UNREADABLE")
    await payee.follow()
    second = await payee.push()
    assert second.id != first.id
    assert [row["status"] for row in await payee.at_the_provider("kyc_document")] == ["REFUSED", "VALIDATION_ASKED"]


async def test_twenty_at_once_hand_one_document_in(payee: Payee) -> None:
    content = pdf(4000)
    documents = await asyncio.gather(*(payee.push(content) for _ in range(20)))
    assert len({document.id for document in documents}) == 1
    assert len(await payee.at_the_provider("kyc_document")) == 1
    assert len(await payee.at_the_provider("kyc_page")) == 1


# ---- what is lost on the way


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("method", "path"), [("POST", CREATE), ("POST", PAGE), ("PUT", SUBMIT)], ids=["create", "page", "submit"]
)
async def test_an_answer_that_is_lost_is_taken_up_by_the_same_file(
    payee: Payee, method: str, path: str, when: str
) -> None:
    await payee.fault(path, method=method, kind="status", status=503, when=when, times=50)
    await payee.fault("/responses/*", method="GET", kind="status", status=503, times=50)
    with pytest.raises((ProviderTimedOut, ProviderFailed)):
        await payee.push()
    await payee.control("DELETE", "/faults")
    (begun,) = (await payee.rows()).documents
    document = await payee.push()
    assert document.id == begun.id
    (row,) = (await payee.rows()).documents
    assert (row.step, row.status) == (DocumentStep.SUBMITTED, KycCheckStatus.VALIDATION_ASKED)
    assert len(await payee.at_the_provider("kyc_document")) == len(await payee.at_the_provider("kyc_page")) == 1


class _KilledError(BaseException):
    """The process dies."""


@pytest.mark.parametrize("last_call", ["create_document", "add_page", "submit_document"])
async def test_a_process_that_dies_between_an_answer_and_its_note_loses_nothing(
    payee: Payee, monkeypatch: pytest.MonkeyPatch, last_call: str
) -> None:
    answered = getattr(payee.services.provider, last_call)

    async def dying(*arguments: Any, **more: Any) -> None:
        await answered(*arguments, **more)
        raise _KilledError

    monkeypatch.setattr(payee.services.provider, last_call, dying)
    with pytest.raises(_KilledError):
        await payee.push()
    monkeypatch.undo()
    half = await payee.level()
    assert "Not handed in completely" in half.detail or last_call == "submit_document"
    await payee.push()
    (row,) = (await payee.rows()).documents
    assert row.step is DocumentStep.SUBMITTED
    assert len(await payee.at_the_provider("kyc_document")) == len(await payee.at_the_provider("kyc_page")) == 1


async def test_a_half_done_document_is_told_as_such_and_another_file_takes_its_place(payee: Payee) -> None:
    await payee.fault(PAGE, method="POST", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await payee.push(pdf(salt="one"))
    await payee.control("DELETE", "/faults")
    told = await payee.level()
    (error,) = [error for error in told.errors if error.id is not None]
    assert (error.status, error.document_type) == (KycCheckStatus.CREATED, T.IDENTITY_PROOF)
    assert "send it again: IDENTITY_PROOF" in told.detail
    await payee.push(pdf(salt="two"))
    assert not [error for error in (await payee.level()).errors if error.id is not None]


async def test_a_day_later_nobody_knows_what_a_lost_call_did_and_a_new_document_is_made(payee: Payee) -> None:
    await payee.fault(PAGE, method="POST", kind="status", status=503, when="after", times=50)
    await payee.fault("/responses/*", method="GET", kind="status", status=503, times=50)
    with pytest.raises(ProviderTimedOut):
        await payee.push()
    await payee.control("DELETE", "/faults")
    clock.advance(KEY_LIFE)
    await payee.push()
    new, old = (await payee.rows()).documents
    assert (old.step, new.step) == (DocumentStep.ABANDONED, DocumentStep.SUBMITTED)
    assert [check.id for check in (await payee.level()).checks] == [new.id]


async def test_a_file_that_the_provider_refuses_is_told_at_the_file(
    payee: Payee, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refusing(*_arguments: object, **_more: object) -> None:
        raise InvalidRequest("The file is encrypted.")

    monkeypatch.setattr(payee.services.provider, "add_page", refusing)
    with pytest.raises(InvalidInput) as refused:
        await payee.push()
    monkeypatch.undo()
    assert "The file is encrypted." in refused.value.problems[0].message
    assert refused.value.problems[0].path == ("file",)
    (row,) = (await payee.rows()).documents
    assert row.step is DocumentStep.ABANDONED
    again = await payee.push()
    assert again.id != row.id
    assert (await payee.rows()).documents[0].step is DocumentStep.SUBMITTED


@pytest.mark.parametrize("call", ["create_document", "add_page", "submit_document"])
async def test_what_the_provider_forbids_today_can_be_handed_in_tomorrow(
    payee: Payee, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    async def forbidding(*_arguments: object, **_more: object) -> None:
        raise NotAllowed("The contract forbids it.")

    monkeypatch.setattr(payee.services.provider, call, forbidding)
    with pytest.raises(ProviderFailed):
        await payee.push()
    monkeypatch.undo()
    await payee.push()
    new, old = (await payee.rows()).documents
    assert (old.step, new.step) == (DocumentStep.ABANDONED, DocumentStep.SUBMITTED)
    assert {old.create_key, old.page_key}.isdisjoint({new.create_key, new.page_key})


async def test_what_another_request_has_given_up_is_no_success(payee: Payee, monkeypatch: pytest.MonkeyPatch) -> None:
    real = payee.services.provider.create_document

    async def overtaken(*arguments: Any, **more: Any) -> Any:
        made = await real(*arguments, **more)
        await payee.execute("UPDATE kyc_document SET step = 'abandoned'")
        return made

    monkeypatch.setattr(payee.services.provider, "create_document", overtaken)
    with pytest.raises(ProviderFailed):
        await payee.push()
    assert not await payee.at_the_provider("kyc_page")


async def test_a_partner_of_others_does_not_exist(payee: Payee, newcomer: Newcomer) -> None:
    file = upload(pdf())
    other = newcomer.manager
    other.caller = dataclasses.replace(other.required_caller, marketplace_id=10_000)
    with pytest.raises(NotFound):
        await push_kyc_document(
            other,
            PushKycDocument(partner_uuid=payee.partner.uuid, document_type=T.IDENTITY_PROOF, comment="x", file=file),
        )
    assert not await payee.at_the_provider("kyc_document")


async def test_no_byte_of_a_file_is_in_the_database(payee: Payee) -> None:
    await payee.push(pdf(3000))
    tables = await payee.services.db.rows(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))
    for (table,) in tables:
        query = f"SELECT count(*) FROM {table} t WHERE t::text LIKE '%{MARKER.decode()}%'"  # noqa: S608
        count = await payee.one(query)
        assert count == 0, table
