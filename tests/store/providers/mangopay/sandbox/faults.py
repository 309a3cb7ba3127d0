"""What can go wrong between the adapter and the sandbox while something is created."""

import pytest

FAULTS = (
    {"kind": "drop"},
    {"kind": "hang", "seconds": 0},
    {"kind": "status", "status": 500},
    {"kind": "status", "status": 503},
    {"kind": "truncated"},
    {"kind": "html"},
    {"kind": "slow", "seconds": 0},
)


each_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: "-".join(map(str, fault.values())))
before_and_after = pytest.mark.parametrize("when", ["before", "after"])
"""The sandbox has done nothing yet, or it has done it."""
