"""Network vouchers that a network issues, imports, activates, changes, extends and cancels itself."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from sqlmodel import col, select

from resolvers.core.brute_force import throttled_code_lookup
from resolvers.core.input_mapping import apply, check_later_expiry, id_from_input, id_or_code, values_of
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, require_marketplace, visible_conditions
from resolvers.network.codes import check_code_form, check_new_code
from resolvers.network.scoping import visible_by_code
from schema.core.errors import InvalidInput, NotFound
from schema.core.id_or_code import IdOrCode
from schema.core.input_errors import ProblemCollector, already_reported
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.network.voucher import NetworkVoucher, NetworkVoucherStatus
from schema.network.voucher_input import (
    ActivateNetworkVoucher,
    CancelNetworkVoucher,
    ExtendNetworkVoucher,
    ImportNetworkVoucher,
    IssueNetworkVoucher,
    NewNetworkVoucherFields,
    UpdateNetworkVoucher,
)
from schema.validation.dates import moment_in
from store.core.codes import format_code, normalize
from store.network.boxes import BoxRow
from store.network.voucher_issuing import copy_box, network_vouchers
from store.network.voucher_states import set_first_usage, value_of_usages
from store.network.vouchers import NetworkVoucherRow, find_network_voucher
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.payment import end_of_validity

DRAFT, PAID, USING = NetworkVoucherStatus.DRAFT, NetworkVoucherStatus.PAID, NetworkVoucherStatus.USING
USED, EXPIRED, CANCELLED = NetworkVoucherStatus.USED, NetworkVoucherStatus.EXPIRED, NetworkVoucherStatus.CANCELLED
TEST = NetworkVoucherStatus.TEST
ISSUED_AS = (PAID, DRAFT, TEST)
NEVER_USED = (PAID, DRAFT)
ENDED = (USED, EXPIRED, CANCELLED)
NOT_COLUMNS = ("box_id", "code", "starts_on", "expires_on", "price", "usage_count", "first_used_on", "created_on")


async def find_voucher(call: Call, input: Any, *, lock: bool = False) -> NetworkVoucherRow:
    """The network voucher of an input's `id` or `code`. Raises NotFound, which for a code counts as a miss: partners see
    vouchers by their code only.
    """
    code = input.get("code") if isinstance(input, Mapping) else None
    if not isinstance(code, str):
        id = id_from_input(input)
        return await find_visible(call.db, call.caller, NetworkVoucherRow, "network voucher", lock=lock, id=id)

    async def look() -> NetworkVoucherRow:
        network, linked = col(NetworkVoucherRow.marketplace_id), col(PartnerRow.linked_to_nv_settings)
        conditions = visible_by_code(call.caller, network, linked)
        voucher = await find_network_voucher(
            call.db, col(NetworkVoucherRow.normal_code) == normalize(code), *conditions, lock=lock
        )
        if voucher is None:
            raise NotFound(thing="network voucher")
        return voucher

    return await throttled_code_lookup(call.context, "network voucher", code, look)


async def lock_voucher(call: Call, input: IdOrCode) -> NetworkVoucherRow:
    """The network voucher of an input, locked. Raises InvalidInput unless exactly one of id and code is sent."""
    return await find_voucher(call, id_or_code(input), lock=True)


async def _find_own(call: Call, input: Any) -> NetworkVoucherRow:
    """The network voucher of an input, of the caller's own network."""
    require_marketplace(call.caller)
    return await find_voucher(call, input)


async def _lock_own(call: Call, input: IdOrCode) -> NetworkVoucherRow:
    require_marketplace(call.caller)
    return await lock_voucher(call, input)


@operation(Permission.MANAGE_NETWORK_VOUCHER)
async def issue_network_voucher(call: Call, input: IssueNetworkVoucher) -> NetworkVoucher:
    """Issue a network voucher without a sale: one that was paid elsewhere, a goodwill gesture, or one to try with. Nothing
    is charged, and no mail is sent. The network owes the price of the box until a refill pays it in, and from then on to
    the partners where the voucher is used.
    """
    require_marketplace(call.caller)
    now, findings = call.services.clock.now(), ProblemCollector()
    box = await _box_of(call, input.box_id, findings)
    network, period = await _network_of(call, box, findings), _Period(now, None, now)
    with findings.collect():
        if input.status not in ISSUED_AS:
            raise InvalidInput.at("status", "A voucher is issued as `PAID`, as `DRAFT` or as `TEST`.")
    with findings.collect():
        period = _period(network, input, now)
        if period.expires_on <= now:
            raise InvalidInput.at("expires_on", "Send a time in the future.", "OUT_OF_RANGE")
    findings.raise_problems()
    voucher = _new_voucher(input, box, period)
    await network_vouchers.issue(call.db, voucher)
    return voucher


