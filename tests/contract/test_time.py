"""Time is asked of one clock, so that development can move it for everything alike."""

import ast
import re
from collections.abc import Iterator, Mapping

import pytest

from tests.contract.test_code_rules import PROGRAM, modules

CLOCKS = re.compile(
    r"^(dt|datetime|date)(\.datetime|\.date)?\.(now|utcnow|today|fromtimestamp|utcfromtimestamp)$"
    r"|^time\.(time|time_ns|localtime|gmtime|ctime|strftime)$"
)
SQL = re.compile(
    r"\b(now\(\)|(clock|statement|transaction)_timestamp\(\)|(?!(?-i:LocalTime)\b)(current|local)_?(date|time|timestamp)\b)",
    re.IGNORECASE,
)
"""`LocalTime` is a scalar of GraphQL."""
ALLOWED: Mapping[str, str] = {
    "store/core/clock.py": "is the clock",
    "store/job/queue.py": "the queue lives by the database, and is brought nearer when time is moved",
    "coffret/simulation/nights.py": "reads the queue, which lives by the database",
    "coffret/commands/doctor.py": "compares the database's clock with ours",
}


def other_clocks(name: str, module: ast.Module) -> Iterator[str]:
    """Where a module asks another clock."""
    documented = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and CLOCKS.search(asked := ast.unparse(node)):
            arguments = next((c.args for c in ast.walk(module) if isinstance(c, ast.Call) and c.func is node), [])
            if not (asked.endswith("fromtimestamp") and arguments):
                yield f"{name}:{node.lineno} asks {asked}: ask store.clock."
        elif (
            isinstance(node, ast.ImportFrom)
            and node.module == "time"
            and {a.name for a in node.names} & {"time", "time_ns"}
        ):
            yield f"{name}:{node.lineno} takes the time out of `time`: ask store.clock."
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in {"func.now", "func.current_timestamp"}:
            yield f"{name}:{node.lineno} asks the database's clock: hand it the time of store.clock."
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in documented
            and (found := SQL.search(node.value))
        ):
            yield f"{name}:{node.lineno} asks the database's clock ({found[0]}): hand it the time of store.clock."


def test_nothing_asks_another_clock() -> None:
    found = [told for name, module in modules(*PROGRAM) if name not in ALLOWED for told in other_clocks(name, module)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "code",
    [
        "dt.datetime.now(dt.UTC)", "datetime.utcnow()", "dt.date.today()", "time.time()", "from time import time",
        "text('DELETE FROM a WHERE b < now()')", "x = f'UPDATE a SET b = CURRENT_TIMESTAMP WHERE c = {d}'", "func.now()",
        "default_factory=dict(a=datetime.now)",
    ],
)  # fmt: skip
def test_another_clock_is_found(code: str) -> None:
    assert list(other_clocks("m.py", ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["clock.now()", "time.monotonic()", "time.perf_counter()", "loop.time()", "'''Until now().'''", "dt.datetime.fromtimestamp(seconds, dt.UTC)", "now()"],
)  # fmt: skip
def test_the_clock_and_stop_watches_are_none(code: str) -> None:
    assert not list(other_clocks("m.py", ast.parse(code)))
