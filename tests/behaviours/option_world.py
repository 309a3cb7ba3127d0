"""What options can name, the least that is sent of one, and options that were made."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from schema.values import Text
from schema.voucher_prototype import VoucherPrototypeType
from store.catalogue import UniverseRow, VoucherOptionCategoryRow, VoucherPrototypeRow
from tests.option_transports import Options, in_each
from tests.tenants import Tenants

OPTION, LINK, CATEGORY = "voucherOption", "voucherOptionLink", "voucherOptionCategory"
SAID = in_each({"name": "Massage", "description": "Fifty minutes"})
LEAST: Mapping[str, Any] = {**SAID, "selling_price": 90}
DEFAULTS: Mapping[str, Any] = {
    "is_active": True,
    "countable": False,
    "is_global": False,
    "ranking": 1,
    "voucher_prototypes_ids": [],
    "category_id": None,
}
CATEGORY_DEFAULTS: Mapping[str, Any] = {
    "is_active": True,
    "ranking": 1,
    "min_number_options": None,
    "max_number_options": None,
}


@dataclass(frozen=True)
class Catalogue:
    """What options can name: prototypes and a category of the first partner, and of its neighbour."""

    prototypes: tuple[int, ...]
    foreign_prototype: int
    category: int
    foreign_category: int


async def open_catalogue(tenants: Tenants) -> Catalogue:
    """Prototypes and categories."""
    universe = await tenants.add(UniverseRow(marketplace_id=tenants.marketplaces["a"].id, name=Text(en="Stays")))
    texts: Any = dict.fromkeys(
        ("description", "long_description", "rent_conditions", "how_to_book_html", "pdf_description"), Text()
    )

    async def prototype(partner: str) -> int:
        row = VoucherPrototypeRow(
            partner_id=tenants.partners[partner].id,
            name=Text(en="A night"),
            type=VoucherPrototypeType.STAY,
            stay_price_amount=Decimal(100),
            universe_id=universe.id,
            **texts,
        )
        id: int = (await tenants.add(row)).id
        return id

    async def category(partner: str) -> int:
        row = VoucherOptionCategoryRow(
            partner_id=tenants.partners[partner].id, name=Text(en="Wellness"), description=Text()
        )
        id: int = (await tenants.add(row)).id
        return id

    return Catalogue(
        prototypes=tuple([await prototype("a1") for _ in range(3)]),
        foreign_prototype=await prototype("a2"),
        category=await category("a1"),
        foreign_category=await category("a2"),
    )


async def made(options: Options, kind: str, sent: Mapping[str, Any], who: str = "a1") -> dict[str, Any]:
    """Something that was made."""
    uuid = {"partner_uuid": str(options.tenants.partners["a1"].uuid)} if kind == CATEGORY else {}
    answer = await options.create(kind, who, {**uuid, **sent})
    assert answer.done, answer
    result: dict[str, Any] = answer.result
    return result


async def linked(options: Options, prototype: int, **sent: Any) -> tuple[dict[str, Any], int]:
    """An option that goes with a prototype, and the id of their link."""
    option = await made(options, OPTION, {**LEAST, "voucher_prototypes_ids": [prototype], **sent})
    return option, await link_of(options.tenants, option["id"], prototype)


async def link_of(tenants: Tenants, option: int, prototype: int) -> int:
    """The id of a link."""
    found: int = await tenants.one(
        "SELECT id FROM voucher_option_link WHERE option_id = :option AND voucher_prototype_id = :prototype",
        option=option,
        prototype=prototype,
    )
    return found
