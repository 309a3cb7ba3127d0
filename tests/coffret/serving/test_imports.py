"""What a serving process does not import: what only some of its work needs is imported when that work is done."""

import os
import subprocess
import sys

from tests.coffret.conftest import PRODUCTION

ONLY_FOR_DOCUMENTS_AND_PICTURES = ("PIL", "cryptography", "segno", "typst", "xlsxwriter", "zxingcpp")
ONLY_FOR_DEVELOPMENT = (
    "coffret.demo.content",
    "coffret.demo.seed",
    "coffret.demo_shop",
    "coffret.development",
    "coffret.mail_preview",
    "coffret.sandbox",
    "coffret.start_page",
)
ONLY_FOR_RARE_WORK = (
    *("markdown_it", "pygments.formatters.html", "rest_compat.docs.pages"),  # the pages of the documentation
    *("phonenumbers", "schwifty"),  # partners' data
    "alembic",  # tables that are not up to date
    "redis",  # installations with Redis
)
UNUSED = (*ONLY_FOR_DOCUMENTS_AND_PICTURES, *ONLY_FOR_DEVELOPMENT, *ONLY_FOR_RARE_WORK)
START = """
import sys
import coffret.app, coffret.commands.prepare
from store.core.settings import Settings
coffret.app.create_app(Settings())
"""


def imported(environment: dict[str, str]) -> list[str]:
    """Those of the modules that a serving process imports until it serves."""
    code = f"{START}print(*sorted(set({UNUSED}) & set(sys.modules)))"
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return said.stdout.split()


def test_production_imports_nothing_that_only_development_or_rare_work_needs() -> None:
    assert imported(PRODUCTION) == []


def test_development_imports_no_more_than_its_own_pages_and_the_demo_data() -> None:
    assert (
        set(imported({"ENVIRONMENT": "development"})) - {*ONLY_FOR_DEVELOPMENT, "PIL", "phonenumbers", "schwifty"}
        == set()
    )
