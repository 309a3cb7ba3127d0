"""The marketplaces and partners that trade: of two currencies, three time zones and all payout frequencies."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from coffret.demo.payment_content import DemoPayee
from coffret.demo.payouts import PayoutSeeder
from coffret.simulation.bank import Bank
from coffret.simulation.model import fee_of
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.network.boxes import create_box
from resolvers.network.offers import accept_offer, create_offer, submit_offer
from resolvers.payment.fees import create_fee_rule
from resolvers.wallet import activate_marketplace_payments
from schema.core.permission import GRANTABLE_PERMISSIONS
from schema.network.box_input import AcceptOffer, CreateBox, CreateOffer, SubmitOffer
from schema.partner.marketplace_input import ActivateMarketplacePayments
from schema.partner.network_settings import UsageFeePayer
from schema.partner.partner import PartnerStatus
from schema.partner.parts import CompanyType, PayoutFrequency
from schema.payment.fee_input import CreateFeeRule
from store.network.boxes import BoxRow
from store.partner.partners import MarketplaceRow, PartnerRow

PLACES = (("EUR", "Europe/Paris"), ("GBP", "Europe/London"), ("EUR", "Pacific/Auckland"))
"""Currency and time zone of each marketplace, in turns."""
FREQUENCIES = tuple(PayoutFrequency)
PAYEE = DemoPayee(
    iban="FR7630006000011234567890189",
    company_type=CompanyType.BUSINESS,
    siret_number="73282932000074",
    legal_representative_first_name="Solène",
    legal_representative_last_name="Valserène",
    legal_representative_email="solene@simulation.example",
    legal_representative_birthday=dt.date(1978, 3, 14),
    legal_representative_nationality="FR",
    legal_representative_country_of_residence="FR",
)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a marketplace takes of sales and of usages."""

    percentage: Decimal
    fixed: Decimal
    vat_rate: Decimal

    def fee(self, amount: Decimal) -> Decimal:
        return fee_of(amount, self.percentage, self.fixed, self.vat_rate)

    def fee_within(self, amount: Decimal) -> Decimal:
        """The fee of a usage, at most its value."""
        return min(self.fee(amount), amount)


SALE_TERMS = Terms(Decimal("4.50"), Decimal("0.00"), Decimal("20.00"))
USAGE_TERMS = Terms(Decimal("6.00"), Decimal("0.15"), Decimal("20.00"))
VOUCHER_TERMS = Terms(Decimal("8.00"), Decimal("1.00"), Decimal("20.00"))
"""Those of vouchers; every second marketplace pays these fees itself."""
BOXES = ((Decimal("59.90"), 1, 0), (Decimal("100.00"), 3, 30))
"""Price, usages, and the days after the first usage, of the boxes of each marketplace."""


@dataclass(frozen=True, slots=True)
class SimulatedMarketplace:
    """A marketplace with its boxes, and a request of somebody who manages it."""

    row: MarketplaceRow
    manager: Context
    boxes: Sequence[BoxRow]

    @property
    def pays_voucher_fees(self) -> bool:
        return self.row.network_voucher_fees_paid_by is UsageFeePayer.MARKETPLACE


@dataclass(frozen=True, slots=True)
class SimulatedPartner:
    """A partner, and requests of its staff and of its customers."""

    row: PartnerRow
    marketplace: SimulatedMarketplace
    staff: Context
    customer: Context


@dataclass(slots=True)
class Market:
    """Everybody who trades."""

    marketplaces: list[SimulatedMarketplace] = field(default_factory=list)
    partners: list[SimulatedPartner] = field(default_factory=list)


async def open_market(services: Services, bank: Bank, marketplaces: int, partners: int) -> Market:
    """Open marketplaces with their own wallets, and partners that can be paid and paid out."""
    market = Market()
    for number in range(marketplaces):
        market.marketplaces.append(await _open_marketplace(services, number))
    for number in range(partners):
        marketplace = market.marketplaces[number % marketplaces]
        market.partners.append(await _open_partner(services, bank, marketplace, number))
    return market


