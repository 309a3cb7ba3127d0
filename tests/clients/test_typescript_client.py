"""Types that `openapi-typescript` generates check a program that tells the README's story, and it runs.

`.ci/run` installs the packages: `npm ci` in `tests/clients/typescript`.
"""

import asyncio
import pathlib
import shutil
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
import uvicorn

from tests.documents import Installation
from tests.servers.programs import needed

pytestmark = pytest.mark.asyncio(loop_scope="module")
HERE = pathlib.Path(__file__).parent / "typescript"
PACKAGES = HERE / "node_modules"
INSTALL = "npm ci --ignore-scripts --prefix tests/clients/typescript"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def address(installation: Installation) -> AsyncIterator[str]:
    """Where the demo installation is served."""
    server = uvicorn.Server(uvicorn.Config(installation.app, log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve([listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await task


@pytest.fixture(scope="module")
def node() -> str:
    """Where Node.js is, with the packages beside it."""
    found = needed(shutil.which("node"), "nodejs")
    needed(shutil.which("tsc", path=PACKAGES / ".bin"), "typescript", INSTALL)
    return found


async def run(folder: pathlib.Path, *command: str) -> str:
    """Run a program; answers what it said."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    return said.decode()


async def test_the_story_is_checked_and_told(
    node: str, address: str, described: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    for name in ("story.ts", "tsconfig.json", "package.json"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    tools = "node_modules/.bin/"
    options = ("--output", "described.ts", "--default-non-nullable=false")
    await run(tmp_path, f"{tools}openapi-typescript", str(described), *options)
    await run(tmp_path, f"{tools}tsc", "--project", ".")
    assert (await run(tmp_path, node, "built/story.js", address)).startswith("told: 5 vouchers")
