"""How a job requests another run, or fails for good."""

import datetime as dt
from dataclasses import dataclass
from functools import cached_property


class RunAgain(Exception):
    """Raised by a handler to run again `after` a duration that it chooses. This is neither a failure nor a try."""

    def __init__(self, after: dt.timedelta) -> None:
        super().__init__(f"to be run again after {after}")
        self.after = after


class PermanentFailure(Exception):
    """Raised by a handler when a retry is useless: the job fails, and the text says why."""


@dataclass(frozen=True)
class RetryPolicy:
    """Pauses between retries double from `first_pause` to `longest_pause`, for about `total_duration` in all."""

    first_pause: dt.timedelta
    longest_pause: dt.timedelta
    total_duration: dt.timedelta

    def pause(self, failures: int) -> dt.timedelta:
        """The pause after this many failures (1 for the first)."""
        doublings = min(failures - 1, 32)  # more would overflow a timedelta
        return min(self.first_pause * (1 << doublings), self.longest_pause)

    @cached_property
    def max_tries(self) -> int:
        """The maximum number of runs, the first one included."""
        spent, failures = dt.timedelta(), 0
        while spent < self.total_duration:
            failures += 1
            spent += self.pause(failures)
        return failures + 1