async def _open_marketplace(services: Services, number: int) -> SimulatedMarketplace:
    currency, time_zone = PLACES[number % len(PLACES)]
    terms: dict[str, Any] = {
        "network_gift_card_commission_rate": USAGE_TERMS.percentage,
        "network_gift_card_management_fee_amount": USAGE_TERMS.fixed,
        "network_gift_card_vat_rate": USAGE_TERMS.vat_rate,
        "network_gift_card_fees_paid_by": UsageFeePayer.PARTNER,
        "network_gift_card_books_breakage": number % 2 == 0,
        "network_voucher_commission_rate": VOUCHER_TERMS.percentage,
        "network_voucher_management_fee_amount": VOUCHER_TERMS.fixed,
        "network_voucher_vat_rate": VOUCHER_TERMS.vat_rate,
        "network_voucher_fees_paid_by": UsageFeePayer.MARKETPLACE if number % 2 else UsageFeePayer.PARTNER,
        "network_voucher_books_breakage": number % 2 == 1,
        "network_voucher_validity_months": 2,
    }
    row = MarketplaceRow(name=f"Market {number + 1}", currency=currency, time_zone=time_zone, **terms)
    async with services.db.sessions() as db, db.begin():
        db.add(row)
    manager = Context(services, Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=row.id))
    await activate_marketplace_payments(manager, ActivateMarketplacePayments(marketplace_uuid=row.uuid))
    rule = CreateFeeRule(
        percentage=SALE_TERMS.percentage, fixed=SALE_TERMS.fixed, vat_rate=SALE_TERMS.vat_rate, partner_uuid=None
    )
    await create_fee_rule(manager, rule)
    return SimulatedMarketplace(row, manager, [await _open_box(manager, *box) for box in BOXES])


async def _open_box(manager: Context, price: Decimal, usages: int, days: int) -> BoxRow:
    input = {
        "marketplace_uuid": None,
        "name": {"en": f"{usages} times"},
        "price": price,
        "max_usages": usages,
        "max_days_after_first_usage": days,
        "is_active": True,
    }
    box: Any = await create_box(manager, CreateBox.model_validate(input))
    async with manager.services.db.sessions() as db:
        return await db.get_one(BoxRow, box.id)


async def _offer(box: BoxRow, staff: Context, manager: Context) -> None:
    """A partner takes the vouchers of a box."""
    input = {"partner_uuid": None, "box_id": box.id, "name": {"en": "An hour"}}
    offer: Any = await create_offer(staff, CreateOffer.model_validate(input))
    await submit_offer(staff, SubmitOffer(id=offer.id))
    await accept_offer(manager, AcceptOffer(id=offer.id))


async def _open_partner(
    services: Services, bank: Bank, marketplace: SimulatedMarketplace, number: int
) -> SimulatedPartner:
    name, at = f"partner-{number + 1}", marketplace.row
    row = PartnerRow(
        marketplace_id=at.id,
        source_id=name,
        name=f"Partner {number + 1}",
        commercial_name=f"Partner {number + 1}",
        short_name=name,
        site_domain=f"{name}.simulation.example",
        status=PartnerStatus.ACTIVE,
        website=f"https://{name}.simulation.example",
        agency_email=f"{name}@simulation.example",
        payments_active=True,
        linked_to_ngc_settings=True,
        linked_to_nv_settings=True,
        payout_frequency=FREQUENCIES[number // 2 % len(FREQUENCIES)],
        auto_validate_payout=number % 3 != 0,
        hq_address_line_1="1 rue des Lilas",
        hq_postal_code="75011",
        hq_city="Paris",
        hq_country="FR",
        hq_country_code="FR",
        provider_user_id=f"user-{name}",
        provider_wallet_id=f"wallet-{name}",
    )
    async with services.db.sessions() as db, db.begin():
        db.add(row)
    seed = {"user_id": row.provider_user_id, "wallet_id": row.provider_wallet_id, "name": row.commercial_name}
    await bank.ask("/seed", {**seed, "currency": at.currency})
    payee = PayoutSeeder(
        services=services, control=bank.control, partner=row, marketplace=marketplace.manager, payee=PAYEE
    )
    await payee.prepare()
    staff = Context(services, Caller(Role.PARTNER, GRANTABLE_PERMISSIONS, partner_id=row.id, marketplace_id=at.id))
    for box in marketplace.boxes:
        await _offer(box, staff, marketplace.manager)
    customer = Context(services, Caller.customer(row.id, at.id))
    return SimulatedPartner(row, marketplace, staff, customer)
