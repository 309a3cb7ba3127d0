"""The back office of somebody who looks as a partner: a banner on each page, and no change."""

from admin.resources.registry import resources
from tests.admin.office import LOG_IN, ROOT, Office, send
from tests.resolvers.account.test_impersonation import log_in

REASON = "A question by telephone"


async def look(office: Office, who: str = "master") -> str:
    """Begin to look as the first partner; its name."""
    await log_in(office.tenants, who)
    partner = office.tenants.partners["a1"]
    page = f"{ROOT}partners/{partner.uuid}/"
    staff = await office.open(who, page)
    assert f"{page}impersonate-partner/" in {a.attributes["href"] for a in staff.page.all("a")}
    await staff.open(f"{page}impersonate-partner/")
    await send(staff, reason=REASON)
    assert staff.path == ROOT
    return partner.commercial_name


async def test_every_page_has_a_banner_that_ends_it(office: Office) -> None:
    name = await look(office)
    for path in (
        "",
        "orders/",
        f"orders/{office.tenants.owned['a1'].order}/",
        "account/",
        "search/?q=nothing",
        "lost/",
    ):
        staff = await office.open("master", f"{ROOT}{path}")
        banner = staff.page.one("form", class_="view-as")
        assert name in banner.text, path
    csrf = banner.one("input", name="csrf").attributes["value"]
    await staff.post(banner.attributes["action"], {"csrf": csrf})
    assert staff.path == ROOT
    assert not staff.page.all("form", class_="view-as")
    operations = [row[0] for row in await office.tenants.rows("SELECT operation FROM audit_entry ORDER BY id")]
    assert operations == ["impersonate_partner", "end_impersonation"]
    await staff.post(banner.attributes["action"], {"csrf": await office.csrf("master")})
    assert staff.path == ROOT, "ending it twice changes nothing"


async def test_it_sees_the_partner_and_changes_nothing(office: Office) -> None:
    await look(office, "market a")
    other = office.tenants.owned["a2"].order
    assert (await office.open("market a", f"{ROOT}orders/{other}/")).response.status_code == 404
    before = await office.tenants.snapshot()
    csrf = await office.csrf("market a")
    staff = office.browser("market a")
    for resource in resources().values():
        await staff.open(f"{ROOT}{resource.slug}/")
        assert f"{ROOT}{resource.slug}/new/" not in staff.response.text, resource.slug
        for action in resource.new:
            answer = await staff.http.post(f"{ROOT}{resource.slug}/new/{action.slug}/", data={"csrf": csrf})
            assert answer.status_code in {400, 403}, action.slug
    for path in ("sessions/end-others/", "second-factor/", "second-factor/codes/", "passkeys/delete/"):
        answer = await staff.http.post(f"{ROOT}account/{path}", data={"csrf": csrf, "id": "1", "password": "x"})
        assert answer.status_code == 403, path
        assert "You look as a partner" in answer.text
    assert await office.tenants.snapshot() == before


async def test_the_api_is_asked_as_oneself(office: Office) -> None:
    await look(office)
    everybody = await office.tenants.graphql("master", "{ partners { nodes { id } } }")
    assert len(everybody["data"]["partners"]["nodes"]) == len(office.tenants.partners)


async def test_a_log_out_ends_it(office: Office) -> None:
    await look(office)
    staff = office.browser("master")
    await staff.post(f"{ROOT}log-out/", {"csrf": await office.csrf("master")})
    assert staff.path == LOG_IN
    assert await office.tenants.one("SELECT count(*) FROM impersonation WHERE ended_on IS NULL") == 0
    assert (await office.open("master", ROOT)).path == LOG_IN
