"""Delivery of a message: claimed by one worker, rendered, passed to the mail server, retried on temporary errors."""

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import replace

import structlog
from prometheus_client import Counter, Histogram
from sqlalchemy import and_, delete, func, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.checkout.brand import Brand
from schema.mail import MailKind, MailState
from store.account.links import link_url
from store.core.brand_colours import build_brand
from store.core.mail_server import parse_sender
from store.core.settings import Settings
from store.mail.attachments import ROLES_WITH_DOCUMENTS, load_documents
from store.mail.content import (
    GiftContent,
    NetworkUsageContent,
    OrderContent,
    OrderRefundContent,
    content_of,
)
from store.mail.gift_calendar import calendar_files
from store.mail.link_content import AccountLinkContent, Content, OrderLinkContent, RefundRequestContent
from store.mail.mailer import MailDeferred, MailError, MailMessage, MailRefused
from store.mail.message import Attachment, Envelope, build_message
from store.mail.outbox import schedule_delivery
from store.mail.pictures import load_pictures
from store.mail.render import render_mail
from store.mail.rows import MailRow
from store.mail.successions import is_held_back, lock_followers
from store.order.links import order_url
from store.order.orders import OrderRow
from store.partner.brand import DEFAULT_ACCENT, brand_of, brand_of_marketplace
from store.partner.partners import MarketplaceRow, PartnerRow

log = structlog.get_logger(__name__)

CLAIM_DURATION = dt.timedelta(minutes=2)
"""How long a worker owns a message. Longer than any delivery takes, so that it expires only if the worker has died."""
CLOCK_TOLERANCE = dt.timedelta(seconds=5)
"""How far the database's clock, which decides when a job runs, may be ahead of the worker's."""
PAUSES = tuple(dt.timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 20, 40, 60, 120, 180, 240, 240, 240, 240))
"""Pauses between attempts: slightly more than 23 hours in all."""
SWEEP_BATCH = 500
"""Messages per sweep; a sweep runs every minute."""
NOT_TRUE = "It tells of another message, which has failed. Send that one again, then this one."
WITH_ORDER_PAGE = (OrderContent, OrderRefundContent, OrderLinkContent, RefundRequestContent, GiftContent)
OF_SERVICE = frozenset(
    {MailKind.ENDPOINT_DISABLED, MailKind.PASSWORD_RESET, MailKind.USER_INVITATION, MailKind.ACCOUNT_CHANGED}
)
MAILS = Counter("coffret_mails_total", "Messages, by outcome at the mail server.", ["kind", "outcome"])
SECONDS = Histogram("coffret_mail_seconds", "Duration of passing a message to the mail server.")


async def send(services: Services, mail_id: int) -> None:
    """Send a message, unless it is sent, has failed, or belongs to another worker.

    Delivery is at least once: after a crash between the server's response and its record, the message is sent again
    with the same Message-ID. Without a mail server the message stays queued.
    """
    if services.mailer is None:
        return
    mail = await _claim(services, mail_id)
    if mail is None:
        return
    begun = time.perf_counter()
    try:
        ready = await _build_message(services, mail)
        await services.mailer.send(ready)
    except MailError as error:
        await _record_failure(services, mail, error)
    except Exception as error:  # a bug in a template or bad data: logged, and retried until it is fixed
        log.exception("a message could not be rendered", mail=mail.id, kind=mail.kind)
        await _record_failure(
            services, mail, MailDeferred(f"It could not be rendered: {type(error).__name__}: {error}")
        )
    else:
        SECONDS.observe(time.perf_counter() - begun)
        await _record_sent(services, mail)


async def _claim(services: Services, mail_id: int) -> MailRow | None:
    """Claim the message if it is due and unclaimed, and waits for no other. One statement, so that only one of two workers
    gets it.
    """
    now = services.clock.now()
    claim = (
        update(MailRow)
        .where(
            col(MailRow.id) == mail_id,
            col(MailRow.state) == MailState.QUEUED,
            col(MailRow.due_on) <= now + CLOCK_TOLERANCE,
            ~is_held_back(),
        )
        .values(due_on=now + CLAIM_DURATION, tries=col(MailRow.tries) + 1)
        .returning(MailRow)
    )
    async with services.db.sessions() as db, db.begin():
        return (await db.exec(claim)).scalar_one_or_none()


async def _build_message(services: Services, mail: MailRow) -> MailMessage:
    """The message as sent. Its Message-ID and subject are saved before the first attempt."""
    settings = services.settings
    own_name, sender = parse_sender(settings.mail_from)
    about = content_of(mail.kind, mail.content)
    brought = await load_documents(services.db, settings, services.files, services.wallet_keys, mail.kind, about)
    if isinstance(about, GiftContent) and about.role in ROLES_WITH_DOCUMENTS:  # the others were taken back meanwhile
        left = tuple(item for item in about.items if item.id in brought.links.documents)
        about = about.model_copy(update={"items": left})
    async with services.db.sessions() as db:
        brand = await _brand(db, settings, mail, about, own_name)
        order_url = await _order_url(db, settings, mail, about)
    enclosed = [*brought.files, *_calendar_files(mail, about, brand)]
    account = link_url(settings, about.link) if isinstance(about, AccountLinkContent) else ""
    has_calendar = len(enclosed) > len(brought.files)
    links = replace(brought.links, order=order_url, account=account, has_calendar=has_calendar)
    pictures = await load_pictures(services.db, services.files, brand.logo_url, about)
    message = render_mail(mail.kind, about, mail.language, brand, settings.public_url, links, pictures)
    async with services.db.sessions() as db, db.begin():
        mail.message_id = mail.message_id or f"<{mail.uuid}@{sender.partition('@')[2]}>"
        mail.subject = message.subject
        noted = {"message_id": mail.message_id, "subject": mail.subject[:998]}
        await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(noted))
    answers = _replies_to(mail.kind, about, brand)
    written_on = services.clock.now()
    envelope = Envelope(mail.message_id, sender, brand.name, answers, mail.recipient, mail.language, written_on)
    return build_message(envelope, message, enclosed, pictures.enclosed())


