"""All background work on one page: the handler of each kind of job, and the scheduled tasks.

Every handler is safe to run twice, concurrently or after a crash: a worker may be killed between the effect and its
record.
"""

import datetime as dt
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from resolvers import api_request as api_log
from resolvers import audit, bank_account, ledger
from resolvers.account import links as account_links
from resolvers.account import sessions
from resolvers.activation import polling
from resolvers.cart import expiry as cart_expiry
from resolvers.core import idempotency
from resolvers.core.services import Services
from resolvers.export import expiry as export_expiry
from resolvers.export import running as exports
from resolvers.invoice import issuing
from resolvers.job import expiry, jobs, provider_notifications
from resolvers.kyc import levels
from resolvers.mail import delivery
from resolvers.media import sweep
from resolvers.payment.checkout import completion
from resolvers.payment.checkout import polling as payment_polling
from resolvers.payment.disputes import following
from resolvers.payment.page import process
from resolvers.payment.payouts import document_jobs, gathering
from resolvers.payment.payouts import sending as payout_sending
from resolvers.payment.reconciliation import runs as reconciliations
from resolvers.payment.refunds import request_answers
from resolvers.payment.refunds import sending as refund_sending
from resolvers.personal_data import retention
from resolvers.webhook import delivery as webhook_delivery
from store.core.retries import RetryPolicy
from store.job.jobs import JobKind
from store.providers.base import Subject
from store.providers.call_budget import CallClass

Payload: TypeAlias = Mapping[str, Any]
Handler: TypeAlias = Callable[[Services, Payload], Awaitable[None]]


@dataclass(frozen=True)
class JobHandler:
    """The handler of a kind of job, its retry policy, and what its calls of the provider are for."""

    run: Handler
    retries: RetryPolicy
    calls: CallClass = CallClass.SWEEP
    give_up: Handler | None = None
    """Runs when the last try has failed; None if nothing is to be done."""


@dataclass(frozen=True)
class ScheduledTask:
    """A task run on a schedule, by one worker at a time."""

    cron: str
    """Cron expression in UTC: minute, hour, day of the month, month, day of the week."""
    run: Callable[[Services], Awaitable[object]]


async def _poll_attempt(services: Services, payload: Payload) -> None:
    await payment_polling.CHECKS.poll(services, uuid.UUID(payload["id"]))


async def _delete_cart(services: Services, payload: Payload) -> None:
    cart_id = uuid.UUID(payload["cart_id"])
    await completion.delete_cart(services, payload["partner_id"], cart_id, payload["last_modified"])


async def _dispatch_notification(services: Services, payload: Payload) -> None:
    event, notified = payload.get("event", ""), payload.get("notified", False)
    await provider_notifications.dispatch_notification(
        services, Subject(payload["subject"]), payload["id"], event=event, notified=notified
    )


async def _check_bank_accounts(services: Services, payload: Payload) -> None:
    await bank_account.poll_bank_accounts(services, payload["partner_id"])


async def _check_kyc(services: Services, payload: Payload) -> None:
    await levels.CHECKS.poll(services, payload["partner_id"])


async def _check_payin(services: Services, payload: Payload) -> None:
    await process.CHECKS.poll(services, payload["id"])


async def _end_payment(services: Services, payload: Payload) -> None:
    await process.ENDS.poll(services, uuid.UUID(payload["id"]))


async def _make_payout_document(services: Services, payload: Payload) -> None:
    await document_jobs.make_next(services, payload["id"])


async def _send_payout(services: Services, payload: Payload) -> None:
    await payout_sending.CHECKS.poll(services, payload["id"])


async def _send_refund(services: Services, payload: Payload) -> None:
    await refund_sending.CHECKS.poll(services, payload["id"])


async def _approve_withdrawal(services: Services, payload: Payload) -> None:
    await request_answers.approve_withdrawal(services, payload["id"])


async def _leave_withdrawal(services: Services, payload: Payload) -> None:
    await request_answers.leave_to_staff(services, payload["id"])


async def _reconcile(services: Services, payload: Payload) -> None:
    await reconciliations.CHECKS.poll(services, payload["id"])


async def _check_dispute(services: Services, payload: Payload) -> None:
    await following.CHECKS.poll(services, uuid.UUID(payload["id"]))


async def _send_mail(services: Services, payload: Payload) -> None:
    await delivery.send(services, payload["id"])


async def _fan_out_events(services: Services, payload: Payload) -> None:
    await webhook_delivery.fan_out(services, payload["id"])


async def _poll_activation(services: Services, payload: Payload) -> None:
    await polling.CHECKS.poll(services, uuid.UUID(payload["id"]))


async def _deliver_webhooks(services: Services, payload: Payload) -> None:
    await webhook_delivery.deliver(services, payload["id"])


SHORT_RETRIES = RetryPolicy(
    first_pause=dt.timedelta(seconds=1), longest_pause=dt.timedelta(minutes=5), total_duration=dt.timedelta(hours=2)
)
"""For jobs that a customer waits for, or that a sweep repeats."""
DAY_RETRIES = RetryPolicy(
    first_pause=dt.timedelta(seconds=1), longest_pause=dt.timedelta(hours=1), total_duration=dt.timedelta(days=1)
)
"""For jobs that must outlast a long outage of another system."""

