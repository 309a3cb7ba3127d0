"""Mail: queued in the transaction that causes it, rendered and sent by a worker."""
