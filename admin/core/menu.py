"""The menu: the sections with the lists that the user may see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from admin.core.paths import ROOT
from admin.resources.registry import SECTIONS
from schema.core.permission import RequiredAccess


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A list in the menu."""

    label: str
    url: str
    slug: str


@dataclass(frozen=True, slots=True)
class MenuSection:
    """A section of the menu with its lists."""

    name: str
    entries: Sequence[MenuEntry]


def menu_of(may: Callable[[RequiredAccess], bool]) -> Sequence[MenuSection]:
    """The sections with at least one list that the user may see."""
    sections = (
        MenuSection(
            section.name,
            [MenuEntry(it.label, f"{ROOT}{it.slug}/", it.slug) for it in section.resources if may(it.access)],
        )
        for section in SECTIONS
    )
    return [section for section in sections if section.entries]
