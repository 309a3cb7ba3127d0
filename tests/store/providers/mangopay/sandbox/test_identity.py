"""Identities proven through the adapter and the sandbox together: by a session of the provider, or by documents."""

import datetime as dt

import pytest

from store.providers.accounts import CheckStatus, DocumentType, KycLevel, LegalKind, RefusalReason
from store.providers.base import Subject
from store.providers.errors import InvalidRequest, NotAllowed
from tests.store.providers.mangopay.connected_provider import IDENTITY_BACK, ConnectedProvider, file

# ---- identity


async def test_an_identity_is_proven(provider: ConnectedProvider) -> None:
    id = await provider.active()
    check = await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **provider.once())
    assert (check.status, check.account_id) == (CheckStatus.PENDING, id)
    assert check.action
    assert check.action.expires_at == check.created_at + dt.timedelta(days=7)
    assert await provider.adapter.list_identity_checks(id) == [check]
    await provider.api.control("POST", f"/identity-verifications/{check.id}", {"outcome": "validate"})
    done = await provider.adapter.get_identity_check(check.id)
    assert (done.status, done.action, done.refusals) == (CheckStatus.VALIDATED, None, [])
    assert (await provider.adapter.get_account(id)).kyc_level is KycLevel.REGULAR
    assert {
        ("IDENTITY_VERIFICATION_VALIDATED", Subject.IDENTITY_CHECK, check.id),
        ("USER_KYC_REGULAR", Subject.ACCOUNT, id),
    } <= await provider.events()


async def test_a_refused_identity_says_why_and_another_may_be_tried(provider: ConnectedProvider) -> None:
    id = await provider.active()
    first = await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **provider.once())
    refuse = {"outcome": "refuse", "reason": "FACE_MATCH_FAIL", "comment": "Somebody else"}
    await provider.api.control("POST", f"/identity-verifications/{first.id}", refuse)
    refused = await provider.adapter.get_identity_check(first.id)
    assert refused.status is CheckStatus.REFUSED
    assert [refusal.reason for refusal in refused.refusals] == [RefusalReason.FACE_MISMATCH]
    await provider.api.advance(1)
    second = await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **provider.once())
    assert [check.id for check in await provider.adapter.list_identity_checks(id)] == [second.id, first.id]
    await provider.api.advance(7 * 24 * 3600 + 1)
    assert (await provider.adapter.get_identity_check(second.id)).status is CheckStatus.EXPIRED


async def test_an_identity_cannot_be_asked_for_where_it_is_not_to_be_had(provider: ConnectedProvider) -> None:
    id = await provider.active()
    with pytest.raises(InvalidRequest) as told:
        await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK + "x" * 50, **provider.once())
    assert "ReturnUrl" in told.value.fields
    await provider.api.control("POST", "/switches", {"identity_verification": False})
    with pytest.raises(NotAllowed):
        await provider.adapter.open_identity_check(id, return_url=IDENTITY_BACK, **provider.once())
    assert await provider.adapter.list_identity_checks(id) == []


# ---- documents


async def handed_in(provider: ConnectedProvider, account_id: str, type: DocumentType) -> str:
    """A document of two files that was handed in."""
    made = await provider.adapter.create_document(account_id, type, reference="document-9", **provider.once())
    for _ in range(2):
        await provider.adapter.add_page(account_id, made.id, file(), **provider.once())
    submitted = await provider.adapter.submit_document(account_id, made.id)
    assert submitted.status is CheckStatus.PENDING
    return made.id


async def test_documents_prove_an_identity_too(provider: ConnectedProvider) -> None:
    id = await provider.active(kind=LegalKind.SOLE_TRADER)
    for type in (DocumentType.IDENTITY_PROOF, DocumentType.REGISTRATION_PROOF):
        assert (await provider.adapter.get_account(id)).kyc_level is KycLevel.LIGHT
        document = await handed_in(provider, id, type)
        await provider.api.control("POST", f"/kyc/{document}", {"outcome": "validate"})
        told = await provider.adapter.get_document(document)
        assert (told.status, told.type, told.reference) == (CheckStatus.VALIDATED, type, "document-9")
        assert told.processed_at
        assert ("KYC_SUCCEEDED", Subject.DOCUMENT, document) in await provider.events()
    assert (await provider.adapter.get_account(id)).kyc_level is KycLevel.REGULAR
    assert len(await provider.adapter.list_documents(id)) == 2


async def test_a_refused_document_says_why_and_is_over(provider: ConnectedProvider) -> None:
    id = await provider.active()
    document = await handed_in(provider, id, DocumentType.IDENTITY_PROOF)
    refuse = {"outcome": "refuse", "reason": "DOCUMENT_HAS_EXPIRED", "message": "In May"}
    await provider.api.control("POST", f"/kyc/{document}", refuse)
    told = await provider.adapter.get_document(document)
    assert told.status is CheckStatus.REFUSED
    assert [(refusal.reason, refusal.message) for refusal in told.refusals] == [(RefusalReason.HAS_EXPIRED, "In May")]
    assert (await provider.adapter.submit_document(id, document)).status is CheckStatus.REFUSED


async def test_a_page_that_got_lost_either_way_is_there_once(provider: ConnectedProvider) -> None:
    id = await provider.active()
    made = await provider.adapter.create_document(id, DocumentType.IDENTITY_PROOF, reference="d", **provider.once())
    with pytest.raises(InvalidRequest):
        await provider.adapter.submit_document(id, made.id)
    for when in ("before", "after"):
        fault = {"method": "POST", "path": "*/pages", "when": when, "kind": "drop", "times": 1}
        await provider.api.control("POST", "/faults", fault)
        once = provider.once()
        await provider.adapter.add_page(id, made.id, file(), **once)
        await provider.adapter.add_page(id, made.id, file(), **once)
    shown = await provider.api.control("GET", f"/kyc/{made.id}")
    assert len(shown["Pages"]) == 2
    assert (await provider.adapter.submit_document(id, made.id)).status is CheckStatus.PENDING


@pytest.mark.parametrize("size", [100, 7 * 1024 * 1024 + 10])
async def test_files_of_the_wrong_size_are_refused(provider: ConnectedProvider, size: int) -> None:
    id = await provider.active()
    made = await provider.adapter.create_document(id, DocumentType.IDENTITY_PROOF, reference="d", **provider.once())
    with pytest.raises(InvalidRequest):
        await provider.adapter.add_page(id, made.id, file(size, 65_536), **provider.once())
    assert (await provider.adapter.get_document(made.id)).status is CheckStatus.CREATED
