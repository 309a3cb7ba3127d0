"""The table of the jobs in the documentation."""

import os
import re
from pathlib import Path

from tests.browser.jobs.effort import Effort
from tests.browser.jobs.job_list import JOBS
from tests.browser.jobs.peers import PEERS

PAGE = Path(__file__).parents[3] / "docs" / "staff-jobs.md"


def row(slug: str, effort: Effort) -> str:
    """The line of a job."""
    job, peer = JOBS[slug], PEERS.get(slug)
    beside = f"[{peer.name}]({peer.source}) | {peer.effort}" if peer else "– | –"
    return f'| <a id="{slug}"></a>{job.title} | {job.role} | {effort} | {beside} |'


def agrees(slug: str, effort: Effort) -> None:
    """The documentation has these figures; with `WRITE_DOCS` it gets them."""
    page, line = PAGE.read_text(), row(slug, effort)
    if os.environ.get("WRITE_DOCS"):
        PAGE.write_text(re.sub(rf'^\| <a id="{slug}"></a>.*$', lambda _: line, page, flags=re.MULTILINE))
        return
    assert line in page.splitlines(), f"docs/staff-jobs.md has other figures than were measured: {line}"
