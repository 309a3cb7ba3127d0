"""Maps REST keys to input fields, and the paths of problems back to REST keys."""

import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from schema.core.errors import Problem, ProblemPath
from schema.core.input_errors import partial_inputs
from schema.core.inputs import RejectedInput
from schema.core.messages import REQUIRED, problems_of
from schema.core.text import TextInput
from schema.validation.languages import LANGUAGES

Renamed = Mapping[str, str]
"""REST key -> input field, where they differ: `state` -> `status`, or in a group `hq_city` -> `head_office.city`."""

NOT_AN_OBJECT = (Problem((), "INVALID", "Send an object."),)


@dataclass(frozen=True)
class InputGroup:
    """An input field whose inner fields are top-level keys in REST."""

    model: type[BaseModel]
    required: bool


class InputReader:
    """Reads one type of input.

    REST has one key per language for a translated text (`name_en`, `name_fr`), at every depth, and one key per field
    for the groups that `renamed` lists. A nested input has its own `renamed`, on its class. The `graphql_only` fields
    have no REST key: keys with their names are ignored like unknown keys.
    """

    def __init__(
        self,
        model: type[BaseModel],
        renamed: Renamed | None = None,
        required: Sequence[str] = (),
        graphql_only: Sequence[str] = (),
    ) -> None:
        self.model = model
        self.renamed = renamed or {}
        self.texts = [name for name, kind in _kinds(model) if kind is TextInput]
        self.grouped = {path: key for key, field in self.renamed.items() if len(path := tuple(field.split("."))) == 2}
        """Group and field -> REST key."""
        self.groups = _groups(model, self.grouped)
        self._flat = {f"{name}_{at}": (name, at) for name in self.texts for at in LANGUAGES}
        self._flat |= {key: (group, field) for (group, field), key in self.grouped.items()}
        self.nested = {
            name: reader
            for name, kind in _kinds(model)
            if name not in self.groups and (reader := _nested_reader(kind)) is not None
        }
        self.graphql_only = frozenset(graphql_only)
        if unknown := self.graphql_only - frozenset(model.model_fields):
            raise LookupError(f"{model.__name__} has no {', '.join(sorted(unknown))}.")
        ours = (frozenset(self.renamed.values()) | frozenset(self.groups)) - frozenset(self.renamed)
        self._ignored_keys = ours | self.graphql_only
        self.same_keys = not (self.renamed or self.texts or self.nested or self.graphql_only)
        """True if every key has the name of its field."""
        plain = frozenset(model.model_fields) - frozenset(self.groups) - self.graphql_only
        self.keys = frozenset(self.key_of(name) for name in plain) | frozenset(self._flat)
        self.required_keys = tuple(key for field in required for key in self._keys_of(field))
        """The keys of the `required` fields; a translated text has one per language."""

    def read(
        self, body: Any, path: Mapping[str, Any], wrong: tuple[Problem, ...] = (), *, whole: bool = False
    ) -> BaseModel | RejectedInput:
        """The input made of the body and the path parameters, or a `RejectedInput` with its problems.

        `wrong` are earlier problems by key. They replace validation problems of the same path; those of unknown keys
        are dropped. If the input is `whole`, missing required keys are problems too.
        """
        if not isinstance(body, dict):
            return RejectedInput((*(p for p in wrong if not p.path), *NOT_AN_OBJECT), path)
        fields = body if self.same_keys else self.fields(body)
        if path:
            fields = {**fields, **path}
        problems = {p.path: p for p in wrong if not p.path or p.path[0] in self.keys}
        absent = [(key,) for key in self.required_keys if whole and key not in body]
        problems |= {at: Problem(at, "REQUIRED", REQUIRED) for at in absent if at not in problems}
        model_problems: tuple[Problem, ...] = ()
        try:
            model = self.model.model_validate(fields)
        except ValidationError as error:
            model_problems = problems_of(error)
        if not (problems or model_problems):
            return model
        named = [Problem(self.key_path_of(p.path), p.code, p.message) for p in model_problems]
        every = (*problems.values(), *(p for p in named if p.path not in problems))
        wrong_at = [*((self._field_of(at[0]), *at[1:]) for at in problems if at), *(p.path for p in model_problems)]
        tried = () if any(not p.path for p in wrong) else partial_inputs(self.model, fields, wrong_at)
        return RejectedInput(every, fields, tried)

    def _field_of(self, key: str | int) -> str:
        return self._flat[str(key)][0] if key in self._flat else self.renamed.get(str(key), str(key)).partition(".")[0]

    def fields(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The sent values by field name."""
        fields: dict[str, Any] = {name: {} for name, group in self.groups.items() if group.required}
        for key, value in body.items():
            if key in self._flat:
                name, part = self._flat[key]
                fields.setdefault(name, {})[part] = value
                continue
            field = self.renamed.get(key, key)
            if key in self._ignored_keys or field in self.texts:
                continue  # a field name that is not a REST key
            nested = self.nested.get(field)
            fields[field] = value if nested is None else nested.fields_of(value)
        return fields

    def fields_of(self, value: Any) -> Any:
        """Apply `fields` to an object or to every item of a list; return other values unchanged."""
        if isinstance(value, list):
            return [self.fields_of(item) for item in value]
        return self.fields(value) if isinstance(value, dict) else value

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Convert the path of a field to the path of its REST key."""
        if not path:
            return path
        field, rest = path[0], path[1:]
        if isinstance(field, int):
            return (field, *self.key_path_of(rest))
        if field in self.texts:
            language, rest = (str(rest[0]), rest[1:]) if rest else (LANGUAGES[0], ())
            return (f"{field}_{language}", *rest)
        if rest and (key := self.grouped.get((str(field), str(rest[0])))) is not None:
            return (key, *rest[1:])
        nested = self.nested.get(field)
        return (self.key_of(field), *(rest if nested is None else nested.key_path_of(rest)))

    def _keys_of(self, field: str) -> list[str]:
        if field not in self.model.model_fields:
            raise LookupError(f"{self.model.__name__} has no {field}.")
        return [f"{field}_{at}" for at in LANGUAGES] if field in self.texts else [self.key_of(field)]

    def key_of(self, field: str) -> str:
        """The REST key of a field."""
        return next((key for key, name in self.renamed.items() if name == field), field)


def _groups(model: type[BaseModel], grouped: Mapping[tuple[str, ...], str]) -> Mapping[str, InputGroup]:
    """The groups whose fields are REST keys. Raises LookupError for an unknown group or field."""
    kinds = dict(_kinds(model))
    for group, field in grouped:
        if group not in kinds or field not in kinds[group].model_fields:
            raise LookupError(f"{model.__name__} has no {group}.{field}.")
    return {group: InputGroup(kinds[group], model.model_fields[group].is_required()) for group, _ in grouped}


def _nested_reader(kind: Any) -> InputReader | None:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)) or kind is TextInput:
        return None
    reader = InputReader(kind, getattr(kind, "renamed", None))
    return None if reader.same_keys else reader


def _kinds(model: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    """Each field of an input with its innermost type: `TextInput` for `Maybe[TextInput | None]`."""
    for name, field in model.model_fields.items():
        yield name, _innermost(field.annotation)


def _innermost(annotation: Any) -> Any:
    arguments = [a for a in typing.get_args(annotation) if a is not type(None)]
    return _innermost(arguments[0]) if arguments else annotation
