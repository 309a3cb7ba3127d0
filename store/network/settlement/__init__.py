"""What a network owes its partners for usages, by period: read from the ledger."""
