"""Programs that some tests need and some machines lack: told in one line each, and never missing where CI runs."""

import os
from collections import Counter

import pytest


def needed(path: str | None, package: str, command: str = "") -> str:
    """Where a program was found. Without it the test is skipped, or fails where `CI=true`; `command` installs it."""
    if path is None:
        missing = f"{package} is not installed: {command or f'apt-get install {package}'}"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each reason that tests were skipped for."""
    reasons = Counter(report.longrepr[2] for report in terminalreporter.stats.get("skipped", ()))
    for reason, times in sorted(reasons.items()):
        terminalreporter.write_line(f"{times} × {reason.removeprefix('Skipped: ')}")
