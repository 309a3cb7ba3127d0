"""Every kind of job is finished: what it is for, a handler, and how long it is tried."""

import ast
import datetime as dt

import pytest
from pgqueuer import PgQueuer

from resolvers.job.registry import HANDLERS, SCHEDULES
from store.job.jobs import JobKind
from tests.contract.declarations import ROOT


def kind_descriptions() -> dict[str, str]:
    """What is said under each kind of job: its member's name, and the text after it."""
    module = ast.parse((ROOT / "store/job/jobs.py").read_text())
    kinds = next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "JobKind")
    found, last = {}, ""
    for node in kinds.body:
        if isinstance(node, ast.Assign):
            last = ast.unparse(node.targets[0])
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and last:
            found[last] = str(node.value.value)
    return found


@pytest.mark.parametrize("job", JobKind)
def test_a_kind_of_job_says_what_it_is_for_and_what_it_is_given(job: JobKind) -> None:
    text = kind_descriptions().get(job.name, "")
    assert text.endswith("."), f"Say under JobKind.{job.name} in store/job/jobs.py what it is for."
    assert "Payload: " in text, (
        f"Say under JobKind.{job.name} in store/job/jobs.py what its payload holds: `Payload: `id`.`"
    )


@pytest.mark.parametrize("job", JobKind)
def test_a_kind_of_job_has_a_handler_and_is_tried_for_an_hour_at_least(job: JobKind) -> None:
    assert job in HANDLERS, f"Add to HANDLERS in resolvers/job/registry.py: JobKind.{job.name}: JobHandler(…)"
    assert HANDLERS[job].retries.total_duration >= dt.timedelta(hours=1), "Somebody else's outage may last as long."
    assert HANDLERS[job].retries.first_pause <= HANDLERS[job].retries.longest_pause


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_one_of_minutes(name: str) -> None:
    PgQueuer.in_memory().schedule(name, SCHEDULES[name].cron)
    assert len(SCHEDULES[name].cron.split()) == 5, "Workers look once a minute."


def test_names_are_in_order() -> None:
    assert list(SCHEDULES) == sorted(SCHEDULES)
    assert [job.name for job in HANDLERS] == sorted(job.name for job in HANDLERS)
