"""Runs the steps of an activation at the provider: `sync_activation`, called by the API, the pages, notifications and
the worker.

Any number of calls, concurrent or after a crash, result in one account, one wallet and one event: idempotency keys are
stored before the first call, and `resolvers.activation.transitions` saves every result under a lock.
"""

import datetime as dt
import uuid
from contextlib import suppress

import structlog

from resolvers.activation import transitions as outcomes
from resolvers.core.services import Services
from schema.activation import ActivationFailureReason, ActivationStatus
from schema.core.errors import NotFound
from schema.partner.partner import PartnerStatus
from store.activation.account_requests import account_digest, account_request_of, is_person, missing_fields
from store.activation.activations import ActivationRow, activation_of_account, is_still_refused, locked_activation
from store.core.provider_process import OUTCOME_LIFE
from store.core.settings.provider import ProviderName
from store.onboarding.links import provider_return_url_for
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.accounts import Account, AccountStatus
from store.providers.base import Subject
from store.providers.errors import InvalidRequest, UnknownOutcome
from store.providers.errors import ProviderNotFound as UnknownToProvider
from store.providers.keys import IdempotencyKey

log = structlog.get_logger(__name__)
SESSION_FAILURE_WINDOW = dt.timedelta(hours=1)
"""How long after opening a session its failure is checked; a session ends after ten minutes."""


async def read_activation(services: Services, activation_id: uuid.UUID) -> tuple[PartnerRow, ActivationRow]:
    """The activation and its partner, read from the database. Raises NotFound."""
    async with services.db.sessions() as db:
        activation = await db.get(ActivationRow, activation_id)
        if activation is None:
            raise NotFound(thing="activation")
        return await db.get_one(PartnerRow, activation.partner_id), activation


def requires_sandbox(services: Services, partner: PartnerRow) -> bool:
    """True if the partner must not be sent to the provider: a test partner, unless the provider is the sandbox."""
    return partner.status is PartnerStatus.TEST and services.settings.provider is not ProviderName.SANDBOX


async def sync_activation(services: Services, activation_id: uuid.UUID, *, session: bool = False) -> ActivationRow:
    """Read the state from the provider and take the next steps. With `session`, also open a session for the
    representative.

    Raises ProviderError if the provider is unavailable. A refusal of data is an outcome, not an error.
    """
    partner, activation = await read_activation(services, activation_id)
    try:
        return await _run_steps(services, partner, activation, session=session)
    except InvalidRequest as refused:
        digest = "" if missing_fields(partner) else account_digest(partner)
        return await outcomes.record_refusal(services, activation_id, refused, reported_digest=digest)
    except UnknownOutcome:
        _, activation = await read_activation(services, activation_id)
        sent_on = activation.wallet_sent_on if activation.account_id else activation.account_sent_on
        if not activation.is_live or sent_on is None or services.clock.now() - sent_on < OUTCOME_LIFE:
            raise
        return await outcomes.give_up(services, activation_id, ActivationFailureReason.OUTCOME_UNKNOWN)


async def _run_steps(
    services: Services, partner: PartnerRow, activation: ActivationRow, *, session: bool
) -> ActivationRow:
    activation_id = activation.id
    if activation.status is ActivationStatus.FAILED or requires_sandbox(services, partner):
        return activation
    account = await _sync_account(services, partner, activation)
    if account is None:
        return activation
    failed = await _session_failed(services, account, activation)
    activation = await outcomes.ACCOUNT.save(services, activation, outcomes.AccountAnswer(account, failed))
    if activation.status is ActivationStatus.PROCESSING:
        return await outcomes.WALLET.look_up(services, activation, _wallet_of(services, partner, activation))
    if activation.status is ActivationStatus.COMPLETED:
        review = _review(services, partner, activation, account)
        activation = await outcomes.REVIEW.look_up(services, activation, review)
    if session and needs_session(activation, partner, services.clock.now()):
        return await _open_session(services, activation_id)
    return activation


def needs_session(activation: ActivationRow, partner: PartnerRow, now: dt.datetime) -> bool:
    """True if the representative has to authenticate and has no valid link: none yet, an expired one, or one for a
    previous representative.
    """
    email = partner.legal_representative_email
    match activation.status:
        case ActivationStatus.PENDING_USER_ACTION:
            return not activation.usable_link(now) or activation.session_email != email
        case ActivationStatus.COMPLETED:
            renewed = activation.usable_link(now) and activation.session_email == email
            return activation.enrolled_email != email and not renewed and not is_still_refused(partner, activation)
        case _:
            return False


# ---- the account


