"""Masks input for permanent storage: plain JSON data without secrets, with only the end of codes."""

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

from schema.validation.storable import UNSTORABLE
from store.account.credentials import PREFIX
from store.core.codes import ALPHABET, LENGTH, looks_valid, normalize
from store.core.telemetry.logs import MASK, is_secret, mask_secrets, split_words

VISIBLE_CHARACTERS = 4
"""Number of characters of a code that stay visible, at most a quarter of it."""
MIN_IBAN_LENGTH = 15
MAX_TEXT_LENGTH = 1000
"""Longer texts are truncated."""
CUT_SECRET_LENGTH = 100
"""Characters before a cut that are left out: the beginning of a secret is not recognized without its end."""
_PARTLY_SHOWN_NAMES = re.compile(r"(^|_)(codes?|iban|card_number)$", re.IGNORECASE)
_TOKEN = re.compile(re.escape(PREFIX) + r"[\w-]+")
_ACCOUNT = re.compile(r"(?i)(?<![A-Z0-9])(?=([A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}))")
_CODE = re.compile(rf"(?i)(?<![A-Z0-9])(?=((?:[{ALPHABET}][ -]?){{{LENGTH - 1}}}[{ALPHABET}](?![A-Z0-9])))")
_WORD_END = re.compile(r"(?<=[A-Za-z0-9])(?![A-Za-z0-9])")
_HARMLESS = re.compile(rf"[a-zA-Z0-9]{{0,{min(MIN_IBAN_LENGTH, LENGTH) - 1}}}")
"""Too short for a code or an account number, and without characters that could separate a secret from its name."""
_LARGEST = 2**63


def mask(value: object, name: str = "") -> Any:
    """A value as JSON data, masked at any depth: secrets by their names, codes and account numbers except for their
    end.

    Of an input, only the fields that were sent are included. Within texts, tokens, Coffret codes and account numbers
    are recognized by their form.
    """
    read = _READERS.get(type(value))
    if read is None:
        read = _READERS[type(value)] = _reader(type(value))
    return read(value, name)


_READERS: dict[type, Callable[[Any, str], Any]] = {}
"""The reader of each type met so far: an input holds many values of few types."""


def _reader(kind: type) -> Callable[[Any, str], Any]:
    if kind in {type(None), bool}:
        return lambda value, _name: value
    if issubclass(kind, strawberry.Some):
        return lambda value, name: mask(value.value, name)
    if issubclass(kind, BaseModel):
        return _mapping_reader(_sent_fields(kind))
    if issubclass(kind, UploadFile):
        return _mapping_reader(lambda file: {"size": file.size, "content_type": file.content_type})
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
        return _mapping_reader(lambda value: {name: getattr(value, name) for name in names})
    if issubclass(kind, Mapping):
        return _mapping_reader(lambda value: {str(key): inner for key, inner in value.items()})
    if issubclass(kind, list | tuple | set | frozenset):
        return lambda value, name: _secret(value, name) if is_secret(name) else [mask(inner) for inner in value]
    return lambda value, name: _secret(value, name) if is_secret(name) else _plain(value)


def _mapping_reader(fields: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any, str], Any]:
    """A reader of values with named fields."""

    def read(value: Any, name: str) -> Any:
        parts = fields(value)
        if is_secret(name):
            return _secret(parts, name)
        return {_masked_key(key): mask(inner, key) for key, inner in parts.items()}

    return read


def _secret(value: object, name: str) -> Any:
    return _mask(value, ends_show=_is_partly_shown(name))


def _is_partly_shown(name: str) -> bool:
    return _PARTLY_SHOWN_NAMES.search(split_words(name)) is not None


