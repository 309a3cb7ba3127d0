"""What a caller may be allowed to do. The names are part of the API: `permissions.<value>`."""

from enum import StrEnum


class Permission(StrEnum):
    """One permission for each kind of operation; the last four are rules rather than grants."""

    CREATE_MULTI_PRODUCT_CART = "create_multi_product_cart"
    CREATE_NETWORK_GIFTCARD = "create_network_giftcard_api"
    CREATE_PARTNER = "create_partner"
    CREATE_PAYMENT = "create_payment"
    MANAGE_CATALOGUE = "manage_catalogue"
    MANAGE_MASTERADMIN = "manage_masteradmin"
    MANAGE_USER = "manage_user"
    REFUND_PAYMENT = "refund_payment"
    REOPEN_VOUCHER = "reopen_voucher"
    UPDATE_PARTNER = "update_partner"
    UPDATE_VOUCHER = "update_voucher"
    UPDATE_VOUCHER_PDF = "update_voucher_pdf"
    USE_NETWORK_GIFTCARD = "use_network_giftcard_api"
    USE_VOUCHER = "use_voucher"
    VALIDATE_PAYOUT = "validate_payout"
    VIEW_CATALOGUE = "view_catalogue"
    VIEW_GIFTCARD = "view_giftcard"
    VIEW_INVOICE = "view_invoice"
    VIEW_NETWORK_VOUCHER = "view_network_voucher"
    VIEW_ORDER = "view_order"
    VIEW_PARTNER = "view_partner"
    VIEW_PAYMENT = "view_payment"
    VIEW_PAYOUT = "view_payout"
    VIEW_VOUCHER = "view_voucher"
    VIEW_WALLET = "view_wallet"

    PUBLIC = "public"
    """No token needed."""
    AUTHENTICATED = "authenticated"
    """Any token."""
    PARTNER = "partner"
    """A token that belongs to a partner."""
    CUSTOMER = "customer"
    """A customer in the checkout of one partner; never a token."""


RULES = frozenset({Permission.PUBLIC, Permission.AUTHENTICATED, Permission.PARTNER, Permission.CUSTOMER})
NAMED = frozenset(Permission) - RULES
"""What can be granted to a user."""
