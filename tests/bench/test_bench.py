"""Every case of the benchmark still runs, and floors written by hand answer the same; how fast is no test's business."""

import pathlib
from collections.abc import Awaitable, Callable

import orjson
import pytest

from tests.bench.cases import CASES, Case
from tests.bench.floors import Rows
from tests.bench.installation import Installation, open_installation
from tests.bench.payments import Payments
from tests.bench.voucher_floors import Vouchers


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_it_can_be_measured(
    case: Callable[[Installation], Awaitable[Case]], database_url: str, tmp_path: pathlib.Path
) -> None:
    async with open_installation(database_url, "", tmp_path) as installation:
        made = await case(installation)
        answer = (await made.call.once()).body
        assert answer
        for floor, call in (await made.beside(installation)).items():
            lowest = (await call.once()).body
            assert (
                lowest
                if not isinstance(floor, Payments | Vouchers | Rows)
                else orjson.loads(lowest) == orjson.loads(answer)
            )
