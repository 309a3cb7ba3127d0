"""Notifications and the event list. Both are hints: the object itself is read for its state."""

import datetime as dt
import hmac
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import parse_qs, quote, unquote

import structlog

from store.providers.base import EventHint, InboundWebhook, Subject, WebhookRejected
from store.providers.errors import InvalidRequest, NotAllowed, ProviderError
from store.providers.keys import new_idempotency_key
from store.providers.mangopay.client import Client, Query, segment
from store.providers.mangopay.objects import Hook, Json, MangopayEvent

_TYPES: Mapping[Subject, Sequence[str]] = {
    Subject.PAYIN: ("PAYIN_NORMAL_CREATED", "PAYIN_NORMAL_SUCCEEDED", "PAYIN_NORMAL_FAILED"),
    Subject.REFUND: (
        "PAYIN_REFUND_CREATED",
        "PAYIN_REFUND_SUCCEEDED",
        "PAYIN_REFUND_FAILED",
        "TRANSFER_REFUND_CREATED",
        "TRANSFER_REFUND_SUCCEEDED",
        "TRANSFER_REFUND_FAILED",
        "PAYOUT_REFUND_CREATED",
        "PAYOUT_REFUND_SUCCEEDED",
        "PAYOUT_REFUND_FAILED",
    ),
    Subject.TRANSFER: ("TRANSFER_NORMAL_CREATED", "TRANSFER_NORMAL_SUCCEEDED", "TRANSFER_NORMAL_FAILED"),
    Subject.PAYOUT: ("PAYOUT_NORMAL_CREATED", "PAYOUT_NORMAL_SUCCEEDED", "PAYOUT_NORMAL_FAILED"),
    Subject.DISPUTE: (
        "DISPUTE_CREATED",
        "DISPUTE_ACTION_REQUIRED",
        "DISPUTE_SUBMITTED",
        "DISPUTE_SENT_TO_BANK",
        "DISPUTE_FURTHER_ACTION_REQUIRED",
        "DISPUTE_CLOSED",
    ),
    Subject.DISPUTE_DOCUMENT: ("DISPUTE_DOCUMENT_SUCCEEDED", "DISPUTE_DOCUMENT_FAILED"),
    Subject.REPUDIATION: (
        "PAYIN_REPUDIATION_CREATED",
        "PAYIN_REPUDIATION_SUCCEEDED",
        "PAYIN_REPUDIATION_FAILED",
    ),
    Subject.SETTLEMENT: (
        "TRANSFER_SETTLEMENT_CREATED",
        "TRANSFER_SETTLEMENT_SUCCEEDED",
        "TRANSFER_SETTLEMENT_FAILED",
    ),
    Subject.ACCOUNT: (
        "USER_ACCOUNT_VALIDATION_ASKED",
        "USER_ACCOUNT_ACTIVATED",
        "USER_ACCOUNT_CLOSED",
        "SCA_ENROLLMENT_SUCCEEDED",
        "SCA_ENROLLMENT_FAILED",
        "SCA_ENROLLMENT_EXPIRED",
        "USER_KYC_REGULAR",
        "USER_KYC_LIGHT",
        "USER_KYC_RENEWAL_REQUIRED",
        "USER_KYC_RENEWED",
        "USER_INFLOWS_BLOCKED",
        "USER_INFLOWS_UNBLOCKED",
        "USER_OUTFLOWS_BLOCKED",
        "USER_OUTFLOWS_UNBLOCKED",
    ),
    Subject.IDENTITY_CHECK: (
        "IDENTITY_VERIFICATION_PENDING",
        "IDENTITY_VERIFICATION_VALIDATED",
        "IDENTITY_VERIFICATION_FAILED",
        "IDENTITY_VERIFICATION_INCONCLUSIVE",
        "IDENTITY_VERIFICATION_OUTDATED",
        "IDENTITY_VERIFICATION_TIMEOUT",
        "IDENTITY_VERIFICATION_EXPIRED",
        "IDENTITY_VERIFICATION_PENDING_PSC_ACTION",
    ),
    Subject.OWNER_CHECK: (
        "IDENTITY_VERIFICATION_PSC_PENDING",
        "IDENTITY_VERIFICATION_PSC_VALIDATED",
        "IDENTITY_VERIFICATION_PSC_REJECTED",
        "IDENTITY_VERIFICATION_PSC_ABANDONED",
    ),
    Subject.DOCUMENT: ("KYC_CREATED", "KYC_VALIDATION_ASKED", "KYC_SUCCEEDED", "KYC_FAILED", "KYC_OUTDATED"),
    Subject.DESTINATION: ("RECIPIENT_ACTIVE", "RECIPIENT_CANCELED", "RECIPIENT_DEACTIVATED"),
}
EVENT_TYPES: Mapping[str, Subject] = {type: subject for subject, types in _TYPES.items() for type in types}
"""The event types that concern us -> their subject."""

EVENT_RETENTION = dt.timedelta(days=45) - dt.timedelta(hours=1)
"""How far back the event list goes, less a margin for clock differences."""

log = structlog.stdlib.get_logger(__name__)


