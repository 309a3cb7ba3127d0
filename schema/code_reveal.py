"""The codes of vouchers and gift cards for those who may spend them: each look is an entry of the audit log."""

import strawberry

from schema.core.inputs import graphql_input_for
from schema.core.resource import SchemaModel
from schema.gift_card.gift_card import GiftCard
from schema.network.gift_card import NetworkGiftCard
from schema.network.voucher import NetworkVoucher
from schema.order.order import Order
from schema.voucher.voucher import Voucher


@strawberry.type(description="A code, and where it is printed. Whoever has it can spend it.")
class RevealedCode:
    code: str = strawberry.field(description="The code printed on it, in groups of four characters.")
    document_url: str | None = strawberry.field(
        description="The URL of its printable PDF document, which has the code too; null if it has none now."
    )
    holder_url: str | None = strawberry.field(
        default=None,
        description="The URL of the page for its holder, which leads to the document; null if it has none now, and for what a "
        "network has not sold.",
    )


@strawberry.type(description="The page where a buyer finds the codes of an order. Whoever has its address sees them.")
class RevealedOrderPage:
    url: str = strawberry.field(description="The address of the page.")


@graphql_input_for(Voucher)
class RevealVoucherCode(SchemaModel):
    """Show the code of a voucher."""

    id: int


@graphql_input_for(GiftCard)
class RevealGiftCardCode(SchemaModel):
    """Show the code of a gift card."""

    id: int


@graphql_input_for(NetworkGiftCard)
class RevealNetworkGiftCardCode(SchemaModel):
    """Show the code of a network gift card."""

    id: int


@graphql_input_for(NetworkVoucher)
class RevealNetworkVoucherCode(SchemaModel):
    """Show the code of a network voucher."""

    id: int


@graphql_input_for(Order)
class RevealOrderPage(SchemaModel):
    """Show the page of an order's buyer."""

    id: int
