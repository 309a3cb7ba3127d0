"""Activating the payments of a partner."""

import asyncio
import datetime as dt
from dataclasses import dataclass
from typing import Any

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation import transitions as outcomes
from resolvers.activation.steps import barred, go_on, wants_session
from resolvers.core.context import Services
from resolvers.core.input_mapping import given_uuid
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import FAILURES
from resolvers.core.scoping import find
from schema.core.errors import OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.core.permission import Permission
from schema.onboarding import (
    ActivatePayments,
    ActivationFailure,
    ActivationFailureReason,
    ActivationStatus,
    PaymentActivation,
)
from store.activation.account_requests import digest, is_person, missing, published
from store.activation.activations import ActivationRow, latest, locked_activation, locked_partner
from store.onboarding.links import link_for
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderError, UnknownOutcome

log = structlog.get_logger(__name__)
PATIENCE = dt.timedelta(seconds=20)
"""How long one caller waits for the provider. A call given up so is like one whose answer is lost."""
LEASE = dt.timedelta(seconds=25)
"""How long others leave the asking to the one who has begun; longer than that one waits, so that it ends only by a crash."""
LOOK = dt.timedelta(milliseconds=100)
"""How often those others look whether there is an answer."""
POLL_PAUSE = dt.timedelta(seconds=3)
"""Activating again is how clients ask for the status: the provider is read at most so often for it."""


async def partner_to_activate(call: Call, given: Any) -> PartnerRow:
    """The partner that an input names by `partner_uuid`."""
    async with call.services.db.sessions() as db:
        return await find(db, call.caller, PartnerRow, "partner", uuid=given_uuid(given))


@operation(Permission.CREATE_PARTNER, transaction=False, exists=partner_to_activate, raises=FAILURES)
async def activate_payments(call: Call, input: ActivatePayments) -> PaymentActivation:
    """Activate the payments of a partner, or ask how its activation stands: both are the same request.

    While the representative has something to do the answer has a link for it; the same one as long as it can be used,
    then a new one. After a failure was told, the next call begins another process.
    """
    partner = await partner_to_activate(call, {"partner_uuid": input.partner_uuid})
    call.concerns(partner)
    partner, activation = await advance(call.services, partner.id)
    return told(call.services, partner, activation)


def told(services: Services, partner: PartnerRow, activation: ActivationRow) -> PaymentActivation:
    """An activation as its callers see it."""
    link = None
    if activation.status is ActivationStatus.PENDING_USER_ACTION:
        link = activation.link(services.clock.now()) or link_for(services.settings, partner)
    return PaymentActivation(
        id=activation.id,
        status=activation.status,
        pending_user_action=link,
        failure=failure_of(services, partner, activation) if activation.status is ActivationStatus.FAILED else None,
    )


def failure_of(services: Services, partner: PartnerRow, activation: ActivationRow) -> ActivationFailure | None:
    """Why an activation failed, and the way out of it."""
    reason = activation.failure
    if reason is None:
        return None
    ways = {
        ActivationFailureReason.DATA_REFUSED: "updatePartner",
        ActivationFailureReason.NOT_AUTHENTICATED: link_for(services.settings, partner),
        ActivationFailureReason.ACCOUNT_BLOCKED: "contactProvider",
        ActivationFailureReason.OUTCOME_UNKNOWN: "settleActivation"
        if not activation.account_id
        else "activatePayments",
    }
    return ActivationFailure(
        reason=reason,
        message=activation.failure_message or reason.description,
        field=published(activation.failure_field) or None,
        action=ways.get(reason, "activatePayments"),
        request_id=activation.failure_request_id or None,
    )


# ---- one at a time


@dataclass(frozen=True)
class Turn:
    """What a caller does next: ask the provider, wait for another who does, or neither, as what is stored is enough."""

    partner: PartnerRow
    activation: ActivationRow
    asks: bool = False
    waits: bool = False


async def advance(services: Services, partner_id: int, *, button: bool = False) -> tuple[PartnerRow, ActivationRow]:
    """Take the activation of a partner as far as it goes now.

    Of those who call at once one asks the provider, and the others wait for what it is told. `button`: the representative
    wants to authenticate, also when a failure was not told yet, or payments are active already.
    """
    try:
        async with asyncio.timeout((LEASE + PATIENCE).total_seconds()):
            while (turn := await _turn(services, partner_id, button=button)).waits:  # noqa: ASYNC110 - others may be processes
                await asyncio.sleep(LOOK.total_seconds())
    except TimeoutError as error:
        raise ProviderTimedOut from error
    if turn.asks:
        return turn.partner, await _ask(services, turn)
    return turn.partner, turn.activation


