"""The shop of a checkout: what a checkout needs of the partner and of its marketplace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select
from sqlmodel import col

from schema.checkout.brand import Brand
from schema.checkout.checkout import SHOP_PATHS, CheckoutKey, CheckoutKind, ShopKind
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.legal import LegalLink
from schema.partner.partner import PartnerStatus
from schema.payment_method import PaymentMethod
from schema.theme import CornerRadius, HeadingFont
from schema.wallet import WalletKind
from store.checkout.network_offers import NetworkShop, network_shop_of
from store.checkout.reading import latest_attempt_query, latest_attempt_values, load_attempt
from store.core.settings import Settings
from store.database.statement_cache import Statement
from store.database.transaction_reader import DatabaseReader
from store.ledger.wallets import WalletRow
from store.partner.brand import brand_of
from store.partner.partners import LEGAL_LINKS, MarketplaceRow, PartnerRow
from store.payment.attempts import AttemptRow


@dataclass(frozen=True, slots=True)
class CheckoutShop:
    """A partner that sells, with its marketplace's currency and time zone."""

    partner_id: int
    status: PartnerStatus
    country: str
    """ISO 3166 code of the head office's country; may be empty."""
    brand: Brand
    gift_cards: OfferedGiftCards | None
    """None if it sells no gift cards at the moment."""
    gift_card_terms: OfferedGiftCards
    """What it would sell of gift cards, whether or not it does."""
    network: NetworkShop
    takes_cards: bool
    """True if it can receive card payments; in the network's shop, if the marketplace's own wallet can."""
    takes_cards_for_network: bool
    """True if the marketplace's own wallet can, to which goes what is paid for orders with what the network sells."""
    payment_methods: Sequence[PaymentMethod]
    """What the partner accepts."""
    currency: str
    time_zone: str


class _PartnerColumns(NamedTuple):
    """What a checkout needs of a partner."""

    id: int
    status: str
    hq_country_code: str
    payments_active: bool
    payment_methods: Sequence[PaymentMethod]
    provider_wallet_id: str
    commercial_name: str
    accent_colour: str
    logo_url: str
    website: str
    agency_email: str
    agency_phone: str
    legal_links: tuple[LegalLink, ...]
    heading_font: HeadingFont
    corner_radius: CornerRadius
    page_tint: str
    gift_card_offer_enabled: bool
    gift_card_offer_suggested: Sequence[Decimal]
    gift_card_offer_minimum: Decimal
    gift_card_offer_maximum: Decimal
    gift_card_offer_validity_months: int
    marketplace_id: int
    is_network_shop: bool
    linked_to_ngc_settings: bool
    linked_to_nv_settings: bool


async def load_shop(
    db: DatabaseReader, partner_id: int, key: CheckoutKey
) -> tuple[CheckoutShop, AttemptRow | None] | None:
    """The shop and the latest attempt of this checkout; None for an unknown partner."""
    values = {**latest_attempt_values(partner_id, key), "own": WalletKind.MARKETPLACE, "test": PartnerStatus.TEST}
    rows = await db.statements.rows("shop of a checkout", _shop_statement, values)
    if not rows:
        return None
    *columns, currency, time_zone, network_months, own_wallet, attempt_id = rows[0]
    row = _PartnerColumns(*columns)
    row = row._replace(
        legal_links=LEGAL_LINKS.read(row.legal_links),
        heading_font=HeadingFont(row.heading_font),
        corner_radius=CornerRadius(row.corner_radius),
    )
    shop = _checkout_shop(row, currency, time_zone, network_months, own_wallet=own_wallet)
    if key.kind is CheckoutKind.NETWORK:
        shop = replace(shop, takes_cards=own_wallet)
    return shop, None if attempt_id is None else await load_attempt(db, attempt_id)


def _shop_statement() -> Statement:
    columns: list[Any] = [getattr(PartnerRow, name) for name in _PartnerColumns._fields]
    settings = [
        getattr(MarketplaceRow, name) for name in ("currency", "time_zone", "network_gift_card_validity_months")
    ]
    own_wallet = (
        select(col(WalletRow.id))
        .where(
            col(WalletRow.kind) == bindparam("own"),
            col(WalletRow.marketplace_id) == col(PartnerRow.marketplace_id),
            col(WalletRow.is_live) == (col(PartnerRow.status) != bindparam("test")),
        )
        .exists()
    )
    attempt = latest_attempt_query().with_only_columns(col(AttemptRow.id)).scalar_subquery()
    columns += [*settings, own_wallet, attempt]
    return (
        select(*columns)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(col(PartnerRow.id) == bindparam("partner_id"))
    )


def _checkout_shop(
    row: _PartnerColumns, currency: str, time_zone: str, network_months: int, *, own_wallet: bool
) -> CheckoutShop:
    gift_cards = OfferedGiftCards(
        suggested=tuple(row.gift_card_offer_suggested),
        minimum=row.gift_card_offer_minimum,
        maximum=row.gift_card_offer_maximum,
        validity_months=row.gift_card_offer_validity_months,
    )
    return CheckoutShop(
        partner_id=row.id,
        status=PartnerStatus(row.status),
        country=row.hq_country_code,
        brand=brand_of(row),
        gift_cards=gift_cards if row.gift_card_offer_enabled else None,
        gift_card_terms=gift_cards,
        network=network_shop_of(row, network_months, currency),
        takes_cards=row.payments_active and bool(row.provider_wallet_id),
        takes_cards_for_network=own_wallet,
        payment_methods=row.payment_methods,
        currency=currency,
        time_zone=time_zone,
    )


def experience_url(settings: Settings, site_domain: str, slug: str) -> str:
    """The URL of the page of an experience."""
    return f"{settings.funnel_scheme}://{site_domain}/vouchers/{slug}/"


def shop_url(settings: Settings, site_domain: str, kind: ShopKind) -> str:
    """The URL of a shop's start page; empty for products, which are sold on the partner's own site."""
    return f"{settings.funnel_scheme}://{site_domain}{SHOP_PATHS[kind]}" if kind in SHOP_PATHS else ""