HANDLERS: Mapping[JobKind, JobHandler] = {
    JobKind.APPROVE_WITHDRAWAL: JobHandler(_approve_withdrawal, SHORT_RETRIES, give_up=_leave_withdrawal),
    JobKind.CHECK_BANK_ACCOUNTS: JobHandler(_check_bank_accounts, SHORT_RETRIES),
    JobKind.CHECK_DISPUTE: JobHandler(_check_dispute, SHORT_RETRIES),
    JobKind.CHECK_KYC: JobHandler(_check_kyc, SHORT_RETRIES),
    JobKind.CHECK_PAYIN: JobHandler(_check_payin, SHORT_RETRIES),
    JobKind.DELIVER_WEBHOOKS: JobHandler(_deliver_webhooks, SHORT_RETRIES),
    JobKind.DROP_CART: JobHandler(_delete_cart, DAY_RETRIES),
    JobKind.END_PAYMENT: JobHandler(_end_payment, SHORT_RETRIES),
    JobKind.MAKE_PAYOUT_DOCUMENT: JobHandler(_make_payout_document, SHORT_RETRIES),
    JobKind.PROVIDER_HINT: JobHandler(_dispatch_notification, SHORT_RETRIES, CallClass.PAYOUT),
    JobKind.RECONCILE: JobHandler(_reconcile, SHORT_RETRIES),
    JobKind.SEND_MAIL: JobHandler(_send_mail, DAY_RETRIES),
    JobKind.SEND_PAYOUT: JobHandler(_send_payout, SHORT_RETRIES, CallClass.PAYOUT),
    JobKind.SEND_REFUND: JobHandler(_send_refund, SHORT_RETRIES),
    JobKind.SETTLE_ATTEMPT: JobHandler(_poll_attempt, SHORT_RETRIES),
    JobKind.SORT_EVENTS: JobHandler(_fan_out_events, SHORT_RETRIES),
    JobKind.WATCH_ACTIVATION: JobHandler(_poll_activation, SHORT_RETRIES),
    JobKind.WRITE_EXPORT: JobHandler(exports.write_next, SHORT_RETRIES, give_up=exports.give_up),
}
SCHEDULES: Mapping[str, ScheduledTask] = {
    "erase_old_data": ScheduledTask("47 2 * * *", retention.erase_old_data),
    "expire_gift_card_holds": ScheduledTask("* * * * *", expiry.expire_gift_card_holds),
    "expire_gift_cards": ScheduledTask("3 * * * *", expiry.expire_gift_cards),
    "expire_payment_requests": ScheduledTask("* * * * *", expiry.expire_payment_requests),
    "expire_vouchers": ScheduledTask("2 * * * *", expiry.expire_vouchers),
    "fold_ledger": ScheduledTask("*/5 * * * *", ledger.fold),
    "follow_missed_disputes": ScheduledTask("11 * * * *", following.follow_missed_disputes),
    "forget_account_links": ScheduledTask("51 3 * * *", account_links.prune),
    "forget_events": ScheduledTask("53 3 * * *", webhook_delivery.prune_events),
    "forget_origins": ScheduledTask("49 3 * * *", sessions.forget_origins),
    "gather_payouts": ScheduledTask("7 * * * *", gathering.gather_payouts),
    "issue_invoices": ScheduledTask("27 * * * *", issuing.issue_invoices),
    "provider_catch_up": ScheduledTask("*/15 * * * *", payment_polling.enqueue_missed_events),
    "prune_api_requests": ScheduledTask("19 3 * * *", api_log.prune),
    "prune_audit_entries": ScheduledTask("17 3 * * *", audit.prune_entries),
    "prune_exports": ScheduledTask("43 * * * *", export_expiry.prune),
    "prune_jobs": ScheduledTask("37 * * * *", jobs.prune),
    "prune_kept_answers": ScheduledTask("23 * * * *", idempotency.prune),
    "prune_mail": ScheduledTask("41 3 * * *", delivery.prune),
    "reconcile": ScheduledTask("23 1 * * *", reconciliations.begin_reconciliation),
    "remind_customers": ScheduledTask("*/5 * * * *", expiry.remind_customers),
    "seal_ledger": ScheduledTask("2-59/5 * * * *", ledger.seal),
    "sweep_activations": ScheduledTask("* * * * *", polling.CHECKS.sweep),
    "sweep_attempts": ScheduledTask("* * * * *", payment_polling.CHECKS.sweep),
    "sweep_disputes": ScheduledTask("* * * * *", following.CHECKS.sweep),
    "sweep_exports": ScheduledTask("* * * * *", exports.sweep),
    "sweep_kyc": ScheduledTask("*/5 * * * *", levels.sweep_kyc),
    "sweep_mail": ScheduledTask("* * * * *", delivery.sweep),
    "sweep_media": ScheduledTask("29 4 * * *", sweep.sweep_media),
    "sweep_payins": ScheduledTask("* * * * *", process.CHECKS.sweep),
    "sweep_payments": ScheduledTask("* * * * *", process.ENDS.sweep),
    "sweep_payout_documents": ScheduledTask("* * * * *", document_jobs.sweep),
    "sweep_payouts": ScheduledTask("* * * * *", payout_sending.CHECKS.sweep),
    "sweep_reconciliations": ScheduledTask("* * * * *", reconciliations.CHECKS.sweep),
    "sweep_refunds": ScheduledTask("* * * * *", refund_sending.CHECKS.sweep),
    "sweep_webhooks": ScheduledTask("* * * * *", webhook_delivery.sweep),
    "tell_expired_carts": ScheduledTask("* * * * *", cart_expiry.emit_expired_carts),
    "verify_ledger": ScheduledTask("11 2 * * *", ledger.verify),
}
