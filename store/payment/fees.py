"""Fee rules, and the commission of a payment by them."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from sqlalchemy import CheckConstraint, Index, Integer, String, and_, bindparam, case, or_
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import Select

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.payment.fees import FeeRule
from schema.validation.vat import is_reverse_charge
from store.core.row import CreatedOn, InCurrency
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.money import smallest_unit

NOTHING = Decimal("0.00")


class FeeRuleRow(InCurrency, CreatedOn, FeeRule, table=True):
    """A fee rule. No two active rules of a marketplace name the same partner, product and origin."""

    __tablename__ = "fee_rule"
    __table_args__ = (
        Index(
            "fee_rule_key",
            "marketplace_id",
            "partner_id",
            "product",
            "origin",
            unique=True,
            postgresql_where="is_active",
            postgresql_nulls_not_distinct=True,
        ),
        Index("fee_rule_id_list_idx", "partner_id", "id"),
        CheckConstraint("percentage BETWEEN 0 AND 100", name="percentage"),
        CheckConstraint("vat_rate BETWEEN 0 AND 100", name="vat_rate"),
        CheckConstraint("fixed_amount >= 0", name="fixed_amount"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id")


CONSTRAINT_ERRORS["fee_rule_key"] = lambda: AlreadyTaken("product", what="combination of partner, product and origin")


@dataclass(frozen=True, slots=True)
class Commission:
    """The commission of a payment, VAT included, and the VAT in it with its rate in percent."""

    amount: Decimal = NOTHING
    vat: Decimal = NOTHING
    vat_rate: Decimal = NOTHING
    rule_id: int | None = None
    is_reverse_charge: bool = False
    """The partner owes the VAT itself."""


@dataclass(frozen=True, slots=True)
class FeeTerms:
    """What counts for a payment or usage of a partner: the rule, if one fits, and who owes the VAT."""

    rule: FeeRuleRow | None
    is_reverse_charge: bool
    """The partner owes the VAT itself: none is added."""

    def vat_rate(self, rate: Decimal) -> Decimal:
        """The rate that is added, in percent."""
        return NOTHING if self.is_reverse_charge else rate


async def commission_of(
    db: AsyncSession, partner_id: int, card_amounts: Mapping[str, Decimal], origin: str
) -> Commission:
    """The commission of a payment: `card_amounts` is what comes in by bank card for each product."""
    paid = {product: amount for product, amount in card_amounts.items() if amount > 0}
    terms = {product: await find_terms(db, partner_id, product, origin) for product in paid}
    shares = [(each.rule, paid[product]) for product, each in terms.items() if each.rule is not None]
    if not shares:
        return Commission()
    is_reverse_charge = any(each.is_reverse_charge for each in terms.values())
    return commission_by(shares, sum(paid.values(), NOTHING), is_reverse_charge=is_reverse_charge)


async def find_terms(
    db: AsyncSession, partner_id: int, product: str, origin: str, *, is_named: bool = False
) -> FeeTerms:
    """What counts for a payment of a partner. Of the rules, partner (4), product (2) and origin (1) are summed, and the largest
    sum wins. With `is_named`, among the rules that name the product only.
    """
    named: Mapping[str, object] = {"partner_id": partner_id, "product": product, "origin": origin}
    rule, seller, buyer = (await db.exec(_fitting(is_named=is_named), params=named)).one()
    return FeeTerms(rule, is_reverse_charge(seller, buyer))


@functools.cache
def _fitting(*, is_named: bool) -> Select[FeeRuleRow | None, str, str]:
    """The statement of `find_terms`, with its arguments as parameters: building it takes longer than running it."""
    rule, partner_id = FeeRuleRow, bindparam("partner_id", type_=Integer)
    product, origin = bindparam("product", type_=String), bindparam("origin", type_=String)
    weight = (
        case((col(rule.partner_id).is_not(None), 4), else_=0)
        + case((col(rule.product).is_not(None), 2), else_=0)
        + case((col(rule.origin).is_not(None), 1), else_=0)
    )
    fits = and_(
        col(rule.is_active),
        col(rule.marketplace_id) == col(PartnerRow.marketplace_id),
        or_(col(rule.partner_id).is_(None), col(rule.partner_id) == partner_id),
        col(rule.product) == product if is_named else or_(col(rule.product).is_(None), col(rule.product) == product),
        or_(col(rule.origin).is_(None), col(rule.origin) == origin),
    )
    return (
        select(rule, MarketplaceRow.invoicer_vat_id, PartnerRow.vat_id)
        .select_from(PartnerRow)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .outerjoin(rule, fits)
        .where(col(PartnerRow.id) == partner_id)
        .order_by(weight.desc())
        .limit(1)
    )


def commission_by(
    shares: Sequence[tuple[FeeRuleRow, Decimal]], card_amount: Decimal, *, is_reverse_charge: bool = False
) -> Commission:
    """The commission by the rules of the parts of `card_amount`, each with its part.

    The percentage of each rule counts for its part. Of the fixed amounts the largest counts, once. Rules of one seller
    have one VAT rate; if they differ, that of the rule which takes most counts. At least the smallest unit of `card_amount` is the partner's: the provider refunds
    nothing that is commission alone. `rule_id` is None if there are several rules.
    """
    leading, _ = max(
        shares, key=lambda share: (share[0].percentage * share[1] / 100 + share[0].fixed_amount, share[0].vat_rate)
    )
    vat_rate, unit = NOTHING if is_reverse_charge else leading.vat_rate, smallest_unit(leading.currency)
    fixed = max(rule.fixed_amount for rule, _ in shares)
    net = sum((amount * rule.percentage / 100 for rule, amount in shares), fixed)
    rule_id = leading.id if all(rule.id == leading.id for rule, _ in shares) else None
    return Commission(*fee_with_vat(net, vat_rate, unit, most=card_amount - unit), vat_rate, rule_id, is_reverse_charge)


def fee_with_vat(
    net: Decimal, vat_rate: Decimal, unit: Decimal, *, most: Decimal | None = None
) -> tuple[Decimal, Decimal]:
    """A fee with its VAT, at most `most`, and the VAT in it. Net and VAT are rounded half up to `unit`, each by itself."""
    net = net.quantize(unit, ROUND_HALF_UP)
    vat = (net * vat_rate / 100).quantize(unit, ROUND_HALF_UP)
    if most is None or net + vat <= most:
        return net + vat, vat
    return most, (most * vat_rate / (100 + vat_rate)).quantize(unit, ROUND_HALF_UP)
