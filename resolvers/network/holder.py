"""The page of the holder of a network's gift card or voucher. The token in its link is the credential."""

import datetime as dt
import uuid
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Role
from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from schema.core.errors import NotFound
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardStatus
from schema.media import ResponsivePicture
from schema.network.gift_card import NetworkGiftCard
from schema.network.holder import HolderBalance, HolderPage, HolderUsages, PartnerSearch
from schema.network.holder import HolderPageState as State
from schema.network.voucher import NetworkVoucher, NetworkVoucherStatus
from store.document.addresses import DocumentKind, document_path, document_url
from store.document.gift_names import giftee_name, gifter_name
from store.document.source import UNPRINTABLE_STATES
from store.document.wallet.addresses import pass_paths
from store.document.wallet.content import owner_of_pass
from store.gift_card.designs import find_design
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import is_over
from store.media.media import MediaRow
from store.network.boxes import BoxImageRow, BoxRow
from store.network.holder.links import HeldKind, find_held, holder_path, holder_url
from store.network.holder.movements import movements_of
from store.network.holder.partners import accepting_partners
from store.network.vouchers import NetworkVoucherRow
from store.partner.brand import brand_of_marketplace
from store.partner.partners import MarketplaceRow

CLOSED_STATES = UNPRINTABLE_STATES | {GiftCardStatus.EXPIRED, NetworkVoucherStatus.EXPIRED}
CODE_END = 4
"""How many characters of a code are shown, of codes that are three times as long."""


async def find_holder_page(context: Context, token: str, search: PartnerSearch) -> HolderPage:
    """The page of a link. It changes nothing.

    Raises NotFound for a forged link, and for what is not paid, cancelled or expired: nobody learns which. Misses are not
    counted: a token is signed, and mail scanners that cut links would lock their office out.
    """
    services = context.services
    async with services.db.sessions() as db:
        held, now = await find_held(db, services.settings, token), services.clock.now()
        if held is None or _is_closed(held, now):
            raise NotFound(thing="page")
        is_voucher = isinstance(held, NetworkVoucherRow)
        network_id = held.marketplace_id if isinstance(held, NetworkVoucherRow) else held.network_id
        network = await db.get_one(MarketplaceRow, network_id)
        kind = HeldKind.VOUCHER if is_voucher else HeldKind.GIFT_CARD
        document_kind = DocumentKind.NETWORK_VOUCHER if is_voucher else DocumentKind.GIFT_CARD
        passes = pass_paths(services.wallet_keys, document_kind, owner_of_pass(held), held.document_token, now)
        about = await (about_voucher(db, held, network) if is_voucher else _about_card(db, held, network))
        return HolderPage(
            **about,
            state=_state(held, now),
            path=holder_path(services.settings, kind, held.uuid),
            language=held.language,
            time_zone=network.time_zone,
            giftee=giftee_name(held),
            gifter=gifter_name(held),
            message=held.message or "",
            document_url=document_path(document_kind, held.document_token),
            apple_pass_path=passes.apple,
            google_pass_path=passes.google,
            code_end=held.normal_code[-CODE_END:] if len(held.normal_code) >= 3 * CODE_END else "",
            starts_on=held.starts_on if held.starts_on is not None and held.starts_on > now else None,
            movements=await movements_of(db, held),
            partners=await accepting_partners(db, held, search),
        )


def _is_closed(held: GiftCardRow | NetworkVoucherRow, now: dt.datetime) -> bool:
    """True if its link looks like a forged one."""
    too_late = isinstance(held, NetworkVoucherRow) and held.usable_until is not None and held.usable_until <= now
    return held.status in CLOSED_STATES or is_over(held, now) or too_late


def _state(held: GiftCardRow | NetworkVoucherRow, now: dt.datetime) -> State:
    if held.status == "used":
        return State.USED
    if held.frozen_on is not None or not held.is_active:
        return State.PAUSED
    return State.NOT_BEGUN if held.starts_on is not None and held.starts_on > now else State.USABLE


async def _about_card(db: AsyncSession, card: Any, network: MarketplaceRow) -> dict[str, Any]:
    design = await find_design(db, card)
    return {
        "brand": brand_of_marketplace(network, design.accent_colour if design else ""),
        "name": design.name if design else Text(),
        "summary": design.short_description if design else Text(),
        "description": design.description if design else Text(),
        "picture": None,
        "picture_url": design.picture_url if design else "",
        "ends_on": card.expires_on,
        "balance": HolderBalance(
            currency=card.currency,
            value=card.value_amount,
            remaining=card.remaining_amount,
            is_splittable=card.is_splittable,
        ),
    }


async def about_voucher(db: AsyncSession, voucher: Any, network: MarketplaceRow) -> dict[str, Any]:
    """What the page tells about a voucher of a box."""
    box = await db.get_one(BoxRow, voucher.box_id)
    ends = [end for end in (voucher.expires_on, voucher.usable_until) if end is not None]
    return {
        "brand": brand_of_marketplace(network),
        "name": box.name,
        "summary": box.short_description,
        "description": box.long_description,
        "picture": await _cover(db, box),
        "picture_url": "",
        "ends_on": min(ends, default=None),
        "usages": HolderUsages(
            total=voucher.max_usages,
            remaining=voucher.max_usages - voucher.usage_count,
            days_after_first_usage=voucher.max_days_after_first_usage,
        ),
    }


async def _cover(db: AsyncSession, box: BoxRow) -> ResponsivePicture | None:
    """The cover of a box, else its first picture."""
    query = (
        select(MediaRow.uuid, MediaRow.width, MediaRow.height)
        .join(BoxImageRow, col(BoxImageRow.media_id) == col(MediaRow.id))
        .where(col(BoxImageRow.box_id) == box.id)
        .order_by(col(BoxImageRow.is_cover).desc(), col(BoxImageRow.position))
    )
    row = (await db.exec(query.limit(1))).first()
    return None if row is None else ResponsivePicture(*row)


# ---- the address


def _holder_url(kind: HeldKind, context: Context, status: str, id: uuid.UUID | str) -> str | None:
    """The URL for the network itself. Partners, which look up by code, do not learn it."""
    seen = context.caller is not None and context.caller.role in {Role.MARKETPLACE, Role.MASTER}
    return holder_url(context.services.settings, kind, id) if seen and status not in UNPRINTABLE_STATES else None


@derives(NetworkGiftCard, "holder_url")
def gift_card_holder_url(context: Context, status: str, id: uuid.UUID | str) -> str | None:
    return _holder_url(HeldKind.GIFT_CARD, context, status, id)


@derives(NetworkVoucher, "document_url")
def network_voucher_document_url(context: Context, status: str, token: str) -> str | None:
    is_printable = status not in UNPRINTABLE_STATES
    return document_url(context.services.settings, DocumentKind.NETWORK_VOUCHER, token) if is_printable else None


@derives(NetworkVoucher, "holder_url")
def voucher_holder_url(context: Context, status: str, id: uuid.UUID | str) -> str | None:
    return _holder_url(HeldKind.VOUCHER, context, status, id)
