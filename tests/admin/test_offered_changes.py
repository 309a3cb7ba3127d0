"""Pages offer the changes that the API allows: by the state of an object, by its partner, and by who has asked for it."""

from admin.home.page import TILES
from schema.network.box import OfferStatus
from schema.payment.payment import RefundState
from tests.admin.office import ROOT, Office, notices, send
from tests.admin.test_home import noon
from tests.admin.test_impersonation import look
from tests.fixtures.box import link_partners, new_box, new_offer
from tests.fixtures.gift_card import gift_card
from tests.fixtures.sales import paid_directly, refund
from tests.fixtures.voucher import sell, voucher_of
from tests.funnel.checkout.page import Element


async def offered(office: Office, who: str, page: str) -> set[str]:
    """The ends of the addresses of the buttons of a page."""
    staff = await office.open(who, page)
    assert staff.response.status_code == 200
    links = {link.attributes["href"] for link in staff.page.one("main").all("a")}
    return {link.removeprefix(page).rstrip("/") for link in links if link.startswith(page)} - {""}


async def test_a_paid_gift_card_is_not_activated_again(office: Office) -> None:
    card = await gift_card(office.tenants, "a1", "50.00")
    page = f"{ROOT}gift-cards/{card.id}/"
    found = await offered(office, "a1", page)
    assert {"extend-gift-card", "cancel-gift-card", "spend-gift-card", "hold-gift-card"} <= found
    assert "activate-gift-card" not in found
    await office.tenants.execute("UPDATE gift_card SET status = 'cncld'")
    assert await offered(office, "a1", page) <= {"reveal-gift-card-code"}


async def test_what_is_paid_cannot_be_cancelled(office: Office) -> None:
    payment = await paid_directly(office.tenants, "a1", noon(1), "15.00")
    found = await offered(office, "a1", f"{ROOT}payments/{payment.id}/")
    assert "refund-payment" in found
    assert "cancel-payment" not in found


async def test_a_refunded_voucher_is_neither_extended_nor_booked(office: Office) -> None:
    voucher = await office.tenants.add(voucher_of(await sell(office.tenants, "a1")))
    page = f"{ROOT}vouchers/{voucher.id}/"
    refused = {"extend-voucher", "add-voucher-rental", "renew-voucher-document"}
    await office.tenants.execute("UPDATE voucher SET expires_on = now() + interval '1 year'")
    assert refused <= await offered(office, "a1", page)
    await office.tenants.execute("UPDATE voucher SET refunded_on = now(), state = 'exprd'")
    assert not refused & await offered(office, "a1", page)


async def test_an_offer_of_another_partner_is_only_read(office: Office) -> None:
    tenants = office.tenants
    await link_partners(tenants, "a1", "a2")
    box = await new_box(tenants, "a", ("a1", "a2"))
    offer = await new_offer(tenants, box, "a2", OfferStatus.ACCEPTED)
    page = f"{ROOT}offers/{offer.id}/"
    assert await offered(office, "a1", page) == {"shop-preview"}
    assert await offered(office, "a2", page) == {"shop-preview", "update-offer"}


async def test_an_offer_is_accepted_as_it_was_read(office: Office) -> None:
    tenants = office.tenants
    await link_partners(tenants, "a1")
    offer = await new_offer(tenants, await new_box(tenants, "a", ("a1",)), "a1", OfferStatus.SUBMITTED)
    staff = await office.open("market a", f"{ROOT}offers/{offer.id}/accept-offer/")
    assert [each.attributes["name"] for each in staff.page.one("main").all("input") if is_visible(each)] == []
    await tenants.execute("UPDATE offer SET edited_on = edited_on + interval '1 second'")
    await send(staff)
    assert notices(staff) == ["This offer has changed since you read it. Read it again."]
    assert (await tenants.row("offer", offer.id))["status"] == OfferStatus.SUBMITTED
    await send(staff)
    assert (await tenants.row("offer", offer.id))["status"] == OfferStatus.ACCEPTED


async def test_only_a_failed_job_is_retried(office: Office) -> None:
    job = """INSERT INTO pgqueuer (priority, entrypoint, payload, execute_after, headers, status, attempts)
        VALUES (0, 'send_mail', '{}', now() + interval '1 day', '{}', 'queued', 0) RETURNING id"""
    ((id,),) = await office.tenants.rows(job)
    page = f"{ROOT}jobs/{id}/"
    for state, changes in (("queued", {"discard-job"}), ("picked", set()), ("failed", {"retry-job", "discard-job"})):
        await office.tenants.execute("UPDATE pgqueuer SET status = CAST(:state AS pgqueuer_status)", state=state)
        assert await offered(office, "master", page) == changes, state


async def test_only_who_has_no_password_is_invited_again(office: Office) -> None:
    id = office.tenants.users["a1"].id
    for password, is_offered in (("x", False), ("", True)):
        await office.tenants.execute(
            "UPDATE app_user SET password_hash = :password WHERE id = :id", password=password, id=id
        )
        assert ("resend-invitation" in await offered(office, "market a", f"{ROOT}users/{id}/")) is is_offered


def is_visible(field: Element) -> bool:
    """Whether a field is there for people."""
    return field.attributes.get("type") != "hidden"


async def test_an_adjustment_waits_for_a_second_user(office: Office) -> None:
    tenants = office.tenants
    await tenants.execute("UPDATE marketplace SET payout_approval_from_amount = 1")
    partner = tenants.partners["a1"].uuid
    document = (
        "mutation($input: CreatePayoutAdjustmentInput!) "
        "{ createPayoutAdjustment(input: $input) { payoutAdjustment { id status } userErrors { message } } }"
    )
    answer = await tenants.graphql(
        "market a", document, input={"partnerUuid": str(partner), "amount": "50", "reason": "Broken"}
    )
    made = answer["data"]["createPayoutAdjustment"]["payoutAdjustment"]
    assert made["status"] == "PENDING"
    page = f"{ROOT}payout-adjustments/{made['id']}/"
    decisions = {"approve-payout-adjustment", "reject-payout-adjustment"}
    assert not await offered(office, "market a", page)
    assert await offered(office, "master", page) == decisions
    tile = "Adjustments to approve"
    assert {who: await waiting(office, who, tile) for who in ("market a", "master")} == {"market a": 0, "master": 1}


async def waiting(office: Office, who: str, label: str) -> int:
    """How many wait for somebody, by the first page."""
    staff = await office.open(who, ROOT)
    for tiles in staff.page.all("ul", class_="tiles"):
        for link in tiles.all("a"):
            if label in link.text:
                return int(link.one("b").text)
    return 0


async def test_who_looks_as_a_partner_sees_what_waits_for_it(office: Office) -> None:
    payment = await paid_directly(office.tenants, "a1", noon(1), "15.00")
    await refund(office.tenants, payment, noon(1), "5.00", RefundState.NEEDS_ACTION)
    own = {each.label: await waiting(office, "a1", each.label) for each in TILES}
    assert own["Refunds to see to"] == 1
    await look(office)
    assert {each.label: await waiting(office, "master", each.label) for each in TILES} == own
