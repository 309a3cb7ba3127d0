"""What a newcomer meets first: the commands, the lock, the settings, and what is written about them."""

import pathlib
import re
import subprocess
import tomllib

import pytest
from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from coffret.commands.environment import variable
from store.core.settings import Settings
from store.core.settings.provider import ProviderSettings

ROOT = pathlib.Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
LOCK = (ROOT / "requirements.lock").read_text()
DEV_LOCK = (ROOT / "requirements-dev.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def documented_settings() -> dict[str, str]:
    """The variables of the README's table with their defaults."""
    return dict(re.findall(r"^\| `([A-Z_]+)` \| (?:`([^`]*)`)? ?\|", README, re.MULTILINE))


def written_default(value: object) -> str:
    if value is None or value is PydanticUndefined or isinstance(value, SecretStr):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_readme_lists_every_setting_with_its_default() -> None:
    wanted = {variable(name, field): written_default(field.default) for name, field in Settings.model_fields.items()}
    assert documented_settings() == wanted
    for kind in (Settings, ProviderSettings):
        own = [
            variable(name, Settings.model_fields[name]) for name in kind.__annotations__ if name in kind.model_fields
        ]
        assert [name for name in documented_settings() if name in own] == own


def test_the_readme_names_only_targets_and_commands_that_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)$|`make ([a-z]+)`", README, re.MULTILINE)) <= {(t, "") for t in targets} | {
        ("", t) for t in targets
    }
    help_text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^make ([a-z]+)", help_text, re.MULTILINE)) == targets


def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci/run").read_text()
    (commands,) = re.findall(r"## Test\n\n```\n(.*?)```", README, re.DOTALL)
    for command in commands.splitlines():
        assert re.search(rf"^{command}\b", script, re.MULTILINE)
    subprocess.run(["bash", "-n", ROOT / ".ci/run"], check=True)


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


RUN_TIME = PROJECT["project"]["dependencies"]
DEV = [given for given in PROJECT["dependency-groups"]["dev"] if isinstance(given, str)]


def pins(lock: str) -> dict[str, str]:
    """What a lock holds: versions and hashes by name."""
    entries = re.split(r"\n(?=\S)", lock)
    named = {entry.partition("==")[0]: re.sub(r"\s*(#.*)?\n\s*", "\n", entry) for entry in entries}
    return {name: "\n".join(sorted(re.findall(r"==\S+|sha256:\w+", entry))) for name, entry in named.items()}


@pytest.mark.parametrize("requirement", RUN_TIME + DEV)
def test_the_locks_hold_what_the_project_asks_for(requirement: str) -> None:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match
    assert normalised(match[0]) in pins(DEV_LOCK), "run make lock"
    assert (normalised(match[0]) in pins(LOCK)) or requirement in DEV, "run make lock"


def test_what_runs_is_what_is_tested() -> None:
    assert pins(LOCK).items() <= pins(DEV_LOCK).items(), "run make lock"


@pytest.mark.parametrize("tool", ["mypy", "ruff", "playwright", "pytest", "hypothesis", "import-linter"])
def test_running_takes_no_tools_of_development(tool: str) -> None:
    assert tool not in pins(LOCK)
    assert tool in pins(DEV_LOCK)


@pytest.mark.parametrize("lock", [LOCK, DEV_LOCK], ids=["run", "dev"])
def test_the_locks_have_hashes_and_no_address(lock: str) -> None:
    entries = re.split(r"\n(?=\S)", lock)
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry
    assert "://" not in lock
    assert "--index-url" not in lock


def test_the_project_builds_with_what_the_lock_brings() -> None:
    for requirement in PROJECT["build-system"]["requires"]:
        assert re.search(rf"^{requirement.partition('>')[0]}==", LOCK, re.MULTILINE)


def clean(tmp_path: pathlib.Path, data_dir: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "-f", ROOT / "Makefile", "clean", f"COFFRET_DATA_DIR={data_dir}"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_clean_removes_the_data_and_nothing_more(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data/postgres").mkdir(parents=True)
    (tmp_path / "data/postgres/postmaster.pid").write_text("2147483646\n")
    (tmp_path / "kept").touch()
    assert clean(tmp_path, "data").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert clean(tmp_path, "data").returncode == 0


@pytest.mark.parametrize("data_dir", [".", "..", "/", "a/..", ""])
def test_clean_refuses_what_is_more_than_data(tmp_path: pathlib.Path, data_dir: str) -> None:
    (tmp_path / "a").mkdir()
    done = clean(tmp_path, data_dir or str(tmp_path))
    assert done.returncode != 0
    assert "is more than data" in done.stderr
    assert (tmp_path / "a").exists()


def test_clean_refuses_while_the_database_runs(tmp_path: pathlib.Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as running:
        (tmp_path / "data/postgres").mkdir(parents=True)
        (tmp_path / "data/postgres/postmaster.pid").write_text(f"{running.pid}\n")
        done = clean(tmp_path, "data")
        running.kill()
    assert done.returncode != 0
    assert "stop it first" in done.stderr
    assert (tmp_path / "data").exists()
