"""`coffret mail test`: whether mail leaves this installation and arrives."""

from uuid import uuid4

from rich.console import Console

from coffret.commands.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.services import make_mailer
from resolvers.mail.delivery import house_brand
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.mail_server import read_sender
from store.mail.mailer import MailError
from store.mail.message import Envelope, letter
from store.mail.render import TEST, rendered


async def test(to: str, language: str) -> None:
    """Hand a message over as the worker does, and say what the mail server said."""
    if language not in LANGUAGES:
        raise CommandError(f"Mail is written in {', '.join(LANGUAGES)}, not in {language}.")
    settings = read_settings()
    mailer = make_mailer(settings)
    if mailer is None:
        raise CommandError(
            "No mail server is set. Set COFFRET_SMTP_URL and COFFRET_MAIL_FROM; messages wait until then."
        )
    name, sender = read_sender(settings.mail_from)
    brand = house_brand(settings, name)
    message = rendered(TEST, None, language, brand, settings.public_url)
    message_id = f"<{uuid4()}@{sender.partition('@')[2]}>"
    try:
        await mailer.send(letter(Envelope(message_id, sender, brand.name, "", to, language, clock.now()), message))
    except MailError as error:
        raise CommandError(f"It was not taken: {error}") from None
    finally:
        await mailer.aclose()
    server = settings.mail_server
    taken = f"The mail server at {server} has taken it." if server else f"Read it at {settings.public_url}/_mail/"
    Console(highlight=False, soft_wrap=True).print(taken, markup=False)
