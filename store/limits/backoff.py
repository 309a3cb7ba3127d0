"""Delays after repeated failures."""

import datetime as dt
from dataclasses import dataclass

FIRST_DELAY = dt.timedelta(seconds=1)
_MAX_EXPONENT = 32


@dataclass(frozen=True)
class Backoff:
    """Exponential backoff: after `free_misses` failures, each further one causes a delay: 1 s at first,
    then doubled.
    """

    free_misses: int
    max_delay: dt.timedelta
    memory: dt.timedelta
    """How long after the last failure all are forgotten; longer than `max_delay`."""

    def delay_after(self, misses: int) -> dt.timedelta:
        """The delay after this many failures."""
        step = misses - self.free_misses - 1
        return dt.timedelta() if step < 0 else min(self.max_delay, FIRST_DELAY * 2 ** min(step, _MAX_EXPONENT))
