"""The cart of a shop, and the cart of network products."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from rest_compat.http.inputs import Renamed
from rest_compat.http.links import RowLink
from rest_compat.shapes.keys import FieldKey, number, same
from rest_compat.shapes.shape import Nested, ResourceShape
from rest_compat.shapes.writers import MILLISECONDS, ValueWriter
from schema.cart.ecommerce_cart import AttributeChoice, EcommerceCart, EcommerceCartItem
from schema.cart.input import MOST_ITEMS, CartItemInput, SaveEcommerceCart
from schema.network.multi_product_cart import (
    MOST_LINES,
    CreateMultiProductCart,
    MultiProductBox,
    MultiProductBoxInput,
    MultiProductCart,
    MultiProductGiftCard,
    MultiProductGiftCardInput,
    MultiProductItems,
    MultiProductItemsInput,
)
from schema.validation.numbers import RowId


def _by_attribute(choices: Sequence[AttributeChoice]) -> dict[str, str]:
    return {str(choice.attribute_id): choice.value for choice in choices}


BY_ATTRIBUTE = ValueWriter(
    "values by attribute",
    (AttributeChoice,),
    {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"3": "red"}]},
    _by_attribute,
    many=True,
)

CART_ID = "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11"

CART_ITEM = ResourceShape(
    "CartItem",
    EcommerceCartItem,
    {
        **same("product_id", "quantity", "variant_id"),
        "attribute_values": FieldKey("attribute_values", BY_ATTRIBUTE),
    },
    example={"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}},
)
CART = ResourceShape(
    "Cart",
    EcommerceCart,
    {
        **same("id"),
        "items": Nested("items", CART_ITEM),
        "return_url": FieldKey(
            "return_url", description="URL that the customer is sent to after the order; empty if none."
        ),
        **same("funnel_url"),
        "last_modified": FieldKey(
            "last_modified", MILLISECONDS, description="Time of the last write, in milliseconds since 1970."
        ),
    },
    example={
        "id": CART_ID,
        "return_url": "https://shop.example/thanks",
        "funnel_url": f"https://demo.shops.example/ecommerce/shop/customization/?cart={CART_ID}",
        "last_modified": 1_893_456_000_000,
    },
)


def _empty_if_null(value: object) -> object:
    return {} if value is None else value


class CartItemBody(CartItemInput):
    """A cart item in REST: the chosen values are an object, keyed by attribute id."""

    attribute_values: Annotated[dict[RowId, str], BeforeValidator(_empty_if_null)] = Field(
        default_factory=dict,
        description="The chosen value by attribute id. Null or a missing key means none.",
        examples=[{"3": "red"}],
    )


class CartBody(SaveEcommerceCart):
    """A cart to create, or to replace by sending its `id`."""

    items: list[CartItemBody] = Field(  # type: ignore[assignment]  # narrower than in GraphQL, and never written to
        max_length=MOST_ITEMS, description="At most 200 items; may be empty."
    )


NEW_CART = {
    "items": [{"product_id": 7, "quantity": 2, "variant_id": 31, "attribute_values": {"3": "red"}}],
    "return_url": "https://shop.example/thanks",
}
"""An example request for the documentation."""


# ---- network products ------------------------------------------------------------------------------------------------

CHECKOUT_LINK = RowLink("checkout", "checkout_url")
MULTI_PRODUCT_GIFT_CARD = ResourceShape(
    "MultiProductGiftCard",
    MultiProductGiftCard,
    {"amount": number("amount.amount"), "quantity": "quantity", "themed_pdf_id": "design_id"},
    example={"amount": 50.0, "quantity": 2, "themed_pdf_id": 4},
)
MULTI_PRODUCT_VOUCHER = ResourceShape(
    "MultiProductVoucher",
    MultiProductBox,
    {"id": "box_id", "quantity": "quantity"},
    example={"id": 12, "quantity": 1},
)
MULTI_PRODUCT_DATA = ResourceShape(
    "MultiProductData",
    MultiProductItems,
    {
        "network_giftcards": Nested("gift_cards", MULTI_PRODUCT_GIFT_CARD),
        "network_vouchers": Nested("boxes", MULTI_PRODUCT_VOUCHER),
    },
    example={},
)
MULTI_PRODUCT_CART = ResourceShape(
    "MultiProductCart",
    MultiProductCart,
    {**same("id", "partner_uuid"), "data": Nested("items", MULTI_PRODUCT_DATA)},
    example={"id": CART_ID, "partner_uuid": "3f1f3f0a-7d7c-4f0e-9d42-1c0a6b1f7e55"},
)


class MultiProductGiftCardBody(MultiProductGiftCardInput):
    """Gift cards of the network."""

    renamed: ClassVar[Renamed] = {"themed_pdf_id": "design_id"}


class MultiProductVoucherBody(MultiProductBoxInput):
    """Network vouchers. `id` is that of their box."""

    renamed: ClassVar[Renamed] = {"id": "box_id"}


class MultiProductDataBody(MultiProductItemsInput):
    """The content of the cart: at least one gift card or voucher."""

    renamed: ClassVar[Renamed] = {"network_giftcards": "gift_cards", "network_vouchers": "boxes"}

    gift_cards: list[MultiProductGiftCardBody] = Field(  # type: ignore[assignment]  # as `CartBody.items`
        default_factory=list,
        max_length=MOST_LINES,
        description="Gift cards of the network; with the vouchers at most 20 lines.",
    )
    boxes: list[MultiProductVoucherBody] = Field(  # type: ignore[assignment]
        default_factory=list,
        max_length=MOST_LINES,
        description="Network vouchers; with the gift cards at most 20 lines.",
    )


class MultiProductCartBody(CreateMultiProductCart):
    """A cart of network products."""

    items: MultiProductDataBody = Field(description="What is in the cart.")


NEW_MULTI_PRODUCT_CART = {
    "partner_uuid": "3f1f3f0a-7d7c-4f0e-9d42-1c0a6b1f7e55",
    "data": {
        "network_giftcards": [{"amount": 50.0, "quantity": 2, "themed_pdf_id": 4}],
        "network_vouchers": [{"id": 12, "quantity": 1}],
    },
}
