"""The GraphQL schema: all queries and mutations."""

import strawberry

import resolvers.network.holder  # noqa: F401 - registers the addresses of holders and documents
from resolvers import api_request as api_log
from resolvers import audit, bank_account, code_reveal, document, legal
from resolvers import coupon as coupons
from resolvers import delivery as deliveries
from resolvers import event as event_lists
from resolvers import ledger as ledgers
from resolvers import product as products
from resolvers import wallet as wallets
from resolvers import wallet_pass as wallet_passes  # noqa: F401 - registers the addresses of passes
from resolvers.account import api_tokens, impersonation, second_factor, sessions, tokens, users
from resolvers.account import links as account_links
from resolvers.account import passkeys as account_passkeys
from resolvers.activation import activation, resolution
from resolvers.cart import carts, multi_product_carts
from resolvers.catalogue import option_categories, option_links, options, prototypes, taxonomy
from resolvers.export import exports as list_exports
from resolvers.export import saved_filters
from resolvers.gift_card import gift_cards, holds, offers, spending
from resolvers.gift_card import imports as gift_card_imports
from resolvers.gift_card import issuing as gift_card_issuing
from resolvers.invoice import documents as invoice_documents  # noqa: F401 - registers the addresses of invoices
from resolvers.invoice import fee_statements
from resolvers.invoice import invoices as invoice_lists
from resolvers.invoice import issuing as invoice_issuing
from resolvers.job import jobs
from resolvers.kyc import documents as kyc_documents
from resolvers.kyc import identity, levels
from resolvers.mail import mails
from resolvers.media import media as medias
from resolvers.network import boxes as network_boxes
from resolvers.network import designs
from resolvers.network import gift_card_issuing as network_card_issuing
from resolvers.network import gift_card_usages as network_card_usages
from resolvers.network import gift_cards as network_cards
from resolvers.network import offers as network_offers
from resolvers.network import settlement as settlements
from resolvers.network import voucher_issuing as network_voucher_issuing
from resolvers.network import voucher_usages as network_voucher_usages
from resolvers.network import vouchers as network_vouchers
from resolvers.onboarding import page as onboarding
from resolvers.order import by_token, orders, refund_requests
from resolvers.order import customers as order_customers
from resolvers.order import details as order_details
from resolvers.order import fulfilment as order_fulfilment
from resolvers.order import mailing as order_mailing
from resolvers.order import packing_slip as packing_slips  # noqa: F401 - registers the addresses of packing slips
from resolvers.order import timeline as order_timeline  # noqa: F401 - registers the timeline of orders
from resolvers.partner import marketplaces, network_partners, partners, return_secrets
from resolvers.payment import creation as payment_creation
from resolvers.payment import fees, payments, transfers
from resolvers.payment.disputes import disputes as payment_disputes
from resolvers.payment.disputes import documents as dispute_documents
from resolvers.payment.payouts import adjustments as payout_adjustments
from resolvers.payment.payouts import documents as payout_documents
from resolvers.payment.payouts import explanation as payout_explanation
from resolvers.payment.payouts import payouts
from resolvers.payment.reconciliation import findings as reconciliation_findings
from resolvers.payment.reconciliation import lists as reconciliations
from resolvers.payment.refunds import order_refunds, refunds, request_answers
from resolvers.payment.requests import payment_requests
from resolvers.personal_data import operations as personal_data
from resolvers.report import gift_card_liabilities as liabilities
from resolvers.report import sales as sales_reports
from resolvers.voucher import imports, updates, vouchers
from resolvers.voucher import issuing as voucher_issuing
from resolvers.webhook import endpoints as webhooks
from schema.graph.fields import mutation_field, query_field
from schema.graph.schema import build_schema


