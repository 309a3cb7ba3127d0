"""The activation of a partner's payments: the operation, and one call to the provider at a time."""

import asyncio
import datetime as dt
from dataclasses import dataclass
from typing import Any

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation import transitions as outcomes
from resolvers.activation.steps import needs_session, requires_sandbox, sync_activation
from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from schema.activation import (
    ActivatePayments,
    ActivationFailure,
    ActivationFailureReason,
    ActivationStatus,
    PaymentActivation,
)
from schema.core.errors import OnlyInSandbox, ProviderFailed, ProviderTimedOut
from schema.core.permission import Permission
from store.activation.account_requests import account_digest, api_field_name, is_person, missing_fields
from store.activation.activations import ActivationRow, latest_activation, locked_activation, locked_partner
from store.onboarding.links import onboarding_url_for
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderError, UnknownOutcome

log = structlog.get_logger(__name__)
PROVIDER_TIMEOUT = dt.timedelta(seconds=20)
"""How long a caller waits for the provider. A call that times out is treated like a lost response."""
LEASE = dt.timedelta(seconds=25)
"""How long one process owns the calls for an activation. Longer than PROVIDER_TIMEOUT, so that it expires only after a
crash.
"""
POLL_INTERVAL = dt.timedelta(milliseconds=100)
"""How often waiting callers check for a result."""
MIN_POLL_INTERVAL = dt.timedelta(seconds=3)
"""Minimum interval between status reads from the provider: clients poll by calling `activatePayments` again."""


async def partner_to_activate(call: Call, input: Any) -> PartnerRow:
    """The partner of an input's `partner_uuid`. Raises NotFound."""
    async with call.services.db.sessions() as db:
        return await find_visible(db, call.caller, PartnerRow, "partner", uuid=uuid_from_input(input))


@operation(Permission.CREATE_PARTNER, transaction=False, exists=partner_to_activate, raises=PROVIDER_ERRORS)
async def activate_payments(call: Call, input: ActivatePayments) -> PaymentActivation:
    """Activate the payments of a partner, or read the status of its activation: both are the same request.

    While the legal representative has to act, `pendingUserAction` is a link: the same one while it is valid, then a new
    one. After a failure was returned, the next call starts a new process.
    """
    partner = await partner_to_activate(call, {"partner_uuid": input.partner_uuid})
    call.add_audit_subject(partner)
    partner, activation = await advance(call.services, partner.id)
    return payment_activation_of(call.services, partner, activation)


def payment_activation_of(services: Services, partner: PartnerRow, activation: ActivationRow) -> PaymentActivation:
    """The published view of an activation."""
    link = None
    if activation.status is ActivationStatus.PENDING_USER_ACTION:
        link = activation.usable_link(services.clock.now()) or onboarding_url_for(services.settings, partner)
    return PaymentActivation(
        id=activation.id,
        status=activation.status,
        pending_user_action=link,
        failure=failure_of(services, partner, activation) if activation.status is ActivationStatus.FAILED else None,
    )


def failure_of(services: Services, partner: PartnerRow, activation: ActivationRow) -> ActivationFailure | None:
    """Why an activation failed, and what to do; None if it did not fail."""
    reason = activation.failure
    if reason is None:
        return None
    ways = {
        ActivationFailureReason.DATA_REFUSED: "updatePartner",
        ActivationFailureReason.NOT_AUTHENTICATED: onboarding_url_for(services.settings, partner),
        ActivationFailureReason.ACCOUNT_BLOCKED: "contactProvider",
        ActivationFailureReason.OUTCOME_UNKNOWN: "settleActivation"
        if not activation.account_id
        else "activatePayments",
    }
    return ActivationFailure(
        reason=reason,
        message=activation.failure_message or reason.description,
        field=api_field_name(activation.failure_field) or None,
        action=ways.get(reason, "activatePayments"),
        request_id=activation.failure_request_id or None,
    )


# ---- one call at a time


@dataclass(frozen=True)
class NextAction:
    """The next step of a caller: call the provider, wait for another caller, or neither if the stored state is
    sufficient.
    """

    partner: PartnerRow
    activation: ActivationRow
    calls_provider: bool = False
    must_wait: bool = False


async def advance(
    services: Services, partner_id: int, *, by_representative: bool = False
) -> tuple[PartnerRow, ActivationRow]:
    """Advance the activation of a partner as far as possible now.

    Of concurrent callers one calls the provider, and the others wait for the result. With `by_representative` the
    representative wants to authenticate: also when a failure was not reported yet, or when payments are active already.
    """
    try:
        async with asyncio.timeout((LEASE + PROVIDER_TIMEOUT).total_seconds()):
            while (turn := await _next_action(services, partner_id, button=by_representative)).must_wait:  # noqa: ASYNC110 - others may be processes
                await asyncio.sleep(POLL_INTERVAL.total_seconds())
    except TimeoutError as error:
        raise ProviderTimedOut from error
    if turn.calls_provider:
        return turn.partner, await _call_provider(services, turn)
    return turn.partner, turn.activation


