"""What a serving process does not import: what only some of its work needs is imported when that work is done."""

import subprocess
import sys

UNUSED = ("segno", "typst", "xlsxwriter", "zxingcpp")
"""Documents and bar codes."""


def test_a_serving_process_imports_nothing_that_only_documents_need() -> None:
    code = f"import sys, coffret.app, coffret.commands.prepare; print(sorted(set({UNUSED}) & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
