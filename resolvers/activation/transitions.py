"""What becomes of an activation: every change of its state, each in one transaction, whoever brings the news."""

import datetime as dt
import uuid

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from schema.event import EventType
from schema.onboarding import ActivationFailureReason, ActivationStatus
from store.activation.account_requests import refused_field
from store.activation.activations import ActivationRow, locked_activation, move
from store.event.events import emit
from store.partner.partners import PartnerRow
from store.providers.accounts import Account, AccountStatus, Blocks, Enrolment
from store.providers.actions import UserAction
from store.providers.errors import InvalidRequest

log = structlog.get_logger(__name__)
LINK_LIFE = dt.timedelta(minutes=10)
PAUSES = (
    (dt.timedelta(minutes=3), dt.timedelta(seconds=30)),
    (dt.timedelta(minutes=45), dt.timedelta(minutes=1)),
    (dt.timedelta(days=1), dt.timedelta(minutes=15)),
    (dt.timedelta(days=7), dt.timedelta(hours=6)),
)
LONGEST_PAUSE = dt.timedelta(days=1)
LONGEST_MESSAGE = 500
FORGET_ACCOUNT = frozenset({ActivationFailureReason.ACCOUNT_CLOSED, ActivationFailureReason.KIND_CHANGED})
"""After these another account has to be asked for."""


def next_check(activation: ActivationRow, now: dt.datetime) -> dt.datetime | None:
    """When the worker looks again: often right after something was asked of somebody, ever more rarely later."""
    if activation.status is ActivationStatus.FAILED:
        return None
    settled = activation.enrolled_email and not activation.redirect_url
    if activation.status is ActivationStatus.COMPLETED and settled:
        return now + LONGEST_PAUSE
    since = activation.session_sent_on or activation.account_sent_on
    if since is None:
        return None
    return now + next((pause for until, pause in PAUSES if now - since < until), LONGEST_PAUSE)


async def note_account(
    services: Services, activation_id: uuid.UUID, account: Account, *, session_failed: bool = False
) -> ActivationRow:
    """The provider has told how the account stands. Late, repeated and overtaken news change nothing that is final."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        now = services.clock.now()
        if account.action is None:  # the answer to a question, and not that of the first call
            activation.asked_on = now
        if activation.status is not ActivationStatus.FAILED:
            _take_account(partner, activation, account, now, session_failed=session_failed)
        elif activation.failure is ActivationFailureReason.OUTCOME_UNKNOWN and not partner.provider_user_id:
            activation.account_id = partner.provider_user_id = account.id
        activation.check_on = next_check(activation, now)
        return activation


def _take_account(
    partner: PartnerRow, activation: ActivationRow, account: Account, now: dt.datetime, *, session_failed: bool
) -> None:
    activation.account_id = activation.account_id or account.id
    partner.provider_user_id = activation.account_id
    if account.status is AccountStatus.CLOSED:
        end(partner, activation, ActivationFailureReason.ACCOUNT_CLOSED)
    elif activation.status is not ActivationStatus.PENDING_USER_ACTION:
        if activation.status is ActivationStatus.COMPLETED and account.status is AccountStatus.ACTION_REQUIRED:
            activation.enrolled_email = ""  # what the provider knew of the representative has changed since
    elif account.status is AccountStatus.ACTIVE:
        activation.forget_link()
        activation.enrolled_email = activation.session_email or partner.legal_representative_email
        activation.wallet_sent_on = now
        move(activation, ActivationStatus.PROCESSING)
    elif session_failed:
        end(partner, activation, ActivationFailureReason.NOT_AUTHENTICATED)
    elif account.action is not None:
        note_link(activation, account.action, now)


def note_link(activation: ActivationRow, action: UserAction, now: dt.datetime) -> None:
    """Remember where the representative goes, for as long as the provider takes them there."""
    activation.redirect_url = action.url
    activation.link_expires_on = action.expires_at or now + LINK_LIFE


def note_session(activation: ActivationRow, action: UserAction | None, now: dt.datetime) -> None:
    """A session was opened for the representative, unless the provider asks nothing of this one."""
    activation.session_key = activation.asked_on = None
    if action is not None:
        note_link(activation, action, now)
    elif activation.status is ActivationStatus.COMPLETED:
        activation.enrolled_email, activation.enrolled_on = activation.session_email, now
    activation.check_on = next_check(activation, now)


async def note_told(services: Services, activation_id: uuid.UUID, digest: str) -> None:
    """The provider was told what has changed of a partner: it is not told the same again."""
    async with services.db.sessions() as db, db.begin():
        _, activation = await locked_activation(db, activation_id)
        activation.told_digest = digest
        if activation.status is not ActivationStatus.FAILED:
            activation.failure = None


async def complete(
    services: Services, activation_id: uuid.UUID, wallet_id: str, blocks: Blocks, enrolment: Enrolment | None
) -> ActivationRow:
    """The wallet is open: payments are active, and it is told once, unless somebody else has done it already."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.status is not ActivationStatus.PROCESSING:
            return activation
        if blocks.inflows:
            activation.failure_message = f"The provider has stopped what comes in, by its code {blocks.code or '-'}."
            end(partner, activation, ActivationFailureReason.ACCOUNT_BLOCKED)
            return activation
        partner.provider_user_id, partner.provider_wallet_id = activation.account_id, wallet_id
        partner.payments_active = True
        activation.outflows_blocked = blocks.outflows
        activation.enrolled_on = (enrolment.last_on if enrolment else None) or services.clock.now()
        move(activation, ActivationStatus.COMPLETED)
        activation.check_on = next_check(activation, services.clock.now())
        await _tell(db, partner, activation)
        return activation


