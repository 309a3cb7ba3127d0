"""The cart as published in the API."""

import datetime as dt
from uuid import UUID

import strawberry

from schema.cart.cart import Cart
from schema.core.resource import relation
from schema.product.product import Product, ProductVariant

CART_LIFETIME = dt.timedelta(hours=2)
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@strawberry.type(description="The value chosen for one attribute of a product.")
class AttributeChoice:
    attribute_id: int = strawberry.field(description="The attribute's id.")
    value: str = strawberry.field(description="The chosen value.")


@strawberry.type(description="A line of a cart: a product, or a variant of one.")
class EcommerceCartItem:
    product_id: int = strawberry.field(description="The product's id.")
    quantity: int = strawberry.field(description="The quantity; 0 if the customer has not set it yet.")
    variant_id: int | None = strawberry.field(description="The variant's id; null for a product without variants.")
    attribute_values: list[AttributeChoice] = strawberry.field(description="The values chosen for its attributes.")
    partner_id: strawberry.Private[int]
    product = relation(
        Product,
        "product_id",
        "The product; null if the shop has none with this id.",
        nullable=True,
        scope_column="partner_id",
        field=strawberry.field,
    )
    variant = relation(
        ProductVariant,
        "variant_id",
        "The variant; null if none is chosen, or if the shop has none with this id.",
        nullable=True,
        scope_column="partner_id",
        field=strawberry.field,
    )


@strawberry.type(description="A customer's cart, created by a shop. It expires two hours after its last write.")
class EcommerceCart:
    id: UUID = strawberry.field(description="The cart's id, which stays the same when it is replaced.")
    items: list[EcommerceCartItem] = strawberry.field(description="The cart's lines, as they were sent.")
    return_url: str | None = strawberry.field(
        description="Where the customer is redirected after the order; null if nowhere."
    )
    funnel_url: str = strawberry.field(description="The URL of the checkout: redirect the customer's browser there.")
    last_modified: dt.datetime = strawberry.field(description="When it was last written, to the millisecond.")
    expires_on: dt.datetime = strawberry.field(description="When it expires unless it is written again.")
    created: strawberry.Private[bool] = False


def ecommerce_cart_of(cart: Cart, funnel_url: str, *, created: bool = False) -> EcommerceCart:
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
        expires_on=last_modified + CART_LIFETIME,
        created=created,
    )
