"""The language switch of a form: which languages of its texts are in sight, and how many texts each lacks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from admin.forms.form_fields import FormField
from admin.forms.kinds import Kind
from schema.validation.languages import LANGUAGES

BESIDE = "_beside"
"""The field of a form, and the cookie, with the language beside the main one."""
ALL = "all"
"""All languages are in sight."""
BESIDE_COOKIE = "language-beside"
BESIDE_SECONDS = 365 * 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class LanguageSwitch:
    """The languages of a form: the main one, which is always in sight, the one beside it, and the missing texts of each."""

    main: str
    beside: str
    missing: Mapping[str, int]

    @property
    def others(self) -> Sequence[str]:
        """The languages to choose from."""
        return [language for language in LANGUAGES if language != self.main]


def chosen_language(text: str) -> str:
    """A choice that was sent or stored; empty if it is none."""
    return text if text in (*LANGUAGES, ALL) else ""


def language_switch(fields: Sequence[FormField], main: str, chosen: str) -> LanguageSwitch | None:
    """The switch of a form; None if it has no texts in several languages.

    Without a choice, or if it is the main language, the next language that has a text is beside it.
    """
    texts = list(_translated(fields))
    if not texts:
        return None
    main = main if main in LANGUAGES else LANGUAGES[0]
    others = [language for language in LANGUAGES if language != main]
    if chosen == main or not chosen_language(chosen):
        filled = {child.label for text in texts for child in text.children if child.value}
        chosen = next((language for language in others if language in filled), others[0])
    return LanguageSwitch(main, chosen, Counter(language for text in texts for language in text.missing))


def _translated(fields: Sequence[FormField]) -> Iterator[FormField]:
    for each in fields:
        if each.kind is Kind.TRANSLATED:
            yield each
        yield from _translated(each.children)
        for row in each.rows:
            yield from _translated(row)
