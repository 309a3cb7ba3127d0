"""What a caller may be allowed to do, and the rules where nothing has to be allowed. Names are part of the API: `permissions.<value>`."""

import enum
from typing import TypeAlias

from schema.core.resource import ClosedSet, closed_set


@closed_set
class Permission(ClosedSet):
    """What a user may do."""

    CREATE_MULTI_PRODUCT_CART = "create_multi_product_cart", "Make carts of network gift cards and network vouchers."
    CREATE_NETWORK_GIFT_CARD = "create_network_giftcard_api", "Issue network gift cards."
    CREATE_PARTNER = "create_partner", "Make partners, and begin the activation of their payments."
    CREATE_PAYMENT = "create_payment", "Take payments, change them, and ask for payment."
    MANAGE_CATALOGUE = "manage_catalogue", "Make and change all that is sold: products, delivery, coupons, prototypes."
    MANAGE_GIFT_CARD = (
        "manage_giftcard",
        "Issue gift cards, hold and spend what is on them, extend and cancel them, decide which the shop sells.",
    )
    MANAGE_MARKETPLACE = "manage_marketplace", "Change the marketplace itself: its name, its site, its time zone."
    MANAGE_MASTERADMIN = "manage_masteradmin", "Everything: it implies every other permission."
    MANAGE_USER = "manage_user", "Make users, and decide what they may do."
    MANAGE_WEBHOOK = (
        "manage_webhook",
        "See events, decide which addresses are told of them, and rotate the secrets that they and returning customers are signed with.",
    )
    REFUND_PAYMENT = "refund_payment", "Pay money back."
    REOPEN_VOUCHER = "reopen_voucher", "Bring a used or expired voucher back to life."
    UPDATE_PARTNER = "update_partner", "Change partners, and hand in their documents."
    UPDATE_VOUCHER = "update_voucher", "Move a voucher to any status but back to life."
    UPDATE_VOUCHER_PDF = "update_voucher_pdf", "Change the document of a voucher."
    USE_NETWORK_GIFT_CARD = "use_network_giftcard_api", "Find network gift cards, spend them, cancel a usage."
    USE_VOUCHER = "use_voucher", "Mark a voucher as used."
    VALIDATE_PAYOUT = "validate_payout", "Validate and cancel payout requests."
    VIEW_AUDIT = "view_audit", "See who changed what, when and from where."
    VIEW_CATALOGUE = "view_catalogue", "See all that is sold: products, delivery, coupons, prototypes, boxes."
    VIEW_GIFT_CARD = "view_giftcard", "See gift cards."
    VIEW_INVOICE = "view_invoice", "See invoices."
    VIEW_MAIL = "view_mail", "See the messages that were written to buyers and to the shop, and send them again."
    VIEW_NETWORK_VOUCHER = "view_network_voucher", "See network vouchers and their usages."
    VIEW_ORDER = "view_order", "See the orders of a shop, with their buyers."
    VIEW_PARTNER = "view_partner", "See partners, and how far their identification is."
    VIEW_PAYMENT = "view_payment", "See payments, their transactions, and payment requests."
    VIEW_PAYOUT = "view_payout", "See payout requests and what they contain."
    VIEW_VOUCHER = "view_voucher", "See vouchers."
    VIEW_WALLET = "view_wallet", "See the movements of a wallet."


class Rule(enum.StrEnum):
    """Who may run an operation for which no permission is granted."""

    PUBLIC = "public"
    """Anybody: no token is needed."""
    AUTHENTICATED = "authenticated"
    """Any user: whoever sends a good token."""
    PARTNER = "partner"
    """A user that belongs to a partner."""
    CUSTOMER = "customer"
    """A customer in the checkout of one partner; never a token."""
    REPRESENTATIVE = "representative"
    """Whoever holds a good link to the onboarding page of one partner; never a token."""


Required: TypeAlias = Permission | Rule
"""What an operation asks of its caller."""
NAMED = frozenset(Permission)
"""All that can be granted to a user."""


def required(name: str) -> Required:
    """What a documented name asks for: `view_voucher`, `public`. ValueError for a name that is neither's."""
    return Rule(name) if name in frozenset(Rule) else Permission(name)