@strawberry.type(description="All queries.")
class Query:
    account_link = query_field(account_links.account_link)
    api_request = query_field(api_log.api_request)
    api_requests = query_field(api_log.api_requests)
    audit_entry = query_field(audit.audit_entry)
    audit_entries = query_field(audit.audit_entries)
    box = query_field(network_boxes.box)
    boxes = query_field(network_boxes.boxes)
    coupon = query_field(coupons.coupon)
    coupons = query_field(coupons.coupons)
    customer = query_field(order_customers.customer)
    customers = query_field(order_customers.customers)
    delivery_mode = query_field(deliveries.delivery_mode)
    delivery_modes = query_field(deliveries.delivery_modes)
    dispute = query_field(payment_disputes.dispute)
    disputes = query_field(payment_disputes.disputes)
    ecommerce_cart = query_field(carts.ecommerce_cart)
    environment = query_field(taxonomy.environment)
    environments = query_field(taxonomy.environments)
    event = query_field(event_lists.event)
    events = query_field(event_lists.events)
    export = query_field(list_exports.export)
    exports = query_field(list_exports.exports)
    fee_rule = query_field(fees.fee_rule)
    fee_rules = query_field(fees.fee_rules)
    fee_statement = query_field(fee_statements.fee_statement)
    gift_card = query_field(gift_cards.gift_card, gift_cards.gift_card_with_code)
    gift_card_design = query_field(designs.gift_card_design)
    gift_card_designs = query_field(designs.gift_card_designs)
    gift_cards = query_field(gift_cards.gift_cards)
    gift_card_liabilities = query_field(liabilities.gift_card_liabilities)
    invoice = query_field(invoice_lists.invoice)
    invoices = query_field(invoice_lists.invoices)
    job = query_field(jobs.job)
    jobs = query_field(jobs.jobs)
    kyc_level = query_field(levels.kyc_level)
    ledger_findings = query_field(ledgers.ledger_findings)
    ledger_journal = query_field(ledgers.ledger_journal)
    ledger_journals = query_field(ledgers.ledger_journals)
    legal_document = query_field(legal.legal_document)
    legal_documents = query_field(legal.legal_documents)
    mail = query_field(mails.mail)
    mails = query_field(mails.mails)
    marketplace = query_field(marketplaces.marketplace, marketplaces.marketplace_with_uuid)
    marketplaces = query_field(marketplaces.marketplaces)
    me = query_field(tokens.me)
    media = query_field(medias.media)
    media_by_id = query_field(medias.media_by_id)
    network_gift_card = query_field(
        network_cards.network_gift_card,
        network_cards.network_gift_card_with_id,
        network_cards.network_gift_card_with_uuid,
    )
    network_gift_card_usage = query_field(network_cards.network_gift_card_usage)
    network_gift_card_usages = query_field(network_cards.network_gift_card_usages)
    network_gift_cards = query_field(network_cards.network_gift_cards)
    network_voucher = query_field(
        network_vouchers.network_voucher,
        network_vouchers.network_voucher_with_id,
        network_vouchers.network_voucher_with_uuid,
    )
    network_voucher_usage = query_field(network_vouchers.network_voucher_usage)
    network_voucher_usages = query_field(network_vouchers.network_voucher_usages)
    network_vouchers = query_field(network_vouchers.network_vouchers)
    offer = query_field(network_offers.offer)
    offers = query_field(network_offers.offers)
    order = query_field(orders.order, orders.order_with_uuid)
    order_by_token = query_field(by_token.order_by_token)
    orders = query_field(orders.orders)
    passkey_options = query_field(account_passkeys.passkey_options)
    passkeys = query_field(account_passkeys.passkeys)
    payment = query_field(payments.payment)
    payment_request = query_field(payment_requests.payment_request)
    payment_requests = query_field(payment_requests.payment_requests)
    payments = query_field(payments.payments)
    payout_adjustment = query_field(payout_adjustments.payout_adjustment)
    payout_adjustments = query_field(payout_adjustments.payout_adjustments)
    payout_explain = query_field(payout_explanation.payout_explain)
    payout_preview = query_field(payout_explanation.payout_preview)
    payout_request = query_field(payouts.payout_request)
    payout_requests = query_field(payouts.payout_requests)
    partner = query_field(partners.partner, partners.partner_with_id)
    partner_by_company_number = query_field(partners.partner_by_company_number)
    partners = query_field(partners.partners)
    preview_commission = query_field(fees.preview_commission)
    price_range = query_field(taxonomy.price_range)
    price_ranges = query_field(taxonomy.price_ranges)
    product = query_field(products.product)
    products = query_field(products.products)
    reconciliation_finding = query_field(reconciliations.reconciliation_finding)
    reconciliation_findings = query_field(reconciliations.reconciliation_findings)
    reconciliation_run = query_field(reconciliations.reconciliation_run)
    reconciliation_runs = query_field(reconciliations.reconciliation_runs)
    refund = query_field(refunds.refund)
    refund_request = query_field(refund_requests.refund_request)
    refund_requests = query_field(refund_requests.refund_requests)
    refunds = query_field(refunds.refunds)
    registered_bank_account = query_field(bank_account.registered_bank_account)
    registered_bank_accounts = query_field(bank_account.registered_bank_accounts)
    sales_report = query_field(sales_reports.sales_report)
    saved_filters = query_field(saved_filters.saved_filters)
    sessions = query_field(sessions.sessions)
    settlement_statement = query_field(settlements.settlement_statement)
    transfer = query_field(transfers.transfer)
    transfers = query_field(transfers.transfers)
    universe = query_field(taxonomy.universe)
    universes = query_field(taxonomy.universes)
    user = query_field(users.user)
    users = query_field(users.users)
    voucher = query_field(vouchers.voucher, vouchers.voucher_with_id)
    voucher_option = query_field(options.voucher_option)
    voucher_option_category = query_field(option_categories.voucher_option_category)
    voucher_option_categories = query_field(option_categories.voucher_option_categories)
    voucher_options = query_field(options.voucher_options)
    voucher_prototype = query_field(prototypes.voucher_prototype)
    voucher_prototypes = query_field(prototypes.voucher_prototypes)
    vouchers = query_field(vouchers.vouchers)
    wallet = query_field(wallets.wallet)
    webhook_delivery = query_field(webhooks.webhook_delivery)
    webhook_deliveries = query_field(webhooks.webhook_deliveries)
    webhook_endpoint = query_field(webhooks.webhook_endpoint)
    webhook_endpoints = query_field(webhooks.webhook_endpoints)