@operation(Permission.MANAGE_NETWORK_VOUCHER)
async def import_network_voucher(call: Call, input: ImportNetworkVoucher) -> NetworkVoucher:
    """Import a network voucher that another system issued, with its code and in its current state. Nothing is charged, and
    no mail is sent. The network owes what is not used of its price.
    """
    require_marketplace(call.caller)
    now, findings = call.services.clock.now(), ProblemCollector()
    box = await _box_of(call, input.box_id, findings)
    network, period = await _network_of(call, box, findings), _Period(now, None, now)
    with findings.collect():
        if input.created_on is not None and input.created_on > now:
            raise InvalidInput.at("created_on", "Send a time in the past.", "OUT_OF_RANGE")
    with findings.collect():
        period = _period(network, input, input.created_on or now)
        _check_end(input, period.expires_on, now)
    with findings.collect():
        _check_usages(input, box.max_usages)
    with findings.collect():
        _check_first_usage(input, now, ZoneInfo(network.time_zone))
    with findings.collect():
        _check_price(input)
    with findings.collect():
        check_code_form(input.code)
    findings.raise_problems()
    await check_new_code(call, input.code, "network voucher", col(NetworkVoucherRow.normal_code))
    voucher = _new_voucher(input, box, period)
    voucher.code, voucher.normal_code = format_code(input.code), normalize(input.code)
    _copy_usages(voucher, input, ZoneInfo(network.time_zone))
    await network_vouchers.issue(call.db, voucher)
    return voucher


class _Period(NamedTuple):
    """When a voucher was issued, begins and expires."""

    created_on: dt.datetime
    starts_on: dt.datetime | None
    expires_on: dt.datetime


def _new_voucher(input: NewNetworkVoucherFields, box: BoxRow, period: _Period) -> NetworkVoucherRow:
    voucher = NetworkVoucherRow(**values_of(input, NOT_COLUMNS), **period._asdict(), code="", normal_code="")
    copy_box(voucher, box)
    return voucher


async def _box_of(call: Call, id: int, findings: ProblemCollector) -> BoxRow:
    """The box of a new voucher, among those that the caller sees. That there is none is collected."""
    with findings.collect():
        query = select(BoxRow).where(*visible_conditions(call.caller, BoxRow), col(BoxRow.id) == id)
        box = (await call.db.exec(query)).one_or_none()
        if box is None:
            raise InvalidInput.at("box_id", "No box of yours has this id.")
        return box
    return already_reported(BoxRow)


async def _network_of(call: Call, box: BoxRow, findings: ProblemCollector) -> MarketplaceRow:
    """The marketplace of a box."""
    with findings.collect():
        return await call.db.get_one(MarketplaceRow, box.marketplace_id)
    return already_reported(MarketplaceRow)


def _period(network: MarketplaceRow, input: NewNetworkVoucherFields, created_on: dt.datetime) -> _Period:
    """When a new voucher begins and expires. Raises InvalidInput for an end before the beginning."""
    zone = ZoneInfo(network.time_zone)
    starts_on, expires_on = moment_in(zone, input.starts_on), moment_in(zone, input.expires_on)
    first = max(starts_on or created_on, created_on)
    expires_on = expires_on or end_of_validity(first, network.network_voucher_validity_months, zone)
    if starts_on is not None and expires_on <= starts_on:
        raise InvalidInput.at("expires_on", "Send a time after it can be used.", "OUT_OF_RANGE")
    return _Period(created_on, starts_on, expires_on)


def _check_end(input: ImportNetworkVoucher, expires_on: dt.datetime, now: dt.datetime) -> None:
    if input.status is EXPIRED and expires_on > now:
        raise InvalidInput.at("expires_on", "An expired voucher needs an expiry time in the past.")
    if input.status not in ENDED and expires_on <= now:
        raise InvalidInput.at("expires_on", "Send a time in the future.", "OUT_OF_RANGE")


