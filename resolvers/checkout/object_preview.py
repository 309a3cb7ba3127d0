"""What staff see of an object before its customers do: how the shop offers it, and the document that its buyer gets.

It is a checkout with nothing but the object, priced as if that were on sale. Nothing of it is stored, and it has no code.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlmodel import col

from resolvers.checkout.default_choice import default_choice
from resolvers.checkout.session import CheckoutSession
from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from schema.cart.cart import Cart, CartItem
from schema.checkout.basket import BasketChoice, BoxChoice, GiftCardChoice, NetworkGiftCardChoice
from schema.checkout.checkout import Buyer, CheckoutKey, CheckoutKind, OfferedProduct
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.checkout.view import Checkout
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from store.catalogue.offers import ShopPrototype, load_prototypes
from store.checkout.customer_state import CustomerSession
from store.checkout.designs import load_designs
from store.checkout.network_offers import load_box, load_cards_of_design
from store.checkout.offers import ShopProduct, load_products
from store.checkout.preview import LinePreview
from store.checkout.shops import CheckoutShop, load_shop
from store.database.transaction_reader import DatabaseReader
from store.document.cache import render_preview
from store.gift_card.designs import GiftCardDesignRow

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ObjectSession(CheckoutSession):
    """A checkout in which one object is on sale, whatever customers find."""

    goods: Mapping[int, ShopProduct] = field(default_factory=dict)
    experiences: Mapping[int, ShopPrototype] = field(default_factory=dict)
    own_cards: OfferedGiftCards | None = None
    network_cards: OfferedGiftCards | None = None
    boxes: Mapping[int, OfferedBox] = field(default_factory=dict)

    async def gift_cards(self, db: DatabaseReader) -> OfferedGiftCards | None:  # noqa: ARG002
        return self.own_cards

    async def _products(self, db: DatabaseReader, *, others: bool) -> Mapping[int, ShopProduct]:  # noqa: ARG002
        return self.goods

    async def _prototypes(self, call: Call, db: DatabaseReader) -> Mapping[int, ShopPrototype]:  # noqa: ARG002
        return self.experiences

    async def _network_offer(
        self,
        db: DatabaseReader,  # noqa: ARG002
    ) -> tuple[OfferedGiftCards | None, dict[int, OfferedBox]]:
        return self.network_cards, dict(self.boxes)


# ---- how the shop offers it


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_product(call: Call, product_id: int) -> Checkout:
    """The first step of an order of one product, on sale or not. Raises NotFound for an unknown product, and for customers."""
    shop, key = await _open_shop(call, CheckoutKind.CART)
    products = await load_products(call.services.db, shop.partner_id, [product_id], others=False)
    product = _required(products.get(product_id))
    now = _now_ms(call)
    session = ObjectSession(
        key=key,
        shop=shop,
        customer=CustomerSession(),
        attempt=None,
        now_ms=now,
        cart=Cart(key.cart_id, shop.partner_id, (_first_choice(product.offered),), "", now),
        goods={product_id: replace(product, is_active=True)},
    )
    return await session.view(call, call.services.db)


def _first_choice(product: OfferedProduct) -> CartItem:
    """One of a product: its first variant, with the first of the values that have to be chosen."""
    chosen = {each.id: each.values[0].value for each in product.attributes if each.is_required and each.values}
    return CartItem(product.id, 1, product.variants[0].id if product.variants else None, chosen)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_design(call: Call, design_id: int) -> Checkout:
    """The form of a gift card of the partner with this design only, on sale or not. Raises NotFound for an unknown design, and
    for customers.
    """
    return await (await _card_session(call, design_id)).view(call, call.services.db)


# ---- what its buyer gets


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_voucher_document(call: Call, prototype_id: int, language: str) -> bytes:
    """The document of a voucher of an experience, as a PNG picture. Raises NotFound for an unknown experience, and for
    customers; TooManyRequests.
    """
    shop, key = await _open_shop(call)
    async with call.services.db.read_sessions() as db:
        today = call.services.clock.now().date()
        found = (await load_prototypes(db, shop.partner_id, today, [prototype_id])).get(prototype_id)
    prototype = replace(_required(found), is_on_sale=True)
    choice = default_choice(prototype.offered)
    return await _draw(call, _session(call, shop, key, choice, experiences={prototype_id: prototype}), language)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_gift_card_document(call: Call, design_id: int, language: str) -> bytes:
    """The document of a gift card of the partner with this design, as a PNG picture. Raises NotFound for an unknown design,
    and for customers; TooManyRequests.
    """
    return await _draw(call, await _card_session(call, design_id), language)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_network_card_document(call: Call, design_id: int, language: str) -> bytes:
    """The document of a gift card of the network with this design, as a PNG picture. Raises NotFound for an unknown design,
    and for customers; TooManyRequests.
    """
    shop, key = await _open_shop(call, CheckoutKind.NETWORK)
    async with call.services.db.read_sessions() as db:
        cards = await load_cards_of_design(db, shop.network, design_id)
    design = _required(cards.design(design_id))
    choice = NetworkGiftCardChoice(amount=cards.usual_value, design_id=design.id)
    return await _draw(call, _session(call, shop, key, choice, network_cards=cards), language)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_network_voucher_document(call: Call, box_id: int, language: str) -> bytes:
    """The document of a voucher of a box, as a PNG picture. Raises NotFound for an unknown box, and for customers;
    TooManyRequests.
    """
    shop, key = await _open_shop(call, CheckoutKind.NETWORK)
    async with call.services.db.read_sessions() as db:
        box = _required(await load_box(db, shop.network, box_id))
    return await _draw(call, _session(call, shop, key, BoxChoice(box_id), boxes={box_id: box}), language)


async def _draw(call: Call, session: ObjectSession, language: str) -> bytes:
    """The first page of the document of the only line."""
    services = call.services
    await services.limits.previews.check(call.context.address)
    quote = await session.quote(call, services.db)
    (line,) = quote.priced.gifts
    now = services.clock.now().astimezone(session.zone)
    preview = LinePreview(shop=session.shop, coupons=(), buyer=Buyer(), language=language, now=now)
    async with services.db.read_sessions() as db:
        source = await preview.source(db, services.settings, line)
    return await render_preview(source, services.files)


# ---- the checkout


async def _open_shop(call: Call, kind: CheckoutKind = CheckoutKind.BASKET) -> tuple[CheckoutShop, CheckoutKey]:
    """The shop of the caller, whether or not it may sell. Raises NotFound for customers."""
    if not call.caller.is_preview:
        raise NotFound(thing="preview")
    key = CheckoutKey(uuid.uuid4(), "", kind)
    shop, _ = _required(await load_shop(call.services.db, partner_of(call), key))
    return shop, key


def _session(call: Call, shop: CheckoutShop, key: CheckoutKey, choice: BasketChoice, **offered: Any) -> ObjectSession:
    return ObjectSession(
        key=key,
        shop=shop,
        customer=CustomerSession(),
        attempt=None,
        now_ms=_now_ms(call),
        new_lines={uuid.uuid4(): choice},
        **offered,
    )


async def _card_session(call: Call, design_id: int) -> ObjectSession:
    """A checkout with a gift card of the partner that has this design. Raises NotFound."""
    shop, key = await _open_shop(call)
    of_partner = col(GiftCardDesignRow.partner_id) == shop.partner_id, col(GiftCardDesignRow.id) == design_id
    async with call.services.db.read_sessions() as db:
        cards = replace(shop.gift_card_terms, designs=await load_designs(db, of_partner))
    design = _required(cards.design(design_id))
    choice = GiftCardChoice(cards.usual_value, design_id=design.id)
    return _session(call, replace(shop, gift_cards=cards), key, choice, own_cards=cards)


def _now_ms(call: Call) -> int:
    return int(call.services.clock.now().timestamp() * 1000)


def _required(sold: T | None) -> T:
    if sold is None:
        raise NotFound(thing="preview")
    return sold
