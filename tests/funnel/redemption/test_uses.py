"""What was used today, on the page of the venue: when, by whom, and how it is taken back."""

import datetime as dt
import re
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from resolvers.core.caller import Role
from resolvers.core.context import Context
from resolvers.redemption.uses import PAGE, TodaysUses, todays_uses
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardHoldState
from store.audit.entries import encode_entry, write_entry
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from tests.fixtures.shop import Shop, open_shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.redemption.fixtures import ROOT, Venue, buttons, note, press, verdict
from tests.funnel.redemption.network import box_of, link, network_card, network_voucher, offer_of

P = Permission
OTHER_HOST = "other.shop.example"
HOUR = r"\d\d:\d\d"
MOMENT = rf"\d{{1,2}} \w+ \d{{4}}, {HOUR}"
UTC = ZoneInfo("UTC")
MARGIN = dt.timedelta(minutes=10)


@pytest.fixture(autouse=True)
def early_in_the_day() -> None:
    """What a test uses is of the day on which it looks, whenever it runs."""
    for zone in (UTC, ZoneInfo("Europe/Paris")):
        soon = clock.now() + MARGIN
        if soon.astimezone(zone).date() != clock.now().astimezone(zone).date():
            clock.advance(MARGIN)


async def used_today(staff: Customer) -> list[str]:
    """What the page of the field lists; the hours are replaced."""
    await staff.open(ROOT)
    lists = staff.page.one("main").all("ul", class_="taken")
    return [re.sub(rf"\b{HOUR}\b", "00:00", " ".join(li.text.split())) for each in lists for li in each.all("li")]


async def spent(shop: Shop, card: GiftCardRow, moment: dt.datetime, amount: str = "1.00") -> None:
    """An amount was taken of a card at a moment; its entry of the audit log is written as the operation writes it."""
    of, value = shop.partner.id, Decimal(amount)
    hold = await shop.add(
        GiftCardHoldRow(
            partner_id=of, gift_card_id=card.id, currency="EUR", state=GiftCardHoldState.CAPTURED, held_amount=value,
            captured_amount=value, created_on=moment, expires_on=moment, closed_on=moment,
        )
    )  # fmt: skip
    async with shop.services.db.engine.begin() as connection:
        told = {"occurred_on": moment, "actor": "partner", "address": "", "request_id": "", "input": {}, "changes": []}
        of_hold = {"partner_id": of, "subject_type": "GiftCardHold", "subject_id": str(hold.id)}
        await write_entry(connection, encode_entry({"operation": "spend_gift_card", **told, **of_hold}))


async def uses_of(shop: Shop, zone: ZoneInfo = UTC) -> TodaysUses:
    """What the operation finds for somebody who manages the shop."""
    return await todays_uses(Context(shop.services, shop.manager.caller), zone)


async def test_a_day_without_uses_says_so(venue: Venue) -> None:
    staff = await venue.staff()
    await staff.open(ROOT)
    assert "Used today Nothing has been used today." in staff.page.one("main").text
    assert staff.page.all("ul", class_="taken") == []
    await staff.open(f"{ROOT}?code=")
    assert "Used today" not in staff.page.one("main").text, "what is wrong with a code is not pushed away"


async def test_each_use_is_listed_with_hour_and_person_and_taken_back(venue: Venue) -> None:
    await link(venue.shop)
    row, card, of_network = await venue.voucher(), await venue.shop.gift_card("50.00"), await network_card(venue.shop)
    box = await box_of(venue.shop, max_usages=2)
    await offer_of(venue.shop, box)
    shared = await network_voucher(venue.shop, box)
    staff = await venue.staff(row.normal_code, role=Role.MASTER)
    await press(staff, "Start using it")
    await press(await staff.open(f"{ROOT}?code={card.normal_code}"), "Take it off", amount="12.50", reference="Table 7")
    await press(await staff.open(f"{ROOT}?code={of_network.normal_code}"), "Take it off", amount="7")
    await press(await staff.open(f"{ROOT}?code={shared.normal_code}"), "Use it once")
    lavender = row.prototype_name.in_language("en")
    assert await used_today(staff) == [
        f"A massage 00:00 · Ada · •••• ending in {shared.code[-4:]} Undo A massage",
        f"Gift card €7.00 00:00 · Ada · •••• ending in {of_network.code[-4:]} Put back €7.00",
        f"Gift card €12.50 00:00 · Ada · •••• ending in {card.code[-4:]} Put back €12.50",
        f"{lavender} 00:00 · Ada · Used in part · •••• ending in {row.code[-4:]} Undo {lavender}",
    ]
    assert card.code not in staff.page.one("main").text
    for label in ("Undo A massage", "Put back €7.00", "Put back €12.50"):
        await press(staff, label)
        assert (staff.path, note(staff)) == (ROOT, "The use is undone.")
    assert await venue.remaining_amount(card.id) == Decimal("50.00")
    left = "SELECT remaining_amount FROM gift_card WHERE id = :id"
    assert await venue.shop.one(left, id=of_network.id) == Decimal("100.00")
    assert await venue.shop.one("SELECT usage_count FROM network_voucher WHERE id = :id", id=shared.id) == 0
    await press(await staff.open(f"{ROOT}?code={row.normal_code}"), "Undo: not used yet")
    assert [text.rpartition(" · ")[2] for text in await used_today(staff)] == [
        "undone",
        "put back",
        "put back",
        "undone",
    ]
    assert not [label for label in buttons(staff) if label.startswith(("Undo", "Put back"))]


