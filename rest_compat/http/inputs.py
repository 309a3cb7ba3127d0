"""From the keys that shops send to the fields of an input, and back for what is wrong with them."""

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from schema.core.errors import Path, Problem
from schema.core.input_errors import usable
from schema.core.messages import REQUIRED, problems
from schema.core.resource import Invalid, TextInput
from schema.validation.languages import LANGUAGES

Renamed = Mapping[str, str]
"""REST key -> field of the input, where they differ: `state` -> `status`, or, in a group, `hq_city` -> `head_office.city`."""

NOT_AN_OBJECT = (Problem((), "INVALID", "Send an object."),)


@dataclass(frozen=True)
class Group:
    """A field of an input that REST has no key for, but for the fields within it."""

    model: type[BaseModel]
    required: bool


class InputReader:
    """Reads one kind of input. Translated texts are flat in REST (`name_en`, `name_fr`), at every depth; so are groups of
    fields that `renamed` says the keys of. An input within another one has its own `renamed`, on its class. REST has no key
    for the `keyless` fields: whatever is sent under their names is unknown, and ignored.
    """

    def __init__(
        self,
        model: type[BaseModel],
        renamed: Renamed | None = None,
        required: Sequence[str] = (),
        keyless: Sequence[str] = (),
    ) -> None:
        self.model = model
        self.renamed = renamed or {}
        self.texts = [name for name, kind in _kinds(model) if kind is TextInput]
        self.grouped = {path: key for key, field in self.renamed.items() if len(path := tuple(field.split("."))) == 2}
        """Group and field -> the key that the field is sent under."""
        self.groups = _groups(model, self.grouped)
        self._flat = {f"{name}_{at}": (name, at) for name in self.texts for at in LANGUAGES}
        self._flat |= {key: (group, field) for (group, field), key in self.grouped.items()}
        self.nested = {
            name: reader
            for name, kind in _kinds(model)
            if name not in self.groups and (reader := _nested(kind)) is not None
        }
        self.keyless = frozenset(keyless)
        if unknown := self.keyless - frozenset(model.model_fields):
            raise LookupError(f"{model.__name__} has no {', '.join(sorted(unknown))}.")
        ours = (frozenset(self.renamed.values()) | frozenset(self.groups)) - frozenset(self.renamed)
        self._taken = ours | self.keyless
        self.as_sent = not (self.renamed or self.texts or self.nested or self.keyless)
        """Whether keys and fields are the same."""
        plain = frozenset(model.model_fields) - frozenset(self.groups) - self.keyless
        self.keys = frozenset(self.key_of(name) for name in plain) | frozenset(self._flat)
        self.wanted = tuple(key for field in required for key in self._keys_of(field))
        """The keys of the fields that are `required` of what is whole: a text in each language."""

    def read(
        self, sent: Any, path: Mapping[str, Any], wrong: tuple[Problem, ...] = (), *, whole: bool = False
    ) -> BaseModel | Invalid:
        """The input, with the parameters of the path put in; or what is wrong with it, for the operation to tell.

        `wrong` is what was found before, by key: it counts where it is about a key that there is, and is then all that is
        told of it. What is `whole` has all keys that are wanted.
        """
        if not isinstance(sent, dict):
            return Invalid((*(p for p in wrong if not p.path), *NOT_AN_OBJECT), path)
        fields = sent if self.as_sent else self.fields(sent)
        if path:
            fields = {**fields, **path}
        told = {p.path: p for p in wrong if not p.path or p.path[0] in self.keys}
        absent = [(key,) for key in self.wanted if whole and key not in sent]
        told |= {at: Problem(at, "REQUIRED", REQUIRED) for at in absent if at not in told}
        found: tuple[Problem, ...] = ()
        try:
            made = self.model.model_validate(fields)
        except ValidationError as error:
            found = problems(error)
        if not (told or found):
            return made
        named = [Problem(self.names(p.path), p.code, p.message) for p in found]
        every = (*told.values(), *(p for p in named if p.path not in told))
        wrong_at = [*((self._field_of(at[0]), *at[1:]) for at in told if at), *(p.path for p in found)]
        tried = () if any(not p.path for p in wrong) else usable(self.model, fields, wrong_at)
        return Invalid(every, fields, tried)

    def _field_of(self, key: str | int) -> str:
        """The field that a key fills, whole or in part."""
        return self._flat[str(key)][0] if key in self._flat else self.renamed.get(str(key), str(key)).partition(".")[0]

    def fields(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """What was sent, by field."""
        fields: dict[str, Any] = {name: {} for name, group in self.groups.items() if group.required}
        for key, value in sent.items():
            if key in self._flat:
                name, part = self._flat[key]
                fields.setdefault(name, {})[part] = value
                continue
            field = self.renamed.get(key, key)
            if key in self._taken or field in self.texts:
                continue  # a name of ours: no key
            nested = self.nested.get(field)
            fields[field] = value if nested is None else nested.fields_of(value)
        return fields

    def fields_of(self, value: Any) -> Any:
        """The same for whatever stands where an object, or a list of objects, should."""
        if isinstance(value, list):
            return [self.fields_of(item) for item in value]
        return self.fields(value) if isinstance(value, dict) else value

    def names(self, path: Path) -> Path:
        """From the path of a field to the path of the key that was sent, or should have been."""
        if not path:
            return path
        field, rest = path[0], path[1:]
        if isinstance(field, int):
            return (field, *self.names(rest))
        if field in self.texts:
            language, rest = (str(rest[0]), rest[1:]) if rest else (LANGUAGES[0], ())
            return (f"{field}_{language}", *rest)
        if rest and (key := self.grouped.get((str(field), str(rest[0])))) is not None:
            return (key, *rest[1:])
        nested = self.nested.get(field)
        return (self.key_of(field), *(rest if nested is None else nested.names(rest)))

    def _keys_of(self, field: str) -> list[str]:
        if field not in self.model.model_fields:
            raise LookupError(f"{self.model.__name__} has no {field}.")
        return [f"{field}_{at}" for at in LANGUAGES] if field in self.texts else [self.key_of(field)]

    def key_of(self, field: str) -> str:
        """The key that a field is sent under."""
        return next((key for key, name in self.renamed.items() if name == field), field)


def _groups(model: type[BaseModel], grouped: Mapping[tuple[str, ...], str]) -> Mapping[str, Group]:
    """The groups whose fields are keys in REST; LookupError for a key of what there is not."""
    kinds = dict(_kinds(model))
    for group, field in grouped:
        if group not in kinds or field not in kinds[group].model_fields:
            raise LookupError(f"{model.__name__} has no {group}.{field}.")
    return {group: Group(kinds[group], model.model_fields[group].is_required()) for group, _ in grouped}


def _nested(kind: Any) -> InputReader | None:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)) or kind is TextInput:
        return None
    reader = InputReader(kind, getattr(kind, "renamed", None))
    return None if reader.as_sent else reader


def _kinds(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """Each field of an input with the type it is about: `TextInput` for `Maybe[TextInput | None]`."""
    for name, field in model.model_fields.items():
        yield name, _innermost(field.annotation)


def _innermost(annotation: Any) -> Any:
    arguments = [a for a in typing.get_args(annotation) if a is not type(None)]
    return _innermost(arguments[0]) if arguments else annotation
