"""The texts of the program that are translated, collected as `make messages` does, and what a catalogue has to be."""

import functools
import re
import tomllib
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir

from schema.validation.languages import LANGUAGES

ROOT = Path(__file__).parents[1]
TRANSLATED = [language for language in LANGUAGES if language != "en"]
PLACEHOLDER = re.compile(r"%\(\w+\)s")
MessageId = str | tuple[str, ...]


@functools.cache
def texts_in(folder: str) -> frozenset[MessageId]:
    """Every text below a folder."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    own = [each for each in mappings if each["pattern"].startswith(f"{folder}/")]
    options = {each["pattern"]: {k: v for k, v in each.items() if k not in ("pattern", "method")} for each in own}
    below = ROOT / folder
    found = extract_from_dir(
        ROOT,
        [(each["pattern"], each["method"]) for each in own],
        options,
        directory_filter=lambda path: Path(path) in below.parents or Path(path).is_relative_to(below),
    )
    return frozenset(message for _, _, message, _, _ in found)


def forms(message: Message) -> list[str]:
    """The texts of a message: one, or one for each plural."""
    return [message.string] if isinstance(message.string, str) else list(message.string or ())


def check_complete(catalogue: Catalog, folder: str) -> None:
    """Fail unless a catalogue has every text of a folder, and no other."""
    messages = [message for message in catalogue if message.id]
    known: set[MessageId] = {m.id if isinstance(m.id, str) else tuple(m.id) for m in messages}
    assert known == texts_in(folder)
    assert [message.id for message in messages if message.fuzzy or not all(forms(message))] == []
    assert not catalogue.obsolete


def check_placeholders(catalogue: Catalog) -> None:
    """Fail if a placeholder of a text is missing in its translation, or another is there."""
    for message in catalogue:
        wanted = set(PLACEHOLDER.findall(message.id if isinstance(message.id, str) else message.id[-1]))
        for text in forms(message) if message.id else []:
            assert "%" not in PLACEHOLDER.sub("", text), text
            found = set(PLACEHOLDER.findall(text))
            assert found == wanted or (not isinstance(message.id, str) and found < wanted), text


def check_translated(catalogue: Catalog) -> None:
    """Long texts differ from English, and begin and end alike: a sentence stays a sentence."""
    for message in catalogue:
        if isinstance(message.id, str) and len(message.id) > 25:
            (text,) = forms(message)
            assert text != message.id
            assert text.endswith(".") == message.id.endswith("."), text