async def _tell(db: AsyncSession, partner: PartnerRow, activation: ActivationRow) -> None:
    data = {
        "id": partner.id,
        "uuid": str(partner.uuid),
        "source_id": partner.source_id,
        "activation_id": str(activation.id),
    }
    kind, once = EventType.PARTNER_PAYMENTS_ACTIVATED, str(activation.id)
    await emit(db, kind, partner_id=partner.id, subject=str(partner.id), data=data, once=once)


async def note_review(
    services: Services, activation_id: uuid.UUID, blocks: Blocks, enrolment: Enrolment | None, account: AccountStatus
) -> ActivationRow:
    """How a completed activation stands since: what is blocked, and whether its representative has authenticated anew."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.status is not ActivationStatus.COMPLETED:
            return activation
        activation.inflows_blocked, activation.outflows_blocked = blocks.inflows, blocks.outflows
        partner.payments_active = not blocks.inflows
        last_on = enrolment.last_on if enrolment else None
        anew = last_on is not None and (activation.enrolled_on is None or last_on > activation.enrolled_on)
        if anew or (not activation.enrolled_email and account is AccountStatus.ACTIVE):
            activation.enrolled_on = last_on or activation.enrolled_on
            activation.enrolled_email = activation.session_email or activation.enrolled_email
            activation.forget_link()
        activation.check_on = next_check(activation, services.clock.now())
        return activation


async def refuse(services: Services, activation_id: uuid.UUID, refused: InvalidRequest, *, told: str) -> ActivationRow:
    """The provider does not take what it was told, of which `told` is the digest: the process has failed. A completed one
    stays, and lacks something; it does not tell the same again.
    """
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.status is ActivationStatus.FAILED:
            return activation
        activation.failure_field = refused_field(refused.fields, partner.company_type)[:80]
        activation.failure_message = ("; ".join(refused.fields.values()) or str(refused))[:LONGEST_MESSAGE]
        activation.failure_request_id = refused.request_id[:128]
        activation.failure = ActivationFailureReason.DATA_REFUSED
        activation.told_digest = told
        log.warning(
            "the provider refused a partner's data", activation=str(activation_id), field=activation.failure_field
        )
        if activation.live:
            end(partner, activation, ActivationFailureReason.DATA_REFUSED)
        activation.check_on = next_check(activation, services.clock.now())
        return activation


async def give_up(services: Services, activation_id: uuid.UUID, reason: ActivationFailureReason) -> ActivationRow:
    """It came to nothing, unless it is final already."""
    async with services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, activation_id)
        if activation.live:
            if not activation.account_id:
                activation.failure_message = f"{reason.description} It would have the tag {activation.account_key}."
            end(partner, activation, reason)
        return activation


def end(partner: PartnerRow, activation: ActivationRow, reason: ActivationFailureReason) -> None:
    """Let a locked activation fail. Without an account there are no payments either."""
    log.warning("an activation failed", activation=str(activation.id), partner=partner.id, reason=str(reason))
    activation.failure = reason
    activation.forget_link()
    activation.check_on = activation.busy_until = None
    move(activation, ActivationStatus.FAILED)
    if reason in FORGET_ACCOUNT:
        partner.provider_user_id = partner.provider_wallet_id = ""
        partner.payments_active = False
