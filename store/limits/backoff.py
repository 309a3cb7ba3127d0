"""How long whoever misses again and again has to wait."""

import datetime as dt
from dataclasses import dataclass

FIRST = dt.timedelta(seconds=1)
_HIGHEST = 32


@dataclass(frozen=True)
class Ladder:
    """Some misses are free; each further one is followed by a hold, of a second first, twice as long each time."""

    free: int
    longest: dt.timedelta
    remembered: dt.timedelta
    """How long after the last miss they are all forgotten; longer than the longest hold."""

    def hold(self, misses: int) -> dt.timedelta:
        """How long nothing is let through after so many misses."""
        step = misses - self.free - 1
        return dt.timedelta() if step < 0 else min(self.longest, FIRST * 2 ** min(step, _HIGHEST))
