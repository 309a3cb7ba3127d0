"""What every document tells the typesetter."""

from typing import ClassVar, Protocol

from store.document.sheet import SheetBrand


class TypesetDocument(Protocol):
    """A document as its template reads it."""

    template: ClassVar[str]
    """The file name of its template."""
    pdf_standards: ClassVar[tuple[str, ...]]
    """The standards that its PDF follows, by the names of the compiler."""

    @property
    def look(self) -> SheetBrand: ...

    @property
    def overline(self) -> str:
        """What it is, such as a gift card."""

    @property
    def scanned(self) -> str:
        """The text in its QR code; empty for a document without one."""

    def data(self) -> dict[str, object]:
        """The data of the template, printable."""
