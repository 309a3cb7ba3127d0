"""What a partner still needs, at the top of its page."""

import pytest

from schema.legal.legal_document import LegalDocumentKind
from schema.partner.partner import PartnerStatus
from tests.admin.office import ROOT, Office, notices, send, typed
from tests.funnel.checkout.customer import Customer


def partner_page(office: Office, name: str = "a1") -> str:
    """The page of a partner."""
    return f"{ROOT}partners/{office.tenants.partners[name].uuid}/"


def steps(staff: Customer) -> dict[str, str]:
    """What is missing, and where it is done; empty where there is no link."""
    found = {}
    for row in staff.page.one("ul", class_="next-steps").all("li"):
        links = row.all("a")
        found[row.all("span")[0].text] = links[0].attributes["href"] if links else ""
    return found


async def test_the_next_steps_lead_to_their_forms(office: Office) -> None:
    page = partner_page(office)
    staff = await office.open("market a", page)
    shown = steps(staff)
    assert shown["Its payments were never activated."] == f"{page}activate-payments/"
    (legal,) = (url for text, url in shown.items() if text.startswith("Legal texts are missing."))
    await office.open("market a", legal)
    assert staff.response.status_code == 200
    assert typed(staff)["partnerUuid"] == str(office.tenants.partners["a1"].uuid)
    assert typed(staff)["kind"] == LegalDocumentKind.TERMS.name
    for url in filter(None, shown.values()):
        if url.startswith(ROOT):
            assert (await office.open("market a", url)).response.status_code == 200, url


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (PartnerStatus.INACTIVE, "The shop is closed: its status is inactive."),
        (PartnerStatus.NEW, "Whether the partner sells is not decided yet."),
        (PartnerStatus.ACTIVE, ""),
    ],
)
async def test_a_status_that_keeps_the_shop_closed_is_told(office: Office, status: PartnerStatus, text: str) -> None:
    page = partner_page(office)
    await office.tenants.execute(f"UPDATE partner SET status = '{status.value}'")  # noqa: S608 - a test's words
    shown = steps(await office.open("market a", page))
    assert [step for step in shown if "status is" in step or "not decided" in step] == ([text] if text else [])
    if text:
        assert shown[text] == f"{page}update-partner/"


async def test_legal_texts_that_are_published_are_not_missing(office: Office) -> None:
    page = partner_page(office)
    staff = await office.open("market a", page)
    assert all(kind.name.capitalize() in " ".join(steps(staff)) for kind in LegalDocumentKind)
    (legal,) = (url for text, url in steps(staff).items() if text.startswith("Legal texts are missing."))
    await office.open("market a", legal)
    await send(staff, content__en="Whoever orders has to pay.")
    assert notices(staff) == ["Done: Publish"]
    (told,) = (text for text in steps(await office.open("market a", page)) if text.startswith("Legal texts"))
    assert "Terms" not in told
    assert "Privacy" in told


async def test_the_lists_of_a_partner_are_reached_from_its_page(office: Office) -> None:
    staff = await office.open("market a", partner_page(office))
    links = {link.text: link.attributes["href"] for link in staff.page.one("p", class_="sections").all("a")}
    assert list(links) == ["Legal texts", "Users and tokens", "Bank accounts"]
    await office.open("market a", links["Users and tokens"])
    assert [row.one("a").text for row in staff.page.all("th", scope="row")] == ["a1@users.example"]


async def test_other_objects_have_no_such_part(office: Office) -> None:
    staff = await office.open("a1", f"{ROOT}products/{office.tenants.owned['a1'].product}/")
    assert not staff.page.all(id="next-steps")
