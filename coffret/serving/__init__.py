"""Serves client connections: timeouts, the connection limit and graceful shutdown."""
