"""Multi-product carts: network products that API clients hand over to the checkout."""

import datetime as dt
from uuid import UUID

from sqlalchemy import and_
from sqlmodel import col, or_, select

from resolvers.core.operation import Call, operation
from resolvers.core.scoping import visible_conditions
from resolvers.partner.selling import may_sell
from schema.cart.ecommerce_cart import CART_LIFETIME, EPOCH
from schema.checkout.basket import BoxChoice, NetworkGiftCardChoice
from schema.core.errors import InvalidInput, PartnerInactive, Problem
from schema.core.input_errors import ProblemCollector, already_reported, raise_if_problems
from schema.core.message_names import TemplatedMessage
from schema.core.money import Money
from schema.core.permission import Permission
from schema.network.multi_product_cart import (
    MOST_LINES,
    MOST_PIECES,
    CreateMultiProductCart,
    MultiProductBox,
    MultiProductCart,
    MultiProductGiftCard,
    MultiProductItems,
)
from store.cart.multi_product_carts import MultiProductContent, StoredMultiProductCart
from store.checkout.network_lines import network_card_problems
from store.checkout.network_offers import NetworkShop, load_boxes, load_network_cards, network_shop_of
from store.partner.partners import MarketplaceRow, PartnerRow

NO_SHOP = "No partner of yours has this uuid, nor does a marketplace of yours that has a shop for its network."
NOT_SOLD = "The shop does not sell this."


@operation(Permission.CREATE_MULTI_PRODUCT_CART)
async def create_multi_product_cart(call: Call, input: CreateMultiProductCart) -> MultiProductCart:
    """Create a cart of gift cards and boxes of the network. Send the customer to `checkoutUrl`: there the recipients,
    the delivery and the buyer are asked for, and the order is paid.

    The link can be followed for two hours. What is on sale is checked here, and again when the customer pays.
    """
    findings = ProblemCollector()
    partner, network = already_reported(PartnerRow), already_reported(MarketplaceRow)
    content = already_reported(MultiProductContent)
    with findings.collect():
        partner, network = await _seller(call, input.partner_uuid)
    with findings.collect():
        content = _content_of(input)
        await _check_content(
            call, network_shop_of(partner, network.network_gift_card_validity_months, network.currency), content
        )
    findings.raise_problems()
    if not may_sell(call.services, partner.status):
        raise PartnerInactive
    cart = await call.services.multi_product_carts.create(partner.id, content)
    return _published(call, input.partner_uuid, partner, network, cart)


def _content_of(input: CreateMultiProductCart) -> MultiProductContent:
    """The content of an input. Raises InvalidInput if there is none."""
    gift_cards, boxes = input.items.gift_cards, input.items.boxes
    if not (gift_cards or boxes):
        raise InvalidInput.at("items", "Send at least one gift card or box.", "REQUIRED")
    if len(gift_cards) + len(boxes) > MOST_LINES:
        raise InvalidInput.at("items", TemplatedMessage("Send at most {most} lines.", most=MOST_LINES), "TOO_MANY")
    if sum(card.quantity for card in gift_cards) + sum(box.quantity for box in boxes) > MOST_PIECES:
        raise InvalidInput.at(
            "items", TemplatedMessage("Send at most {most} gift cards and boxes.", most=MOST_PIECES), "TOO_MANY"
        )
    return MultiProductContent(
        tuple(NetworkGiftCardChoice(card.amount, card.design_id, card.quantity) for card in gift_cards),
        tuple(BoxChoice(box.box_id, box.quantity) for box in boxes),
    )


async def _seller(call: Call, uuid: UUID) -> tuple[PartnerRow, MarketplaceRow]:
    """The partner with this uuid, or the shop of the network of the marketplace with this uuid."""
    query = (
        select(PartnerRow, MarketplaceRow)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(
            or_(
                and_(col(PartnerRow.uuid) == uuid, *visible_conditions(call.caller, PartnerRow)),
                and_(
                    col(MarketplaceRow.uuid) == uuid,
                    col(PartnerRow.is_network_shop),
                    *visible_conditions(call.caller, MarketplaceRow),
                ),
            )
        )
    )
    found = (await call.db.exec(query)).first()
    if found is None:
        raise InvalidInput.at("partner_uuid", NO_SHOP)
    return found


async def _check_content(call: Call, shop: NetworkShop, content: MultiProductContent) -> None:
    """Raise InvalidInput for what the shop does not sell."""
    cards = await load_network_cards(call.db, shop) if content.gift_cards else None
    boxes = await load_boxes(call.db, shop, sorted({box.box_id for box in content.boxes}))
    problems: list[Problem] = []
    for at, card in enumerate(content.gift_cards):
        place = ("items", "gift_cards", at)
        found = network_card_problems(card, cards) if cards else [Problem((), "INVALID", NOT_SOLD)]
        problems += [Problem((*place, *each.path), each.code, each.message) for each in found]
    for at, box in enumerate(content.boxes):
        if box.box_id not in boxes:
            problems.append(Problem(("items", "boxes", at, "box_id"), "INVALID", NOT_SOLD))
    raise_if_problems(problems)


def _published(
    call: Call, uuid: UUID, partner: PartnerRow, network: MarketplaceRow, cart: StoredMultiProductCart
) -> MultiProductCart:
    scheme = call.services.settings.funnel_scheme
    return MultiProductCart(
        id=cart.id,
        partner_uuid=uuid,
        items=MultiProductItems(
            gift_cards=[
                MultiProductGiftCard(
                    amount=Money(amount=card.amount, currency=network.currency),
                    quantity=card.quantity,
                    design_id=card.design_id,
                    marketplace_id=network.id,
                )
                for card in cart.content.gift_cards
            ],
            boxes=[
                MultiProductBox(box_id=box.box_id, quantity=box.quantity, marketplace_id=network.id)
                for box in cart.content.boxes
            ],
        ),
        checkout_url=f"{scheme}://{partner.site_domain}/network/shop/customization/?cart={cart.id}",
        expires_on=EPOCH + dt.timedelta(milliseconds=cart.version) + CART_LIFETIME,
    )
