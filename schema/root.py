"""The whole API on a page."""

import strawberry

from resolvers import audit_entries, auth, carts, coupons, deliveries, events, jobs, mails, orders, products, webhooks
from schema.graph.fields import answered_by, changed_by
from schema.graph.schema import schema_of


@strawberry.type(description="Everything that can be read.")
class Query:
    """Everything that can be read."""

    audit_entries = answered_by(audit_entries.audit_entries)
    coupon = answered_by(coupons.coupon)
    coupons = answered_by(coupons.coupons)
    delivery_mode = answered_by(deliveries.delivery_mode)
    delivery_modes = answered_by(deliveries.delivery_modes)
    ecommerce_cart = answered_by(carts.ecommerce_cart)
    events = answered_by(events.events)
    job = answered_by(jobs.job)
    jobs = answered_by(jobs.jobs)
    mail = answered_by(mails.mail)
    mails = answered_by(mails.mails)
    me = answered_by(auth.me)
    order = answered_by(orders.order, orders.order_with_uuid)
    orders = answered_by(orders.orders)
    product = answered_by(products.product)
    products = answered_by(products.products)
    webhook_deliveries = answered_by(webhooks.webhook_deliveries)
    webhook_endpoint = answered_by(webhooks.webhook_endpoint)
    webhook_endpoints = answered_by(webhooks.webhook_endpoints)


@strawberry.type(description="Everything that can be changed. What a user can put right is told in `userErrors`.")
class Mutation:
    """Everything that can be changed."""

    create_coupon = changed_by(coupons.create_coupon)
    create_delivery_mode = changed_by(deliveries.create_delivery_mode)
    create_product = changed_by(products.create_product)
    create_product_attribute = changed_by(products.create_product_attribute)
    create_product_variant = changed_by(products.create_product_variant)
    create_webhook_endpoint = changed_by(webhooks.create_webhook_endpoint)
    delete_product_attribute = changed_by(products.delete_product_attribute)
    delete_webhook_endpoint = changed_by(webhooks.delete_webhook_endpoint)
    discard_job = changed_by(jobs.discard_job)
    obtain_token = changed_by(auth.obtain_token)
    replay_webhooks = changed_by(webhooks.replay_webhooks, result="count")
    resend_mail = changed_by(mails.resend_mail)
    retry_job = changed_by(jobs.retry_job)
    revoke_token = changed_by(auth.revoke_token)
    rotate_webhook_secret = changed_by(webhooks.rotate_webhook_secret)
    save_ecommerce_cart = changed_by(carts.save_ecommerce_cart)
    test_webhook_endpoint = changed_by(webhooks.test_webhook_endpoint)
    update_coupon = changed_by(coupons.update_coupon)
    update_delivery_mode = changed_by(deliveries.update_delivery_mode)
    update_product = changed_by(products.update_product)
    update_product_attribute = changed_by(products.update_product_attribute)
    update_product_variant = changed_by(products.update_product_variant)
    update_webhook_endpoint = changed_by(webhooks.update_webhook_endpoint)


schema = schema_of(Query, Mutation)


def sdl() -> str:
    """The schema in its own language, as `schema.graphql` holds it."""
    return schema.as_str() + "\n"
