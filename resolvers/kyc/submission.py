"""The submission of a document to the payment provider. Each completed step is recorded, so that a repeated request
continues where a failed one stopped.
"""

import datetime as dt
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from schema.core.errors import InvalidInput, ProviderFailed
from schema.core.message_names import TemplatedMessage
from store.core.document_steps import UNFINISHED, CompletedStep, DocumentStep, SubmittedRow, advance_document
from store.providers.errors import InvalidRequest

R = TypeVar("R", bound=SubmittedRow)
UPLOAD_TIMEOUT = dt.timedelta(seconds=60)
"""Enough for a file of 7 MB."""


class DocumentCalls(Protocol):
    """The provider's calls for one document. Each is repeated with the key of the document's row."""

    async def create(self) -> str:
        """Create it without its file; returns the provider's id."""
        ...

    async def add_page(self, id: str) -> None:
        """Upload its file."""
        ...

    async def submit(self, id: str) -> None:
        """Ask the provider to examine it."""
        ...


async def submit_document(
    services: Services, row: R, calls: DocumentCalls, lock: Callable[[AsyncSession, R], Awaitable[R]]
) -> None:
    """Run the remaining steps, and record each. A document that the provider refuses is abandoned.

    `lock` locks and reloads the row.
    """
    process = ProviderCall(lock=lock, record=_record_step, refuse=_abandon)
    if row.step is DocumentStep.BEGUN:
        row = await process.send(services, row, _create(calls))
    if row.step is DocumentStep.CREATED:
        try:
            row = await process.send(services, row, _add_page(calls, row.provider_id))
        except InvalidRequest as error:
            raise InvalidInput.at(
                "file", TemplatedMessage("The payment provider does not take this file: {error}", error=error)
            ) from error
    if row.step is DocumentStep.FILED:
        row = await process.send(services, row, _submit(calls, row.provider_id))
    if row.step is DocumentStep.ABANDONED:  # the provider refused it to a concurrent request with the same file
        raise ProviderFailed


async def _create(calls: DocumentCalls) -> CompletedStep:
    return CompletedStep(DocumentStep.CREATED, await calls.create())


async def _add_page(calls: DocumentCalls, id: str) -> CompletedStep:
    await calls.add_page(id)
    return CompletedStep(DocumentStep.FILED, id)


async def _submit(calls: DocumentCalls, id: str) -> CompletedStep:
    await calls.submit(id)
    return CompletedStep(DocumentStep.SUBMITTED, id)


async def _record_step(_: Recording, row: R, completed: CompletedStep) -> R:
    advance_document(row, completed)
    return row


async def _abandon(_: Recording, row: R, _refused: RefusedCall[R]) -> None:
    if row.step in UNFINISHED:
        row.abandon()