async def _next_action(services: Services, partner_id: int, *, button: bool) -> NextAction:
    async with services.db.sessions() as db, db.begin():
        partner = await locked_partner(db, partner_id)
        now = services.clock.now()
        activation = await _current_activation(services, db, partner, button=button)
        if not _needs_provider(partner, activation, now, button=button):
            return NextAction(partner, activation)
        if activation.is_leased(now):
            return NextAction(partner, activation, must_wait=not _can_answer_now(partner, activation, now))
        if not activation.account_id and activation.account_sent_on is None:
            activation.account_sent_on = activation.session_sent_on = now
            activation.session_email = partner.legal_representative_email
            activation.company_type, activation.told_digest = partner.company_type, account_digest(partner)
            activation.check_on = outcomes.next_check(activation, now)
        activation.busy_until = now + LEASE
        return NextAction(partner, activation, calls_provider=True)


async def _current_activation(
    services: Services, db: AsyncSession, partner: PartnerRow, *, button: bool
) -> ActivationRow:
    """The activation that a call is about: the live one, a final one that stays, or a new one."""
    if requires_sandbox(services, partner):
        raise OnlyInSandbox
    last = await latest_activation(db, partner.id)
    if last is not None:
        last = (await locked_activation(db, last.id))[1]
        if last.is_live and _company_kind_changed(last, partner):
            outcomes.fail(partner, last, ActivationFailureReason.KIND_CHANGED)
            last.failure_told = True
            await db.flush()
        if last.status is ActivationStatus.FAILED and not last.failure_told and not button:
            last.failure_told = True
            return last
        if last.status is not ActivationStatus.FAILED:
            last.account_id = last.account_id or partner.provider_user_id
            return last
    return await _create_activation(services, db, partner, last)


def _company_kind_changed(activation: ActivationRow, partner: PartnerRow) -> bool:
    """True if the company type changed between person and company since the account was requested."""
    before, after = activation.company_type, partner.company_type
    return before is not None and after is not None and is_person(before) is not is_person(after)


async def _create_activation(
    services: Services, db: AsyncSession, partner: PartnerRow, last: ActivationRow | None
) -> ActivationRow:
    """Create an activation. It takes over an existing provider account, and the idempotency key of an account request
    whose outcome is unknown.
    """
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
    """True if the stored state is not sufficient. While required data are missing, the provider is not called."""
    if activation.status is ActivationStatus.COMPLETED:
        return button and needs_session(activation, partner, now)
    if activation.status is ActivationStatus.FAILED:
        return False
    poll = activation.asked_on is None or now - activation.asked_on >= MIN_POLL_INTERVAL
    if activation.status is ActivationStatus.PROCESSING:
        return poll
    if missing_fields(partner):
        activation.clear_link()
        return False
    if not activation.account_id or account_digest(partner) != activation.told_digest:
        return True
    return needs_session(activation, partner, now) or poll


def _can_answer_now(partner: PartnerRow, activation: ActivationRow, now: dt.datetime) -> bool:
    """True if the stored state can be returned, even if not the latest, while the provider cannot be called."""
    return bool(activation.account_id) and not needs_session(activation, partner, now)


async def _call_provider(services: Services, turn: NextAction) -> ActivationRow:
    activation = turn.activation
    try:
        async with asyncio.timeout(PROVIDER_TIMEOUT.total_seconds()):
            activation = await sync_activation(services, activation.id, session=True)
    except (ProviderError, TimeoutError) as error:
        log.warning(
            "an activation is blocked until the provider is available", activation=str(activation.id), error=repr(error)
        )
        if not _can_answer_now(turn.partner, activation, services.clock.now()):
            if isinstance(error, UnknownOutcome | TimeoutError):
                raise ProviderTimedOut from error
            raise ProviderFailed from error
    finally:
        activation = await _release_lease(services, activation)
    return activation


async def _release_lease(services: Services, activation: ActivationRow) -> ActivationRow:
    """Release the lease. A failure counts as reported, because this caller returns it."""
    async with services.db.sessions() as db, db.begin():
        _, fresh = await locked_activation(db, activation.id)
        fresh.busy_until = None
        fresh.failure_told = fresh.failure_told or fresh.status is ActivationStatus.FAILED
        return fresh
