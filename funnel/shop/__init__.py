"""The public pages of a shop, which shared caches may store."""
