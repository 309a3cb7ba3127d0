"""The secret that signs forwarded events: one per user of a machine, created on first use."""

import base64
import pathlib
import secrets

import typer

from coffret.command_error import CommandError
from coffret.private_files import write_once
from store.webhook.signing import WEBHOOK_SECRET

SECRET_BYTES = 32


def secret_path() -> pathlib.Path:
    """A file in the user's configuration folder."""
    return pathlib.Path(typer.get_app_dir("coffret")) / "listen-secret"


def listening_secret(file: pathlib.Path | None = None) -> str:
    """The secret, `whsec_…`. The same on each call. Raises CommandError if the file cannot be used."""
    file = file or secret_path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        secret = WEBHOOK_SECRET.prefix + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
        write_once(file, f"{secret}\n".encode())
        secret = file.read_text().strip()
    except (OSError, UnicodeError) as error:
        raise CommandError(f"The signing secret cannot be stored in {file}: {error}.") from None
    if not _is_secret(secret):
        raise CommandError(f"{file} holds no signing secret. Remove it, and a new one is created.")
    return secret


def _is_secret(text: str) -> bool:
    try:
        return (
            text.startswith(WEBHOOK_SECRET.prefix)
            and len(base64.b64decode(text.removeprefix(WEBHOOK_SECRET.prefix), validate=True)) == SECRET_BYTES
        )
    except ValueError:
        return False
