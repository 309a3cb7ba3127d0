"""How an activation goes on at the provider: the one function that the API, the pages, notifications and the worker call.

Any number of calls, at once or after a crash, end in one account, one wallet and one event: keys are stored before the
first send, and what comes of a call is written by `activation_outcomes`, which locks.
"""

import datetime as dt
import uuid
from contextlib import suppress

import structlog

from resolvers.activation import transitions as outcomes
from resolvers.core.context import Services
from schema.core.errors import NotFound
from schema.onboarding import ActivationFailureReason, ActivationStatus
from schema.partner.partner import PartnerStatus
from store.activation.account_requests import digest, is_person, missing, request_of
from store.activation.activations import ActivationRow, locked_activation, of_account, still_refused
from store.core.settings import ProviderName
from store.onboarding.links import return_url_for
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.accounts import Account, AccountStatus
from store.providers.base import Subject
from store.providers.errors import InvalidRequest, UnknownOutcome
from store.providers.errors import NotFound as UnknownToProvider
from store.providers.keys import Key

log = structlog.get_logger(__name__)
KEYS_KEPT = dt.timedelta(days=1)
"""After that nothing more will be known of a call whose outcome is unknown."""
FAILURES_LOOKED_FOR = dt.timedelta(hours=1)
"""How long after a session was opened it is asked whether it failed: it ends after ten minutes."""


async def read(services: Services, activation_id: uuid.UUID) -> tuple[PartnerRow, ActivationRow]:
    """An activation and its partner, as they are now."""
    async with services.db.sessions() as db:
        activation = await db.get(ActivationRow, activation_id)
        if activation is None:
            raise NotFound(thing="activation")
        return await db.get_one(PartnerRow, activation.partner_id), activation


def barred(services: Services, partner: PartnerRow) -> bool:
    """Whether the provider must hear nothing of a partner: of one that tries things out, unless it is the sandbox."""
    return partner.status is PartnerStatus.TEST and services.settings.provider is not ProviderName.SANDBOX


async def go_on(services: Services, activation_id: uuid.UUID, *, session: bool = False) -> ActivationRow:
    """Ask the provider how it stands, and take the next steps; with `session`, also open one for the representative.

    Raises ProviderError when the provider cannot be asked now; refusals of data are outcomes, and no errors.
    """
    partner, activation = await read(services, activation_id)
    try:
        return await _steps(services, partner, activation, session=session)
    except InvalidRequest as refused:
        told = "" if missing(partner) else digest(partner)
        return await outcomes.refuse(services, activation_id, refused, told=told)
    except UnknownOutcome:
        _, activation = await read(services, activation_id)
        sent_on = activation.wallet_sent_on if activation.account_id else activation.account_sent_on
        if not activation.live or sent_on is None or services.clock.now() - sent_on < KEYS_KEPT:
            raise
        return await outcomes.give_up(services, activation_id, ActivationFailureReason.OUTCOME_UNKNOWN)


async def _steps(services: Services, partner: PartnerRow, activation: ActivationRow, *, session: bool) -> ActivationRow:
    activation_id = activation.id
    if activation.status is ActivationStatus.FAILED or barred(services, partner):
        return activation
    account = await _account(services, partner, activation)
    if account is None:
        return activation
    failed = await _session_failed(services, account, activation)
    activation = await outcomes.note_account(services, activation_id, account, session_failed=failed)
    if activation.status is ActivationStatus.PROCESSING:
        return await _finish(services, partner, activation)
    if activation.status is ActivationStatus.COMPLETED:
        activation = await _review(services, partner, activation, account)
    if session and wants_session(activation, partner, services.clock.now()):
        return await _open_session(services, activation_id)
    return activation


def wants_session(activation: ActivationRow, partner: PartnerRow, now: dt.datetime) -> bool:
    """Whether the representative has to authenticate and has no link for it: none yet, or of another person or time."""
    email = partner.legal_representative_email
    match activation.status:
        case ActivationStatus.PENDING_USER_ACTION:
            return not activation.link(now) or activation.session_email != email
        case ActivationStatus.COMPLETED:
            renewed = activation.link(now) and activation.session_email == email
            return activation.enrolled_email != email and not renewed and not still_refused(partner, activation)
        case _:
            return False


# ---- the account


