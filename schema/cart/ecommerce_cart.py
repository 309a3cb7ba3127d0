"""The cart as clients see it."""

import datetime as dt
from uuid import UUID

import strawberry

from schema.cart.cart import Cart
from schema.core.resource import relation
from schema.product.product import Product, ProductVariant

CART_LIFE = dt.timedelta(hours=2)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@strawberry.type(description="The choice made for one attribute of a product.")
class AttributeChoice:
    """The choice made for one attribute of a product."""

    attribute_id: int = strawberry.field(description="The attribute.")
    value: str = strawberry.field(description="The chosen value.")


@strawberry.type(description="A product, or a variant of one, that the customer has chosen.")
class EcommerceCartItem:
    """A line of a cart."""

    product_id: int = strawberry.field(description="The product.")
    quantity: int = strawberry.field(description="How many; 0 is a line the customer may still fill in.")
    variant_id: int | None = strawberry.field(description="The variant; null for a product without variants.")
    attribute_values: list[AttributeChoice] = strawberry.field(description="What was chosen for its attributes.")
    partner_id: strawberry.Private[int]
    product = relation(
        Product,
        "product_id",
        "The product; null where the shop has none with this id.",
        nullable=True,
        within="partner_id",
        field=strawberry.field,
    )
    variant = relation(
        ProductVariant,
        "variant_id",
        "The variant; null where none is chosen, and where the shop has none with this id.",
        nullable=True,
        within="partner_id",
        field=strawberry.field,
    )


@strawberry.type(
    description="What a customer is about to buy, handed over by a shop. It lives two hours from its last write."
)
class EcommerceCart:
    """What a customer is about to buy."""

    id: UUID = strawberry.field(description="Its id, which stays when it is replaced.")
    items: list[EcommerceCartItem] = strawberry.field(description="Its lines, as they were sent.")
    return_url: str | None = strawberry.field(description="Where the customer is sent after the order; null: nowhere.")
    funnel_url: str = strawberry.field(description="Where the customer goes to check out: send the browser there.")
    last_modified: dt.datetime = strawberry.field(description="When it was last written, to the millisecond.")
    expires_on: dt.datetime = strawberry.field(description="When it is forgotten unless it is written again.")
    created: strawberry.Private[bool] = False


def published(cart: Cart, funnel_url: str, *, created: bool = False) -> EcommerceCart:
    """A cart as clients see it."""
    last_modified = EPOCH + dt.timedelta(milliseconds=cart.last_modified)
    return EcommerceCart(
        id=cart.id,
        items=[
            EcommerceCartItem(
                partner_id=cart.partner_id,
                product_id=item.product_id,
                quantity=item.quantity,
                variant_id=item.variant_id,
                attribute_values=[AttributeChoice(attribute_id=k, value=v) for k, v in item.attribute_values.items()],
            )
            for item in cart.items
        ],
        return_url=cart.return_url or None,
        funnel_url=funnel_url,
        last_modified=last_modified,
        expires_on=last_modified + CART_LIFE,
        created=created,
    )
