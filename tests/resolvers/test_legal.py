"""Legal texts of partners: published, replaced and retired; each version stays what it was."""

import asyncio
from typing import Any

import pytest

from resolvers import legal
from schema.checkout.legal import legal_path
from schema.core.errors import AppError, NotFound
from schema.core.text import Text
from schema.legal.input import PublishLegalDocument, RetireLegalDocument
from schema.legal.legal_document import LegalDocument, LegalDocumentKind
from store.partner.partners import PartnerRow
from tests.changes import Direct, Outcome, mistake
from tests.fixtures.tenants import Tenants

TERMS, PRIVACY = LegalDocumentKind.TERMS, LegalDocumentKind.PRIVACY
SITE = "https://maison.example/cgv"

PUBLISH = """mutation ($input: PublishLegalDocumentInput!) {
  publishLegalDocument(input: $input) {
    legalDocument { id uuid kind content { en fr } website { en fr } replacedOn pageUrl partner { uuid } }
    userErrors { field code message }
  }
}"""
LIST = """query ($filter: LegalDocumentFilter) {
  legalDocuments(filter: $filter) { nodes { id kind content { en } replacedOn } }
}"""


LOOK_UP = "query ($id: Int!) { legalDocument(id: $id) { content { en } } }"


async def published(tenants: Tenants, who: str = "market a", partner: str = "a1", **input: Any) -> LegalDocument:
    """A version, published for a partner."""
    outcome = await asked(tenants, who, partner, **input)
    assert outcome.done, outcome.wrong
    version: LegalDocument = outcome.result
    return version


async def asked(tenants: Tenants, who: str = "market a", partner: str = "a1", **input: Any) -> Outcome:
    """What becomes of a publication."""
    made = {"partner_uuid": tenants.partners[partner].uuid, "kind": TERMS, **input}
    return await Direct(tenants).change(who, legal.publish_legal_document, **made)


async def links(tenants: Tenants, partner: str = "a1") -> dict[LegalDocumentKind, Text]:
    """What the pages of a partner link to."""
    async with tenants.services.db.sessions() as db:
        row = await db.get_one(PartnerRow, tenants.partners[partner].id)
    return {link.kind: link.address for link in row.legal_links}


async def test_a_text_is_published_and_linked_to(tenants: Tenants) -> None:
    uuid = tenants.partners["a1"].uuid
    content = {"en": "<h2>Terms</h2><script>x()</script>", "fr": "Conditions"}
    body = await tenants.graphql("market a", PUBLISH, input={"partnerUuid": uuid, "kind": "TERMS", "content": content})
    answer = body["data"]["publishLegalDocument"]
    assert answer["userErrors"] == []
    made = answer["legalDocument"]
    assert made["content"] == {"en": "<h2>Terms</h2>", "fr": "Conditions"}
    assert made["website"] == {"en": None, "fr": None}
    assert made["partner"] == {"uuid": str(uuid)}
    assert made["replacedOn"] is None
    assert made["pageUrl"] == f"{tenants.services.public_url}{legal_path(made['uuid'])}"
    path = legal_path(made["uuid"])
    assert await links(tenants) == {TERMS: Text(en=path, fr=path)}
    assert await links(tenants, "a2") == {}


async def test_the_next_version_keeps_what_was_not_sent(tenants: Tenants) -> None:
    first = await published(tenants, content={"en": "One", "fr": "Un"})
    second = await published(tenants, content={"fr": "Deux"}, website={"de": SITE})
    assert (second.content, second.website) == (Text(en="One", fr="Deux"), Text(de=SITE))
    third = await published(tenants, content={"fr": None, "de": "Drei"})
    assert (third.content, third.website) == (Text(en="One", de="Drei"), Text())
    rows = await tenants.rows("SELECT id, content, replaced_on IS NULL FROM legal_document ORDER BY id")
    assert [tuple(row) for row in rows] == [
        (first.id, {"en": "One", "fr": "Un"}, False),
        (second.id, {"en": "One", "fr": "Deux"}, False),
        (third.id, {"en": "One", "de": "Drei"}, True),
    ]
    assert (await links(tenants))[TERMS].de == legal_path(third.uuid)


async def test_an_address_takes_the_place_of_a_text(tenants: Tenants) -> None:
    await published(tenants, content={"fr": "Un"})
    second = await published(tenants, website={"fr": SITE})
    assert second.content == Text()
    assert await links(tenants) == {TERMS: Text(fr=SITE)}


async def test_null_removes_a_language_whatever_it_has(tenants: Tenants) -> None:
    await published(tenants, content={"en": "One", "fr": "Un"}, website={"de": SITE})
    second = await published(tenants, content={"de": None}, website={"fr": None})
    assert (second.content, second.website) == (Text(en="One"), Text())


