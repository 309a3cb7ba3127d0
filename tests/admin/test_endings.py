"""What an action leads to that leaves nothing to show: the list, which says what was done."""

from tests.admin.office import ROOT, Office, notices, send

FAILED = """
    INSERT INTO pgqueuer (priority, entrypoint, payload, execute_after, headers, status, attempts)
    VALUES (0, 'send_mail', '{}', now(), '{}', 'failed', 3) RETURNING id
"""


async def test_a_discarded_job_leads_to_the_list(office: Office) -> None:
    ((id,),) = await office.tenants.rows(FAILED)
    page = f"{ROOT}jobs/{id}/"
    await office.open("master", f"{page}discard-job/")
    staff = await send(office.browser("master"))
    assert staff.response.url.path == f"{ROOT}jobs/"
    assert notices(staff) == ["Done: Discard"]
    links = [link.attributes["href"] for link in staff.page.one("main").all("a")]
    assert links
    assert not [link for link in links if "done=" in link]
    assert (await office.open("master", page)).response.status_code == 404


async def test_a_job_that_ends_before_its_page_is_read_leads_to_the_list(office: Office) -> None:
    ((id,),) = await office.tenants.rows(FAILED)
    await office.open("master", f"{ROOT}jobs/{id}/")
    await office.tenants.execute("DELETE FROM pgqueuer")
    staff = await office.open("master", f"{ROOT}jobs/{id}/?done=retry-job")
    assert (staff.response.status_code, notices(staff)) == (200, ["Done: Retry"])
    assert (await office.open("master", f"{ROOT}jobs/{id}/?done=nothing")).response.status_code == 404


async def test_a_list_says_it_once(office: Office) -> None:
    list_url = f"{ROOT}jobs/"
    staff = await office.open("master", f"{list_url}?state=FAILED&done=retry-job&size=50")
    assert notices(staff) == ["Done: Retry"]
    links = [link.attributes["href"] for link in staff.page.one("main").all("a")]
    assert not [link for link in links if "done=" in link]
    csrf = staff.page.all("input", name="csrf")[0].attributes["value"]
    await staff.post(f"{list_url}new/filter/?state=FAILED&done=retry-job&size=50", {"csrf": csrf, "name": "Failed"})
    assert str(staff.response.url).endswith(f"{list_url}?state=FAILED&size=50")
    assert notices(staff) == []


async def test_a_deleted_webhook_endpoint_leads_to_the_list(office: Office) -> None:
    id = office.tenants.owned["a1"].webhook_endpoint
    await office.open("a1", f"{ROOT}webhook-endpoints/{id}/delete-webhook-endpoint/")
    staff = await send(office.browser("a1"))
    assert staff.response.url.path == f"{ROOT}webhook-endpoints/"
    assert notices(staff) == ["Done: Delete"]
