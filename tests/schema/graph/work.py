"""Work, counted and not timed: how many lines of Python run while something is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any


class TooMuchWork(BaseException):
    """More work than allowed. Not an Exception, so that nobody on the way answers it as a mistake of the client's."""


@dataclass
class Work:
    """How many lines have run in this thread."""

    lines: int = 0


@contextmanager
def work(most: int) -> Iterator[Work]:
    """Count the work of this block, and end it with TooMuchWork once it is beyond `most`: nothing hangs a test."""
    done, lines = Work(), 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if lines > most:
                sys.settrace(None)
                raise TooMuchWork(f"more than {most} lines")
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield done
    finally:
        sys.settrace(before)
        done.lines = lines
