"""The worker: jobs are run by PgQueuer from the same database, whichever process put them there."""

from resolvers.payment import refund_notifications
from resolvers.payment.checkout import polling
from schema.checkout.checkout import ProductChoice
from store.job.jobs import JobKind, enqueue_job
from store.providers.base import Subject
from tests.fixtures.shop import Shop


async def test_a_notification_becomes_an_order_and_the_cart_goes(shop: Shop, workers: None) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    for _ in range(3):
        async with shop.services.db.sessions() as db, db.begin():
            await enqueue_job(db, JobKind.PROVIDER_HINT, {"subject": Subject.PAYIN, "id": payin})
    await shop.becomes("SELECT count(*) FROM shop_order", 1)
    await shop.becomes("SELECT count(*) FROM pgqueuer", 0)
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is None
    assert await shop.count("shop_order") == 1


async def test_a_hint_about_somebody_elses_transaction_is_nothing(shop: Shop) -> None:
    await polling.handle_notification(shop.services, "payin_m_unknown")
    await refund_notifications.handle_refund_notification(shop.services, "refund_m_unknown")
    assert await shop.count("shop_order") == 0


async def test_lost_notifications_are_caught_up(shop: Shop, workers: None) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    assert await polling.enqueue_missed_events(shop.services) > 0
    await shop.becomes("SELECT count(*) FROM shop_order", 1)


async def test_a_replaced_cart_outlives_the_order(shop: Shop) -> None:
    candle = await shop.product()
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    started = await shop.start(key, seen)
    await shop.services.carts.replace(shop.partner.id, key.cart_id, [], "")
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    assert await shop.count("shop_order") == 1
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is not None
