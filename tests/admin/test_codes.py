"""Codes that can be spent: no page has one, and who may change what they belong to is shown them, which the audit log tells."""

import base64
import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from graphql import FieldNode, GraphQLObjectType, TypeInfo, TypeInfoVisitor, Visitor, get_named_type, parse, visit

from admin.core.titles import titles_of
from admin.core.values import without_secrets
from admin.graph.execution import server
from admin.graph.schema_types import object_type, queries
from admin.graph.selections import SECRETS, value_selection, whole_selection
from admin.resources.registry import resources
from admin.resources.resource import Resource
from schema.core.permission import AccessRule
from store.core.codes import normalize
from store.document.rendering import RenderingFailed
from tests.admin.office import ROOT, Office, send
from tests.fixtures.document import scanned
from tests.fixtures.network import network_card
from tests.funnel.checkout.page import Element

SPENT_BY_CODE = ("voucher", "gift_card", "network_gift_card", "network_voucher")
EVERY_RESOURCE = pytest.mark.parametrize("resource", resources().values(), ids=lambda each: each.slug)
READ_ELSEWHERE = frozenset(
    {
        *("CustomerOrder", "CustomerOrderCode", "CustomerOrderItem"),  # the page of a link
        *("RevealedCode", "RecoveryCodes"),  # answers of changes, which are shown once
    }
)
HARMLESS = {
    "code": "Of coupons, which are given to everybody, and of requests for money.",
    "giftCode": "Of coupons.",
    "countryCode": "Of addresses.",
    "postalCode": "Of addresses.",
    "errorCodes": "Of refused requests: the names of errors.",
    "pageUrl": "Of legal texts.",
    "payinResultCode": "Of the payment provider.",
    "reasonCode": "Of banks.",
    "resultCode": "Of the payment provider.",
    "maskedCode": "Hides all but its end.",
}
"""Fields that are called like secret ones, and why they are none."""


def test_whatever_has_a_code_is_secret_or_harmless_for_a_reason() -> None:
    named = re.compile(r"([cC]odes?|documentUrl|WalletUrl|holderUrl|pageUrl)$")
    found = {
        (kind.name, name)
        for kind in server().schema.type_map.values()
        if isinstance(kind, GraphQLObjectType) and kind.name not in READ_ELSEWHERE
        for name, field in kind.fields.items()
        if named.search(name) and get_named_type(field.type).name == "String"
    }
    secret = {(kind, name) for kind, names in SECRETS.items() for name in names}
    assert secret <= found
    assert {name for _, name in found - secret} == HARMLESS.keys()


def documents_of(resource: Resource) -> Iterator[tuple[GraphQLObjectType, str]]:
    """What the pages of a resource select, and of which types: a row, the object, its titles, its reports."""
    paths = (resource.key, *resource.columns, *resource.title)
    yield resource.type, " ".join(value_selection(resource.type, path) for path in paths)
    yield resource.type, whole_selection(resource.type, titles_of)
    for report in (*resource.reports, *resource.list_reports):
        kind = get_named_type(queries()[report.query].type)
        if isinstance(kind, GraphQLObjectType):
            yield kind, whole_selection(kind, titles_of)


