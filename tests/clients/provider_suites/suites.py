"""Runs a suite that lies in a folder, with only its address changed. Tells the ids of the tests that pass, and of all."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

NOWHERE = "http://127.0.0.1:9"
"""A proxy that nothing listens at: whatever a suite sends elsewhere than to the sandbox is refused."""

PYTHON_SHIM = """
import os, sys
from unittest.mock import MagicMock
for name in ("responses", "exam", "exam.decorators"):  # only the tests that need no server use them
    sys.modules[name] = MagicMock(activate=lambda test: test, fixture=property)
import mangopay
mangopay.api_sandbox_url = os.environ["SANDBOX"] + "/v2.01/"


def pytest_collection_modifyitems(items):
    from tests.test_base import BaseTestLive
    items[:] = [item for item in items if item.cls and issubclass(item.cls, BaseTestLive)]
"""
NODE_SHIM = """
require(process.env.SUITE + "/lib/config").baseUrl = process.env.SANDBOX;
process.on("unhandledRejection", () => {});
"""
PHP_SHIM = r"""<?php
spl_autoload_register(function ($name) {
    $places = ["MangoPay\\Tests\\" => "tests/", "MangoPay\\" => "MangoPay/", "Psr\\Log\\" => "vendor/psr/log/src/"];
    foreach ($places as $space => $folder) {
        if (strpos($name, $space) !== 0) { continue; }
        $path = getcwd() . "/" . $folder . str_replace("\\", "/", substr($name, strlen($space))) . ".php";
        if (!is_file($path)) { continue; }
        eval("?>" . str_replace("https://api.sandbox.mangopay.com", getenv("SANDBOX"), file_get_contents($path)));
        return;
    }
});
"""


@dataclass(frozen=True)
class SuiteResult:
    """Ids of tests: those that pass, and those that were reached and not skipped."""

    passed: frozenset[str]
    run: frozenset[str]


def run_python(folder: pathlib.Path, origin: str) -> SuiteResult:
    """Run the suite of the SDK for Python: its classes that expect a server."""
    with tempfile.TemporaryDirectory() as temporary:
        shim, report = pathlib.Path(temporary, "sandbox_shim.py"), pathlib.Path(temporary, "report.xml")
        shim.write_text(PYTHON_SHIM)
        options = (
            "-p",
            "sandbox_shim",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:asyncio",
            "-c",
            os.devnull,
            "--rootdir",
            str(folder),
        )
        run(
            folder,
            [sys.executable, "-m", "pytest", "-q", *options, f"--junitxml={report}", "tests"],
            {"SANDBOX": origin, "PYTHONPATH": f"{temporary}{os.pathsep}{folder}"},
        )
        return read_junit(report)


def run_node(folder: pathlib.Path, origin: str) -> SuiteResult:
    """Run the suite of the SDK for Node.js, whose packages and mocha are installed in the folder.

    The timeout is that of the package: some tests wait, and a hook that meets an error waits in vain.
    """
    with tempfile.TemporaryDirectory() as temporary:
        shim, report = pathlib.Path(temporary, "shim.js"), pathlib.Path(temporary, "report.json")
        shim.write_text(NODE_SHIM)
        options = ("--timeout", "30000", "--exit", "--reporter", "json", "--reporter-option", f"output={report}")
        run(
            folder,
            ["node_modules/.bin/mocha", "--require", str(shim), "test/**/*.js", *options],
            {"SANDBOX": origin, "SUITE": str(folder)},
        )
        told = json.loads(report.read_text())
    passed = frozenset(test["fullTitle"] for test in told["passes"])
    return SuiteResult(passed, passed | {test["fullTitle"] for test in told["failures"]})


def run_php(folder: pathlib.Path, origin: str) -> SuiteResult:
    """Run the suite of the SDK for PHP with the `phpunit` on the path. `psr/log` is in the folder's `vendor`."""
    with tempfile.TemporaryDirectory() as temporary:
        shim, report = pathlib.Path(temporary, "shim.php"), pathlib.Path(temporary, "report.xml")
        shim.write_text(PHP_SHIM)
        options = ("--no-configuration", "--bootstrap", str(shim), "--log-junit", str(report))
        run(folder, ["phpunit", *options, "tests/Cases"], {"SANDBOX": origin})
        return read_junit(report)


def run(folder: pathlib.Path, command: list[str], more: Mapping[str, str]) -> None:
    """Run a suite's own runner. Its exit code is of no interest: some tests always fail."""
    away = {"HTTP_PROXY": NOWHERE, "HTTPS_PROXY": NOWHERE, "https_proxy": NOWHERE, "NO_PROXY": "127.0.0.1"}
    subprocess.run(command, cwd=folder, env={**os.environ, **away, **more}, capture_output=True, check=False)


def read_junit(report: pathlib.Path) -> SuiteResult:
    """The result in a JUnit report."""
    passed, reached = set(), set()
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - written by the runner
        id = f"{case.get('classname')}::{case.get('name')}"
        bad = {child.tag for child in case} & {"failure", "error", "skipped"}
        passed |= set() if bad else {id}
        reached |= set() if "skipped" in bad else {id}
    return SuiteResult(frozenset(passed), frozenset(reached))


RUNNERS: Mapping[str, Callable[[pathlib.Path, str], SuiteResult]] = {
    "python": run_python,
    "node": run_node,
    "php": run_php,
}


def expected(suite: str) -> frozenset[str]:
    """The ids of the tests of a suite that pass; none for a suite without a list."""
    path = pathlib.Path(__file__).with_name(f"{suite}.txt")
    return frozenset(lines(path)) if path.exists() else frozenset()


def lines(path: pathlib.Path) -> Iterator[str]:
    yield from (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