async def _turn(services: Services, partner_id: int, *, button: bool) -> Turn:
    async with services.db.sessions() as db, db.begin():
        partner = await locked_partner(db, partner_id)
        now = services.clock.now()
        activation = await _current(services, db, partner, button=button)
        if not _needs_provider(partner, activation, now, button=button):
            return Turn(partner, activation)
        if activation.busy_until is not None and now < activation.busy_until:
            return Turn(partner, activation, waits=not _enough(partner, activation, now))
        if not activation.account_id and activation.account_sent_on is None:
            activation.account_sent_on = activation.session_sent_on = now
            activation.session_email = partner.legal_representative_email
            activation.company_type, activation.told_digest = partner.company_type, digest(partner)
            activation.check_on = outcomes.next_check(activation, now)
        activation.busy_until = now + LEASE
        return Turn(partner, activation, asks=True)


async def _current(services: Services, db: AsyncSession, partner: PartnerRow, *, button: bool) -> ActivationRow:
    """The process that a call is about: the live one, one that is final and stays so, or one that begins now."""
    if barred(services, partner):
        raise OnlyInSandbox
    last = await latest(db, partner.id)
    if last is not None:
        last = (await locked_activation(db, last.id))[1]
        if last.live and _another_kind(last, partner):
            outcomes.end(partner, last, ActivationFailureReason.KIND_CHANGED)
            last.failure_told = True
            await db.flush()
        if last.status is ActivationStatus.FAILED and not last.failure_told and not button:
            last.failure_told = True
            return last
        if last.status is not ActivationStatus.FAILED:
            last.account_id = last.account_id or partner.provider_user_id
            return last
    return await _begun(services, db, partner, last)


def _another_kind(activation: ActivationRow, partner: PartnerRow) -> bool:
    """Whether the account was asked for as that of a person, and it is a company's now, or the other way round."""
    before, after = activation.company_type, partner.company_type
    return before is not None and after is not None and is_person(before) is not is_person(after)


async def _begun(
    services: Services, db: AsyncSession, partner: PartnerRow, last: ActivationRow | None
) -> ActivationRow:
    """A new process. It takes over the account that there is, and a call for one whose outcome nobody knows."""
    now = services.clock.now()
    activation = ActivationRow(partner_id=partner.id, created_on=now, account_id=partner.provider_user_id)
    if partner.payments_active and partner.provider_wallet_id:
        activation.status, activation.ended_on = ActivationStatus.COMPLETED, now
        activation.enrolled_on, activation.enrolled_email = now, partner.legal_representative_email
        activation.check_on = outcomes.next_check(activation, now)
    elif last is not None and activation.account_id == last.account_id:
        unknown = last.failure is ActivationFailureReason.OUTCOME_UNKNOWN
        if activation.account_id or unknown:
            activation.company_type = last.company_type
        if not activation.account_id and unknown:
            activation.account_key, activation.account_sent_on = last.account_key, last.account_sent_on
    db.add(activation)
    await db.flush()
    return activation


def _needs_provider(partner: PartnerRow, activation: ActivationRow, now: dt.datetime, *, button: bool) -> bool:
    """Whether what is stored is not enough for an answer. While something is missing the provider is not asked."""
    if activation.status is ActivationStatus.COMPLETED:
        return button and wants_session(activation, partner, now)
    if activation.status is ActivationStatus.FAILED:
        return False
    poll = activation.asked_on is None or now - activation.asked_on >= POLL_PAUSE
    if activation.status is ActivationStatus.PROCESSING:
        return poll
    if missing(partner):
        activation.forget_link()
        return False
    if not activation.account_id or digest(partner) != activation.told_digest:
        return True
    return wants_session(activation, partner, now) or poll


def _enough(partner: PartnerRow, activation: ActivationRow, now: dt.datetime) -> bool:
    """Whether there is an answer, if not the latest, when the provider cannot be asked now."""
    return bool(activation.account_id) and not wants_session(activation, partner, now)


async def _ask(services: Services, turn: Turn) -> ActivationRow:
    activation = turn.activation
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            activation = await go_on(services, activation.id, session=True)
    except (ProviderError, TimeoutError) as error:
        log.warning("an activation cannot go on for now", activation=str(activation.id), error=repr(error))
        if not _enough(turn.partner, activation, services.clock.now()):
            if isinstance(error, UnknownOutcome | TimeoutError):
                raise ProviderTimedOut from error
            raise ProviderFailed from error
    finally:
        activation = await _let_go(services, activation)
    return activation


async def _let_go(services: Services, activation: ActivationRow) -> ActivationRow:
    """Let others ask. Whoever asked and was told of a failure has been told."""
    async with services.db.sessions() as db, db.begin():
        _, fresh = await locked_activation(db, activation.id)
        fresh.busy_until = None
        fresh.failure_told = fresh.failure_told or fresh.status is ActivationStatus.FAILED
        return fresh
