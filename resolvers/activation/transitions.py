"""State changes of an activation. Each runs in one transaction under a lock, whatever triggered it."""

import datetime as dt
import uuid
from dataclasses import dataclass

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, Recording
from resolvers.core.services import Services
from schema.activation import ActivationFailureReason, ActivationStatus
from schema.event import EventType
from store.activation.account_requests import refused_field
from store.activation.activations import ActivationRow, lock_activation, locked_activation, partner_of, transition
from store.core.provider_process import CheckIntervals
from store.event.events import NewEvent, emit
from store.partner.partners import PartnerRow
from store.providers.accounts import Account, AccountStatus, Blocks, Enrolment
from store.providers.actions import UserAction
from store.providers.errors import InvalidRequest

log = structlog.get_logger(__name__)
LINK_LIFE = dt.timedelta(minutes=10)
INTERVALS = CheckIntervals(
    by_age=(
        (dt.timedelta(minutes=3), dt.timedelta(seconds=30)),
        (dt.timedelta(minutes=45), dt.timedelta(minutes=1)),
        (dt.timedelta(days=1), dt.timedelta(minutes=15)),
        (dt.timedelta(days=7), dt.timedelta(hours=6)),
    ),
    longest=dt.timedelta(days=1),
)
LONGEST_MESSAGE = 500
FORGET_ACCOUNT = frozenset({ActivationFailureReason.ACCOUNT_CLOSED, ActivationFailureReason.KIND_CHANGED})
"""Failures after which a new account has to be requested."""


def next_check(activation: ActivationRow, now: dt.datetime) -> dt.datetime | None:
    """When the worker checks next: at short intervals after a request, then ever less often."""
    if activation.status is ActivationStatus.FAILED:
        return None
    settled = activation.enrolled_email and not activation.redirect_url
    if activation.status is ActivationStatus.COMPLETED and settled:
        return now + INTERVALS.longest
    since = activation.session_sent_on or activation.account_sent_on
    return None if since is None else INTERVALS.after(since, now)


@dataclass(frozen=True)
class AccountAnswer:
    """The account at the provider. `session_failed`: the representative has failed to authenticate."""

    account: Account
    session_failed: bool = False


async def _record_account(tx: Recording, activation: ActivationRow, answer: AccountAnswer) -> ActivationRow:
    """Record the state of the account. Late, repeated and outdated answers do not change a final state."""
    partner, now, account = await partner_of(tx.db, activation), tx.now, answer.account
    if account.action is None:  # a read, not the response that created the account
        activation.asked_on = now
    if activation.status is not ActivationStatus.FAILED:
        _apply_account(partner, activation, account, now, session_failed=answer.session_failed)
    elif activation.failure is ActivationFailureReason.OUTCOME_UNKNOWN and not partner.provider_user_id:
        activation.account_id = partner.provider_user_id = account.id
    activation.check_on = next_check(activation, now)
    return activation


def _apply_account(
    partner: PartnerRow, activation: ActivationRow, account: Account, now: dt.datetime, *, session_failed: bool
) -> None:
    activation.account_id = activation.account_id or account.id
    partner.provider_user_id = activation.account_id
    if account.status is AccountStatus.CLOSED:
        fail(partner, activation, ActivationFailureReason.ACCOUNT_CLOSED)
    elif activation.status is not ActivationStatus.PENDING_USER_ACTION:
        if activation.status is ActivationStatus.COMPLETED and account.status is AccountStatus.ACTION_REQUIRED:
            activation.enrolled_email = ""  # the data of the representative have changed at the provider
    elif account.status is AccountStatus.ACTIVE:
        activation.clear_link()
        activation.enrolled_email = activation.session_email or partner.legal_representative_email
        activation.wallet_sent_on = now
        transition(activation, ActivationStatus.PROCESSING)
    elif session_failed:
        fail(partner, activation, ActivationFailureReason.NOT_AUTHENTICATED)
    elif account.action is not None:
        record_link(activation, account.action, now)


def record_link(activation: ActivationRow, action: UserAction, now: dt.datetime) -> None:
    """Save the link for the representative, with its expiry."""
    activation.redirect_url = action.url
    activation.link_expires_on = action.expires_at or now + LINK_LIFE


@dataclass(frozen=True)
class SessionAnswer:
    """A session that was requested with a key. `action` is None if the provider requires no authentication."""

    key: uuid.UUID
    action: UserAction | None


async def _record_session(tx: Recording, activation: ActivationRow, answer: SessionAnswer) -> ActivationRow:
    """Record an opened session, unless another was requested since."""
    if activation.session_key != answer.key or activation.status is ActivationStatus.FAILED:
        return activation
    now = tx.now
    activation.session_key = activation.asked_on = None
    if answer.action is not None:
        record_link(activation, answer.action, now)
    elif activation.status is ActivationStatus.COMPLETED:
        activation.enrolled_email, activation.enrolled_on = activation.session_email, now
    activation.check_on = next_check(activation, now)
    return activation


async def record_reported_data(services: Services, activation_id: uuid.UUID, digest: str) -> None:
    """Save the digest of the data sent to the provider, so that the same data are not sent again."""
    async with services.db.sessions() as db, db.begin():
        _, activation = await locked_activation(db, activation_id)
        activation.told_digest = digest
        if activation.status is not ActivationStatus.FAILED:
            activation.failure = None


