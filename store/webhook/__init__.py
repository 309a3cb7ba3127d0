"""Outgoing webhooks: who is told of events, what waits for whom, how a message is signed and sent."""
