"""The steps of a document that is submitted to the payment provider: each step's call can be repeated with its key."""

import enum
from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlmodel import Field

from schema.core.columns import enum_column
from schema.kyc.kyc import KycCheckStatus
from store.core.provider_process import ReferencedRow
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


class SubmittedRow(ReferencedRow):
    """A document that is being submitted. Its file is not stored; the digest detects a repeated file."""

    status: KycCheckStatus
    reference: UUID = Field(default_factory=uuid4)
    step: DocumentStep = enum_column(DocumentStep, "Last completed step of the submission.", default=DocumentStep.BEGUN)
    digest: str = Field(default="", max_length=64)
    create_key: UUID = Field(default_factory=uuid4)
    page_key: UUID = Field(default_factory=uuid4)

    def abandon(self) -> None:
        """Give it up, so that its request can create another."""
        self.step = DocumentStep.ABANDONED


@dataclass(frozen=True, slots=True)
class CompletedStep:
    """A step that the provider has confirmed, and its id of the document."""

    step: DocumentStep
    provider_id: str


def advance_document(row: SubmittedRow, completed: CompletedStep) -> None:
    """Record a completed step of a locked document; the last one, if it is new, asks the provider to examine it.

    A step behind the recorded one changes nothing: another request or a notification was faster.
    """
    if row.step not in UNFINISHED:
        return
    row.provider_id = row.provider_id or completed.provider_id
    if not DOCUMENT_STEPS.allows(row.step, completed.step):
        return
    row.step = completed.step
    if row.step is DocumentStep.SUBMITTED and row.status is KycCheckStatus.CREATED:
        row.status = KycCheckStatus.VALIDATION_ASKED
