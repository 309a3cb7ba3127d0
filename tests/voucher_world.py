"""What a partner sells vouchers of in tests, and vouchers in any state."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from schema.permission import Permission
from schema.values import Text
from schema.voucher import VoucherState
from schema.voucher_prototype import VoucherPrototypeType
from store.catalogue import UniverseRow, VoucherOptionLinkRow, VoucherOptionRow, VoucherPrototypeRow
from store.clock import clock
from store.codes import draw, normal
from store.tenancy import PartnerRow
from store.vouchers import VoucherRow
from tests.tenants import Tenants

WORKED = {VoucherState.PAID, VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED}
"""The states of a voucher that has begun to work."""


@dataclass(frozen=True, slots=True)
class Sold:
    """What a partner sells."""

    stay: VoucherPrototypeRow
    """At least two nights for two, 100.00 each; an adult more costs 30.00, a child 10.00; at most four; valid for 6 months."""
    robe: VoucherOptionRow
    """12.50 each, any number."""
    breakfast: VoucherOptionRow
    """Comes with it, for two."""
    elsewhere: VoucherOptionRow
    """Not of this prototype."""


async def _stay(tenants: Tenants, partner: PartnerRow, currency: str) -> VoucherPrototypeRow:
    universe = await tenants.add(UniverseRow(marketplace_id=partner.marketplace_id, name=Text(en="Stays")))
    stay: VoucherPrototypeRow = await tenants.add(
        VoucherPrototypeRow(
            partner_id=partner.id,
            universe_id=universe.id,
            type=VoucherPrototypeType.STAY,
            name=Text(en="Nights above the lake", fr="Nuits au-dessus du lac"),
            description=Text(en="Calm."),
            long_description=Text(),
            rent_conditions=Text(en="On weekdays."),
            how_to_book_html=Text(),
            pdf_description=Text(),
            is_active=True,
            price_scope=2,
            max_capacity=4,
            nb_nights=2,
            validity_months=6,
            currency=currency,
            stay_price_amount=Decimal("100.00"),
            adults_price_amount=Decimal("30.00"),
            children_price_amount=Decimal("10.00"),
            vat_rate=Decimal("10.00"),
        )
    )
    return stay


async def sell(tenants: Tenants, name: str) -> Sold:
    """A stay with options, of a partner."""
    partner = tenants.partners[name]
    currency = "EUR" if name.startswith("a") else "CHF"
    stay = await _stay(tenants, partner, currency)

    async def option(text: Text, price: str, *, included: bool | None, **more: Any) -> VoucherOptionRow:
        of: dict[str, Any] = {"partner_id": partner.id, "description": Text(), "currency": currency, **more}
        made: VoucherOptionRow = await tenants.add(
            VoucherOptionRow(name=text, selling_price_amount=Decimal(price), **of)
        )
        if included is not None:
            link: dict[str, Any] = {"voucher_prototype_id": stay.id, "option_id": made.id, "included": included}
            await tenants.add(VoucherOptionLinkRow(partner_id=partner.id, count=2 if included else 1, **link))
        return made

    return Sold(
        stay,
        robe=await option(Text(en="Robe"), "12.50", included=False, countable=True),
        breakfast=await option(Text(en="Breakfast"), "8.00", included=True, source_id="brk"),
        elsewhere=await option(Text(en="Sauna"), "5.00", included=None),
    )


def voucher_of(sold: Sold, state: VoucherState = VoucherState.PAID, **more: Any) -> VoucherRow:
    """A voucher, not yet in the database: valid for another year, used just now where it is used."""
    code, now = draw(), clock.now()
    values: dict[str, Any] = {
        "partner_id": sold.stay.partner_id,
        "code": code,
        "normal_code": normal(more.get("code", code)),
        "voucher_prototype_id": sold.stay.id,
        "state": state,
        "prototype_type": sold.stay.type,
        "prototype_name": sold.stay.name,
        "prototype_description": sold.stay.description,
        "prototype_rent_conditions": sold.stay.rent_conditions,
        "currency": sold.stay.currency,
        "created_on": now,
        "activated_on": now if state in WORKED else None,
        "used_on": now if state is VoucherState.USED else None,
        "expires_on": now + dt.timedelta(days=365) if state in WORKED else None,
        **{f"{price}_amount": Decimal("200.00") for price in ("total_price", "purchase_price")},
        **{f"{price}_amount": Decimal("200.00") for price in ("rent_price", "bought_rent_price")},
        **more,
    }
    return VoucherRow(**values)


async def told(tenants: Tenants, voucher: int | None = None) -> list[tuple[str, dict[str, Any]]]:
    """The types and data of the events of vouchers, of one where it is named, in the order of their writing."""
    rows: Sequence[Any] = await tenants.rows(
        "SELECT type, subject, data FROM event WHERE type LIKE 'voucher.%' AND partner_id IS NOT NULL ORDER BY id"
    )
    return [(kind, data) for kind, subject, data in rows if voucher is None or subject == str(voucher)]


async def holder(tenants: Tenants, partner: str, *permissions: Permission) -> str:
    """A user of a partner who holds just these; answers the name."""
    name = f"{partner} {uuid5(NAMESPACE_OID, ' '.join(permissions))}"
    if name not in tenants.users:
        await tenants.user(name, "partner", permissions, partner_id=tenants.partners[partner].id)
    return name