@strawberry.type(description="All mutations. Errors that a user can correct are in `userErrors`.")
class Mutation:
    accept_dispute = mutation_field(payment_disputes.accept_dispute)
    accept_offer = mutation_field(network_offers.accept_offer)
    activate_marketplace_payments = mutation_field(wallets.activate_marketplace_payments)
    activate_network_gift_card = mutation_field(network_card_issuing.activate_network_gift_card)
    activate_network_voucher = mutation_field(network_voucher_issuing.activate_network_voucher)
    activate_payments = mutation_field(activation.activate_payments)
    activate_gift_card = mutation_field(gift_card_issuing.activate_gift_card)
    add_voucher_rental = mutation_field(updates.add_voucher_rental)
    approve_payout_adjustment = mutation_field(payout_adjustments.approve_payout_adjustment)
    approve_refund_request = mutation_field(request_answers.approve_refund_request)
    archive_media = mutation_field(medias.archive_media)
    cancel_export = mutation_field(list_exports.cancel_export)
    cancel_network_gift_card = mutation_field(network_card_issuing.cancel_network_gift_card)
    cancel_network_gift_card_usage = mutation_field(network_card_usages.cancel_network_gift_card_usage)
    begin_passkey = mutation_field(account_passkeys.begin_passkey)
    cancel_network_voucher = mutation_field(network_voucher_issuing.cancel_network_voucher)
    cancel_network_voucher_usage = mutation_field(network_voucher_usages.cancel_network_voucher_usage)
    cancel_order_fulfilment = mutation_field(order_fulfilment.cancel_order_fulfilment)
    cancel_payment = mutation_field(payment_creation.cancel_payment)
    cancel_payment_request = mutation_field(payment_requests.cancel_payment_request)
    cancel_payout_request = mutation_field(payouts.cancel_payout_request)
    cancel_refund_request_by_token = mutation_field(by_token.cancel_refund_request_by_token)
    cancel_gift_card = mutation_field(gift_card_issuing.cancel_gift_card)
    capture_gift_card = mutation_field(holds.capture_gift_card)
    change_password = mutation_field(users.change_password)
    change_site_domain = mutation_field(marketplaces.change_site_domain)
    confirm_second_factor = mutation_field(second_factor.confirm_second_factor)
    contest_dispute = mutation_field(payment_disputes.contest_dispute)
    create_box = mutation_field(network_boxes.create_box)
    create_coupon = mutation_field(coupons.create_coupon)
    create_credit_note = mutation_field(invoice_issuing.create_credit_note)
    create_delivery_mode = mutation_field(deliveries.create_delivery_mode)
    create_environment = mutation_field(taxonomy.create_environment)
    create_export = mutation_field(list_exports.create_export)
    create_gift_card_design = mutation_field(designs.create_gift_card_design)
    create_marketplace = mutation_field(marketplaces.create_marketplace)
    create_media = mutation_field(medias.create_media)
    create_network_gift_card = mutation_field(network_card_issuing.create_network_gift_card)
    create_network_partner = mutation_field(network_partners.create_network_partner)
    create_offer = mutation_field(network_offers.create_offer)
    create_partner = mutation_field(partners.create_partner)
    create_price_range = mutation_field(taxonomy.create_price_range)
    create_payment = mutation_field(payment_creation.create_payment)
    create_payment_request = mutation_field(payment_requests.create_payment_request)
    create_payout_adjustment = mutation_field(payout_adjustments.create_payout_adjustment)
    create_payout_request = mutation_field(payouts.create_payout_request)
    create_product = mutation_field(products.create_product)
    create_product_attribute = mutation_field(products.create_product_attribute)
    create_product_variant = mutation_field(products.create_product_variant)
    create_token = mutation_field(api_tokens.create_token)
    create_universe = mutation_field(taxonomy.create_universe)
    create_user = mutation_field(users.create_user)
    create_user_token = mutation_field(api_tokens.create_user_token)
    create_voucher_option = mutation_field(options.create_voucher_option)
    create_voucher_option_category = mutation_field(option_categories.create_voucher_option_category)
    create_voucher_option_link = mutation_field(option_links.create_voucher_option_link)
    create_voucher_prototype = mutation_field(prototypes.create_voucher_prototype)
    create_webhook_endpoint = mutation_field(webhooks.create_webhook_endpoint)
    decline_refund_request = mutation_field(request_answers.decline_refund_request)
    delete_passkey = mutation_field(account_passkeys.delete_passkey)
    delete_product_attribute = mutation_field(products.delete_product_attribute)
    delete_saved_filter = mutation_field(saved_filters.delete_saved_filter)
    delete_voucher_option_link = mutation_field(option_links.delete_voucher_option_link)
    delete_webhook_endpoint = mutation_field(webhooks.delete_webhook_endpoint)
    disable_second_factor = mutation_field(second_factor.disable_second_factor)
    discard_job = mutation_field(jobs.discard_job)
    end_impersonation = mutation_field(impersonation.end_impersonation)
    explain_reconciliation_finding = mutation_field(reconciliation_findings.explain_reconciliation_finding)
    create_fee_rule = mutation_field(fees.create_fee_rule)
    extend_network_gift_card = mutation_field(network_card_issuing.extend_network_gift_card)
    erase_personal_data = mutation_field(personal_data.erase_personal_data)
    export_personal_data = mutation_field(personal_data.export_personal_data)
    extend_network_voucher = mutation_field(network_voucher_issuing.extend_network_voucher)
    update_fee_rule = mutation_field(fees.update_fee_rule)
    extend_gift_card = mutation_field(gift_card_issuing.extend_gift_card)
    extend_voucher = mutation_field(updates.extend_voucher)
    hold_gift_card = mutation_field(holds.hold_gift_card)
    import_gift_cards = mutation_field(gift_card_imports.import_gift_cards)
    impersonate_partner = mutation_field(impersonation.impersonate_partner)
    import_network_voucher = mutation_field(network_voucher_issuing.import_network_voucher)
    import_voucher = mutation_field(imports.import_voucher)
    import_vouchers = mutation_field(imports.import_vouchers)
    invite_user = mutation_field(account_links.invite_user)
    issue_gift_card = mutation_field(gift_card_issuing.issue_gift_card)
    generate_payout_pdf = mutation_field(payout_documents.generate_payout_pdf)
    generate_payout_xls = mutation_field(payout_documents.generate_payout_xls)
    issue_network_voucher = mutation_field(network_voucher_issuing.issue_network_voucher)
    issue_partner_invoices = mutation_field(invoice_issuing.issue_partner_invoices)
    issue_voucher = mutation_field(voucher_issuing.issue_voucher)
    mark_order_collected = mutation_field(order_fulfilment.mark_order_collected)
    mark_order_delivered = mutation_field(order_fulfilment.mark_order_delivered)
    mark_order_ready = mutation_field(order_fulfilment.mark_order_ready)
    mark_order_sent = mutation_field(order_fulfilment.mark_order_sent)
    obtain_token = mutation_field(tokens.obtain_token)
    obtain_token_with_passkey = mutation_field(account_passkeys.obtain_token_with_passkey)
    open_identity_verification = mutation_field(identity.open_identity_verification)
    publish_legal_document = mutation_field(legal.publish_legal_document)
    push_dispute_document = mutation_field(dispute_documents.push_dispute_document)
    push_kyc_document = mutation_field(kyc_documents.push_kyc_document)
    register_passkey = mutation_field(account_passkeys.register_passkey)
    register_bank_account = mutation_field(bank_account.register_bank_account)
    reject_offer = mutation_field(network_offers.reject_offer)
    reject_payout_adjustment = mutation_field(payout_adjustments.reject_payout_adjustment)
    refund_order = mutation_field(order_refunds.refund_order)
    refund_payment = mutation_field(refunds.refund_payment)
    preview_order_refund = mutation_field(order_refunds.preview_order_refund)
    preview_refund = mutation_field(refunds.preview_refund)
    reopen_order_fulfilment = mutation_field(order_fulfilment.reopen_order_fulfilment)
    retry_refund = mutation_field(refunds.retry_refund)
    release_gift_card = mutation_field(holds.release_gift_card)
    remove_voucher_rental = mutation_field(updates.remove_voucher_rental)
    rename_passkey = mutation_field(account_passkeys.rename_passkey)
    renew_recovery_codes = mutation_field(second_factor.renew_recovery_codes)
    renew_voucher_document = mutation_field(document.renew_voucher_document)
    replay_webhooks = mutation_field(webhooks.replay_webhooks, result="count")
    request_refund_by_token = mutation_field(by_token.request_refund_by_token)
    reschedule_gift_by_token = mutation_field(by_token.reschedule_gift_by_token)
    resend_gift_by_token = mutation_field(by_token.resend_gift_by_token)
    request_password_reset = mutation_field(account_links.request_password_reset)
    resend_invitation = mutation_field(account_links.resend_invitation)
    reset_password = mutation_field(account_links.reset_password)
    reset_second_factor = mutation_field(second_factor.reset_second_factor)
    resend_mail = mutation_field(mails.resend_mail)
    resend_payment_request = mutation_field(payment_requests.resend_payment_request)
    retire_legal_document = mutation_field(legal.retire_legal_document)
    retry_job = mutation_field(jobs.retry_job)
    reveal_gift_card_code = mutation_field(code_reveal.reveal_gift_card_code)
    reveal_network_gift_card_code = mutation_field(code_reveal.reveal_network_gift_card_code)
    reveal_network_voucher_code = mutation_field(code_reveal.reveal_network_voucher_code)
    reveal_order_page = mutation_field(code_reveal.reveal_order_page)
    reveal_voucher_code = mutation_field(code_reveal.reveal_voucher_code)
    reverse_gift_card_capture = mutation_field(spending.reverse_gift_card_capture)
    revoke_other_sessions = mutation_field(sessions.revoke_other_sessions, result="count")
    revoke_token = mutation_field(tokens.revoke_token)
    revoke_user_token = mutation_field(api_tokens.revoke_user_token)
    rotate_return_secret = mutation_field(return_secrets.rotate_return_secret)
    rotate_webhook_secret = mutation_field(webhooks.rotate_webhook_secret)
    save_ecommerce_cart = mutation_field(carts.save_ecommerce_cart)
    save_filter = mutation_field(saved_filters.save_filter)
    create_multi_product_cart = mutation_field(multi_product_carts.create_multi_product_cart)
    send_gift_now_by_token = mutation_field(by_token.send_gift_now_by_token)
    send_onboarding_link = mutation_field(onboarding.send_onboarding_link)
    send_order_link = mutation_field(order_mailing.send_order_link)
    set_up_second_factor = mutation_field(second_factor.set_up_second_factor)
    settle_activation = mutation_field(resolution.settle_activation)
    spend_gift_card = mutation_field(spending.spend_gift_card)
    submit_offer = mutation_field(network_offers.submit_offer)
    test_webhook_endpoint = mutation_field(webhooks.test_webhook_endpoint)
    update_box = mutation_field(network_boxes.update_box)
    update_coupon = mutation_field(coupons.update_coupon)
    update_delivery_mode = mutation_field(deliveries.update_delivery_mode)
    update_environment = mutation_field(taxonomy.update_environment)
    update_gift_card_design = mutation_field(designs.update_gift_card_design)
    update_gift_card_offer = mutation_field(offers.update_gift_card_offer)
    update_marketplace = mutation_field(marketplaces.update_marketplace)
    update_media = mutation_field(medias.update_media)
    update_order_details = mutation_field(order_details.update_order_details)
    update_network_gift_card_usage = mutation_field(network_card_usages.update_network_gift_card_usage)
    update_network_gift_card = mutation_field(network_card_issuing.update_network_gift_card)
    update_network_partner = mutation_field(network_partners.update_network_partner)
    update_network_voucher_usage = mutation_field(network_voucher_usages.update_network_voucher_usage)
    update_network_voucher = mutation_field(network_voucher_issuing.update_network_voucher)
    update_offer = mutation_field(network_offers.update_offer)
    update_partner = mutation_field(partners.update_partner)
    update_price_range = mutation_field(taxonomy.update_price_range)
    update_payment = mutation_field(payment_creation.update_payment)
    update_product = mutation_field(products.update_product)
    update_product_attribute = mutation_field(products.update_product_attribute)
    update_product_variant = mutation_field(products.update_product_variant)
    update_universe = mutation_field(taxonomy.update_universe)
    update_user = mutation_field(users.update_user)
    update_voucher = mutation_field(updates.update_voucher)
    update_voucher_details = mutation_field(updates.update_voucher_details)
    update_voucher_option = mutation_field(options.update_voucher_option)
    update_voucher_option_category = mutation_field(option_categories.update_voucher_option_category)
    update_voucher_option_link = mutation_field(option_links.update_voucher_option_link)
    update_voucher_prototype = mutation_field(prototypes.update_voucher_prototype)
    update_webhook_endpoint = mutation_field(webhooks.update_webhook_endpoint)
    use_network_gift_card = mutation_field(network_card_usages.use_network_gift_card)
    use_network_voucher = mutation_field(network_voucher_usages.use_network_voucher)
    validate_payout_request = mutation_field(payouts.validate_payout_request)


schema = build_schema(Query, Mutation)


def sdl() -> str:
    """The schema definition language, as stored in `schema.graphql`."""
    return schema.as_str() + "\n"
