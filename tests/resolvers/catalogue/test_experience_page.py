"""The public pages of a shop: the page of an experience, the list of all, and what the shop sells."""

import pytest

from resolvers.catalogue.experience_page import (
    find_experience_slug,
    get_experience_page,
    get_shop_sections,
    list_experience_entries,
)
from schema.core.errors import NotFound, PartnerInactive
from schema.validation.slugs import LONGEST_SLUG
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import Shop

MASSAGE = "massage-by-the-fire"


async def test_a_page_is_found_by_its_slug_and_by_a_former_one(shop: Shop, sold: Experiences) -> None:
    page = await get_experience_page(shop.context, MASSAGE)
    assert (page.experience.id, page.is_on_sale, page.currency) == (sold.massage.id, True, "EUR")
    await shop.execute(
        "UPDATE voucher_prototype SET slug = 'stones', former_slugs = :former, is_active = false WHERE id = :id",
        former=[MASSAGE],
        id=sold.massage.id,
    )
    page = await get_experience_page(shop.context, MASSAGE)
    assert (page.experience.slug, page.is_on_sale) == ("stones", False)


@pytest.mark.parametrize("slug", ["", "nothing", "a\0b", "Massage-by-the-fire", "-", "a--b", "s" * (LONGEST_SLUG + 1)])
async def test_any_other_slug_is_unknown(shop: Shop, sold: Experiences, slug: str) -> None:
    with pytest.raises(NotFound):
        await get_experience_page(shop.context, slug)


async def test_the_slug_of_an_experience_is_found_by_its_id(shop: Shop, sold: Experiences) -> None:
    assert await find_experience_slug(shop.context, sold.massage.id) == MASSAGE
    with pytest.raises(NotFound):
        await find_experience_slug(shop.context, 10**12)


async def test_what_may_not_be_sold_is_listed_nowhere(shop: Shop, sold: Experiences) -> None:
    slugs = [entry.slug for entry in await list_experience_entries(shop.context)]
    assert (slugs[0], len(slugs)) == (MASSAGE, 3)
    sections = await get_shop_sections(shop.context)
    assert (sections.experiences, sections.gift_cards, sections.network) == (True, True, False)
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    assert await list_experience_entries(shop.context) == []
    assert not (await get_shop_sections(shop.context)).experiences
    await shop.execute("UPDATE voucher_prototype SET is_active = true")
    await shop.execute("UPDATE partner SET status = 'i' WHERE id = :id", id=shop.partner.id)
    sections = await get_shop_sections(shop.context)
    assert (sections.experiences, sections.gift_cards, await list_experience_entries(shop.context)) == (
        False,
        False,
        [],
    )
    with pytest.raises(PartnerInactive):
        await get_experience_page(shop.context, MASSAGE)