@dataclass(frozen=True)
class WalletAnswer:
    """The wallet of an account; none was opened if inflows are blocked."""

    wallet_id: str
    blocks: Blocks
    enrolment: Enrolment | None


async def _record_wallet(tx: Recording, activation: ActivationRow, answer: WalletAnswer) -> ActivationRow:
    """Activate the payments once the wallet is open, and emit the event; no effect if done already. If inflows are
    blocked, the activation fails.
    """
    if activation.status is not ActivationStatus.PROCESSING:
        return activation
    partner, blocks, enrolment = await partner_of(tx.db, activation), answer.blocks, answer.enrolment
    if blocks.inflows:
        activation.failure_message = f"The provider has stopped what comes in, by its code {blocks.code or '-'}."
        fail(partner, activation, ActivationFailureReason.ACCOUNT_BLOCKED)
        return activation
    partner.provider_user_id, partner.provider_wallet_id = activation.account_id, answer.wallet_id
    partner.payments_active = True
    activation.outflows_blocked = blocks.outflows
    activation.enrolled_on = (enrolment.last_on if enrolment else None) or tx.now
    transition(activation, ActivationStatus.COMPLETED)
    activation.check_on = next_check(activation, tx.now)
    await _emit_activated(tx.db, partner, activation)
    return activation


async def _emit_activated(db: AsyncSession, partner: PartnerRow, activation: ActivationRow) -> None:
    data = {
        "id": partner.id,
        "uuid": str(partner.uuid),
        "source_id": partner.source_id,
        "activation_id": str(activation.id),
    }
    kind, once = EventType.PARTNER_PAYMENTS_ACTIVATED, str(activation.id)
    await emit(db, NewEvent(kind, partner_id=partner.id, subject=str(partner.id), data=data, unique_key=once))


@dataclass(frozen=True)
class ReviewAnswer:
    """The state of the account of a completed activation. `enrolment` is None if no new authentication is awaited."""

    blocks: Blocks
    enrolment: Enrolment | None
    account: AccountStatus


async def _record_review(tx: Recording, activation: ActivationRow, answer: ReviewAnswer) -> ActivationRow:
    """Record the blocks of a completed activation, and a new authentication of its representative."""
    if activation.status is not ActivationStatus.COMPLETED:
        return activation
    partner, blocks = await partner_of(tx.db, activation), answer.blocks
    activation.inflows_blocked, activation.outflows_blocked = blocks.inflows, blocks.outflows
    partner.payments_active = not blocks.inflows
    last_on = answer.enrolment.last_on if answer.enrolment else None
    anew = last_on is not None and (activation.enrolled_on is None or last_on > activation.enrolled_on)
    if anew or (not activation.enrolled_email and answer.account is AccountStatus.ACTIVE):
        activation.enrolled_on = last_on or activation.enrolled_on
        activation.enrolled_email = activation.session_email or activation.enrolled_email
        activation.clear_link()
    activation.check_on = next_check(activation, tx.now)
    return activation


async def record_refusal(
    services: Services, activation_id: uuid.UUID, refused: InvalidRequest, *, reported_digest: str
) -> ActivationRow:
    """Save that the provider refused the data with the digest `reported_digest`. A live activation fails. A completed
    one stays completed, with a requirement, and does not send the same data again.
    """
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.status is ActivationStatus.FAILED:
            return activation
        activation.failure_field = refused_field(refused.fields, partner.company_type)[:80]
        activation.failure_message = ("; ".join(refused.fields.values()) or str(refused))[:LONGEST_MESSAGE]
        activation.failure_request_id = refused.request_id[:128]
        activation.failure = ActivationFailureReason.DATA_REFUSED
        activation.told_digest = reported_digest
        log.warning(
            "the provider refused a partner's data", activation=str(activation_id), field=activation.failure_field
        )
        if activation.is_live:
            fail(partner, activation, ActivationFailureReason.DATA_REFUSED)
        activation.check_on = next_check(activation, services.clock.now())
        return activation


async def give_up(services: Services, activation_id: uuid.UUID, reason: ActivationFailureReason) -> ActivationRow:
    """Fail the activation, unless it is final already."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.is_live:
            if not activation.account_id:
                activation.failure_message = f"{reason.description} It would have the tag {activation.account_key}."
            fail(partner, activation, reason)
        return activation


def fail(partner: PartnerRow, activation: ActivationRow, reason: ActivationFailureReason) -> None:
    """Fail a locked activation. For reasons in FORGET_ACCOUNT the partner also loses its account, wallet and active
    payments.
    """
    log.warning("an activation failed", activation=str(activation.id), partner=partner.id, reason=str(reason))
    activation.failure = reason
    activation.clear_link()
    activation.check_on = activation.busy_until = None
    transition(activation, ActivationStatus.FAILED)
    if reason in FORGET_ACCOUNT:
        partner.provider_user_id = partner.provider_wallet_id = ""
        partner.payments_active = False


ACCOUNT = ProviderCall(lock=lock_activation, record=_record_account)
SESSION = ProviderCall(lock=lock_activation, record=_record_session)
WALLET = ProviderCall(lock=lock_activation, record=_record_wallet)
REVIEW = ProviderCall(lock=lock_activation, record=_record_review)