def _check_usages(input: ImportNetworkVoucher, most: int) -> None:
    used, status = input.usage_count, input.status
    if used > most:
        raise InvalidInput.at(
            "usage_count",
            TemplatedMessage("A voucher of this box can be used {most} times.", most=most),
            "OUT_OF_RANGE",
        )
    if status in NEVER_USED and used:
        raise InvalidInput.at("usage_count", "A voucher that was used is `USING` or `USED`.")
    if status is USING and not used:
        raise InvalidInput.at("usage_count", "Say how often it was used; a voucher that was not is `PAID`.", "REQUIRED")
    if (status is USED) is not (used == most):
        raise InvalidInput.at(
            "usage_count",
            TemplatedMessage("A voucher that is `USED` was used {most} times, and no other was.", most=most),
        )


def _check_first_usage(input: ImportNetworkVoucher, now: dt.datetime, zone: ZoneInfo) -> None:
    if input.usage_count and input.first_used_on is None:
        raise InvalidInput.at("first_used_on", "Say when it was first used.", "REQUIRED")
    if not input.usage_count and input.first_used_on is not None:
        raise InvalidInput.at("first_used_on", "Send this only for a voucher that was used.")
    first = moment_in(zone, input.first_used_on)
    if first is not None and first > now:
        raise InvalidInput.at("first_used_on", "Send a time in the past.", "OUT_OF_RANGE")


def _check_price(input: ImportNetworkVoucher) -> None:
    if input.price is not None and input.price <= 0:
        raise InvalidInput.at("price", "Send more than 0.00.", "OUT_OF_RANGE")


def _copy_usages(voucher: NetworkVoucherRow, input: ImportNetworkVoucher, zone: ZoneInfo) -> None:
    """Write the price of an imported voucher, and how often it was used in the other system."""
    if input.price is not None:
        voucher.price_amount = input.price
    voucher.usage_count = voucher.usages_elsewhere = input.usage_count
    voucher.used_amount = voucher.used_elsewhere_amount = value_of_usages(voucher, input.usage_count)
    voucher.first_used_elsewhere_on = moment_in(zone, input.first_used_on)
    set_first_usage(voucher, voucher.first_used_elsewhere_on, zone)


@operation(Permission.MANAGE_NETWORK_VOUCHER, exists=_find_own)
async def activate_network_voucher(call: Call, input: ActivateNetworkVoucher) -> NetworkVoucher:
    """Activate a draft that has been paid for, so that it can be used. A network voucher that is paid already stays
    unchanged.
    """
    voucher = await _lock_own(call, input)
    await network_vouchers.activate(call.db, voucher, call.services.clock.now())
    return voucher


@operation(Permission.MANAGE_NETWORK_VOUCHER, exists=_find_own)
async def update_network_voucher(call: Call, input: UpdateNetworkVoucher) -> NetworkVoucher:
    """Change a network voucher, or deactivate it for a while. Omitted fields stay unchanged."""
    voucher = await _lock_own(call, input)
    apply(voucher, input, skip={"code"})
    voucher.message = voucher.message or None
    await call.db.flush()
    return voucher


@operation(Permission.MANAGE_NETWORK_VOUCHER, exists=_find_own)
async def extend_network_voucher(call: Call, input: ExtendNetworkVoucher) -> NetworkVoucher:
    """Extend the validity of a network voucher. An expired one can be used again; what was booked as breakage is owed
    again. The days after its first usage stay as they are.
    """
    voucher = await _lock_own(call, input)
    network = await call.db.get_one(MarketplaceRow, voucher.marketplace_id)
    expires_on = moment_in(ZoneInfo(network.time_zone), input.expires_on)
    assert expires_on is not None, "the input has it"
    check_later_expiry(expires_on, voucher.expires_on, call.services.clock.now())
    await network_vouchers.extend(call.db, voucher, expires_on)
    return voucher


@operation(Permission.MANAGE_NETWORK_VOUCHER, exists=_find_own)
async def cancel_network_voucher(call: Call, input: CancelNetworkVoucher) -> NetworkVoucher:
    """Cancel a network voucher, so that it cannot be used. What is not used of it is owed no more; usages stay. Cancelling
    it again changes nothing.
    """
    voucher = await _lock_own(call, input)
    await network_vouchers.cancel(call.db, voucher)
    return voucher
