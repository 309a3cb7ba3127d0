"""Mail: written down in the transaction that wants it, rendered and sent by a worker."""
