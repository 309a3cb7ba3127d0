"""All that is left of a gift card is taken with one button, and a question."""

import asyncio
from decimal import Decimal

import pytest

from store.gift_card.gift_cards import GiftCardRow
from tests.funnel.redemption.fixtures import ROOT, Venue, buttons, note, post, press
from tests.funnel.redemption.network import is_proved, link, network_card


async def card_of_kind(venue: Venue, kind: str) -> GiftCardRow:
    """A card of 37.50, of the partner or of its network."""
    if kind == "gift-card":
        return await venue.shop.gift_card("37.50")
    await link(venue.shop)
    return await network_card(venue.shop, "37.50")


async def left_on(venue: Venue, card: GiftCardRow) -> Decimal:
    """What is left on a card."""
    return Decimal(await venue.shop.one("SELECT remaining_amount FROM gift_card WHERE id = :id", id=card.id))


@pytest.mark.parametrize("kind", ["gift-card", "network-gift-card"])
async def test_all_of_it_is_taken_after_a_question(venue: Venue, kind: str) -> None:
    card = await card_of_kind(venue, kind)
    staff = await venue.staff(card.code)
    assert buttons(staff) == ["Take it off the card", "Take all of it: €37.50", "Another code"]
    await press(staff, "Take all of it", reference="Table 7")
    assert "Take all of it? Then nothing is left on the card." in staff.page.one("main").text
    assert buttons(staff) == ["Yes, take €37.50", "No, go back", "Another code"]
    assert await left_on(venue, card) == Decimal("37.50")
    await press(staff, "Yes, take")
    assert note(staff) == "€37.50 taken Left on the card: €0.00."
    assert "Table 7" in staff.page.one("ul", class_="taken").text
    assert await left_on(venue, card) == Decimal("0.00")
    await staff.open(f"{ROOT}?code={card.normal_code}&to=all")
    assert not [label for label in buttons(staff) if label.startswith("Yes")]
    await press(staff, "Put back")
    assert await left_on(venue, card) == Decimal("37.50")
    assert await is_proved(venue)


@pytest.mark.parametrize("kind", ["gift-card", "network-gift-card"])
async def test_of_two_devices_one_takes_it_all(venue: Venue, kind: str) -> None:
    card = await card_of_kind(venue, kind)
    devices = [await venue.staff(f"{card.code}") for _ in range(4)]
    for device in devices:
        await press(device, "Take all of it")
    forms = [device.page.one("main").one("section", class_="confirm").one("form") for device in devices]
    await asyncio.gather(*(post(device, form) for device, form in zip(devices, forms, strict=True)))
    taken = [note(device) for device in devices]
    assert sum(text == "€37.50 taken Left on the card: €0.00." for text in taken) == 1, taken
    assert await left_on(venue, card) == Decimal("0.00")
    assert await is_proved(venue)


async def test_what_was_confirmed_is_the_amount_that_was_shown(venue: Venue) -> None:
    """Less is left since: nothing is taken. More is left since: no more than was shown is taken."""
    card = await venue.shop.gift_card("50.00")
    ada, bob = await venue.staff(card.code), await venue.staff(card.code)
    await press(ada, "Take all of it")
    await press(bob, "Take it off", amount="10")
    await press(ada, "Yes, take €50.00")
    assert (ada.errors, await left_on(venue, card)) == (
        ["There is less left on the card. Nothing was taken."],
        Decimal("40.00"),
    )
    await press(ada, "Take all of it: €40.00")
    await press(bob, "Put back")
    await press(ada, "Yes, take €40.00")
    assert note(ada) == "€40.00 taken Left on the card: €10.00."