async def _account(services: Services, partner: PartnerRow, activation: ActivationRow) -> Account | None:
    """The account as it is now, told of what has changed. None where it was never asked for."""
    if not activation.account_id:
        return await _create(services, partner, activation)
    same_kind = activation.company_type is None or is_person(activation.company_type) is is_person(partner.company_type)
    if not same_kind or missing(partner) or digest(partner) == activation.told_digest:
        return await services.provider.get_account(activation.account_id)
    try:
        request = request_of(partner, str(activation.account_key))
        account = await services.provider.update_account(activation.account_id, request)
    except InvalidRequest as refused:
        if activation.live:
            raise
        await outcomes.refuse(services, activation.id, refused, told=digest(partner))
        return await services.provider.get_account(activation.account_id)
    await outcomes.note_told(services, activation.id, digest(partner))
    return account


async def _create(services: Services, partner: PartnerRow, activation: ActivationRow) -> Account | None:
    if activation.account_sent_on is None or missing(partner):
        return None
    try:
        return await services.provider.create_account(
            request_of(partner, str(activation.account_key)),
            return_url=return_url_for(services.settings, partner),
            key=Key(str(activation.account_key)),
            sent_at=activation.account_sent_on,
        )
    except UnknownOutcome:
        if services.clock.now() - activation.account_sent_on < KEYS_KEPT:
            raise
        found = await _lost(services, activation)
        if found is None:
            raise
        return found


async def _lost(services: Services, activation: ActivationRow) -> Account | None:
    """The account that was made when the answer was lost, long ago: an event tells of it, and it has our reference."""
    assert activation.account_sent_on is not None
    seen: set[str] = set()
    async for hint in services.provider.events_since(activation.account_sent_on):
        if hint.subject is not Subject.ACCOUNT or hint.resource_id in seen:
            continue
        seen.add(hint.resource_id)
        async with services.db.sessions() as db:
            known = await of_account(db, hint.resource_id)
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
    if not waiting or sent_on is None or services.clock.now() - sent_on > FAILURES_LOOKED_FOR:
        return False
    return await services.provider.enrolment_failed(account.id, sent_on)


async def _open_session(services: Services, activation_id: uuid.UUID) -> ActivationRow:
    """A fresh link for whoever represents the partner now. A lost answer is asked for again while it could be used."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        now = services.clock.now()
        if not wants_session(activation, partner, now):
            return activation
        sent_on, same = activation.session_sent_on, activation.session_email == partner.legal_representative_email
        usable = sent_on is not None and now - sent_on < outcomes.LINK_LIFE
        if activation.session_key is None or not usable or not same:
            activation.session_key, activation.session_sent_on = uuid.uuid4(), now
        activation.session_email = partner.legal_representative_email
        activation.forget_link()
        key, sent_at = activation.session_key, activation.session_sent_on or now
    action = await services.provider.open_enrolment(
        activation.account_id,
        return_url=return_url_for(services.settings, partner),
        key=Key(str(key)),
        sent_at=sent_at,
    )
    async with services.db.sessions() as db, db.begin():
        _, activation = await locked_activation(db, activation_id)
        now = services.clock.now()
        if activation.session_key == key and activation.status is not ActivationStatus.FAILED:
            outcomes.note_session(activation, action, now)
    if action is not None:
        return activation
    return await _steps(services, *await read(services, activation_id), session=False)


# ---- afterwards


async def _finish(services: Services, partner: PartnerRow, activation: ActivationRow) -> ActivationRow:
    """The representative is done: see that nothing is blocked, open the wallet, and activate the payments."""
    blocks = await services.provider.get_blocks(activation.account_id)
    enrolment = await services.provider.get_enrolment(activation.account_id)
    wallet_id = partner.provider_wallet_id if partner.provider_user_id == activation.account_id else ""
    if not wallet_id and not blocks.inflows:
        wallet_id = await _open_wallet(services, partner, activation)
    return await outcomes.complete(services, activation.id, wallet_id, blocks, enrolment)


async def _open_wallet(services: Services, partner: PartnerRow, activation: ActivationRow) -> str:
    async with services.db.sessions() as db:
        marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    return await services.provider.open_wallet(
        activation.account_id,
        marketplace.currency,
        partner.commercial_name,
        key=Key(str(activation.wallet_key)),
        sent_at=activation.wallet_sent_on or services.clock.now(),
    )


async def _review(
    services: Services, partner: PartnerRow, activation: ActivationRow, account: Account
) -> ActivationRow:
    """What is blocked since, and whether a new representative, for whom a session was opened, has authenticated."""
    blocks = await services.provider.get_blocks(activation.account_id)
    email = partner.legal_representative_email
    renewing = activation.enrolled_email != email and activation.session_email == email
    enrolment = await services.provider.get_enrolment(activation.account_id) if renewing else None
    return await outcomes.note_review(services, activation.id, blocks, enrolment, account.status)
