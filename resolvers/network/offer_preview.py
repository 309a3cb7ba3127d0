"""What staff see of an offer before it counts: the page of the holder of a voucher that it could be used with."""

from sqlmodel import col, select

from resolvers.core.operation import Call, operation
from resolvers.network.holder import about_voucher
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.network.holder import HolderPage, HolderPageState
from schema.network.voucher import NetworkVoucherStatus
from store.network.boxes import BoxRow, OfferRow
from store.network.holder.partners import only_partner
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow, PartnerRow


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_offer(call: Call, offer_id: int) -> HolderPage:
    """The page of a holder with this offer only, accepted or not. It has no code, and its document is nowhere. Raises NotFound
    for an unknown offer, and for customers.
    """
    caller = call.caller
    async with call.services.db.read_sessions() as db:
        query = select(OfferRow).where(col(OfferRow.id) == offer_id, col(OfferRow.partner_id) == caller.partner_id)
        offer = (await db.exec(query)).one_or_none()
        if offer is None or not caller.is_preview:
            raise NotFound(thing="preview")
        box = await db.get_one(BoxRow, offer.box_id)
        network = await db.get_one(MarketplaceRow, offer.marketplace_id)
        partner = await db.get_one(PartnerRow, offer.partner_id)
        voucher = NetworkVoucherRow(
            marketplace_id=network.id,
            box_id=box.id,
            book_id=0,
            code="",
            normal_code="",
            status=NetworkVoucherStatus.PAID,
            max_usages=box.max_usages,
            max_days_after_first_usage=box.max_days_after_first_usage,
        )
        return HolderPage(
            **await about_voucher(db, voucher, network),
            state=HolderPageState.USABLE,
            path="",
            language=partner.language,
            time_zone=network.time_zone,
            giftee="",
            gifter="",
            message="",
            code_end="",
            starts_on=None,
            document_url="",
            apple_pass_path="",
            google_pass_path="",
            movements=(),
            partners=only_partner(partner, offer),
        )
