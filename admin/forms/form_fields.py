"""The fields of a form as its template draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLEnumType, GraphQLInputObjectType

from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.typed import REMOVED, YES, chosen_in, count_of
from admin.graph.labels import label_of, value_label
from schema.validation.languages import LANGUAGES

Choices = Sequence[tuple[str, str]]
"""Values with their labels."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form: its name, how it is typed, what stands in it and what is wrong with it."""

    name: str
    kind: Kind
    label: str
    help: str = ""
    value: str = ""
    is_required: bool = False
    choices: Choices = ()
    checked: frozenset[str] = frozenset()
    children: Sequence["FormField"] = ()
    rows: Sequence[Sequence["FormField"]] = ()
    missing: Sequence[str] = ()
    """Languages that have no text."""
    error: str = ""

    @property
    def id(self) -> str:
        """The id of its element."""
        return "f-" + self.name.replace(".", "-")


@dataclass(frozen=True)
class FormBuilder:
    """Builds the fields of a form from its values, the problems by name, and the choices of references by name."""

    form: Mapping[str, str]
    problems: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Choices] = field(default_factory=dict)
    """Of references, by the name of the field without the names around it; a reference without choices is typed."""
    has_defaults: bool = False
    """Whether fields that the values do not name have their defaults: of a form that was not sent yet."""

    def build(self, kind: GraphQLInputObjectType, hidden: frozenset[str], prefix: str = "") -> list[FormField]:
        """The fields of an input type but for the hidden ones."""
        return [self.field(each, prefix + each.name) for each in fields_of(kind) if each.name not in hidden]

    def field(self, of: InputField, name: str) -> FormField:
        """One field."""
        options: dict[str, Any] = {
            "name": name,
            "kind": of.kind,
            "label": label_of(of.name),
            "help": of.help,
            "is_required": of.is_required,
            "error": self.problems.get(name, ""),
        }
        match of.kind:
            case Kind.GROUP:
                return FormField(**options, children=self.build(of.input, frozenset(), f"{name}."))
            case Kind.ROWS:
                return FormField(**options, value=str(count_of(self.form, name)), rows=self._rows(of, name))
            case Kind.TRANSLATED:
                return FormField(**options, **self._translated(name))
            case Kind.CHECKBOXES | Kind.REFERENCES:
                return self._many(of, name, options)
        return self._single(of, name, options)

    def _single(self, of: InputField, name: str, options: dict[str, Any]) -> FormField:
        value = self.form.get(name, _default(of) if self.has_defaults else "")
        if of.kind is Kind.SELECT:
            return FormField(**options, value=value, choices=_members(of))
        if of.kind is Kind.REFERENCE:
            choices = list(self.choices.get(of.name, ()))
            if choices and value and value not in dict(choices):
                choices.append((value, f"#{value}"))
            if not choices:
                options["kind"] = Kind.TEXT
            return FormField(**options, value=value, choices=choices)
        return FormField(**options, value=value)

    def _many(self, of: InputField, name: str, options: dict[str, Any]) -> FormField:
        prefix = f"{name}."
        checked = {
            key.removeprefix(prefix) for key, value in self.form.items() if key.startswith(prefix) and value == YES
        }
        if of.kind is Kind.CHECKBOXES:
            return FormField(**options, choices=_members(of), checked=frozenset(checked))
        choices = list(self.choices.get(of.name, ()))
        if not choices:
            return FormField(**options | {"kind": Kind.LINES}, value="\n".join(chosen_in(self.form, name)))
        known = {value for value, _ in choices}
        choices += [(value, f"#{value}") for value in sorted(checked - known)]
        return FormField(**options, choices=choices, checked=frozenset(checked))

    def _translated(self, name: str) -> dict[str, Any]:
        texts = {language: self.form.get(f"{name}.{language}", "") for language in LANGUAGES}
        children = [
            FormField(
                f"{name}.{language}", Kind.LONG, language, value=text, error=self.problems.get(f"{name}.{language}", "")
            )
            for language, text in texts.items()
        ]
        missing = [language for language, text in texts.items() if not text]
        return {"children": children, "missing": missing if len(missing) < len(texts) else ()}

    def _rows(self, of: InputField, name: str) -> list[list[FormField]]:
        rows = []
        for number in range(count_of(self.form, name)):
            prefix = f"{name}.{number}."
            if self.form.get(prefix + REMOVED) != YES:
                rows.append(self.build(of.input, frozenset(), prefix))
        return rows


def _members(of: InputField) -> Choices:
    assert isinstance(of.type, GraphQLEnumType)
    return [(name, value_label(name)) for name in of.type.values]


def _default(of: InputField) -> str:
    if of.default is None:
        return ""
    if of.kind is Kind.BOOLEAN:
        return YES if of.default else ""
    if of.kind is Kind.SELECT:
        return str(getattr(of.default, "name", of.default))
    return str(of.default)
