"""The checkout as its pages show it: plain values without database rows. Amounts are decimals in one currency."""

import uuid
from dataclasses import dataclass

from schema.checkout.basket import BasketLine, ReceptionOption, content_of
from schema.checkout.brand import Brand
from schema.checkout.checkout import (
    Buyer,
    CheckoutEstimate,
    CheckoutKey,
    CheckoutKind,
    CheckoutLine,
    CheckoutNotice,
    CheckoutStep,
    DeliveryOption,
    OfferedProduct,
    ShopKind,
    Totals,
)
from schema.checkout.codes import AppliedCode
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.payment_method import PaymentMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """The data of any step. `furthest_step` is the furthest step that can be opened now."""

    key: CheckoutKey
    brand: Brand
    currency: str
    lines: tuple[CheckoutLine, ...] = ()
    """The goods."""
    offered_products: tuple[OfferedProduct, ...] = ()
    """The shop's active products, for adding to the cart."""
    basket_lines: tuple[BasketLine, ...] = ()
    """The vouchers and gift cards."""
    deliveries: tuple[DeliveryOption, ...]
    """The ways to receive the goods. Without goods, only the chosen delivery."""
    delivery_id: int | None
    delivery: DeliveryOption | None
    """The delivery of the order if it is available."""
    receptions: tuple[ReceptionOption, ...] = ()
    """The ways to receive the open voucher or gift card, or all."""
    reception: ReceptionOption | None = None
    """The way chosen for the open voucher or gift card, or for all, as long as it is available; None if they have different
    ones.
    """
    gift_cards: OfferedGiftCards | None = None
    """The gift cards on sale; None in the network's shop, and if none are on sale."""
    network_cards: OfferedGiftCards | None = None
    """The network's gift cards on sale; None in other checkouts, and if none are on sale."""
    country: str
    """The country that delivery is priced for: the chosen one, else the buyer's, else where the shop delivers at home;
    empty while none is known.
    """
    buyer: Buyer | None
    codes: tuple[AppliedCode, ...]
    totals: Totals
    furthest_step: CheckoutStep
    notices: tuple[CheckoutNotice, ...]
    has_return_url: bool
    payment_methods: tuple[PaymentMethod, ...]
    """What the rest can be paid with; the first is that of most customers in the buyer's country."""
    payment_method: PaymentMethod
    """That of the last try, else the first."""
    token_methods: tuple[PaymentMethod, ...]
    """Those of a browser that hands over the token of a card, such as Apple Pay."""
    seller_country: str
    """ISO 3166 code; may be empty."""
    pending_payment_id: uuid.UUID | None
    """A payment of this session that is still open at the provider."""
    pending_payment_url: str | None
    """Where to continue that payment; None once the link has expired."""
    estimate: CheckoutEstimate | None = None
    """Set while something is still to be chosen: shown instead of the deliveries, codes and totals of what can be
    ordered.
    """

    @property
    def content(self) -> ShopKind:
        """What is ordered."""
        is_empty_cart = self.key.kind is CheckoutKind.CART and not self.basket_lines
        return content_of((line.choice for line in self.basket_lines), has_goods=self.has_goods or is_empty_cart)

    @property
    def has_goods(self) -> bool:
        return bool(self.lines)

    @property
    def has_several_receptions(self) -> bool:
        """Whether parts of the order are received in different ways."""
        return self.has_goods or len({line.reception for line in self.basket_lines}) > 1

    @property
    def is_delivery_chosen(self) -> bool:
        """Whether it is known how each part is received."""
        return self.delivery is not None

    @property
    def is_closed(self) -> bool:
        """True if the shop no longer sells: a payment in progress can be completed, and nothing can be changed."""
        return CheckoutNotice.SHOP_CLOSED in self.notices
