"""The adapter for Mangopay's REST API, version 2.01."""

from store.providers.mangopay.provider import Mangopay

__all__ = ["Mangopay"]
