"""Reads the settings and the database URL from the environment. Invalid values raise a CommandError."""

import contextlib
import difflib
import os
from collections.abc import Callable, Iterator, Mapping

from pydantic import AliasChoices, SecretStr, ValidationError
from pydantic.fields import FieldInfo

from coffret.command_error import CommandError
from store.core.settings import Settings
from store.database.db import dsn
from store.database.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError

COMMAND_VARIABLES = ("COFFRET_TOKEN", "COFFRET_URL")
"""Variables that options of commands read, rather than settings."""


def variable(name: str, field: FieldInfo) -> str:
    """The documented environment variable of a setting."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        alias = str(alias.choices[0])
    return str(alias) if alias else f"COFFRET_{name.upper()}"


def read_settings() -> Settings:
    """The settings of the environment. Raises one CommandError that names every invalid variable.

    In development, checkout URLs use http unless FUNNEL_SCHEME is set: the server does not speak TLS.
    """
    try:
        settings = Settings()
    except ValidationError as error:
        raise CommandError("\n".join(error_sentences(error))) from None
    if settings.development and "funnel_scheme" not in settings.model_fields_set:
        settings.funnel_scheme = "http"
    return settings


def error_sentences(error: ValidationError) -> list[str]:
    """One sentence for each invalid setting."""
    by_location = {name: (variable(name, field), field) for name, field in Settings.model_fields.items()}
    by_location |= {env: (env, field) for env, field in by_location.values()}
    sentences = []
    for problem in error.errors():
        message = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            sentences.append(message)
            continue
        env, field = by_location[str(problem["loc"][0])]
        hidden = field.annotation is SecretStr
        given = "" if hidden else f", not {problem['input']!r}"
        for beginning in ("Input should be", "String should"):
            message = message.replace(beginning, "must be" if beginning == "Input should be" else "must")
        sentences.append(f"{env}: {message.partition(', unable')[0]}{given}.")
    return sentences


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """`COFFRET_…` variables that no setting reads, each with the closest known name, or an empty string."""
    known = {f"COFFRET_{name.upper()}": variable(name, field) for name, field in Settings.model_fields.items()}
    known |= {name: name for name in COMMAND_VARIABLES}
    unknown = sorted(name for name in environment if name.startswith("COFFRET_") and name not in known)
    meant = {name: difflib.get_close_matches(name, known, 1, cutoff=0.8) for name in unknown}
    return {name: known[found[0]] if found else "" for name, found in meant.items()}


@contextlib.contextmanager
def database_url(settings: Settings, meanwhile: Callable[[], object] = lambda: None) -> Iterator[str]:
    """The database URL: `DATABASE_URL`, or that of the embedded server, which runs during the block.

    `meanwhile` is called once, while the embedded server starts. Raises CommandError.
    """
    if settings.database_url:
        meanwhile()
        try:
            yield dsn(settings.database_url)
        except ValueError as error:
            raise CommandError(str(error)) from None
        return
    try:
        server = EmbeddedPostgres(settings.data_dir)
        url = server.start(meanwhile)
    except EmbeddedPostgresError as error:
        raise CommandError(str(error)) from None
    try:
        yield url
    finally:
        server.stop()


def export_settings(settings: Settings) -> None:
    """Write the settings decided at start to the environment, for child processes."""
    os.environ["PORT"] = str(settings.port)
    os.environ["DATABASE_URL"] = settings.database_url
    os.environ["FUNNEL_SCHEME"] = settings.funnel_scheme
    os.environ["COFFRET_HOST"] = settings.host
    os.environ["COFFRET_WORKERS"] = str(settings.workers)
