"""`coffret mail test`: sends a test message with this installation's mail settings."""

from uuid import uuid4

from rich.console import Console

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.services import make_mailer
from resolvers.mail.delivery import service_brand
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.mail_server import parse_sender
from store.mail.mailer import MailError
from store.mail.message import Envelope, build_message
from store.mail.render import render_mail
from store.mail.subjects import TEST_MAIL


async def test(to: str, language: str) -> None:
    """Send a test message as the worker does, and print the result. Raises CommandError."""
    if language not in LANGUAGES:
        raise CommandError(f"Mail is written in {', '.join(LANGUAGES)}, not in {language}.")
    settings = read_settings()
    mailer = make_mailer(settings)
    if mailer is None:
        raise CommandError(
            "No mail server is set. Set COFFRET_SMTP_URL and COFFRET_MAIL_FROM; messages wait until then."
        )
    name, sender = parse_sender(settings.mail_from)
    brand = service_brand(settings, name)
    message = render_mail(TEST_MAIL, None, language, brand, settings.public_url)
    message_id = f"<{uuid4()}@{sender.partition('@')[2]}>"
    try:
        await mailer.send(
            build_message(Envelope(message_id, sender, brand.name, "", to, language, clock.now()), message)
        )
    except MailError as error:
        raise CommandError(f"The message was not accepted: {error}") from None
    finally:
        await mailer.aclose()
    server = settings.mail_server
    taken = (
        f"The mail server at {server} accepted the message." if server else f"Read it at {settings.public_url}/_mail/"
    )
    Console(highlight=False, soft_wrap=True).print(taken, markup=False)
