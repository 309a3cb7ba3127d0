"""One case and its floors, measured taking turns."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from tests.bench.cases import Case
from tests.bench.drive import share, take_turns
from tests.bench.floors import Floor
from tests.bench.installation import Installation

AT_ONCE = 8


@dataclass(frozen=True)
class Beside:
    """A floor as it was measured, and how near the case came to it (1.0: as fast)."""

    microseconds: float
    share: float


@dataclass(frozen=True)
class Measured:
    """A case as it was measured."""

    case: Case
    microseconds: float
    floors: Mapping[Floor, Beside]


async def measured(case: Case, installation: Installation, *, rounds: int, seconds: float) -> Measured:
    """Measure a case beside its floors."""
    beside = await case.beside(installation)
    own, *others = await take_turns([case.call, *beside.values()], rounds=rounds, seconds=seconds, at_once=AT_ONCE)
    return Measured(
        case,
        statistics.median(own),
        {
            floor: Beside(statistics.median(turns), share(turns, own))
            for floor, turns in zip(beside, others, strict=True)
        },
    )
