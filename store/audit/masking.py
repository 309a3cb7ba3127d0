"""What of an input may be kept for good: plain JSON data without secrets, with no more of a code than its end."""

import dataclasses
import datetime as dt
import enum
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import strawberry
from pydantic import BaseModel
from starlette.datastructures import UploadFile

from schema.validation.characters import UNSTORABLE
from store.account.credentials import PREFIX
from store.core.codes import ALPHABET, LENGTH, looks_right, normal
from store.core.logs import HIDDEN, is_secret, without_secrets, words_apart

TAIL = 4
"""How many characters of a code are left, and at most a quarter of it."""
SHORTEST_IBAN = 15
LONGEST_TEXT = 1000
"""Of longer texts only the beginning is kept."""
_ENDS_SHOW = re.compile(r"(^|_)(codes?|iban|card_number)$", re.IGNORECASE)
_TOKEN = re.compile(re.escape(PREFIX) + r"[\w-]+")
_ACCOUNT = re.compile(r"(?i)(?<![A-Z0-9])(?=([A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}))")
_CODE = re.compile(rf"(?i)(?<![A-Z0-9])(?=((?:[{ALPHABET}][ -]?){{{LENGTH - 1}}}[{ALPHABET}](?![A-Z0-9])))")
_WORD_END = re.compile(r"(?<=[A-Za-z0-9])(?![A-Za-z0-9])")
_HARMLESS = re.compile(rf"[a-zA-Z0-9]{{0,{min(SHORTEST_IBAN, LENGTH) - 1}}}")
"""Too short for a code or an account number, and without what would stand between a secret and its name."""
_LARGEST = 2**63


def masked(value: object, name: str = "") -> Any:
    """A value as JSON data: what is named like a secret hidden, of codes and account numbers the end kept, at any depth.

    Of an input only the fields that were sent are told. Within texts, tokens, codes of ours and account numbers are found
    by their shape.
    """
    read = _READERS.get(type(value))
    if read is None:
        read = _READERS[type(value)] = _reader(type(value))
    return read(value, name)


_READERS: dict[type, Callable[[Any, str], Any]] = {}
"""How values of the types that were met are told: an input holds many values of few types."""


def _reader(kind: type) -> Callable[[Any, str], Any]:
    if kind in {type(None), bool}:
        return lambda value, _name: value
    if issubclass(kind, strawberry.Some):
        return lambda value, name: masked(value.value, name)
    if issubclass(kind, BaseModel):
        return _read_as(_sent(kind))
    if issubclass(kind, UploadFile):
        return _read_as(lambda file: {"size": file.size, "content_type": file.content_type})
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return _read_as(lambda value: {name: getattr(value, name) for name in names})
    if issubclass(kind, Mapping):
        return _read_as(lambda value: {str(key): inner for key, inner in value.items()})
    if issubclass(kind, list | tuple | set | frozenset):
        return lambda value, name: _secret(value, name) if is_secret(name) else [masked(inner) for inner in value]
    return lambda value, name: _secret(value, name) if is_secret(name) else _plain(value)


def _read_as(fields: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any, str], Any]:
    """How something is told that has named parts."""

    def read(value: Any, name: str) -> Any:
        parts = fields(value)
        if is_secret(name):
            return _secret(parts, name)
        return {_key(key): masked(inner, key) for key, inner in parts.items()}

    return read


def _secret(value: object, name: str) -> Any:
    return _hidden(value, ends_show=_shows_end(name))


def _shows_end(name: str) -> bool:
    return _ENDS_SHOW.search(words_apart(name)) is not None


def _sent(kind: type[BaseModel]) -> Callable[[Any], Mapping[str, Any]]:
    """The fields of an input that were sent; one that may be left out and was is None, one that was sent is wrapped."""
    optional, names = _optional(kind), tuple(kind.model_fields)

    def fields(model: BaseModel) -> Mapping[str, Any]:
        sent, values = model.model_fields_set, vars(model)
        return {n: values[n] for n in names if n in sent and not (values[n] is None and n in optional)}

    return fields


def _optional(model: type[BaseModel]) -> frozenset[str]:
    """The fields that may be left out."""
    return frozenset(name for name, field in model.model_fields.items() if strawberry.Maybe in _parts(field.annotation))


def _parts(annotation: Any) -> set[Any]:
    inner = getattr(annotation, "__args__", ())
    return {getattr(annotation, "__origin__", annotation)}.union(*map(_parts, inner))


def _hidden(value: object, *, ends_show: bool) -> Any:
    """What stands in the place of a secret. That there was none, is none."""
    if value is None or value == "" or isinstance(value, bool):
        return value
    if not ends_show:
        return HIDDEN
    if isinstance(value, Mapping):
        return {_storable(str(key)): _hidden(inner, ends_show=True) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_hidden(inner, ends_show=True) for inner in value]
    return _end(str(value))


def _end(code: str) -> str:
    """A code of which only the end is left."""
    plain = normal(_storable(code))
    left = min(TAIL, len(plain) // TAIL)
    return HIDDEN + (plain[-left:] if left else "")


def _plain(value: object) -> Any:
    """A single value as JSON has it."""
    if type(value) is str:
        return _text(value)
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if isinstance(value, int):
        return value if -_LARGEST <= value < _LARGEST else str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return _text(str(value))


def _text(value: str) -> str:
    if _HARMLESS.fullmatch(value):
        return value
    text = without_secrets(_storable(value))
    if PREFIX in text:
        text = _TOKEN.sub(PREFIX + HIDDEN, text)
    if len(text) >= min(SHORTEST_IBAN, LENGTH):
        text = _ends_only(text)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"


def _ends_only(text: str) -> str:
    """A text in which only the ends are left of codes of ours and of account numbers; where both are seen, of both at once."""
    hidden: list[tuple[int, int]] = []
    for start, end in sorted([*_found(text, _ACCOUNT, _is_account), *_found(text, _CODE, looks_right)]):
        begun, ended = hidden.pop() if hidden and start < hidden[-1][1] else (start, end)
        hidden.append((begun, max(ended, end)))
    written, after = "", 0
    for start, end in hidden:
        written += text[after:start] + _end(text[start:end])
        after = end
    return written + text[after:]


def _found(text: str, shape: re.Pattern[str], right: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Where a text has what is of a shape, begins and ends with a word, and is `right`."""
    for found in shape.finditer(text):
        ends = (at.start() for at in _WORD_END.finditer(found[1]))
        length = next((end for end in ends if right(found[1][:end])), 0)
        if length:
            yield found.start(), found.start() + length


def _is_account(found: str) -> bool:
    """Whether this is an IBAN: long enough, with the right check digits."""
    plain = normal(found)
    digits = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return len(plain) >= SHORTEST_IBAN and int(digits) % 97 == 1


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    """A name as it is kept; there are few, and they come again and again."""
    return _storable(name)


def _storable(text: str) -> str:
    """A text without the characters that no database takes."""
    return UNSTORABLE.sub("�", text)
