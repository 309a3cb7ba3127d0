"""The whole API on a page."""

import strawberry

from resolvers import audit, bank_account, document, event
from resolvers import coupon as coupons
from resolvers import delivery as deliveries
from resolvers import order as orders
from resolvers import product as products
from resolvers.account import tokens, users
from resolvers.activation import activation, resolution
from resolvers.cart import carts
from resolvers.catalogue import option_categories, option_links, options, prototypes, taxonomy
from resolvers.gift_card import gift_cards, holds, offers, spending
from resolvers.gift_card import issuing as gift_card_issuing
from resolvers.job import jobs
from resolvers.kyc import documents as kyc_documents
from resolvers.kyc import identity, levels
from resolvers.mail import mails
from resolvers.media import media as medias
from resolvers.onboarding import page as onboarding
from resolvers.partner import marketplaces, network_partners, partners, return_secrets
from resolvers.voucher import imports, updates, vouchers
from resolvers.voucher import issuing as voucher_issuing
from resolvers.webhook import endpoints as webhooks
from schema.graph.fields import answered_by, changed_by
from schema.graph.schema import schema_of


@strawberry.type(description="Everything that can be read.")
class Query:
    """Everything that can be read."""

    audit_entries = answered_by(audit.audit_entries)
    coupon = answered_by(coupons.coupon)
    coupons = answered_by(coupons.coupons)
    delivery_mode = answered_by(deliveries.delivery_mode)
    delivery_modes = answered_by(deliveries.delivery_modes)
    ecommerce_cart = answered_by(carts.ecommerce_cart)
    environments = answered_by(taxonomy.environments)
    events = answered_by(event.events)
    gift_card = answered_by(gift_cards.gift_card, gift_cards.gift_card_with_code)
    gift_cards = answered_by(gift_cards.gift_cards)
    job = answered_by(jobs.job)
    jobs = answered_by(jobs.jobs)
    kyc_level = answered_by(levels.kyc_level)
    mail = answered_by(mails.mail)
    mails = answered_by(mails.mails)
    marketplace = answered_by(marketplaces.marketplace, marketplaces.marketplace_with_uuid)
    marketplaces = answered_by(marketplaces.marketplaces)
    me = answered_by(tokens.me)
    media = answered_by(medias.media)
    media_by_id = answered_by(medias.media_by_id)
    order = answered_by(orders.order, orders.order_with_uuid)
    orders = answered_by(orders.orders)
    partner = answered_by(partners.partner, partners.partner_with_id)
    partner_by_company_number = answered_by(partners.partner_by_company_number)
    partners = answered_by(partners.partners)
    price_ranges = answered_by(taxonomy.price_ranges)
    product = answered_by(products.product)
    products = answered_by(products.products)
    registered_bank_accounts = answered_by(bank_account.registered_bank_accounts)
    universes = answered_by(taxonomy.universes)
    user = answered_by(users.user)
    users = answered_by(users.users)
    voucher = answered_by(vouchers.voucher, vouchers.voucher_with_id)
    voucher_option = answered_by(options.voucher_option)
    voucher_option_category = answered_by(option_categories.voucher_option_category)
    voucher_option_categories = answered_by(option_categories.voucher_option_categories)
    voucher_options = answered_by(options.voucher_options)
    voucher_prototype = answered_by(prototypes.voucher_prototype)
    voucher_prototypes = answered_by(prototypes.voucher_prototypes)
    vouchers = answered_by(vouchers.vouchers)
    webhook_deliveries = answered_by(webhooks.webhook_deliveries)
    webhook_endpoint = answered_by(webhooks.webhook_endpoint)
    webhook_endpoints = answered_by(webhooks.webhook_endpoints)


