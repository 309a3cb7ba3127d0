"""A mail server, over a few connections that are kept for a burst of letters."""

import asyncio
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
from store.mail.mailer import Deferred, Letter, MailError, Refused

PATIENCE = 10.0
"""Seconds that the server may take for one answer."""
WHOLE = 60.0
"""Seconds that a letter may take in all."""
IDLE = 5.0
"""Seconds that a connection is kept for the next letter."""
NOT_LET_IN = frozenset({530, 534, 535, 538})
"""Refusals that are about us, and not about the letter: a password can be put right."""


class SmtpMailer:
    """Hands letters to a mail server, over at most `connections` at once."""

    def __init__(
        self,
        server: MailServer,
        *,
        connections: int = 4,
        trusted: pathlib.Path | None = None,
        patience: float = PATIENCE,
        idle: float = IDLE,
    ) -> None:
        """`trusted` is a file of certificates to believe besides the system's own."""
        self.server = server
        self._tls = ssl.create_default_context()
        if trusted is not None:
            self._tls.load_verify_locations(trusted)
        self._patience, self._idle = patience, idle
        self._slots = asyncio.Semaphore(connections)
        self._free: list[SMTP] = []
        self._rest: asyncio.TimerHandle | None = None
        self._farewells: set[asyncio.Task[None]] = set()

    async def send(self, letter: Letter) -> None:
        """Hand over one letter; when this returns, the server has answered for it."""
        options = ["SMTPUTF8", "BODY=8BITMIME"] if letter.needs_utf8 else []
        try:
            async with asyncio.timeout(WHOLE), self._slots, self._connection() as smtp:
                if letter.needs_utf8 and not smtp.supports_extension("smtputf8"):
                    raise Refused("The mail server takes no address with letters beyond ASCII (SMTPUTF8).")
                await smtp.sendmail(letter.sender, [letter.recipient], letter.data, mail_options=options)
        except (SMTPException, OSError, ValueError) as error:
            raise told(error) from error

    async def check(self) -> None:
        """Whether the server answers, encrypts where it must, and lets us in. Raises MailError when not."""
        try:
            async with asyncio.timeout(WHOLE), self._slots, self._connection() as smtp:
                await smtp.noop()
        except (SMTPException, OSError) as error:
            raise told(error) from error

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[SMTP]:
        """A connection that answers; kept for the next letter unless something is wrong with it."""
        smtp = await self._reused() or await self._opened()
        try:
            yield smtp
        except (SMTPResponseException, SMTPRecipientsRefused, Refused):
            self._keep(smtp)  # it has answered, and has been reset
            raise
        except BaseException:
            smtp.close()
            raise
        self._keep(smtp)

    async def _reused(self) -> SMTP | None:
        while self._free:
            smtp = self._free.pop()
            try:
                await smtp.rset()
            except (SMTPException, OSError):
                smtp.close()
            else:
                return smtp
        return None

    async def _opened(self) -> SMTP:
        server = self.server
        smtp = SMTP(
            hostname=server.host,
            port=server.port,
            use_tls=server.tls,
            start_tls=True if server.must_encrypt else None if not server.tls else False,
            username=server.user or None,
            password=server.password if server.user else None,
            tls_context=self._tls,
            timeout=self._patience,
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

    def _keep(self, smtp: SMTP) -> None:
        if not smtp.is_connected:
            return
        self._free.append(smtp)
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(self._idle, self._part)

    def _part(self) -> None:
        """Say goodbye on connections that nobody has used for a while."""
        while self._free:
            farewell = asyncio.create_task(_quit(self._free.pop()))
            self._farewells.add(farewell)
            farewell.add_done_callback(self._farewells.discard)

    async def aclose(self) -> None:
        """Close every connection."""
        if self._rest is not None:
            self._rest.cancel()
        self._part()
        await asyncio.gather(*self._farewells)


async def _quit(smtp: SMTP) -> None:
    with suppress(SMTPException, OSError):  # it is gone already, which is what was wanted
        await smtp.quit(timeout=1)
    smtp.close()


def told(error: Exception) -> MailError:
    """What an error of the mail server means. What is not surely for good may be tried again."""
    if isinstance(error, SMTPRecipientsRefused):
        error = error.recipients[0]
    if isinstance(error, SMTPResponseException):
        message = f"{error.code} {error.message}"
        about_letter = isinstance(error, SMTPRecipientRefused | SMTPDataError) and error.code not in NOT_LET_IN
        if about_letter and error.code >= 500:
            return Refused(message)
        if isinstance(error, SMTPAuthenticationError):
            return Deferred(f"The mail server does not let us in: {message}")
        return Deferred(message)
    if isinstance(error, ValueError) and not isinstance(error, OSError):  # a certificate's error is both
        return Refused(str(error))
    return Deferred(str(error) or "The mail server does not answer in time.")
