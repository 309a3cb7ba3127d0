"""The steps of a document that is submitted to the payment provider: each step's call can be repeated with its key."""

import enum
from dataclasses import dataclass
from typing import Protocol

from store.core.state_machine import StateMachine


class DocumentStep(enum.StrEnum):
    """The last completed step of a document's submission. Each step's call can be repeated with its key."""

    BEGUN = "begun"
    """Recorded here."""
    CREATED = "made"
    """Created at the provider, without its file."""
    FILED = "filed"
    """The file is uploaded."""
    SUBMITTED = "submitted"
    """The provider was asked to examine it, or already knew it."""
    ABANDONED = "abandoned"
    """It will never be submitted: refused at once, or its keys are too old. Another document replaces it."""


UNFINISHED = (DocumentStep.BEGUN, DocumentStep.CREATED, DocumentStep.FILED)
_ENDED = {DocumentStep.SUBMITTED, DocumentStep.ABANDONED}
DOCUMENT_STEPS = StateMachine(
    "A document",
    {
        DocumentStep.BEGUN: {DocumentStep.CREATED, DocumentStep.FILED, *_ENDED},
        DocumentStep.CREATED: {DocumentStep.FILED, *_ENDED},
        DocumentStep.FILED: _ENDED,
    },
)


class SubmittedRow(Protocol):
    """The columns of a document that is being submitted."""

    step: DocumentStep
    provider_id: str


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step that the provider has confirmed, and its id of the document."""

    step: DocumentStep
    provider_id: str


def advance_document(row: SubmittedRow, completed: CompletedStep) -> bool:
    """Record a completed step of a locked document; returns True if it is the last one and new.

    A step behind the recorded one changes nothing: another request or a notification was faster.
    """
    if row.step not in UNFINISHED:
        return False
    row.provider_id = row.provider_id or completed.provider_id
    if not DOCUMENT_STEPS.allows(row.step, completed.step):
        return False
    row.step = completed.step
    return row.step is DocumentStep.SUBMITTED
