"""All resources of the back office, in the order of its menu."""

import functools
from collections.abc import Mapping

from admin.resources import administration, catalogue, money, network, sales
from admin.resources.resource import Resource, ResourceSection

SECTIONS = (
    ResourceSection(
        "Sales",
        (
            sales.ORDERS,
            sales.CUSTOMERS,
            sales.REFUND_REQUESTS,
            sales.VOUCHERS,
            sales.GIFT_CARDS,
            sales.PAYMENTS,
            sales.PAYMENT_REQUESTS,
            sales.REFUNDS,
            sales.DISPUTES,
        ),
    ),
    ResourceSection(
        "Catalogue",
        (
            catalogue.VOUCHER_PROTOTYPES,
            catalogue.PRODUCTS,
            catalogue.VOUCHER_OPTIONS,
            catalogue.VOUCHER_OPTION_CATEGORIES,
            catalogue.GIFT_CARD_DESIGNS,
            catalogue.COUPONS,
            catalogue.DELIVERY_MODES,
            catalogue.MEDIA,
            catalogue.UNIVERSES,
            catalogue.ENVIRONMENTS,
            catalogue.PRICE_RANGES,
        ),
    ),
    ResourceSection(
        "Network",
        (
            network.BOXES,
            network.OFFERS,
            network.NETWORK_GIFT_CARDS,
            network.NETWORK_GIFT_CARD_USAGES,
            network.NETWORK_VOUCHERS,
            network.NETWORK_VOUCHER_USAGES,
        ),
    ),
    ResourceSection(
        "Money",
        (
            money.PAYOUT_REQUESTS,
            money.PAYOUT_ADJUSTMENTS,
            money.FEE_RULES,
            money.INVOICES,
            money.BANK_ACCOUNTS,
            money.TRANSFERS,
            money.LEDGER_JOURNALS,
            money.RECONCILIATION_FINDINGS,
            money.RECONCILIATION_RUNS,
        ),
    ),
    ResourceSection(
        "Settings",
        (
            administration.PARTNERS,
            administration.MARKETPLACES,
            administration.LEGAL_DOCUMENTS,
            administration.USERS,
            administration.MAILS,
            administration.EXPORTS,
        ),
    ),
    ResourceSection(
        "Developers",
        (
            administration.WEBHOOK_ENDPOINTS,
            administration.WEBHOOK_DELIVERIES,
            administration.EVENTS,
            administration.JOBS,
            administration.AUDIT_ENTRIES,
            administration.API_REQUESTS,
        ),
    ),
)


@functools.cache
def resources() -> Mapping[str, Resource]:
    """All resources by their name in addresses."""
    return {resource.slug: resource for section in SECTIONS for resource in section.resources}


@functools.cache
def resources_by_type() -> Mapping[str, Resource]:
    """All resources by the name of their type."""
    return {resource.type.name: resource for resource in resources().values()}