async def test_a_voucher_that_is_used_again_counts_again(venue: Venue) -> None:
    row = await venue.voucher()
    staff = await venue.staff(row.normal_code, role=Role.MASTER)
    for label in ("Mark as used", "Undo: not used yet", "Mark as used"):
        await press(staff, label)
    assert [text.endswith("undone") for text in await used_today(staff)] == [False, True]
    await staff.open(f"{ROOT}?code={row.normal_code}")
    assert re.fullmatch(rf"Cannot be used It was used on {MOMENT}\. Recorded by Ada\.", verdict(staff))
    history = [" ".join(li.text.split()) for li in staff.page.one("ul", class_="taken").all("li")]
    assert [text.split()[0] for text in history] == ["Used", "Not", "Used"]
    assert all(re.fullmatch(rf".+ {MOMENT} · Ada", text) for text in history)


async def test_what_the_user_may_not_see_and_what_is_of_others_is_not_listed(venue: Venue) -> None:
    card, row = await venue.shop.gift_card("50.00"), await venue.voucher()
    staff = await venue.staff(card.normal_code)
    await press(staff, "Take it off", amount="5")
    await press(await staff.open(f"{ROOT}?code={row.normal_code}"), "Start using it")
    other = await open_shop(venue.shop.services, venue.shop.sandbox, OTHER_HOST)
    theirs = await other.gift_card("50.00")
    await spent(other, theirs, clock.now())
    assert [text.partition(" ")[0] for text in await used_today(staff)] == [
        row.prototype_name.in_language("en").split()[0],
        "Gift",
    ]
    (listed,) = await used_today(await venue.staff(only={P.VIEW_VOUCHER}))
    assert listed.startswith(row.prototype_name.in_language("en"))
    (taken,) = await used_today(await venue.staff(only={P.VIEW_GIFT_CARD}))
    assert "Put back" not in taken
    assert [use.item.code for use in (await uses_of(other)).uses] == [theirs.code]


async def test_an_old_put_back_is_refused_on_the_list_and_changes_nothing(venue: Venue) -> None:
    card = await venue.shop.gift_card("50.00")
    staff = await venue.staff(card.code)
    await press(staff, "Take it off", amount="5")
    seen = (await staff.open(ROOT)).page
    await press(staff, "Put back")
    assert await venue.remaining_amount(card.id) == Decimal("50.00")
    await venue.shop.execute("UPDATE gift_card SET status = 'cncld' WHERE id = :id", id=card.id)
    await venue.shop.execute("UPDATE gift_card_hold SET state = 'captured'")
    staff.page = seen
    await press(staff, "Put back", once="A" * 22)
    assert (staff.path, note(staff)[:28]) == (ROOT, "It was changed meanwhile Thi")
    assert await venue.remaining_amount(card.id) == Decimal("50.00")
    assert (await staff.post("/redeem/network-gift-card/back/", {"usage": "1"})).response.status_code in {400, 403}


async def test_today_is_the_day_of_the_shop(venue: Venue) -> None:
    """From its own midnight on, wherever the server is."""
    card, zone = await venue.shop.gift_card("50.00"), ZoneInfo("Pacific/Kiritimati")
    now = clock.now()
    midnight = dt.datetime.combine(now.astimezone(zone), dt.time.min, zone).astimezone(dt.UTC)
    await spent(venue.shop, card, midnight - dt.timedelta(seconds=1), "1.00")
    await spent(venue.shop, card, midnight, "2.00")
    found = await uses_of(venue.shop, zone)
    if clock.now().astimezone(zone).date() != now.astimezone(zone).date():  # midnight has struck meanwhile
        return
    assert [use.item.amount for use in found.uses] == [Decimal("2.00")]


async def test_a_long_day_has_pages(venue: Venue) -> None:
    card, now = await venue.shop.gift_card("50.00"), clock.now()
    for cents in range(1, PAGE + 4):
        await spent(venue.shop, card, now, f"0.{cents:02}")
    staff = await venue.staff()
    await staff.open(ROOT)
    first = [amount.text for amount in staff.page.one("ul", class_="taken").all("span", class_="amount")]
    assert first == [f"€0.{cents:02}" for cents in range(PAGE + 3, 3, -1)]
    (earlier,) = staff.page.one("p", class_="pages").all("a")
    assert earlier.text == "Earlier today"
    await staff.open(earlier.attributes["href"].partition("#")[0])
    assert [amount.text for amount in staff.page.one("ul", class_="taken").all("span", class_="amount")] == [
        "€0.03",
        "€0.02",
        "€0.01",
    ]
    assert [a.text for a in staff.page.one("p", class_="pages").all("a")] == ["The latest"]
    for made_up in ("0", "x", "1e3", "9" * 30, "-1"):
        assert (await staff.open(f"{ROOT}?before={made_up}")).response.status_code == 200
        assert len(staff.page.one("ul", class_="taken").all("li")) == PAGE