def read_notification(request: InboundWebhook, secret: str) -> Sequence[EventHint]:
    """The events of a notification. Its path must end with the secret, because Mangopay does not sign notifications."""
    path_secret = unquote(request.path.rstrip("/").rpartition("/")[2])
    if not hmac.compare_digest(path_secret.encode(), secret.encode()):
        raise WebhookRejected("The notification does not hold the secret.")
    if request.method != "GET":
        raise WebhookRejected(f"The provider notifies by GET, not {request.method}.")
    query = parse_qs(request.query, keep_blank_values=True)
    type, resource_id, date = (_only(query, name) for name in ("EventType", "RessourceId", "Date"))
    if len(resource_id) > 128 or not resource_id.isprintable():
        raise WebhookRejected("The notification's RessourceId is no id.")
    hint = _hint(type, resource_id, _moment(date))
    return [hint] if hint else []


async def register(client: Client, base_url: str, secret: str, alert_email: str) -> None:
    """Register all event types at `base_url`/`secret`, and repair wrong or broken registrations.

    The provider writes to `alert_email`, if set, when its notifications fail. A refused event type is logged and
    skipped; if all types are refused, the error is raised.
    """
    url = f"{base_url.rstrip('/')}/{quote(secret, safe='')}"
    refused = await _register(client, url, alert_email)
    if refused:
        # A type has one hook. If another process has registered it meanwhile, the second round finds it.
        refused = await _register(client, url, alert_email)
    for type, error in refused.items():
        fields = error.fields if isinstance(error, InvalidRequest) else {}
        details = {"event_type": type, "error": str(error), "fields": fields}
        log.error("the provider refused to register a notification", provider="mangopay", **details)
    if len(refused) == len(EVENT_TYPES):
        raise next(iter(refused.values()))


async def list_all_events(client: Client, since: dt.datetime, now: dt.datetime) -> AsyncIterator[EventHint]:
    """The events since a moment, type after type, because Mangopay lists one type at a time.

    A refused type is skipped, and its error is raised at the end.
    """
    oldest = max(since, now - EVENT_RETENTION)
    refused: InvalidRequest | None = None
    for type in EVENT_TYPES:
        try:
            async for event in list_events(client, type, oldest):
                if hint := _hint(event.event_type, event.resource_id, event.date):
                    yield hint
        except InvalidRequest as error:
            refused = refused or error
    if refused:
        raise refused


async def list_events(client: Client, type: str, since: dt.datetime) -> AsyncIterator[MangopayEvent]:
    """The events of one type since a moment, oldest first."""
    query: Query = {"EventType": type, "AfterDate": int(since.timestamp()) - 1, "Sort": "Date:ASC"}
    async for event in client.list("/events", MangopayEvent, query):
        yield event


async def _register(client: Client, url: str, alert_email: str) -> dict[str, ProviderError]:
    """Register missing types and repair broken hooks; returns the errors of the refused types."""
    registered: dict[str, Hook] = {}
    async for hook in client.list("/hooks", Hook, {}):
        registered.setdefault(hook.event_type, hook)
    refused: dict[str, ProviderError] = {}
    if added := len(EVENT_TYPES.keys() - registered.keys()):
        log.info("registering for the provider's notifications", provider="mangopay", event_types=added)
    for type in EVENT_TYPES:
        try:
            if type in registered:
                await _repair(client, registered[type], url)
            else:
                await _add(client, type, url, alert_email)
        except (InvalidRequest, NotAllowed) as error:
            refused[type] = error
    return refused


async def _add(client: Client, type: str, url: str, alert_email: str) -> None:
    body = {"EventType": type, "Url": url} | ({"Email": alert_email} if alert_email else {})
    await client.create("/hooks", body, Hook, new_idempotency_key())


async def _repair(client: Client, hook: Hook, url: str) -> None:
    broken = hook.validity == "INVALID"
    if hook.url == url and hook.status == "ENABLED" and not broken:
        return
    path = f"/hooks/{segment(hook.id)}"
    enabled: Json = {"Url": url, "Status": "ENABLED"}
    if broken and hook.status == "ENABLED":
        await client.put(path, {"Status": "DISABLED"}, Hook)  # only enabling makes an invalid hook valid again
    await client.put(path, enabled, Hook)
    log.info(
        "a provider notification was repaired", provider="mangopay", event_type=hook.event_type, validity=hook.validity
    )


def _hint(type: str, resource_id: str, at: dt.datetime) -> EventHint | None:
    subject = EVENT_TYPES.get(type)
    if subject is None:
        return None
    return EventHint(f"{type}:{resource_id}:{int(at.timestamp())}", type, subject, resource_id, at)


def _only(query: Mapping[str, Sequence[str]], name: str) -> str:
    match query.get(name):
        case [value] if value:
            return value
        case _:
            raise WebhookRejected(f"The notification must have one {name}.")


def _moment(text: str) -> dt.datetime:
    if not re.fullmatch("[0-9]{1,11}", text):
        raise WebhookRejected("The notification's Date is no time.")
    return dt.datetime.fromtimestamp(int(text), dt.UTC)
