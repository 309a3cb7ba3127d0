"""Errors: operations raise those of the catalogue only, and each says what is wrong."""

import ast
import builtins
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from schema.core.errors import AppError, InsufficientBalance, InsufficientFunds
from tests.contract.test_code_rules import modules

RAISES: Mapping[tuple[str, str], str] = {
    ("resolvers/core/context.py", "LookupError"): "a field that was declared wrong, found when the program starts",
    ("resolvers/core/operation.py", "RuntimeError"): "an operation that was declared wrong",
    ("resolvers/core/operation.py", "TypeError"): "the same, found when the program starts",
    ("resolvers/core/services.py", "RuntimeError"): "a program that was put together wrong",
    ("resolvers/core/transaction.py", "constraint_error"): "what a constraint of the database means in the catalogue",
    ("resolvers/core/lists/filters.py", "LookupError"): "a list that was declared wrong, found when the program starts",
    ("resolvers/core/lists/filters.py", "TypeError"): "the same",
    ("resolvers/core/computed_fields.py", "TypeError"): "a value that was declared wrong",
    ("resolvers/core/computed_fields.py", "ValueError"): "the same",
    ("resolvers/job/worker.py", "verdict"): "what tells the job queue how a run ended",
    ("resolvers/bank_account.py", "RunAgain"): "tells the job queue that something is still waited for",
    ("resolvers/payment/payouts/document_jobs.py", "RunAgain"): "the same: that another document is made",
    ("resolvers/export/running.py", "RunAgain"): "the same: that other exports are written",
    ("resolvers/export/running.py", "ExportTakenOver"): "ends the work on an export, and is caught there",
    ("resolvers/export/running.py", "ExportTooLarge"): "the same",
    ("resolvers/payment/payouts/document_jobs.py", "TakenOver"): "ends the work on a document, and is caught there",
    ("resolvers/core/provider/process.py", "TransientError"): "the provider's own error, which its caller catches",
}
"""Raised in resolvers/ without being in the catalogue, each with the reason."""


def raised(module: ast.Module) -> Iterator[tuple[int, str]]:
    """What a module raises, by name."""
    for node in ast.walk(module):
        if not isinstance(node, ast.Raise) or node.exc is None:
            continue
        root: ast.expr = node.exc
        while isinstance(root, ast.Call | ast.Attribute):
            root = root.func if isinstance(root, ast.Call) else root.value
        yield node.lineno, ast.unparse(root)


def outside_the_catalogue(file: str, module: ast.Module, namespace: Mapping[str, Any]) -> Iterator[str]:
    """What is raised there that users cannot be told."""
    for line, name in raised(module):
        kind = namespace.get(name, getattr(builtins, name, None))
        if not (isinstance(kind, type) and issubclass(kind, AppError)) and (file, name) not in RAISES:
            yield f"{file}:{line} raises {name}: add an error to schema/core/errors.py that says what is wrong."


def test_only_errors_of_the_catalogue_leave_operations() -> None:
    found: list[str] = []
    for file, module in modules("resolvers"):
        namespace = vars(importlib.import_module(file.removesuffix(".py").replace("/", ".")))
        found += outside_the_catalogue(file, module, namespace)
    assert not found, "\n".join(found)


def test_what_is_not_in_the_catalogue_is_found() -> None:
    code = "def f():\n    raise ValueError('no')\n\ndef g():\n    raise AppError.at('x')\n\ndef h():\n    raise\n"
    assert list(outside_the_catalogue("m.py", ast.parse(code), {"AppError": AppError})) == [
        "m.py:2 raises ValueError: add an error to schema/core/errors.py that says what is wrong."
    ]


def catalogue(kind: type[AppError] = AppError) -> Iterator[type[AppError]]:
    """Every error there is."""
    for sub in kind.__subclasses__():
        yield sub
        yield from catalogue(sub)


def test_every_error_says_what_is_wrong_and_has_a_code_of_its_own() -> None:
    errors = list(catalogue())
    assert all(error.__doc__ for error in errors)
    assert InsufficientFunds.code() == InsufficientBalance.code(), "programs treat both alike"
    assert len({error.code() for error in errors}) == len(errors) - 1
    for error in errors:
        assert "{" not in (error.meaning or error.__doc__ or "") or not error.is_user_error, (
            f"{error.__name__}: say in `meaning` what the code means, without gaps."
        )
