"""The packing slip of an order."""
