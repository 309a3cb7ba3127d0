"""The page of an order, for its buyer."""
