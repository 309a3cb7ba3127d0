"""Permissions that can be granted, and access rules without a permission. Names are part of the API:
`permissions.<value>`.
"""

import enum
from typing import TypeAlias

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class Permission(DescribedEnum):
    """A permission of a user."""

    CREATE_MULTI_PRODUCT_CART = "create_multi_product_cart", "Create carts of network gift cards and network vouchers."
    CREATE_NETWORK_GIFT_CARD = "create_network_giftcard_api", "Issue network gift cards."
    CREATE_PARTNER = "create_partner", "Create partners, and start the activation of their payments."
    CREATE_PAYMENT = "create_payment", "Take and change payments, and request payments."
    IMPERSONATE_PARTNER = (
        "impersonate_partner",
        "Look at the back office as one of the partners, without changing anything.",
    )
    MANAGE_CATALOGUE = (
        "manage_catalogue",
        "Create and change the catalogue: products, delivery modes, coupons, prototypes.",
    )
    MANAGE_GIFT_CARD = (
        "manage_giftcard",
        "Issue, hold, spend, extend and cancel gift cards, and set which ones the shop sells.",
    )
    MANAGE_MARKETPLACE = (
        "manage_marketplace",
        "Change the marketplace: its name, its site, its time zone, its fee rules.",
    )
    MANAGE_MASTERADMIN = "manage_masteradmin", "Everything. It implies every other permission."
    MANAGE_NETWORK_VOUCHER = "manage_network_voucher", "Issue, extend and cancel network vouchers."
    MANAGE_ORDER = "manage_order", "Move orders on: ready to collect, collected, sent, delivered, cancelled."
    MANAGE_PERSONAL_DATA = "manage_personal_data", "Export and erase what is kept about a person."
    MANAGE_USER = "manage_user", "Create users, and set their permissions."
    MANAGE_WEBHOOK = (
        "manage_webhook",
        "See events, manage webhook endpoints, and rotate the secrets that sign webhooks and redirects to the shop.",
    )
    REFUND_PAYMENT = "refund_payment", "Refund payments."
    REOPEN_VOUCHER = "reopen_voucher", "Reopen a used or expired voucher."
    UPDATE_PARTNER = "update_partner", "Change partners, and submit their documents."
    UPDATE_VOUCHER = "update_voucher", "Move a voucher to another state, except reopening a used or expired one."
    UPDATE_VOUCHER_PDF = "update_voucher_pdf", "Change the document of a voucher."
    USE_NETWORK_GIFT_CARD = "use_network_giftcard_api", "Find network gift cards, spend them, and cancel a usage."
    USE_NETWORK_VOUCHER = "use_network_voucher", "Use network vouchers, and cancel a usage."
    USE_VOUCHER = "use_voucher", "Mark a voucher as used."
    VALIDATE_PAYOUT = "validate_payout", "Validate and cancel payout requests."
    VIEW_AUDIT = "view_audit", "See who changed what, when and from where."
    VIEW_CATALOGUE = "view_catalogue", "See the catalogue: products, delivery modes, coupons, prototypes, boxes."
    VIEW_GIFT_CARD = "view_giftcard", "See gift cards."
    VIEW_INVOICE = "view_invoice", "See invoices."
    VIEW_MAIL = "view_mail", "See the mail to buyers and to the shop, and send it again."
    VIEW_NETWORK_VOUCHER = "view_network_voucher", "See network vouchers and their usages."
    VIEW_ORDER = "view_order", "See the orders of a shop with their buyers."
    VIEW_PARTNER = "view_partner", "See partners and the state of their identification."
    VIEW_PAYMENT = "view_payment", "See payments, their transactions and payment requests."
    VIEW_PAYOUT = "view_payout", "See payout requests and what they contain."
    VIEW_VOUCHER = "view_voucher", "See vouchers."
    VIEW_WALLET = "view_wallet", "See the movements of a wallet."


class AccessRule(enum.StrEnum):
    """Access to an operation that requires no permission."""

    PUBLIC = "public"
    """Anyone; no token is required."""
    AUTHENTICATED = "authenticated"
    """Any user with a valid token."""
    PARTNER = "partner"
    """A user that belongs to a partner."""
    CUSTOMER = "customer"
    """A customer in the checkout of one partner. Never granted by a token."""
    REPRESENTATIVE = "representative"
    """The holder of a valid link to the onboarding page of one partner. Never granted by a token."""


RequiredAccess: TypeAlias = Permission | AccessRule
"""What an operation requires of its caller."""
GRANTABLE_PERMISSIONS = frozenset(Permission)


def required_access(name: str) -> RequiredAccess:
    """The access of a documented name, such as `view_voucher` or `public`. Raises ValueError for an unknown name."""
    return AccessRule(name) if name in frozenset(AccessRule) else Permission(name)
