"""Outgoing webhooks: subscriptions, delivery queues, signatures and sending."""