class SelectedFields(Visitor):
    """Collects the fields that a document selects, with the types that have them."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.fields: set[tuple[str, str]] = set()

    def enter_field(self, node: FieldNode, *_: object) -> None:
        around = self.info.get_parent_type()
        assert around is not None
        self.fields.add((around.name, node.name.value))


def selected_fields(kind: GraphQLObjectType, selection: str) -> set[tuple[str, str]]:
    """The fields that a selection of a type has, at any depth."""
    info = TypeInfo(server().schema)
    selected = SelectedFields(info)
    visit(parse(f"fragment F on {kind.name} {{ {selection} }}"), TypeInfoVisitor(info, selected))
    return selected.fields


@EVERY_RESOURCE
def test_no_page_selects_a_code(resource: Resource) -> None:
    for kind, chosen in documents_of(resource):
        for name, field in selected_fields(kind, chosen):
            assert field not in SECRETS.get(name, ()), f"{name}.{field}"


def test_a_code_that_is_selected_is_found() -> None:
    assert ("Order", "pageUrl") in selected_fields(object_type("NetworkVoucher"), "order { pageUrl }")


def test_every_code_has_an_action_that_shows_it() -> None:
    for name in SECRETS:
        resource = next(each for each in resources().values() if each.type.name == name)
        (action,) = (each for each in resource.actions if each.mutation.startswith("reveal"))
        assert action.access not in {resource.access, *AccessRule}, "more than seeing it"


def test_json_is_masked() -> None:
    data = {"code": "7K4P-QX2M-RT9W-AB3V", "id": 3, "cards": [{"codes": ["ABCDEFGH"], "postal_code": "75011"}]}
    assert without_secrets(data) == {
        "code": "•••• AB3V",
        "id": 3,
        "cards": [{"codes": ["•••• GH"], "postal_code": "75011"}],
    }
    assert without_secrets({"code": "***AB3V"}) == {"code": "***AB3V"}, "what is masked already stays"
    assert without_secrets({"code": "AB"}) == {"code": "••••"}


@pytest.mark.asyncio(loop_scope="session")
async def test_no_list_and_no_page_has_a_code_that_can_be_spent(demo: Office) -> None:
    union = " UNION ALL ".join(f"SELECT code, normal_code FROM {table}" for table in SPENT_BY_CODE)  # noqa: S608
    codes = {code for row in await demo.tenants.rows(union) for code in row}
    assert len(codes) > 50
    for resource in resources().values():
        staff = await demo.open("master", f"{ROOT}{resource.slug}/")
        shown = staff.response.text
        assert [code for code in codes if code in shown] == [], resource.slug
        for key in (await demo.keys("master", resource, 3) or ())[:3]:
            await staff.open(f"{ROOT}{resource.slug}/{key}/")
            shown = staff.response.text
            assert [code for code in codes if code in shown] == [], (resource.slug, key)
    code, normal = (await demo.tenants.rows("SELECT code, normal_code FROM voucher ORDER BY id LIMIT 1"))[0]
    staff = await demo.open("master", f"{ROOT}search/?{urlencode({'q': code})}")
    results = staff.page.one("main")
    assert results.all("a"), "a code is found"
    links = [text for a in results.all("a") for text in (a.text, a.attributes["href"])]
    assert not [text for text in links if code in text or normal in text]
    assert any(f"•••• {code[-4:]}" in text for text in links)


async def test_a_code_is_shown_once_after_a_form(office: Office) -> None:
    card = office.tenants.owned["a1"].gift_card
    row = await office.tenants.row("gift_card", card)
    page = f"{ROOT}gift-cards/{card}/"
    staff = await office.open("a1", page)
    assert row["code"] not in staff.response.text
    assert f"{page}reveal-gift-card-code/" in {a.attributes["href"] for a in staff.page.all("a")}
    await staff.open(f"{page}reveal-gift-card-code/")
    assert row["code"] not in staff.response.text
    assert await office.tenants.one("SELECT count(*) FROM audit_entry WHERE operation LIKE 'reveal%'") == 0
    await send(staff)
    assert staff.response.status_code == 200
    assert row["code"] in staff.response.text
    entry = await office.tenants.newest("audit_entry")
    assert (entry["operation"], entry["subject_type"], entry["subject_id"]) == (
        "reveal_gift_card_code",
        "GiftCard",
        str(card),
    )
    assert entry["user_id"] == office.tenants.users["a1"].id
    staff = await office.open("a1", page)
    assert row["code"] not in staff.response.text
    assert (await office.open("a2", f"{page}reveal-gift-card-code/")).response.status_code == 404


async def revealed(office: Office, who: str, path: str) -> Element | None:
    """The picture of the document on the page that shows a code; None without one."""
    staff = await office.open(who, f"{ROOT}{path}/")
    await send(staff)
    assert staff.response.status_code == 200
    assert staff.response.headers["cache-control"] == "no-store"
    pictures = staff.page.all("img", class_="document")
    has_policy = "img-src 'self' data:;" in staff.response.headers["content-security-policy"]
    assert has_policy == bool(pictures)
    return pictures[0] if pictures else None


async def test_the_document_is_shown_with_its_code(office: Office) -> None:
    card, network = office.tenants.owned["a1"].gift_card, await network_card(office.tenants)
    await office.tenants.execute("UPDATE gift_card SET status = 'paid' WHERE id = :id", id=card)
    for who, path, id in (
        ("a1", f"gift-cards/{card}/reveal-gift-card-code", card),
        ("market a", f"network-gift-cards/{network.id}/reveal-network-gift-card-code", network.id),
    ):
        picture = await revealed(office, who, path)
        assert picture is not None
        assert picture.attributes["alt"] == "The first page of the document with this code"
        kind, _, data = picture.attributes["src"].partition(",")
        assert kind == "data:image/png;base64", "no address has it"
        (told,) = scanned(base64.b64decode(data))
        assert normalize(told.rpartition("=")[2]) == (await office.tenants.row("gift_card", id))["normal_code"]
    policy = (await office.open("a1", f"{ROOT}gift-cards/{card}/")).response.headers["content-security-policy"]
    assert "data:" not in policy


async def test_a_code_is_shown_without_a_document(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    card = office.tenants.owned["a1"].gift_card
    path = f"gift-cards/{card}/reveal-gift-card-code"
    await office.tenants.execute("UPDATE gift_card SET status = 'draft' WHERE id = :id", id=card)
    assert await revealed(office, "a1", path) is None, "it has none"
    await office.tenants.execute("UPDATE gift_card SET status = 'paid' WHERE id = :id", id=card)

    async def fail(*_: object) -> bytes:
        raise RenderingFailed("The press is jammed.")

    monkeypatch.setattr("resolvers.document.render_preview", fail)
    assert await revealed(office, "a1", path) is None, "it cannot be drawn"
    assert (await office.tenants.row("gift_card", card))["code"] in office.browser("a1").response.text
