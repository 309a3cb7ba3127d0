"""What makes a creating call happen once."""

import uuid
from typing import NewType

Key = NewType("Key", str)
"""What makes a creating call happen once: a UUID4 as text, stored before the first send and used for that call only."""


def new_key() -> Key:
    """A key for one creating call. Store it, with the moment, before anything is sent."""
    return Key(str(uuid.uuid4()))
