"""Offers of partners for boxes: lists, drafts, and the marketplace's decision."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.caller import Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, collect_owner, require_name, text_of, valid_id, values_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, visible_conditions
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, MarketplaceOnly
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import Box, Offer, OfferStatus
from schema.network.box_errors import OfferChanged
from schema.network.box_input import AcceptOffer, CreateOffer, RejectOffer, SubmitOffer, UpdateOffer
from schema.validation.numbers import RowId
from store.catalogue.catalogue import VoucherPrototypeRow
from store.network.boxes import BoxRow, OfferRow
from store.network.offers import accept, newest_offers, reject, require_admitted, return_to_draft, submit
from store.partner.partners import PartnerRow

CONTENT = ("name", "description", "terms_of_use", "product_id", "ranking")
"""What the marketplace accepts: a partner's change of it makes the offer a draft again."""
NOT_COLUMNS = ("partner_uuid",)


@graphql_enum
class OfferSort(DescribedEnum):
    """Sort order of offers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    RANKING = "ranking", "By ranking, lowest first."


@graphql_input_for(Offer)
class OfferFilter(OfPartner):
    """Filter for offers."""

    box_id: Annotated[RowId | None, Where("box_id")] = Field(default=None, description="Only offers for this box.")
    product_id: Annotated[RowId | None, Where("product_id")] = Field(
        default=None, description="Only offers of this prototype."
    )
    statuses: Annotated[list[OfferStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only offers with one of these statuses."
    )
    is_active: Annotated[bool | None, Where("is_active")] = Field(
        default=None, description="Only active offers, or only withdrawn ones."
    )
    ids: Annotated[list[RowId] | None, Where("id", "in")] = Field(
        default=None, description="Only offers with one of these ids."
    )


offers = Listing(
    Offer,
    OfferFilter,
    OfferSort,
    Permission.VIEW_CATALOGUE,
    "The offers visible to you, newest first. A partner sees its own, and the accepted, active ones of its marketplace.",
)
offer = Lookup(Offer, "id", "offer", Permission.VIEW_CATALOGUE, "An offer by its id.")


class _OfferById(ById[OfferRow]):
    """Finds an offer that the caller may change: a partner only reads those of others."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> OfferRow:
        own = {"partner_id": call.caller.partner_id} if call.caller.role is Role.PARTNER else {}
        return await find_visible(call.db, call.caller, OfferRow, self.thing, lock=lock, id=valid_id(id), **own)


class _OfferToDecide(_OfferById):
    """Finds an offer that the caller may accept or reject: users of a partner cannot."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> OfferRow:
        if call.caller.role is Role.PARTNER:
            raise MarketplaceOnly
        return await super().find(call, id, lock=lock)


_offer = _OfferById(OfferRow, "offer")
_offer_to_decide = _OfferToDecide(OfferRow, "offer")


@computes(Box, "offers")
async def box_offers(context: Context, ids: Sequence[int]) -> Mapping[int, list[OfferRow]]:
    """The newest offers of boxes that the caller sees."""
    async with context.db.read_sessions() as db:
        return await newest_offers(db, ids, visible_conditions(context.required_caller, OfferRow))


@operation(Permission.MANAGE_CATALOGUE)
async def create_offer(call: Call, input: CreateOffer) -> Offer:
    """Create an offer of a partner for a box, as a draft. The box must admit offers of the partner, else it is refused with
    `OFFER_NOT_ADMITTED`.
    """
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        await _check_box(call, input.box_id, partner)
    with findings.collect():
        await _check_product(call, input.product_id, partner.id)
    findings.raise_problems()
    await require_admitted(call.db, input.box_id, partner.id)
    now = call.services.clock.now()
    texts = {name: Text() for name in ("description", "terms_of_use")}
    row = OfferRow(
        **{**texts, **values_of(input, NOT_COLUMNS)},
        partner_id=partner.id,
        marketplace_id=partner.marketplace_id,
        created_on=now,
        edited_on=now,
    )
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_offer)
async def update_offer(call: Call, input: UpdateOffer) -> Offer:
    """Update an offer. If its partner changes more than `isActive`, a submitted or rejected offer is a draft again, and a
    change of an accepted one is refused with `INVALID_TRANSITION`: withdraw it with `isActive`, and create another. The
    marketplace may change all offers of its partners; they keep their status.
    """
    row = await _offer.find(call, input.id, lock=True)
    before = {name: getattr(row, name) for name in CONTENT}
    findings = ProblemCollector()
    with call.db.no_autoflush:
        apply(row, input)
        with findings.collect():
            require_name(row.name)
        with findings.collect():
            if row.product_id != before["product_id"]:
                await _check_product(call, row.product_id, row.partner_id)
        findings.raise_problems()
        if any(getattr(row, name) != value for name, value in before.items()):
            if call.caller.role is Role.PARTNER:
                return_to_draft(row)
            row.edited_on = call.services.clock.now()
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_offer)
async def submit_offer(call: Call, input: SubmitOffer) -> Offer:
    """Submit a draft to the marketplace, which accepts or rejects it. If the box no longer admits offers of the partner, it
    is refused with `OFFER_NOT_ADMITTED`.
    """
    row = await _offer.find(call, input.id, lock=True)
    await submit(call.db, row, call.services.clock.now())
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_offer_to_decide)
async def accept_offer(call: Call, input: AcceptOffer) -> Offer:
    """Accept a submitted offer: while it is active, its partner accepts the vouchers of the box. Users of a partner
    cannot. If the box no longer admits offers of the partner, it is refused with `OFFER_NOT_ADMITTED`.
    """
    row = await _offer_to_decide.find(call, input.id, lock=True)
    if input.edited_on is not None and input.edited_on != row.edited_on:
        raise OfferChanged
    await accept(call.db, row, call.services.clock.now())
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_offer_to_decide)
async def reject_offer(call: Call, input: RejectOffer) -> Offer:
    """Reject a submitted offer, or take the acceptance of an accepted one back. Users of a partner cannot. The partner sees
    the reason, and may change the offer and submit it again.
    """
    row = await _offer_to_decide.find(call, input.id, lock=True)
    await reject(call.db, row, input.reason, call.services.clock.now())
    return row


async def _check_box(call: Call, id: int, partner: PartnerRow) -> None:
    """Raise InvalidInput unless the caller sees the box and it is of the partner's marketplace."""
    query = select(BoxRow.id).where(
        *visible_conditions(call.caller, BoxRow),
        col(BoxRow.id) == id,
        col(BoxRow.marketplace_id) == partner.marketplace_id,
    )
    if (await call.db.exec(query)).first() is None:
        raise InvalidInput.at("box_id", "The partner's marketplace has no box with this id that you may see.")


async def _check_product(call: Call, id: int | None, partner_id: int) -> None:
    """Raise InvalidInput unless the prototype is the partner's."""
    if id is None:
        return
    query = select(VoucherPrototypeRow.id).where(
        col(VoucherPrototypeRow.id) == id, col(VoucherPrototypeRow.partner_id) == partner_id
    )
    if (await call.db.exec(query)).first() is None:
        raise InvalidInput.at("product_id", "The partner has no prototype with this id.")
