"""The document of a gift before it is paid: as it is typed, as it stands in the basket, and for nobody else."""

import io
import uuid
from decimal import Decimal
from typing import Any

import pytest
from PIL import Image, ImageColor

from resolvers.checkout import basket
from resolvers.checkout.preview import keep_gift_draft, preview_gift
from schema.checkout.basket import BasketChoice, BoxChoice, Giftee, NetworkGiftCardChoice, VoucherChoice
from schema.checkout.checkout import CheckoutKey, CheckoutKind
from schema.core.errors import NotFound, TooManyRequests
from store.core.rates import Rate
from store.limits.rate_limits import RateLimit
from tests.fixtures.basket import Experiences, card_of, for_two, new_key
from tests.fixtures.network_prints import design_of
from tests.fixtures.network_sale import network_goods
from tests.fixtures.shop import Shop

PNG = b"\x89PNG\r\n"
GIFT: dict[str, Any] = {
    "giftee": Giftee(first_name="Zoé", last_name="Martin"),
    "from_gifter": "Mum",
    "message": "Enjoy!",
}


async def drafted(shop: Shop, key: CheckoutKey, choice: BasketChoice, language: str = "en") -> bytes:
    """The picture of a choice that is being typed."""
    draft = await keep_gift_draft(shop.context, key, choice)
    return await preview_gift(shop.context, key, None, draft, language)


async def test_a_voucher_as_it_is_typed(shop: Shop, sold: Experiences) -> None:
    key = new_key()
    first = await drafted(shop, key, for_two(sold, **GIFT))
    assert first.startswith(PNG)
    assert await drafted(shop, key, for_two(sold, **GIFT)) == first
    for other in ({"message": "Enjoy it!"}, {"from_gifter": "Dad"}, {"giftee": Giftee(first_name="Noé")}):
        assert await drafted(shop, key, for_two(sold, **{**GIFT, **other})) != first, "it shows what is typed"
    assert await drafted(shop, key, for_two(sold, **GIFT), "fr") != first
    assert not (await basket.open_basket(shop.context, key)).basket_lines, "nothing is put into the basket"
    assert await shop.count("voucher") == 0


async def test_a_gift_card_that_stands_in_the_basket(shop: Shop) -> None:
    key, line_id = new_key(), uuid.uuid4()
    await basket.put_line(shop.context, key, line_id, card_of("50.00", **GIFT))
    kept = await preview_gift(shop.context, key, line_id, "", "en")
    assert kept == await drafted(shop, key, card_of("50.00", **GIFT))
    assert kept != await drafted(shop, key, card_of("60.00", **GIFT))
    assert await shop.count("gift_card") == 0


def share_of(colour: str, picture: bytes) -> float:
    """The part of a picture that has a colour, nearly."""
    with Image.open(io.BytesIO(picture)) as opened:
        small = opened.convert("RGB").resize((120, 170)).tobytes()
    pixels = [small[at : at + 3] for at in range(0, len(small), 3)]
    wanted = ImageColor.getrgb(colour)
    near = sum(all(abs(a - b) < 12 for a, b in zip(pixel, wanted, strict=True)) for pixel in pixels)
    return near / len(pixels)


async def test_a_gift_card_shows_its_design(shop: Shop) -> None:
    own = {"partner_id": shop.partner.id}
    blue, red = await design_of(shop, "#224466", **own), await design_of(shop, "#993311", **own)
    key, line_id = new_key(), uuid.uuid4()
    typed = await drafted(shop, key, card_of("50.00", **GIFT, design_id=red.id))
    await basket.put_line(shop.context, key, line_id, card_of("50.00", **GIFT, design_id=blue.id))
    kept = await preview_gift(shop.context, key, line_id, "", "en")
    for picture, shown, other in ((typed, "#993311", "#224466"), (kept, "#224466", "#993311")):
        assert share_of(shown, picture) > 0.1 > 0.01 > share_of(other, picture)


async def test_a_design_of_another_partner_is_not_shown(shop: Shop) -> None:
    await design_of(shop, partner_id=shop.partner.id)
    foreign = await design_of(shop)
    with pytest.raises(NotFound):
        await drafted(shop, new_key(), card_of("50.00", **GIFT, design_id=foreign.id))


async def test_network_products(shop: Shop) -> None:
    goods, key = await network_goods(shop), new_key(CheckoutKind.NETWORK)
    for choice in (goods.cards("50.00", **GIFT), goods.boxes(**GIFT)):
        assert (await drafted(shop, key, choice)).startswith(PNG)
    for unknown in (NetworkGiftCardChoice(Decimal(50), 4711), BoxChoice(4711)):
        with pytest.raises(NotFound):
            await drafted(shop, key, unknown)


async def test_only_what_can_be_ordered_and_only_in_its_own_session(shop: Shop, sold: Experiences) -> None:
    key, other = new_key(), new_key()
    draft = await keep_gift_draft(shop.context, key, for_two(sold, **GIFT))
    for of, name in ((other, draft), (key, "0" * 64), (key, "../x"), (key, "")):
        with pytest.raises(NotFound):
            await preview_gift(shop.context, of, uuid.uuid4(), name, "en")
    with pytest.raises(NotFound):
        await drafted(shop, key, VoucherChoice(sold.massage.id, adults=9))
    await shop.execute("UPDATE voucher_prototype SET is_active = false")
    with pytest.raises(NotFound):
        await preview_gift(shop.context, key, None, draft, "en")


async def test_previews_are_limited(shop: Shop, sold: Experiences) -> None:
    key = new_key()
    shop.services.limits.previews = RateLimit(
        "preview", Rate(3, 3600), shop.services.limits.counters, shop.services.clock
    )
    for _ in range(3):
        await drafted(shop, key, for_two(sold))
    with pytest.raises(TooManyRequests):
        await drafted(shop, key, for_two(sold))
