"""Slugs of prototypes: made from the name, changed, and never lost."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest
import strawberry

from resolvers.catalogue.prototypes import create_voucher_prototype, update_voucher_prototype
from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.catalogue.prototype_input import CreateVoucherPrototype, UpdateVoucherPrototype
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.text import TextInput
from schema.validation.slugs import LONGEST_SLUG, slug_of
from store.catalogue.slugs import MOST_FORMER_SLUGS, find_by_slug
from tests.fixtures.basket import Experiences, experiences
from tests.fixtures.shop import Shop
from tests.store.migrations.revisions import at


@pytest.fixture
async def sold(shop: Shop) -> Experiences:
    """What the shop sells."""
    return await experiences(shop)


def texts(name: str) -> dict[str, Any]:
    english: dict[str, Any] = {"en": strawberry.Some(name)}
    return {part: TextInput(**english) for part in ("name", "description", "long_description")}


async def create(shop: Shop, sold: Experiences, name: str, slug: str | None = None) -> VoucherPrototype:
    input = CreateVoucherPrototype(
        **texts(name),
        slug=slug,
        type=VoucherPrototypeType.STANDARD,
        stay_price=Decimal("10.00"),
        universe_id=sold.meal.universe_id,
    )
    return await create_voucher_prototype(shop.manager, input)


async def rename(shop: Shop, id: int, slug: str) -> VoucherPrototype:
    changes: dict[str, Any] = {"id": id, "slug": strawberry.Some(slug)}
    return await update_voucher_prototype(shop.manager, UpdateVoucherPrototype(**changes))


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("A night by the sea", "a-night-by-the-sea"),
        ("Crème brûlée & Œufs", "creme-brulee-oeufs"),
        ("L’été — 3 Nächte im Schloß", "l-ete-3-nachte-im-schloss"),
        ("Smørrebrød", "smorrebrod"),
        ("海辺の夜", "experience"),
        ("--", "experience"),
        ("x" * 79 + " yz", "x" * 79),
    ],
)
def test_a_slug_has_plain_letters_and_digits(name: str, slug: str) -> None:
    assert slug_of(name, "experience") == slug


async def test_the_slug_of_a_taken_name_gets_a_number(shop: Shop, sold: Experiences) -> None:
    names = ("Sea & sun", "Sea, sun", "Shop", "Sea sun 2", "S" * 200, "S" * 200)
    slugs = [(await create(shop, sold, name)).slug for name in names]
    assert slugs == [
        "sea-sun",
        "sea-sun-2",
        "shop-2",
        "sea-sun-2-2",
        "s" * LONGEST_SLUG,
        "s" * (LONGEST_SLUG - 11) + "-2",
    ]


async def test_those_created_at_once_differ(shop: Shop, sold: Experiences) -> None:
    made = await asyncio.gather(*(create(shop, sold, "Sunrise") for _ in range(5)))
    assert sorted(each.slug for each in made) == ["sunrise", *(f"sunrise-{number}" for number in range(2, 6))]


async def test_a_former_slug_leads_to_its_prototype_until_another_takes_it(shop: Shop, sold: Experiences) -> None:
    async def look_up(slug: str) -> tuple[int, str] | None:
        async with shop.services.db.sessions() as db:
            row = await find_by_slug(db, shop.partner.id, slug)
            return None if row is None else (row[0], row[1])

    meal, stay = sold.meal, sold.stay
    await rename(shop, meal.id, "dinner")
    assert await look_up("table-for-two") == await look_up("dinner") == (meal.id, "dinner")
    await rename(shop, meal.id, "table-for-two")
    assert await look_up("dinner") == (meal.id, "table-for-two"), "it can have its former slug again"
    await rename(shop, stay.id, "dinner")
    assert await look_up("dinner") == (stay.id, "dinner"), "a present slug comes before a former one"
    with pytest.raises(InvalidInput):
        await rename(shop, stay.id, "table-for-two")
    assert await look_up("table-for-two") == (meal.id, "table-for-two")
    assert await look_up("nothing") is None
    for number in range(MOST_FORMER_SLUGS + 2):
        await rename(shop, meal.id, f"dinner-{number}")
    assert len(await shop.one("SELECT former_slugs FROM voucher_prototype WHERE id = :id", id=meal.id)) == (
        MOST_FORMER_SLUGS
    )


async def test_of_two_who_want_a_slug_one_gets_it(shop: Shop, sold: Experiences) -> None:
    wanted = (rename(shop, each.id, "best") for each in (sold.meal, sold.stay, sold.massage))
    outcomes = await asyncio.gather(*wanted, return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, InvalidInput | AlreadyTaken)]
    assert len(refused) == 2, outcomes
    assert await shop.one("SELECT count(*) FROM voucher_prototype WHERE slug = 'best'") == 1


async def test_prototypes_from_before_get_slugs_of_their_names(shop: Shop, sold: Experiences) -> None:
    twin = await create(shop, sold, "Table for two", "twin")
    await shop.execute(
        """UPDATE voucher_prototype SET name = '{"fr": "Dîner à deux"}' WHERE id IN (:one, :other)""",
        one=sold.meal.id,
        other=twin.id,
    )
    await shop.execute("""UPDATE voucher_prototype SET name = '{"en": "Shop"}' WHERE id = :id""", id=sold.stay.id)
    await at(shop.services.db, "0056", down=True)
    await at(shop.services.db, "head")
    slugs = "SELECT slug FROM voucher_prototype WHERE id = :id"
    assert [await shop.one(slugs, id=id) for id in (sold.meal.id, twin.id, sold.stay.id, sold.massage.id)] == [
        "diner-a-deux",
        "diner-a-deux-2",
        "shop-2",
        "massage-by-the-fire",
    ]
