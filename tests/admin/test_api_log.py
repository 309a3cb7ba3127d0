"""The API log in the back office: its list, its pages, the way to the changes of a request, and the search by request id."""

from tests.admin.office import ROOT, Office

LOG = f"{ROOT}api-requests/"
REQUEST_ID = "refused-1"


async def refuse(office: Office) -> None:
    """Have a request of the first partner refused, and its record written."""
    headers = {"Authorization": f"Token {office.tenants.tokens['a1']}", "X-Request-Id": REQUEST_ID}
    response = await office.tenants.client.get("/api/vouchers/NOPE-NOPE-NOPE/", headers=headers)
    assert response.status_code == 404
    await office.tenants.services.api_log.flush()


async def test_a_refused_request_is_found_and_leads_to_its_changes(office: Office) -> None:
    await refuse(office)
    staff = await office.open("a1", LOG)
    (row,) = staff.page.all("th", scope="row")
    page = row.one("a").attributes["href"]
    await staff.open(page)
    assert all(text in staff.page.one("main").text for text in ("NOT_FOUND", "404", REQUEST_ID))
    assert "NOPE-NOPE" not in staff.page.one("main").text, "codes are masked"
    (changes,) = [link for link in staff.page.all("a") if link.text == "Changes of this request"]
    await staff.open(changes.attributes["href"])
    assert (staff.response.status_code, staff.page.all("th", scope="row")) == (200, [])
    await staff.open(f"{ROOT}search/?q={REQUEST_ID}")
    assert page in {link.attributes["href"] for link in staff.page.one("main").all("a")}


async def test_nobody_else_finds_it(office: Office) -> None:
    await refuse(office)
    for who in ("a2", "market b"):
        staff = await office.open(who, LOG)
        assert staff.page.all("th", scope="row") == []
        await staff.open(f"{ROOT}search/?q={REQUEST_ID}")
        assert not [link for link in staff.page.one("main").all("a") if link.attributes["href"].startswith(LOG)]
