"""Inserts the demo content's shops."""

import datetime as dt
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.content import (
    DemoAttribute,
    DemoCoupon,
    DemoDelivery,
    DemoGiftCard,
    DemoGiftCardOffer,
    DemoPartner,
    DemoProduct,
    DemoTheme,
)
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.partner.partner import PartnerStatus
from schema.payment_method import PaymentMethod
from store.core.codes import normalize
from store.coupon.coupons import CouponRow
from store.database.unique_codes import add_with_unique_codes
from store.delivery import DeliveryModeRow, DeliveryRateRow
from store.gift_card.gift_cards import CODE_KEY, GiftCardRow
from store.gift_card.issuing import open_accounts
from store.gift_card.movements import issue_value
from store.ledger.posting import post
from store.media.pictures import store_picture
from store.partner.partners import MarketplaceRow, PartnerRow
from store.product.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow

ONE_YEAR = dt.timedelta(days=365)


async def insert_shop(
    db: AsyncSession, marketplace: MarketplaceRow, site_domain: str, content: DemoPartner, now: dt.datetime
) -> PartnerRow:
    """Insert a partner with active payments, and the contents of its shop."""
    partner = await _partner(db, marketplace, site_domain, content)
    for product in content.products:
        await _product(db, marketplace.currency, partner, product)
    for ranking, mode in enumerate(content.delivery, 1):
        await insert_delivery(db, marketplace.currency, partner, mode, ranking)
    db.add_all(coupon_row(marketplace.currency, partner, coupon, now) for coupon in content.coupons)
    for card in content.gift_cards:
        await _gift_card(db, marketplace.currency, partner, card, now)
    await db.flush()
    return partner


async def _partner(db: AsyncSession, marketplace: MarketplaceRow, site_domain: str, content: DemoPartner) -> PartnerRow:
    partner = PartnerRow(
        marketplace_id=marketplace.id,
        source_id=content.key,
        status=PartnerStatus.ACTIVE,
        name=content.name,
        commercial_name=content.commercial_name,
        short_name=content.short_name,
        site_domain=site_domain,
        agency_email=content.email,
        agency_phone=content.phone,
        language=content.language,
        accent_colour=content.accent_colour,
        payment_methods=list(PaymentMethod),
        **theme_columns(content.theme),
        headline=Text(**content.theme.headline),
        **_gift_card_offer(content.gift_card_offer),
        hq_address_line_1=content.address.line,
        hq_postal_code=content.address.postal_code,
        hq_city=content.address.city,
        hq_country=content.address.country,
        hq_country_code=content.address.country,
        payments_active=True,
        return_with_order_number=True,
        provider_user_id=f"demo-user-{content.key}",
        provider_wallet_id=f"demo-wallet-{content.key}",
    )
    db.add(partner)
    await db.flush()
    partner.source_id = str(partner.id)
    partner.logo_url = await store_picture(db, partner.id, content.logo.content, "svg")
    return partner


def theme_columns(theme: DemoTheme) -> dict[str, Any]:
    """The columns of a partner's or a marketplace's theme."""
    return {name: getattr(theme, name) for name in ("heading_font", "corner_radius", "page_tint")}


def _gift_card_offer(content: DemoGiftCardOffer) -> dict[str, Any]:
    """The columns of a partner's gift card offer."""
    return {
        "gift_card_offer_suggested": list(content.suggested),
        "gift_card_offer_minimum": content.minimum,
        "gift_card_offer_maximum": content.maximum,
        "gift_card_offer_validity_months": content.validity_months,
    }


async def _product(db: AsyncSession, currency: str, partner: PartnerRow, content: DemoProduct) -> None:
    product = ProductRow(
        partner_id=partner.id,
        name=Text(**content.name),
        description=Text(**content.description),
        price_amount=content.price,
        currency=currency,
        vat_rate=content.vat_rate,
        stock=content.stock,
        weight_grams=content.weight_grams,
        is_physical=content.is_physical,
        is_active=content.is_active,
        ranking=content.ranking,
        picture_url=await store_picture(db, partner.id, content.picture.content, "webp"),
    )
    db.add(product)
    await db.flush()
    db.add_all(
        ProductVariantRow(
            partner_id=partner.id,
            product_id=product.id,
            name=Text(**variant.name),
            price_amount=variant.price,
            currency=currency,
            stock=variant.stock,
            weight_grams=variant.weight_grams,
            is_active=variant.is_active,
            ranking=ranking,
        )
        for ranking, variant in enumerate(content.variants, 1)
    )
    for ranking, attribute in enumerate(content.attributes, 1):
        await _attribute(db, product, attribute, ranking)


async def _attribute(db: AsyncSession, product: ProductRow, content: DemoAttribute, ranking: int) -> None:
    attribute = ProductAttributeRow(
        partner_id=product.partner_id,
        product_id=product.id,
        name=Text(**content.name),
        is_required=content.is_required,
        ranking=ranking,
    )
    db.add(attribute)
    await db.flush()
    db.add_all(
        AttributeValueRow(
            partner_id=product.partner_id,
            attribute_id=attribute.id,
            value=value.value,
            label=Text(**value.label),
            ranking=place,
        )
        for place, value in enumerate(content.values, 1)
    )


async def insert_delivery(
    db: AsyncSession, currency: str, partner: PartnerRow, content: DemoDelivery, ranking: int
) -> None:
    """Insert a delivery mode of a partner with its rates."""
    mode = DeliveryModeRow(
        partner_id=partner.id,
        kind=content.kind,
        name=Text(**content.name),
        description=Text(**content.details),
        vat_rate=content.vat_rate,
        free_above_amount=content.free_above,
        currency=currency,
        ranking=ranking,
    )
    db.add(mode)
    await db.flush()
    db.add_all(
        DeliveryRateRow(
            partner_id=partner.id,
            delivery_mode_id=mode.id,
            country=rate.country,
            max_weight_grams=rate.max_weight_grams,
            price_amount=rate.price,
            currency=currency,
        )
        for rate in content.rates
    )


def coupon_row(currency: str, partner: PartnerRow, content: DemoCoupon, now: dt.datetime) -> CouponRow:
    """The row of a coupon."""
    ends = None if content.ends_in_days is None else now + dt.timedelta(days=content.ends_in_days)
    return CouponRow(
        partner_id=partner.id,
        code=content.code,
        normal_code=normalize(content.code),
        currency=currency,
        discount_percentage=content.percentage,
        discount_amount=content.amount,
        starts_on=now + dt.timedelta(days=content.starts_in_days),
        ends_on=ends,
        minimum_basket_amount=content.minimum,
        max_usages=content.max_usages,
        usage_count=content.usage_count,
        targets=list(content.targets),
    )


async def _gift_card(
    db: AsyncSession, currency: str, partner: PartnerRow, content: DemoGiftCard, now: dt.datetime
) -> None:
    expires_on = now + dt.timedelta(days=content.expires_in_days)
    expired = expires_on <= now
    issued_on = expires_on - ONE_YEAR if expired else now
    card = GiftCardRow(
        partner_id=partner.id,
        code="",
        normal_code="",
        status=GiftCardStatus.EXPIRED if expired else GiftCardStatus.PAID,
        created_on=issued_on,
        expires_on=expires_on,
        value_amount=content.value,
        remaining_amount=content.value,
        currency=currency,
        gifter_first_name=content.gifter_first_name,
        gifter_last_name=content.gifter_last_name,
    )
    await open_accounts(db, [card])
    await add_with_unique_codes(db, [card], CODE_KEY)
    await post(db, [issue_value(card)])
