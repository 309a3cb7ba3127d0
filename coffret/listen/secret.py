"""The secret that forwarded events are signed with: one for each user of a machine, made when it is first needed."""

import base64
import contextlib
import pathlib
import secrets

import typer

from coffret.commands.command_error import CommandError
from store.webhook.signing import WEBHOOK_SECRET

BYTES = 32


def location() -> pathlib.Path:
    """Where it is kept: in the user's own folder of settings."""
    return pathlib.Path(typer.get_app_dir("coffret")) / "listen-secret"


def listening_secret(file: pathlib.Path | None = None) -> str:
    """The secret, `whsec_…`: the same each time."""
    file = file or location()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            _write(file, WEBHOOK_SECRET.prefix + base64.b64encode(secrets.token_bytes(BYTES)).decode())
        secret = file.read_text().strip()
    except (OSError, UnicodeError) as error:
        raise CommandError(f"The signing secret cannot be kept in {file}: {error}.") from None
    if not _is_secret(secret):
        raise CommandError(f"{file} holds no signing secret. Remove it, and a new one is made.")
    return secret


def _write(file: pathlib.Path, secret: str) -> None:
    """Put it there whole and readable by nobody else, unless one is there."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    draft.touch(mode=0o600, exist_ok=False)
    try:
        draft.write_text(f"{secret}\n")
        file.hardlink_to(draft)
    finally:
        draft.unlink()


def _is_secret(text: str) -> bool:
    try:
        return (
            text.startswith(WEBHOOK_SECRET.prefix)
            and len(base64.b64decode(text.removeprefix(WEBHOOK_SECRET.prefix), validate=True)) == BYTES
        )
    except ValueError:
        return False