@strawberry.type(description="Everything that can be changed. What a user can put right is told in `userErrors`.")
class Mutation:
    """Everything that can be changed."""

    activate_payments = changed_by(activation.activate_payments)
    activate_gift_card = changed_by(gift_card_issuing.activate_gift_card)
    add_voucher_rental = changed_by(updates.add_voucher_rental)
    archive_media = changed_by(medias.archive_media)
    cancel_gift_card = changed_by(gift_card_issuing.cancel_gift_card)
    capture_gift_card = changed_by(holds.capture_gift_card)
    change_password = changed_by(users.change_password)
    change_site_domain = changed_by(marketplaces.change_site_domain)
    create_coupon = changed_by(coupons.create_coupon)
    create_delivery_mode = changed_by(deliveries.create_delivery_mode)
    create_environment = changed_by(taxonomy.create_environment)
    create_marketplace = changed_by(marketplaces.create_marketplace)
    create_media = changed_by(medias.create_media)
    create_network_partner = changed_by(network_partners.create_network_partner)
    create_partner = changed_by(partners.create_partner)
    create_price_range = changed_by(taxonomy.create_price_range)
    create_product = changed_by(products.create_product)
    create_product_attribute = changed_by(products.create_product_attribute)
    create_product_variant = changed_by(products.create_product_variant)
    create_universe = changed_by(taxonomy.create_universe)
    create_user = changed_by(users.create_user)
    create_voucher_option = changed_by(options.create_voucher_option)
    create_voucher_option_category = changed_by(option_categories.create_voucher_option_category)
    create_voucher_option_link = changed_by(option_links.create_voucher_option_link)
    create_voucher_prototype = changed_by(prototypes.create_voucher_prototype)
    create_webhook_endpoint = changed_by(webhooks.create_webhook_endpoint)
    delete_product_attribute = changed_by(products.delete_product_attribute)
    delete_voucher_option_link = changed_by(option_links.delete_voucher_option_link)
    delete_webhook_endpoint = changed_by(webhooks.delete_webhook_endpoint)
    discard_job = changed_by(jobs.discard_job)
    extend_gift_card = changed_by(gift_card_issuing.extend_gift_card)
    extend_voucher = changed_by(updates.extend_voucher)
    hold_gift_card = changed_by(holds.hold_gift_card)
    import_voucher = changed_by(imports.import_voucher)
    import_vouchers = changed_by(imports.import_vouchers)
    issue_gift_card = changed_by(gift_card_issuing.issue_gift_card)
    issue_voucher = changed_by(voucher_issuing.issue_voucher)
    obtain_token = changed_by(tokens.obtain_token)
    open_identity_verification = changed_by(identity.open_identity_verification)
    push_kyc_document = changed_by(kyc_documents.push_kyc_document)
    register_bank_account = changed_by(bank_account.register_bank_account)
    release_gift_card = changed_by(holds.release_gift_card)
    remove_voucher_rental = changed_by(updates.remove_voucher_rental)
    renew_voucher_document = changed_by(document.renew_voucher_document)
    replay_webhooks = changed_by(webhooks.replay_webhooks, result="count")
    resend_mail = changed_by(mails.resend_mail)
    retry_job = changed_by(jobs.retry_job)
    reverse_gift_card_capture = changed_by(spending.reverse_gift_card_capture)
    revoke_token = changed_by(tokens.revoke_token)
    rotate_return_secret = changed_by(return_secrets.rotate_return_secret)
    rotate_webhook_secret = changed_by(webhooks.rotate_webhook_secret)
    save_ecommerce_cart = changed_by(carts.save_ecommerce_cart)
    send_onboarding_link = changed_by(onboarding.send_onboarding_link)
    settle_activation = changed_by(resolution.settle_activation)
    spend_gift_card = changed_by(spending.spend_gift_card)
    test_webhook_endpoint = changed_by(webhooks.test_webhook_endpoint)
    update_coupon = changed_by(coupons.update_coupon)
    update_delivery_mode = changed_by(deliveries.update_delivery_mode)
    update_environment = changed_by(taxonomy.update_environment)
    update_gift_card_offer = changed_by(offers.update_gift_card_offer)
    update_marketplace = changed_by(marketplaces.update_marketplace)
    update_media = changed_by(medias.update_media)
    update_network_partner = changed_by(network_partners.update_network_partner)
    update_partner = changed_by(partners.update_partner)
    update_price_range = changed_by(taxonomy.update_price_range)
    update_product = changed_by(products.update_product)
    update_product_attribute = changed_by(products.update_product_attribute)
    update_product_variant = changed_by(products.update_product_variant)
    update_universe = changed_by(taxonomy.update_universe)
    update_user = changed_by(users.update_user)
    update_voucher = changed_by(updates.update_voucher)
    update_voucher_details = changed_by(updates.update_voucher_details)
    update_voucher_option = changed_by(options.update_voucher_option)
    update_voucher_option_category = changed_by(option_categories.update_voucher_option_category)
    update_voucher_option_link = changed_by(option_links.update_voucher_option_link)
    update_voucher_prototype = changed_by(prototypes.update_voucher_prototype)
    update_webhook_endpoint = changed_by(webhooks.update_webhook_endpoint)


schema = schema_of(Query, Mutation)


def sdl() -> str:
    """The schema in its own language, as `schema.graphql` holds it."""
    return schema.as_str() + "\n"