def _calendar_files(mail: MailRow, about: Content, brand: Brand) -> Sequence[Attachment]:
    """The last days of what comes with a message, for the calendar of who gets it."""
    if not isinstance(about, GiftContent) or not about.role.attaches_documents:
        return ()
    return calendar_files(about, mail.language, brand.name, written_on=mail.created_on)


async def _order_url(db: AsyncSession, settings: Settings, mail: MailRow, about: Content) -> str:
    """The address of the page of the order that a message to its buyer is about; empty for all others."""
    for_buyer = mail.kind not in {MailKind.NEW_ORDER, MailKind.NEW_REQUEST}
    order_page = about.order_page if isinstance(about, WITH_ORDER_PAGE) and for_buyer else None
    if order_page is None:
        return ""
    host = select(PartnerRow).join(OrderRow, col(OrderRow.partner_id) == col(PartnerRow.id))
    partner = (await db.exec(host.where(col(OrderRow.uuid) == order_page))).one_or_none()
    return order_url(settings, order_page, partner.site_domain) if partner else ""


async def _brand(db: AsyncSession, settings: Settings, mail: MailRow, about: Content, own_name: str) -> Brand:
    """The brand that a message carries: the partner's, the network's, or that of the service."""
    if isinstance(about, GiftContent | NetworkUsageContent) and mail.partner_id is None:
        network = await db.get_one(MarketplaceRow, mail.marketplace_id)
        return brand_of_marketplace(network, about.accent)
    # What is addressed to the partner carries the brand of the service.
    if mail.partner_id is None or mail.kind in OF_SERVICE:
        return service_brand(settings, own_name)
    accent = about.accent if isinstance(about, GiftContent) else ""
    return brand_of(await db.get_one(PartnerRow, mail.partner_id), accent)


def _replies_to(kind: MailKind, about: Content, brand: Brand) -> str:
    """Where replies go: to the brand; of what a brand is told itself, to whom it is about."""
    if kind is MailKind.NEW_ORDER and isinstance(about, OrderContent):
        return about.email
    if kind is MailKind.NEW_REQUEST and isinstance(about, RefundRequestContent):
        return about.customer_email
    if isinstance(about, NetworkUsageContent) and about.is_for_network:
        return about.partner_email
    return brand.email


def service_brand(settings: Settings, name: str) -> Brand:
    """The brand of the installation: its name, no logo, and the default accent colour of partners."""
    return build_brand(name or settings.service_title, DEFAULT_ACCENT)


async def _record_sent(services: Services, mail: MailRow) -> None:
    values = {"state": MailState.SENT, "sent_on": services.clock.now(), "due_on": None, "last_error": ""}
    async with services.db.sessions() as db, db.begin():
        await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(values))
        for follower in await lock_followers(db, mail):
            await schedule_delivery(db, follower.id, follower.tries)
    MAILS.labels(mail.kind, "sent").inc()
    log.info("a message was sent", mail=mail.id, kind=mail.kind, tries=mail.tries)


async def _record_failure(services: Services, mail: MailRow, error: MailError) -> None:
    """Schedule a retry after a growing pause, or mark the message as failed. No effect if another worker has taken
    over.
    """
    ours = (col(MailRow.id) == mail.id, col(MailRow.tries) == mail.tries, col(MailRow.state) == MailState.QUEUED)
    given_up = isinstance(error, MailRefused) or mail.tries > len(PAUSES)
    pause = None if given_up else PAUSES[mail.tries - 1]
    due_on = None if pause is None else services.clock.now() + pause
    state = MailState.FAILED if given_up else MailState.QUEUED
    noted = {"state": state, "due_on": due_on, "last_error": str(error)[:500]}
    async with services.db.sessions() as db, db.begin():
        changed = await db.exec(update(MailRow).where(*ours).values(noted))
        if pause is not None and changed.rowcount:
            await schedule_delivery(db, mail.id, mail.tries, pause)
        elif changed.rowcount:
            for follower in await lock_followers(db, mail):
                follower.state, follower.due_on, follower.last_error = MailState.FAILED, None, NOT_TRUE
    MAILS.labels(mail.kind, "failed" if given_up else "deferred").inc()
    log.warning("a message was not sent", mail=mail.id, kind=mail.kind, tries=mail.tries, state=state, error=str(error))


async def sweep(services: Services) -> None:
    """Enqueue due messages whose job was lost, whose worker died, or that waited for a mail server to be configured."""
    if services.mailer is None:
        return
    due = select(MailRow.id, MailRow.tries).where(
        col(MailRow.state) == MailState.QUEUED, col(MailRow.due_on) <= services.clock.now()
    )
    async with services.db.sessions() as db, db.begin():
        for mail_id, tries in (await db.exec(due.order_by(col(MailRow.due_on)).limit(SWEEP_BATCH))).all():
            await schedule_delivery(db, mail_id, tries, swept=True)


async def prune(services: Services) -> int:
    """Delete messages, with their addresses, after `mail_days`; returns their number. What is to be sent later stays."""
    now = services.clock.now()
    old = col(MailRow.created_on) < now - dt.timedelta(days=services.settings.mail_days)
    later = and_(col(MailRow.state) == MailState.QUEUED, func.coalesce(col(MailRow.due_on), now) > now)
    async with services.db.sessions() as db, db.begin():
        return (await db.exec(delete(MailRow).where(old, ~later))).rowcount