def _sent_fields(kind: type[BaseModel]) -> Callable[[Any], Mapping[str, Any]]:
    """The fields of an input that were sent.

    An optional field that was omitted is None; one that was sent is wrapped.
    """
    optional, names = _optional(kind), tuple(kind.model_fields)
    hidden: frozenset[str] = getattr(kind, "HIDDEN_FROM_AUDIT", frozenset())

    def fields(model: BaseModel) -> Mapping[str, Any]:
        set_fields, values = model.model_fields_set, vars(model) | dict.fromkeys(hidden, MASK)
        return {n: values[n] for n in names if n in set_fields and not (values[n] is None and n in optional)}

    return fields


def _optional(model: type[BaseModel]) -> frozenset[str]:
    """The fields that may be omitted."""
    return frozenset(name for name, field in model.model_fields.items() if strawberry.Maybe in _parts(field.annotation))


def _parts(annotation: Any) -> set[Any]:
    inner = getattr(annotation, "__args__", ())
    return {getattr(annotation, "__origin__", annotation)}.union(*map(_parts, inner))


def _mask(value: object, *, ends_show: bool) -> Any:
    """The replacement of a secret. Empty values and booleans stay as they are."""
    if value is None or value == "" or isinstance(value, bool):
        return value
    if not ends_show:
        return MASK
    if isinstance(value, Mapping):
        return {_drop_unstorable(str(key)): _mask(inner, ends_show=True) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask(inner, ends_show=True) for inner in value]
    return _masked_code(str(value))


def _masked_code(code: str) -> str:
    """A code with only its end visible."""
    plain = normalize(_drop_unstorable(code))
    left = min(VISIBLE_CHARACTERS, len(plain) // VISIBLE_CHARACTERS)
    return MASK + (plain[-left:] if left else "")


def _plain(value: object) -> Any:
    """A single value as JSON data."""
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
    if len(value) <= MAX_TEXT_LENGTH:
        return _without_secrets(value)
    return f"{mask_start(value, MAX_TEXT_LENGTH)} ({len(value)} characters)"


def mask_start(value: str, most: int) -> str:
    """A masked text, or the start of a longer one: what follows costs nothing."""
    if len(value) <= most:
        return _without_secrets(value)
    start = _without_secrets(value[: most + CUT_SECRET_LENGTH])
    return f"{start[: max(0, min(most, len(start) - CUT_SECRET_LENGTH))]}…"


def _without_secrets(value: str) -> str:
    """A text in which secrets that it contains are masked."""
    text = mask_secrets(_drop_unstorable(value))
    if PREFIX in text:
        text = _TOKEN.sub(PREFIX + MASK, text)
    if len(text) >= min(MIN_IBAN_LENGTH, LENGTH):
        text = _mask_codes(text)
    return text


def _mask_codes(text: str) -> str:
    """A text in which Coffret codes and account numbers are masked except for their end.

    Overlapping ones are masked as one.
    """
    hidden: list[tuple[int, int]] = []
    for start, end in sorted([*_matches(text, _ACCOUNT, _is_account), *_matches(text, _CODE, looks_valid)]):
        begun, ended = hidden.pop() if hidden and start < hidden[-1][1] else (start, end)
        hidden.append((begun, max(ended, end)))
    written, after = "", 0
    for start, end in hidden:
        written += text[after:start] + _masked_code(text[start:end])
        after = end
    return written + text[after:]


def _matches(text: str, shape: re.Pattern[str], right: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """The places where a text has the form `shape`, within whole words, and passes `right`."""
    for match in shape.finditer(text):
        ends = (at.start() for at in _WORD_END.finditer(match[1]))
        length = next((end for end in ends if right(match[1][:end])), 0)
        if length:
            yield match.start(), match.start() + length


def _is_account(text: str) -> bool:
    """True for an IBAN: long enough, with correct check digits."""
    plain = normalize(text)
    digits = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return len(plain) >= MIN_IBAN_LENGTH and int(digits) % 97 == 1


@lru_cache(maxsize=4096)
def _masked_key(name: str) -> str:
    """A name as it is stored. Cached, since few names recur."""
    return _drop_unstorable(name)


def _drop_unstorable(text: str) -> str:
    """A text in which the characters that no database takes are replaced."""
    return UNSTORABLE.sub("�", text)
