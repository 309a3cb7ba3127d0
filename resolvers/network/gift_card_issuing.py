"""Network gift cards that a network issues, activates, changes, extends and cancels itself."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel import col, select

from resolvers.core.brute_force import throttled_code_lookup
from resolvers.core.input_mapping import apply, check_later_expiry, collect_marketplace, id_from_input, id_or_code
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, require_marketplace
from resolvers.network.codes import check_code_form, check_new_code
from resolvers.network.scoping import visible_by_code
from schema.core.errors import InvalidInput, NotFound
from schema.core.id_or_code import IdOrCode
from schema.core.input_errors import ProblemCollector
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.gift_card import NetworkGiftCard, NetworkGiftCardStatus
from schema.network.gift_card_input import (
    ActivateNetworkGiftCard,
    CancelNetworkGiftCard,
    CreateNetworkGiftCard,
    ExtendNetworkGiftCard,
    UpdateNetworkGiftCard,
)
from schema.validation.dates import moment_in
from store.core.codes import format_code, normalize
from store.gift_card.designs import check_design, designs_of_network
from store.gift_card.gift_cards import GiftCardRow
from store.network.gift_cards import NetworkGiftCardRow, network_card
from store.network.issuing import network_gift_cards
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.payment import end_of_validity

WHOLE = (NetworkGiftCardStatus.DRAFT, NetworkGiftCardStatus.PAID)
"""The statuses of new cards with all of their value."""


async def find_card_by_code(call: Call, code: str, *, lock: bool = False) -> GiftCardRow:
    """The network gift card with a code that the caller may use. Raises NotFound, which counts as a miss."""

    async def look() -> GiftCardRow:
        linked = col(PartnerRow.linked_to_ngc_settings)
        conditions = visible_by_code(call.caller, col(GiftCardRow.network_id), linked)
        card = await network_card(call.db, col(GiftCardRow.normal_code) == normalize(code), *conditions, lock=lock)
        if card is None:
            raise NotFound(thing="network gift card")
        return card

    return await throttled_code_lookup(call.context, "network gift card", code, look)


async def read_card(call: Call, id: int) -> NetworkGiftCardRow:
    """A network gift card as it is published, after it was changed in this transaction."""
    await call.db.flush()
    query = select(NetworkGiftCardRow).where(col(NetworkGiftCardRow.id) == id)
    return (await call.db.exec(query.execution_options(populate_existing=True))).one()


async def _find_own(call: Call, input: Any, *, lock: bool = False) -> GiftCardRow:
    """The network gift card of an input's `id` or `code`, of the caller's own network."""
    require_marketplace(call.caller)
    code = input.get("code") if isinstance(input, Mapping) else None
    if isinstance(code, str):
        return await find_card_by_code(call, code, lock=lock)
    shown = await find_visible(call.db, call.caller, NetworkGiftCardRow, "network gift card", id=id_from_input(input))
    card = await network_card(call.db, col(GiftCardRow.id) == shown.id, lock=lock)
    assert card is not None, "the view shows it"
    return card


async def _lock_own(call: Call, input: IdOrCode) -> GiftCardRow:
    """The network gift card of an input, locked. Raises InvalidInput unless exactly one of id and code is sent."""
    return await _find_own(call, id_or_code(input), lock=True)


@operation(Permission.CREATE_NETWORK_GIFT_CARD)
async def create_network_gift_card(call: Call, input: CreateNetworkGiftCard) -> NetworkGiftCard:
    """Issue a network gift card: one that was paid elsewhere, one to try with, or one that comes from another system.
    Nothing is charged, and no mail is sent. The network owes its value to the holder, and after a usage to the partner; a
    refill pays it into the network's wallet.
    """
    require_marketplace(call.caller)
    now, findings = call.services.clock.now(), ProblemCollector()
    network = await collect_marketplace(findings, call, input)
    starts_on = expires_on = now
    with findings.collect():
        starts_on, expires_on = _period(network, input, now)
    with findings.collect():
        _check_value(input)
    with findings.collect():
        check_code_form(input.code)
    with findings.collect():
        await check_design(call.db, designs_of_network(network.id), input.design_id)
    findings.raise_problems()
    await check_new_code(call, input.code, "network gift card", col(GiftCardRow.normal_code))
    card = _new_card(network, input, now)
    card.starts_on, card.expires_on = starts_on, expires_on
    await network_gift_cards.issue(call.db, card)
    return await read_card(call, card.id)


def _new_card(network: MarketplaceRow, input: CreateNetworkGiftCard, now: dt.datetime) -> GiftCardRow:
    gifter, giftee, is_test = input.gifter_details, input.giftee_details, input.status is NetworkGiftCardStatus.TEST
    return GiftCardRow(
        network_id=network.id,
        is_test=is_test,
        is_imported=bool(input.code) or input.remaining_value is not None,
        code=format_code(input.code) if input.code else "",
        normal_code=normalize(input.code),
        status=GiftCardStatus.PAID if is_test else GiftCardStatus(input.status.value),
        created_on=now,
        value_amount=input.value,
        remaining_amount=input.value if input.remaining_value is None else input.remaining_value,
        currency=network.currency,
        is_splittable=(network.network_gift_card_is_splittable if input.is_splittable is None else input.is_splittable),
        gifter_first_name=gifter.first_name,
        gifter_last_name=gifter.last_name,
        gifter_email=gifter.email,
        giftee_first_name=(giftee and giftee.first_name) or None,
        giftee_last_name=(giftee and giftee.last_name) or None,
        giftee_email=(giftee and giftee.email) or None,
        message=input.message or None,
        language=input.language,
        design_id=input.design_id,
    )


def _period(network: MarketplaceRow, input: CreateNetworkGiftCard, now: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    """When a new card begins and expires. Raises InvalidInput for an end that is not in the future, or before the
    beginning.
    """
    zone = ZoneInfo(network.time_zone)
    starts_on = moment_in(zone, input.starts_on) or now
    months = network.network_gift_card_validity_months
    expires_on = moment_in(zone, input.expires_on) or end_of_validity(max(starts_on, now), months, zone)
    if expires_on <= max(starts_on, now):
        raise InvalidInput.at("expires_on", "Send a time in the future, after it can be used.", "OUT_OF_RANGE")
    return starts_on, expires_on


def _check_value(input: CreateNetworkGiftCard) -> None:
    if input.value <= 0:
        raise InvalidInput.at("value", "Send more than 0.00.", "OUT_OF_RANGE")
    left = input.remaining_value
    if left is None:
        return
    if left > input.value:
        raise InvalidInput.at("remaining_value", "Send at most the value.", "OUT_OF_RANGE")
    if not left or (left < input.value and input.status in WHOLE):
        raise InvalidInput.at(
            "remaining_value", "A card with a part of its value is `USING`; used ones are not created."
        )


@operation(Permission.CREATE_NETWORK_GIFT_CARD, exists=_find_own)
async def activate_network_gift_card(call: Call, input: ActivateNetworkGiftCard) -> NetworkGiftCard:
    """Activate a draft that has been paid for, so that it can be used. A network gift card that is paid already stays
    unchanged.
    """
    card = await _lock_own(call, input)
    await network_gift_cards.activate(call.db, card, call.services.clock.now())
    return await read_card(call, card.id)


@operation(Permission.CREATE_NETWORK_GIFT_CARD, exists=_find_own)
async def update_network_gift_card(call: Call, input: UpdateNetworkGiftCard) -> NetworkGiftCard:
    """Change a network gift card, or deactivate it for a while. Omitted fields stay unchanged."""
    card = await _lock_own(call, input)
    apply(card, input, skip={"code"})
    card.message = card.message or None
    return await read_card(call, card.id)


@operation(Permission.CREATE_NETWORK_GIFT_CARD, exists=_find_own)
async def extend_network_gift_card(call: Call, input: ExtendNetworkGiftCard) -> NetworkGiftCard:
    """Extend the validity of a network gift card. An expired one can be used again; what was booked as breakage is owed
    again.
    """
    card = await _lock_own(call, input)
    network = await call.db.get_one(MarketplaceRow, card.network_id)
    expires_on = moment_in(ZoneInfo(network.time_zone), input.expires_on)
    assert expires_on is not None, "the input has it"
    check_later_expiry(expires_on, card.expires_on, call.services.clock.now())
    await network_gift_cards.extend(call.db, card, expires_on)
    return await read_card(call, card.id)


@operation(Permission.CREATE_NETWORK_GIFT_CARD, exists=_find_own)
async def cancel_network_gift_card(call: Call, input: CancelNetworkGiftCard) -> NetworkGiftCard:
    """Cancel a network gift card, so that it cannot be used. What is left of it is owed no more; usages stay. Cancelling
    it again changes nothing.
    """
    card = await _lock_own(call, input)
    await network_gift_cards.cancel(call.db, card)
    return await read_card(call, card.id)