async def test_the_same_again_is_no_next_version(tenants: Tenants) -> None:
    first = await published(tenants, content={"en": "One"})
    before = await tenants.snapshot()
    again = await published(tenants, content={"en": "One"})
    assert again.id == first.id
    assert await tenants.snapshot() == before


@pytest.mark.parametrize(
    ("input", "wrong"),
    [
        ({}, "content REQUIRED"),
        ({"content": {"en": "  ", "fr": None}}, "content REQUIRED"),
        ({"content": {"fr": "Un"}, "website": {"fr": SITE}}, "website.fr"),
        ({"website": {"fr": "javascript:alert(1)"}}, "website.fr"),
        ({"website": {"fr": "https://me:secret@shop.example/"}}, "website.fr"),
        ({"website": {"fr": "https:shop.example/terms"}}, "website.fr"),
        ({"website": {"fr": "https://shop.example/our terms"}}, "website.fr"),
        ({"content": {"fr": "<p> </p>"}}, "content.fr"),
        ({"content": {"en": "x" * 100_001}}, "content.en TOO_LONG"),
    ],
)
async def test_what_is_refused_changes_nothing(tenants: Tenants, input: dict[str, Any], wrong: str) -> None:
    before = await tenants.snapshot()
    assert (await asked(tenants, **input)).wrong == mistake(wrong)
    assert await tenants.snapshot() == before


async def test_a_text_is_retired_once(tenants: Tenants) -> None:
    terms = await published(tenants, content={"en": "One"})
    privacy = await published(tenants, kind=PRIVACY, content={"en": "Ours"})
    context = await tenants.context("market a")
    retired = await legal.retire_legal_document(context, RetireLegalDocument(id=terms.id))
    assert retired.replaced_on is not None
    assert list(await links(tenants)) == [PRIVACY]
    before = await tenants.snapshot()
    again = await legal.retire_legal_document(context, RetireLegalDocument(id=terms.id))
    assert again.replaced_on == retired.replaced_on
    assert await tenants.snapshot() == before
    await legal.retire_legal_document(context, RetireLegalDocument(id=privacy.id))
    assert await links(tenants) == {}
    assert (await published(tenants, content={"en": "One"})).id not in (terms.id, privacy.id)


async def test_each_sees_and_changes_its_own(tenants: Tenants) -> None:
    one = await published(tenants, content={"en": "One"})
    await published(tenants, content={"en": "Two"})
    await published(tenants, "market b", "b1", content={"en": "Theirs"})
    for who, filter, seen in (
        ("a1", None, ["Two", "One"]),
        ("a1", {"isReplaced": False}, ["Two"]),
        ("a1", {"kind": "PRIVACY"}, []),
        ("a2", None, []),
        ("market a", None, ["Two", "One"]),
        ("market b", None, ["Theirs"]),
        ("master", None, ["Theirs", "Two", "One"]),
    ):
        body = await tenants.graphql(who, LIST, filter=filter)
        assert [node["content"]["en"] for node in body["data"]["legalDocuments"]["nodes"]] == seen, who
    for who, sees in (("a1", True), ("a2", False), ("market a", True), ("market b", False), ("master", True)):
        body = await tenants.graphql(who, LOOK_UP, id=one.id)
        assert (body["data"]["legalDocument"] == {"content": {"en": "One"}}) is sees, who
    before = await tenants.snapshot()
    refusals: tuple[tuple[str | None, str], ...] = (
        ("a1", "FORBIDDEN"),
        ("market b", "INVALID_INPUT"),
        (None, "UNAUTHENTICATED"),
    )
    for name, code in refusals:
        made = PublishLegalDocument(partner_uuid=tenants.partners["a1"].uuid, kind=TERMS)
        with pytest.raises(AppError) as refused:
            await legal.publish_legal_document(await tenants.context(name), made)
        assert refused.value.code() == code
    with pytest.raises(NotFound):
        await legal.retire_legal_document(await tenants.context("market b"), RetireLegalDocument(id=one.id))
    assert await tenants.snapshot() == before


async def test_many_publish_at_once_and_one_is_in_force(tenants: Tenants) -> None:
    versions = await asyncio.gather(*(published(tenants, content={"en": f"{n}"}) for n in range(12)))
    assert len({version.id for version in versions}) == 12
    rows = await tenants.rows("SELECT uuid, content->>'en' FROM legal_document WHERE replaced_on IS NULL")
    assert len(rows) == 1
    assert await links(tenants) == {TERMS: Text(en=legal_path(rows[0][0]))}
