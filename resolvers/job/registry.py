"""All that is done beside the requests, on a page: what each kind of job does, and what is done again and again.

Every handler is safe to run twice, at once or after a crash: a worker may be killed between the effect and its note of it.
"""

import datetime as dt
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from resolvers import audit, bank_account
from resolvers.activation import polling
from resolvers.cart import expiry as cart_expiry
from resolvers.core import idempotency
from resolvers.core.context import Services
from resolvers.job import expiry, jobs, provider_notifications
from resolvers.kyc.levels import check_kyc, sweep_kyc
from resolvers.mail import delivery
from resolvers.media import sweep
from resolvers.payment import completion
from resolvers.payment import polling as payment_polling
from resolvers.webhook import delivery as webhook_delivery
from store.job.jobs import Job, Retries
from store.providers.base import Subject

Payload: TypeAlias = Mapping[str, Any]
Handler: TypeAlias = Callable[[Services, Payload], Awaitable[None]]


@dataclass(frozen=True)
class Work:
    """What is done for a kind of job, and how long it is tried when it fails."""

    handler: Handler
    retries: Retries


@dataclass(frozen=True)
class Task:
    """Something done on a schedule, by one worker at a time."""

    when: str
    """Minute, hour, day of the month, month, day of the week, as cron has them; UTC."""
    run: Callable[[Services], Awaitable[object]]


async def _settle_attempt(services: Services, payload: Payload) -> None:
    await payment_polling.settle_attempt(services, uuid.UUID(payload["id"]))


async def _drop_cart(services: Services, payload: Payload) -> None:
    cart_id = uuid.UUID(payload["cart_id"])
    await completion.drop_cart(services, payload["partner_id"], cart_id, payload["last_modified"])


async def _provider_hint(services: Services, payload: Payload) -> None:
    await provider_notifications.follow(services, Subject(payload["subject"]), payload["id"])


async def _check_bank_accounts(services: Services, payload: Payload) -> None:
    await bank_account.watch_bank_accounts(services, payload["partner_id"])


async def _check_kyc(services: Services, payload: Payload) -> None:
    await check_kyc(services, payload["partner_id"])


async def _send_mail(services: Services, payload: Payload) -> None:
    await delivery.send(services, payload["id"])


async def _sort_events(services: Services, payload: Payload) -> None:
    await webhook_delivery.sort(services, payload["id"])


async def _watch_activation(services: Services, payload: Payload) -> None:
    await polling.watch(services, uuid.UUID(payload["id"]))


async def _deliver_webhooks(services: Services, payload: Payload) -> None:
    await webhook_delivery.deliver(services, payload["id"])


SOON = Retries(first=dt.timedelta(seconds=1), longest=dt.timedelta(minutes=5), lasting=dt.timedelta(hours=2))
"""For what a customer waits for, and what a sweep sees to again."""
A_DAY = Retries(first=dt.timedelta(seconds=1), longest=dt.timedelta(hours=1), lasting=dt.timedelta(days=1))
"""For what must outlast a long outage of somebody else."""

HANDLERS: Mapping[Job, Work] = {
    Job.CHECK_BANK_ACCOUNTS: Work(_check_bank_accounts, SOON),
    Job.CHECK_KYC: Work(_check_kyc, SOON),
    Job.DELIVER_WEBHOOKS: Work(_deliver_webhooks, SOON),
    Job.DROP_CART: Work(_drop_cart, A_DAY),
    Job.PROVIDER_HINT: Work(_provider_hint, SOON),
    Job.SEND_MAIL: Work(_send_mail, A_DAY),
    Job.SETTLE_ATTEMPT: Work(_settle_attempt, SOON),
    Job.SORT_EVENTS: Work(_sort_events, SOON),
    Job.WATCH_ACTIVATION: Work(_watch_activation, SOON),
}
SCHEDULES: Mapping[str, Task] = {
    "expire_gift_card_holds": Task("* * * * *", expiry.expire_gift_card_holds),
    "expire_gift_cards": Task("3 * * * *", expiry.expire_gift_cards),
    "expire_vouchers": Task("2 * * * *", expiry.expire_vouchers),
    "forget_events": Task("53 3 * * *", webhook_delivery.forget),
    "provider_catch_up": Task("*/15 * * * *", payment_polling.catch_up),
    "prune_audit_entries": Task("17 3 * * *", audit.prune_entries),
    "prune_jobs": Task("37 * * * *", jobs.prune),
    "prune_kept_answers": Task("23 * * * *", idempotency.prune),
    "prune_mail": Task("41 3 * * *", delivery.prune),
    "sweep_activations": Task("* * * * *", polling.sweep),
    "sweep_attempts": Task("* * * * *", payment_polling.sweep),
    "sweep_kyc": Task("*/5 * * * *", sweep_kyc),
    "sweep_mail": Task("* * * * *", delivery.sweep),
    "sweep_media": Task("29 4 * * *", sweep.sweep_media),
    "sweep_webhooks": Task("* * * * *", webhook_delivery.sweep),
    "tell_expired_carts": Task("* * * * *", cart_expiry.tell_expired),
}
