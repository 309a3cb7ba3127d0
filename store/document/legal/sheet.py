"""The content of a legal text, ready for typesetting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from store.document.printable import printable_exact
from store.document.rich import TextBlock
from store.document.sheet import ARCHIVED, SheetBrand


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalSheet:
    """A legal text as its template reads it."""

    template: ClassVar[str] = "legal/legal.typ"
    pdf_standards: ClassVar[tuple[str, ...]] = ARCHIVED
    language: str
    look: SheetBrand
    overline: str
    """What it is about."""
    version: str
    """When this version was published."""
    blocks: Sequence[TextBlock]
    contact: Sequence[str]

    @property
    def scanned(self) -> str:
        """It has no QR code."""
        return ""

    def data(self) -> dict[str, object]:
        """The data of the template."""
        return {
            "language": self.language,
            "title": f"{self.overline} – {self.look.name}",
            "look": self.look,
            "words": {},
            "overline": self.overline,
            "version": self.version,
            "blocks": self.blocks,
            "contact": [printable_exact(entry) for entry in self.contact],
        }
