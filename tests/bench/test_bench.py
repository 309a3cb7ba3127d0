"""Every case of the benchmark still runs; how fast is no test's business."""

import pathlib
from collections.abc import Awaitable, Callable

import pytest

from tests.bench.cases import CASES, Case
from tests.bench.world import World, open_world


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_it_can_be_measured(
    case: Callable[[World], Awaitable[Case]], database_url: str, tmp_path: pathlib.Path
) -> None:
    async with open_world(database_url, "", tmp_path) as world:
        made = await case(world)
        assert (await made.call.once()).body
        for call in (await made.beside(world)).values():
            assert (await call.once()).body
