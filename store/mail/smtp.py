"""Sends mail through a mail server, over a few connections that are reused for bursts of messages."""

import asyncio
import functools
import pathlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPDataError,
    SMTPException,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPResponseException,
)

from store.core.mail_server import MailServer
from store.mail.mailer import MailDeferred, MailError, MailMessage, MailRefused

COMMAND_TIMEOUT = 10.0
"""Maximum seconds for one response of the server."""
TOTAL_TIMEOUT = 60.0
"""Maximum seconds for a message in all."""
IDLE_TIMEOUT = 5.0
"""Seconds that an idle connection stays open for the next message."""
AUTH_ERROR_CODES = frozenset({530, 534, 535, 538})
"""Refusals of our log-in rather than of the message. They are temporary, since a password can be corrected."""


@functools.cache  # the certificates of the system take milliseconds to load
def _tls_context(ca_file: pathlib.Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


class SmtpMailer:
    """Sends messages through a mail server, over at most `connections` at once."""

    def __init__(
        self,
        server: MailServer,
        *,
        connections: int = 4,
        ca_file: pathlib.Path | None = None,
        command_timeout: float = COMMAND_TIMEOUT,
        idle_timeout: float = IDLE_TIMEOUT,
    ) -> None:
        """`ca_file` holds certificates to trust in addition to the system's."""
        self.server = server
        self._tls = _tls_context(ca_file)
        self._command_timeout, self._idle = command_timeout, idle_timeout
        self._slots = asyncio.Semaphore(connections)
        self._free: list[SMTP] = []
        self._idle_task: asyncio.TimerHandle | None = None
        self._closing_tasks: set[asyncio.Task[None]] = set()

    async def send(self, message: MailMessage) -> None:
        """Send one message; when this returns, the server has accepted it."""
        options = ["SMTPUTF8", "BODY=8BITMIME"] if message.needs_utf8 else []
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT), self._slots, self._connection() as smtp:
                if message.needs_utf8 and not smtp.supports_extension("smtputf8"):
                    raise MailRefused("The mail server accepts no address with letters beyond ASCII (SMTPUTF8).")
                await smtp.sendmail(message.sender, [message.recipient], message.data, mail_options=options)
        except (SMTPException, OSError, ValueError) as error:
            raise mail_error_of(error) from error

    async def check(self) -> None:
        """Check that the server answers, encrypts where required, and accepts our log-in. Raises MailError if not."""
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT), self._slots, self._connection() as smtp:
                await smtp.noop()
        except (SMTPException, OSError) as error:
            raise mail_error_of(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[SMTP]:
        """A connection that answers. It is reused for the next message unless it failed."""
        smtp = await self._reuse_connection() or await self._open_connection()
        try:
            yield smtp
        except (SMTPResponseException, SMTPRecipientsRefused, MailRefused):
            self._release_connection(smtp)  # it has answered and was reset
            raise
        except BaseException:
            smtp.close()
            raise
        self._release_connection(smtp)

    async def _reuse_connection(self) -> SMTP | None:
        while self._free:
            smtp = self._free.pop()
            try:
                await smtp.rset()
            except (SMTPException, OSError):
                smtp.close()
            else:
                return smtp
        return None

    async def _open_connection(self) -> SMTP:
        server = self.server
        smtp = SMTP(
            hostname=server.host,
            port=server.port,
            use_tls=server.tls,
            start_tls=True if server.must_encrypt else None if not server.tls else False,
            username=server.user or None,
            password=server.password if server.user else None,
            tls_context=self._tls,
            timeout=self._command_timeout,
        )
        try:
            await smtp.connect()
            if not smtp.is_ehlo_or_helo_needed:
                return smtp
            await smtp.ehlo()
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _release_connection(self, smtp: SMTP) -> None:
        if not smtp.is_connected:
            return
        self._free.append(smtp)
        if self._idle_task is not None:
            self._idle_task.cancel()
        self._idle_task = asyncio.get_running_loop().call_later(self._idle, self._close_idle)

    def _close_idle(self) -> None:
        """Close the connections that have been idle for a while."""
        while self._free:
            farewell = asyncio.create_task(_quit(self._free.pop()))
            self._closing_tasks.add(farewell)
            farewell.add_done_callback(self._closing_tasks.discard)

    async def aclose(self) -> None:
        if self._idle_task is not None:
            self._idle_task.cancel()
        self._close_idle()
        await asyncio.gather(*self._closing_tasks)


async def _quit(smtp: SMTP) -> None:
    with suppress(SMTPException, OSError):  # it is closed already
        await smtp.quit(timeout=1)
    smtp.close()


def mail_error_of(error: Exception) -> MailError:
    """The MailError of an SMTP error. Errors that are not clearly permanent may be tried again."""
    if isinstance(error, SMTPRecipientsRefused):
        error = error.recipients[0]
    if isinstance(error, SMTPResponseException):
        message = f"{error.code} {error.message}"
        about_message = isinstance(error, SMTPRecipientRefused | SMTPDataError) and error.code not in AUTH_ERROR_CODES
        if about_message and error.code >= 500:
            return MailRefused(message)
        if isinstance(error, SMTPAuthenticationError):
            return MailDeferred(f"The mail server does not let us in: {message}")
        return MailDeferred(message)
    if isinstance(error, ValueError) and not isinstance(error, OSError):  # a certificate's error is both
        return MailRefused(str(error))
    return MailDeferred(str(error) or "The mail server does not answer in time.")