async def _sync_account(services: Services, partner: PartnerRow, activation: ActivationRow) -> Account | None:
    """The account, updated with changed partner data. None if no account was requested."""
    if not activation.account_id:
        return await _create_account(services, partner, activation)
    same_kind = activation.company_type is None or is_person(activation.company_type) is is_person(partner.company_type)
    if not same_kind or missing_fields(partner) or account_digest(partner) == activation.told_digest:
        return await services.provider.get_account(activation.account_id)
    try:
        request = account_request_of(partner, str(activation.account_key))
        account = await services.provider.update_account(activation.account_id, request)
    except InvalidRequest as refused:
        if activation.is_live:
            raise
        await outcomes.record_refusal(services, activation.id, refused, reported_digest=account_digest(partner))
        return await services.provider.get_account(activation.account_id)
    await outcomes.record_reported_data(services, activation.id, account_digest(partner))
    return account


async def _create_account(services: Services, partner: PartnerRow, activation: ActivationRow) -> Account | None:
    if activation.account_sent_on is None or missing_fields(partner):
        return None
    try:
        return await services.provider.create_account(
            account_request_of(partner, str(activation.account_key)),
            return_url=provider_return_url_for(services.settings, partner),
            key=IdempotencyKey(str(activation.account_key)),
            sent_at=activation.account_sent_on,
        )
    except UnknownOutcome:
        if services.clock.now() - activation.account_sent_on < OUTCOME_LIFE:
            raise
        account = await _find_lost_account(services, activation)
        if account is None:
            raise
        return account


async def _find_lost_account(services: Services, activation: ActivationRow) -> Account | None:
    """The account that was created when the response was lost, found by our reference through the provider's events."""
    assert activation.account_sent_on is not None
    seen: set[str] = set()
    async for hint in services.provider.events_since(activation.account_sent_on):
        if hint.subject is not Subject.ACCOUNT or hint.resource_id in seen:
            continue
        seen.add(hint.resource_id)
        async with services.db.sessions() as db:
            known = await activation_of_account(db, hint.resource_id)
        if known is None:
            with suppress(UnknownToProvider):
                account = await services.provider.get_account(hint.resource_id)
                if account.reference == str(activation.account_key):
                    return account
    return None


# ---- the session


async def _session_failed(services: Services, account: Account, activation: ActivationRow) -> bool:
    sent_on = activation.session_sent_on
    waiting = account.status is AccountStatus.ACTION_REQUIRED and account.action is None
    if not waiting or sent_on is None or services.clock.now() - sent_on > SESSION_FAILURE_WINDOW:
        return False
    return await services.provider.enrolment_failed(account.id, sent_on)


async def _open_session(services: Services, activation_id: uuid.UUID) -> ActivationRow:
    """Open a session for the current representative. The idempotency key is reused while a lost response could still be
    used.
    """
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        now = services.clock.now()
        if not needs_session(activation, partner, now):
            return activation
        sent_on, same = activation.session_sent_on, activation.session_email == partner.legal_representative_email
        usable = sent_on is not None and now - sent_on < outcomes.LINK_LIFE
        if activation.session_key is None or not usable or not same:
            activation.session_key, activation.session_sent_on = uuid.uuid4(), now
        activation.session_email = partner.legal_representative_email
        activation.clear_link()
        key, sent_at = activation.session_key, activation.session_sent_on or now
    action = await services.provider.open_enrolment(
        activation.account_id,
        return_url=provider_return_url_for(services.settings, partner),
        key=IdempotencyKey(str(key)),
        sent_at=sent_at,
    )
    activation = await outcomes.SESSION.save(services, activation, outcomes.SessionAnswer(key, action))
    if action is not None:
        return activation
    return await _run_steps(services, *await read_activation(services, activation_id), session=False)


# ---- completion and review


async def _wallet_of(services: Services, partner: PartnerRow, activation: ActivationRow) -> outcomes.WalletAnswer:
    """After authentication: check for blocks, and open the wallet."""
    blocks = await services.provider.get_blocks(activation.account_id)
    enrolment = await services.provider.get_enrolment(activation.account_id)
    wallet_id = partner.provider_wallet_id if partner.provider_user_id == activation.account_id else ""
    if not wallet_id and not blocks.inflows:
        wallet_id = await _open_wallet(services, partner, activation)
    return outcomes.WalletAnswer(wallet_id, blocks, enrolment)


async def _open_wallet(services: Services, partner: PartnerRow, activation: ActivationRow) -> str:
    async with services.db.sessions() as db:
        marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    return await services.provider.open_wallet(
        activation.account_id,
        marketplace.currency,
        partner.commercial_name,
        key=IdempotencyKey(str(activation.wallet_key)),
        sent_at=activation.wallet_sent_on or services.clock.now(),
    )


async def _review(
    services: Services, partner: PartnerRow, activation: ActivationRow, account: Account
) -> outcomes.ReviewAnswer:
    """The blocks of a completed activation, and whether a new representative has authenticated."""
    blocks = await services.provider.get_blocks(activation.account_id)
    email = partner.legal_representative_email
    renewing = activation.enrolled_email != email and activation.session_email == email
    enrolment = await services.provider.get_enrolment(activation.account_id) if renewing else None
    return outcomes.ReviewAnswer(blocks, enrolment, account.status)
