"""Idempotency keys of creating calls."""

import uuid
from typing import NewType

IdempotencyKey = NewType("IdempotencyKey", str)
"""A UUID4 as text. Store it before the first request, and use it for that call only."""


def new_idempotency_key() -> IdempotencyKey:
    """A key for one creating call. Store it, with the current time, before anything is sent."""
    return IdempotencyKey(str(uuid.uuid4()))
